"""IceFloe before the fuzzer: pyramids and tiles anywhere, votes and coins told at any time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from benchmarks.fuzz.fuzzer import NOTHING, FuzzedAct, Truth, sentences_of
from benchmarks.fuzz.table import Effect, OnTable, Table, Thing, camera_over, do_something, solid_of
from engines import icefloe as engine
from engines.icefloe.announcements import saying
from engines.icefloe.board import LETTERS, PLACES, SLIDES, SUITS
from engines.icefloe.moves import (
    Done,
    Finding,
    Move,
    Movement,
    Objection,
    Penalty,
    Placing,
    Removal,
    Slide,
    Torch,
)
from engines.icefloe.state import PLAYS, State
from engines.verdict import Verdict
from table.boards import Tiles
from table.clearance import is_free
from table.pieces import load_piece_set

APART_MM = 1.0
TRIES = 300
ROLLED_MM = 5.0
"""What fell over lies on a tile for sure only so far inside its edge, and beside it only so far
outside.
"""
HASTE = 12
"""Players are so much rather done with a vote than they lay a coin."""
SEATS = (
    ("red", "black", "yellow", "blue"),
    ("black", "blue", "red"),
    ("red", "black", "green", "blue"),
)
PLACE, PYRAMID, TILE = r"([a-e][1-5])", r"([A-F][SMCA])", r"([SMCA][na2-5])"
_ANOTHERS = frozenset({"icefloe.move.turn", "icefloe.remove.player"})
Found = tuple[tuple[str, ...], State]


def _in_short(text: str) -> str:
    """A sentence with pyramids and tiles as moves name them: `ES` for `pyramid E of suns`."""
    suits = "|".join(SUITS.values())
    letters = {word: letter for letter, word in SUITS.items()}
    text = re.sub(
        rf"[Pp]yramid ([A-F]) of ({suits})", lambda found: found[1] + letters[found[2]], text
    )
    return re.sub(
        rf"[Tt]he (null|ace|[2-5]) of ({suits})",
        lambda found: letters[found[2]] + found[1][0],
        text,
    )


class FuzzedIcefloe(OnTable):
    """`Fuzzed`.  Pyramids have the names of the game."""

    name, engine = "icefloe", engine
    board = Tiles(cell_mm=51.3)

    def __init__(self) -> None:
        self._sizes = load_piece_set("piecepack")
        self._camera = camera_over(self.board.outline())

    def begin(self, chance: Random) -> tuple[State, Table]:
        """After any number of random moves, while pyramids are placed, too."""
        rulings = {
            "done": chance.choice(["stands", "reopens"]),
            "stay": chance.choice(["may", "never"]),
            "corners": chance.choice(["may", "never"]),
        }
        while True:
            state = engine.start(chance.choice(SEATS), rulings)
            pyramids = len(state.placing_order)
            least = pyramids if chance.random() < 0.9 else 0
            for _ in range(
                chance.choice([least, least + chance.randrange(60), least + chance.randrange(300)])
            ):
                if engine.outcome(state) is not None:
                    break
                state = engine.play(state, self._likely(state, chance))
            if engine.outcome(state) is None:
                return state, self._lay_out(state, chance)

    @staticmethod
    def _likely(state: State, chance: Random) -> Move:
        moves = list(engine.legal_moves(state))
        weights = [HASTE if isinstance(move, Done) else 1 for move in moves]
        return chance.choices(moves, weights)[0]

    def name_things(self, state: State, table: Table) -> Table:
        """Only what is in play."""
        names = {self._name_of(state, one): one for one in table.things.values()}
        things = {name: names[name] for name in state.board.pyramids if name in names}
        things |= {
            name: one
            for name, one in self._lay_out(state, Random(1)).things.items()
            if name not in things
        }
        return Table(things=things, tiles=_tiles(state))

    def random_act(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """A word, or one of those below; what it truly was is told by the table alone."""
        seen = state.phase in ("place", "move", "remove", "extra", "torch")
        if chance.random() < (0.12 if seen else 0.7):
            return self._word(state, table, chance)
        effects: dict[str, Effect] = {
            "lawful": self._lawful,
            "near the edge": self._near_the_edge,
            "wrong step": self._wrong_step,
            "other's pyramid": self._others_pyramid,
            "wrong slide": self._wrong_slide,
            "wrong tile taken": self._wrong_tile,
            "two at once": self._two_at_once,
            "act half done": self._half,
            "move that knocks": self._knocks,
            "knocked": self._knock_over,
            "knocked off": self._knock_off,
            "toppled": self._topple,
            "leaning": self._leaning,
            "swapped": self._swap,
            "another size": self._resize,
            "another colour": self._recolour,
            "extra piece": self._extra,
            "tile too many": self._extra_tile,
            "tile pushed": self._tile_pushed,
            "nothing": lambda _state, table, _chance: table,
            "straightened": self._straighten,
        }
        effect, after = do_something(effects, state, table, chance, lawful=8)
        compared = effect.partition(",")[0] in ("another size", "another colour")
        return FuzzedAct(effect, after, self.truth(state, after), compared=compared)

    def _word(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """What is waited for, or anything."""
        every = [
            (move, heard) for move in engine.legal_moves(state) if (heard := saying(state, move)[1])
        ]
        if every and chance.random() < 0.8:
            weights = [HASTE if isinstance(move, Done) else 1 for move, _ in every]
            move, heard = chance.choices(every, weights)[0]
            after = engine.play(state, move)
            passes = (f"torch {after.after(after.torch)}",)
            passes = passes if isinstance(move, Removal) and after.phase == "torch" else ()
            return FuzzedAct("told", table, Truth("lawful", (str(move), *passes)), heard)
        if chance.random() < 0.4:
            return self._unexpected_word(state, table, chance)
        player = chance.choice(state.players)
        more: dict[str, Any] = chance.choice(
            [
                {"vote_value": chance.choice("na2345")},
                {"vote_suit": chance.choice("SMCA")},
                {"coin": chance.choice([1, 2]), "to": chance.choice(state.players)},
                {"done": True},
                {"decides": chance.choice(["4", "S", "shared", *state.players])},
                {"extra_tile": chance.choice([None, "S4", "An"])},
                {"score": chance.choice("SMCA") + chance.choice("na2345")},
                {"torch": True},
            ]
        )
        return FuzzedAct("told at any time", table, Truth("said"), {"player": player, **more})

    def _unexpected_word(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """What the game does not wait for.

        Somebody broke a rule, a pyramid came back, or a tile is off.
        """
        player, other = chance.choice(state.players), chance.choice(state.players)
        heard: tuple[Move, dict[str, Any]]
        if state.objection and chance.random() < 0.7:
            guilty = chance.random() < 0.5
            heard = (Finding(player, guilty), {"breach": guilty})
        else:
            name = chance.choice(state.board.pyramids or state.placing_order)
            floe, gone = state.board.floe_under(name), chance.choice(state.board.floes)
            place = floe.place if floe else PLACES[0]
            heard = chance.choice(
                [
                    (Penalty(player), {"penalty": True}),
                    (Objection(player, other), {"objects_to": other}),
                    (Movement(name, place, place), {"stays": name}),
                    (Removal(gone.tile), {"removed": gone.tile}),
                ]
            )
        move, more = heard
        if isinstance(move, Movement | Removal):
            player = (state.mover if isinstance(move, Movement) else state.torch) or other
            if chance.random() < 0.2:
                player = other
        wrong = engine.violation(state, move)
        anothers = isinstance(move, Movement) and player != state.mover
        anothers = anothers or (isinstance(move, Removal) and player != state.torch)
        if wrong or anothers:
            codes = frozenset({wrong.code} if wrong else _ANOTHERS)
            codes |= {"icefloe.move"} if isinstance(move, Movement) else set()
            truth = Truth("forbidden", codes=codes)
            return FuzzedAct("told at another time", table, truth, {"player": player, **more})
        if isinstance(move, Removal):
            table = self._sink(table, gone.place, gone.pyramids)
        return FuzzedAct(
            "told aside", table, Truth("lawful", (str(move),)), {"player": player, **more}
        )

    # What truly happened.

    def truth(self, state: State, table: Table) -> Truth:
        """By places: nothing, moves that leave just this, or none."""
        now = self._read(state, table)
        if now == _recorded(state):
            return NOTHING
        ways = sorted(
            (way for way in self._ways(state, now) if _recorded(way[1]) == now),
            key=lambda way: len(way[0]),
        )
        if ways:
            moves, *others = [moves for moves, _ in ways]
            return Truth("lawful", moves, tuple(others))
        codes, parts = self._codes(state, now)
        return Truth("forbidden" if codes and parts == 1 else "amiss", codes=codes)

    def _ways(self, state: State, now: tuple) -> Iterator[Found]:
        """One act that is seen, and two where at most two things are elsewhere."""
        if state.phase == "place":
            yield from _placings(state, now)
            return
        first = list(_visible_acts(state))
        yield from first
        where, tiles, rest = now
        were, had, _ = _recorded(state)
        moved = [name for name in were if where.get(name) != were[name]]
        if rest or (len(moved) > 2 and len(tiles ^ had) < 2):
            return
        for moves, after in first:
            placed, afloat, _ = _recorded(after)
            done = sum(placed.get(name) == where.get(name) for name in moved)
            if done or afloat ^ tiles < had ^ tiles:
                yield from (((*moves, *more), last) for more, last in _visible_acts(after))

    def _codes(self, state: State, now: tuple) -> tuple[frozenset[str], int]:
        """Violations by which what was done may be called, and how many things were done."""
        where, tiles, rest = now
        were, had, _ = _recorded(state)
        moved = {name: where.get(name) for name in were if where.get(name) != were[name]}
        lost, got = had - tiles, tiles - had
        tried: list[Move] = []
        parts = len(rest)
        for place in lost:
            floe = state.board.at(place)
            onto = next(
                (one for one in got if all(where.get(name) == one for name in floe.pyramids)), None
            )
            parts += 1
            tried.append(Slide(place, onto) if onto else Removal(floe.tile))
            parts -= bool(onto)
            moved = {name: to for name, to in moved.items() if name not in floe.pyramids}
            gone = [name for name, to in moved.items() if to is None]
            tried += [Movement(name, were[name], place) for name in gone]
        tried += [Movement(name, were[name], to) for name, to in moved.items() if to]
        tried += [Placing(name, where[name]) for name in where if name not in were]
        parts += len(moved) + len(got) + len(set(where) - set(were))
        codes = set()
        for move in tried:
            for before in (state, _moving(state)):
                wrong = engine.violation(before, move)
                codes |= {wrong.code} if wrong else set()
        return frozenset(codes), parts

    def _read(self, state: State, table: Table) -> tuple:
        """Places of pyramids by name, places of tiles, and what is no pyramid of this game."""
        where: dict[str, str] = {}
        rest = []
        for one in table.things.values():
            name = self._name_of(state, one)
            place = self._stands_on(state, name, one)
            if not name or name in where or not place:
                rest.append((one.colour, one.size, one.pose))
            else:
                where[name] = place
        tiles = frozenset(place for place, there in (table.tiles or {}).items() if there)
        return where, tiles, tuple(rest)

    @staticmethod
    def _name_of(state: State, one: Thing) -> str:
        name = one.size + PLAYS.get(one.colour, "")
        return name if one.colour in state.players and name in state.placing_order else ""

    def _stands_on(self, state: State, name: str, one: Thing) -> str:
        """Its place; of one that fell over and is still on its tile, or nearly, that one."""
        if one.pose == "upright":
            return self._place(one.at_mm)
        middle = solid_of(one, self._sizes).plan_mm().mean(axis=0)
        stood = state.board.floe_under(name) if name else None
        near = (
            stood
            and np.abs(middle - self._middle(stood.place)).max()
            < self.board.cell_mm / 2 + ROLLED_MM
        )
        inside = (
            np.abs(middle - self._middle(self._place(middle) or "a1")).max()
            < self.board.cell_mm / 2 - ROLLED_MM
        )
        return stood.place if near else self._place(middle) if inside else ""

    def _place(self, at_mm: np.ndarray) -> str:
        column, row = np.floor(at_mm / self.board.cell_mm).astype(int)
        return f"{'abcde'[column]}{row + 1}" if 0 <= column < 5 and 0 <= row < 5 else ""

    # What people do.

    def _lawful(self, state: State, table: Table, chance: Random) -> Table | None:
        if state.phase == "place":
            order = state.placing_order[len(state.board.pyramids) :]
            count = chance.choice([1, 1, len(order)])
            for name in order[:count]:
                move = Placing(name, chance.choice(state.board.empty).place)
                table, state = (
                    self._put(table, state, name, move.place, chance),
                    engine.play(state, move),
                )
            return table
        ways = list(_visible_acts(state))
        if not ways:
            return None
        return self._table_after(state, chance.choice(ways)[1], table, chance)

    def _near_the_edge(self, state: State, table: Table, chance: Random) -> Table | None:
        """A pyramid ends so near to the edge of its tile that a reading may err."""
        after = self._lawful(state, table, chance)
        if after is None:
            return None
        moved = [name for name, one in after.things.items() if table.things.get(name) is not one]
        if len(moved) != 1:
            return None
        one = after.things[moved[0]]
        middle = self._middle(self._place(one.at_mm))
        shift = np.array([chance.uniform(-8, 8), chance.uniform(-8, 8)])
        shift[chance.randrange(2)] = chance.choice([-1, 1]) * (
            self.board.cell_mm / 2 - chance.uniform(0.3, 3.0)
        )
        return self._place_if_free(after, moved[0], one.put(middle + shift))

    def _wrong_step(self, state: State, table: Table, chance: Random) -> Table | None:
        own = [name for name in state.board.pyramids if state.owner(name) == state.mover]
        names = own or list(state.board.pyramids)
        return (
            self._put(
                table, state, chance.choice(names), chance.choice(_afloat_tiles(state)), chance
            )
            if names
            else None
        )

    def _others_pyramid(self, state: State, table: Table, chance: Random) -> Table | None:
        names = [name for name in state.board.pyramids if state.owner(name) != state.mover]
        return (
            self._put(
                table, state, chance.choice(names), chance.choice(_afloat_tiles(state)), chance
            )
            if names
            else None
        )

    def _wrong_slide(self, state: State, table: Table, chance: Random) -> Table | None:
        floe = chance.choice(state.board.floes)
        free = [place for place in PLACES if state.board.at(place) is None]
        near = [place for place in SLIDES[floe.place] if place in free]
        to = chance.choice(near if near and chance.random() < 0.7 else free)
        return self._slide(state, table, floe.place, to)

    def _wrong_tile(self, state: State, table: Table, chance: Random) -> Table:
        floe = chance.choice(state.board.floes)
        return self._sink(table, floe.place, floe.pyramids)

    def _two_at_once(self, state: State, table: Table, chance: Random) -> Table | None:
        if state.phase == "place":
            return None
        for _ in range(2):
            ways = list(_visible_acts(state))
            if not ways or chance.random() < 0.2:
                return self._wrong_step(state, table, chance)
            _, after = chance.choice(ways)
            table, state = self._table_after(state, after, table, chance), after
        return table

    def _half(self, state: State, table: Table, chance: Random) -> Table | None:
        """Something is in a hand; or a tile is gone and its pyramids are not, or the reverse."""
        kind = chance.randrange(4)
        if kind == 0 and state.board.pyramids:
            own = [name for name in state.board.pyramids if state.owner(name) == state.mover]
            return table.without(chance.choice(own or list(state.board.pyramids)))
        due = state.board.floe_of(state.tile) if state.phase == "remove" else None
        sinking = [
            (moves, after) for moves, after in _visible_acts(state) if after.sunk != state.sunk
        ]
        if due is not None and kind == 1:
            return table.without(*due.pyramids) if due.pyramids else None
        if due is not None:
            return replace(table, tiles={**table.tiles, due.place: False})
        if sinking and (move := engine.parse_move(chance.choice(sinking)[0][-1])):
            return self._put(table, state, move.pyramid, move.target, chance)
        return None

    def _knocks(self, state: State, table: Table, chance: Random) -> Table | None:
        moved = self._lawful(state, table, chance)
        other = chance.choice([self._knock_over, self._knock_off, self._topple, self._straighten])
        return moved and other(state, moved, chance)

    def _knock_over(self, state: State, table: Table, chance: Random) -> Table | None:
        """A pyramid is pushed any distance over tiles."""
        if not table.things:
            return None
        return self._put(
            table,
            state,
            chance.choice(list(table.things)),
            chance.choice(_afloat_tiles(state)),
            chance,
        )

    def _knock_off(self, _state: State, table: Table, chance: Random) -> Table | None:
        return (
            table.knocked_off(chance.choice(list(table.things)), np.array([300.0, 100.0]))
            if table.things
            else None
        )

    def _swap(self, _state: State, table: Table, chance: Random) -> Table | None:
        if len(table.things) < 2:
            return None
        one, other = chance.sample(list(table.things), 2)
        a, b = table.things[one], table.things[other]
        aside = np.array(
            [chance.uniform(2, 4), chance.uniform(2, 4)]
        )  # no hand puts a piece just where another stood
        swapped = table.with_thing(one, a.put(b.at_mm + aside)).with_thing(
            other, b.put(a.at_mm - aside)
        )
        return swapped if self._all_free(swapped) else None

    def _resize(self, _state: State, table: Table, chance: Random) -> Table | None:
        """A pyramid is exchanged for another of its suit."""
        names = [name for name, one in table.things.items() if one.pose == "upright"]
        if not names:
            return None
        name = chance.choice(names)
        had = LETTERS.index(
            table.things[name].size
        )  # two sizes side by side may be misread for each other
        sizes = [letter for k, letter in enumerate(LETTERS) if abs(k - had) > 1]
        one = replace(table.things[name], size=chance.choice(sizes))
        return self._place_if_free(table, name, one)

    def _recolour(self, _state: State, table: Table, chance: Random) -> Table | None:
        standing = [name for name, one in table.things.items() if one.pose == "upright"]
        if not standing:  # of what does not stand no reading is held against anybody
            return None
        name = chance.choice(standing)
        suit = PLAYS[table.things[name].colour]
        colours = [colour for colour in PLAYS if PLAYS[colour] != suit]
        return table.with_thing(name, replace(table.things[name], colour=chance.choice(colours)))

    def _extra(self, state: State, table: Table, chance: Random) -> Table | None:
        name = chance.choice(state.placing_order)
        one = Thing(str(state.owner(name)), name[0], "upright", 0.0, 0.0)
        return self._stand_on_tile(
            table, "one too many", one, chance.choice(_afloat_tiles(state)), chance
        )

    def _extra_tile(self, state: State, table: Table, chance: Random) -> Table | None:
        free = [place for place in PLACES if state.board.at(place) is None]
        if len(free) == 1:  # every tile that there is lies there
            return None
        return replace(table, tiles={**table.tiles, chance.choice(free): True})

    def _tile_pushed(self, state: State, table: Table, chance: Random) -> Table | None:
        """An empty tile is pushed or carried somewhere."""
        if not state.board.empty:
            return None
        floe = chance.choice(state.board.empty)
        free = [place for place in PLACES if state.board.at(place) is None]
        return replace(table, tiles={**table.tiles, floe.place: False, chance.choice(free): True})

    def _straighten(self, state: State, table: Table, chance: Random) -> Table | None:
        if not table.things:
            return None
        name = chance.choice(list(table.things))
        place = self._place(table.things[name].at_mm)
        return (
            self._put(table, state, name, place, chance) if name in state.board.pyramids else None
        )

    # What people are told to do.

    def follow(self, state: State, table: Table, verdict: Verdict, old: Table) -> Table | None:
        """Each order to the letter."""
        text, chance, after = _in_short(sentences_of(verdict)), Random(0), table
        if "Put back what was" in text or (
            type(verdict).__name__ == "Refused" and "stood" not in text
        ):
            return old
        for name, place in re.findall(
            rf"{PYRAMID} stood on {PLACE}, but now a \w+ \w+ stands there", text
        ):
            there = [n for n, one in after.things.items() if self._place(one.at_mm) == place]
            strange = [
                n
                for n in there
                if self._name_of(state, after.things[n])
                not in state.board.floe_under(name).pyramids
            ]
            after = self._put_back(after.without(*strange[:1]), state, name, place, chance)
        for colour, size, place in re.findall(rf"A (\w+) (\w) stands on {PLACE}", text):
            after = self._accepts_table(after, colour, size, place)
        for name, place in [
            *re.findall(rf"{PYRAMID} stood on {PLACE} and is now on", text),
            *re.findall(rf"{PYRAMID} cannot be seen on {PLACE}", text),
        ]:
            after = self._put_back(after, state, name, place, chance)
        for name in re.findall(rf"{PYRAMID} is off the board: move it, or put it back", text):
            after = self._put_back(after, state, name, state.board.floe_under(name).place, chance)
        for name in re.findall(
            rf"{PYRAMID} has fallen over: stand it upright where it belongs", text
        ):
            floe = state.board.floe_under(name)
            lies = next(one for one in after.things.values() if self._name_of(state, one) == name)
            place = floe.place if floe else self._place(lies.at_mm)
            after = self._put_back(after, state, name, place, chance)
        after = self._tiles_put_right(state, after, text)
        if state.phase == "place":
            after = self._undo_placing(after, text, old)
        return None if after is table else after

    def _tiles_put_right(self, state: State, table: Table, text: str) -> Table:
        tiles = dict(table.tiles or {})
        for _, place in re.findall(rf"{TILE} is not on {PLACE}", text):
            tiles[place] = True
        for places in re.findall(r"A tile lies on ([a-e][1-5])\.", text):
            tiles[places] = False
        for places in re.findall(
            r"(?:There seems to be a tile on|No tile belongs on) ([^.,]*)", text
        ):
            tiles |= dict.fromkeys(re.findall(PLACE, places), False)
        for listed in re.findall(r"Missing: ([^.]*)\.", text):
            tiles |= dict.fromkeys(
                (place for _, place in re.findall(rf"{TILE} on {PLACE}", listed)), True
            )
        table = table if tiles == table.tiles else replace(table, tiles=tiles)
        for tile in re.findall(rf"take {TILE} off with everything on it", text):
            table = self._remove_tile(state, table, tile)
        for tile in re.findall(rf"the torch bearer, removes {TILE}\.", text):
            floe = state.board.floe_of(tile)
            if floe and not (
                table.tiles[floe.place] and all(name in table.things for name in floe.pyramids)
            ):
                table = self._remove_tile(state, table, tile)
        return table

    def _remove_tile(self, state: State, table: Table, tile: str) -> Table:
        floe = state.board.floe_of(tile)
        there = [name for name, one in table.things.items() if self._place(one.at_mm) == floe.place]
        return self._sink(table, floe.place, tuple(there))

    def _undo_placing(self, table: Table, text: str, old: Table) -> Table:
        """What is placed wrongly is taken back, all of it; people do not sort it out one by one."""
        words = (
            "Some placed pyramids",
            "does not belong there",
            "too early",
            "Not seen on the board",
            "is left to",
            "Fix the",
        )
        return old if any(word in text for word in words) else table

    def _put_back(self, table: Table, state: State, name: str, place: str, chance: Random) -> Table:
        key = next(
            (n for n, one in table.things.items() if self._name_of(state, one) == name), name
        )
        off = {n: o for n, o in table.off.items() if n != name}
        return self._put(replace(table, off=off).without(key), state, name, place, chance)

    def _accepts_table(self, table: Table, colour: str, size: str, place: str) -> Table:
        names = [
            n
            for n, one in table.things.items()
            if (one.colour, one.size, self._place(one.at_mm)) == (colour, size, place)
        ]
        return table.without(names[-1]) if names else table

    # Things.

    def _lay_out(self, state: State, chance: Random) -> Table:
        table = Table(tiles=_tiles(state))
        for floe in state.board.floes:
            for name in floe.pyramids:
                table = self._put(table, state, name, floe.place, chance)
        return table

    def _table_after(self, state: State, after: State, table: Table, chance: Random) -> Table:
        """The table changed from one state to another."""
        were, had, _ = _recorded(state)
        now, have, _ = _recorded(after)
        for place in had - have:
            floe = state.board.at(place)
            if after.board.floe_of(floe.tile) is not None:
                table = self._slide(state, table, place, after.board.floe_of(floe.tile).place)
            else:
                table = replace(table, tiles={**table.tiles, place: False})
        table = table.without(*(name for name in were if name not in now))
        for name, place in now.items():
            if self._place(table.things[name].at_mm) != place:
                table = self._put(table, after, name, place, chance)
        return table

    def _slide(self, state: State, table: Table, here: str, there: str) -> Table:
        step = self._middle(there) - self._middle(here)
        floe = state.board.at(here)
        for name in floe.pyramids:
            if name in table.things:
                table = table.with_thing(
                    name, table.things[name].put(table.things[name].at_mm + step)
                )
        return replace(table, tiles={**table.tiles, here: False, there: True})

    @staticmethod
    def _sink(table: Table, place: str, pyramids: tuple[str, ...]) -> Table:
        return replace(table.without(*pyramids), tiles={**table.tiles, place: False})

    def _put(self, table: Table, state: State, name: str, place: str, chance: Random) -> Table:
        one = table.things.get(name) or Thing(str(state.owner(name)), name[0], "upright", 0.0, 0.0)
        return self._stand_on_tile(table, name, replace(one, pose="upright"), place, chance)

    def _stand_on_tile(
        self, table: Table, name: str, one: Thing, place: str, chance: Random
    ) -> Table:
        """Somewhere on a tile, apart from all others; near its edge where there is no room else."""
        reach = max(2.0, self.board.tile_mm / 2 - 0.5 * self._sizes[one.size].base_mm)
        for attempt in range(TRIES):
            spread = reach * (1 + 0.35 * attempt / TRIES)
            x, y = self._middle(place) + np.array(
                [chance.uniform(-spread, spread), chance.uniform(-spread, spread)]
            )
            put = replace(one, x_mm=float(x), y_mm=float(y), heading_deg=chance.uniform(0, 90))
            if (found := self._place_if_free(table, name, put)) is not None:
                return found
        return table.with_thing(name, put)

    def _place_if_free(self, table: Table, name: str, thing: Thing) -> Table | None:
        near = [
            o
            for n, o in table.things.items()
            if n != name and np.hypot(*(o.at_mm - thing.at_mm)) < 60
        ]
        others = [solid_of(one, self._sizes) for one in near]
        return (
            table.with_thing(name, thing)
            if is_free(solid_of(thing, self._sizes), others, APART_MM)
            else None
        )

    def _all_free(self, table: Table) -> bool:
        return all(
            self._place_if_free(table, name, one) is not None for name, one in table.things.items()
        )

    def _middle(self, place: str) -> np.ndarray:
        column, row = "abcde".index(place[0]), int(place[1]) - 1
        return self.board.cell_mm * (np.array([column, row]) + 0.5)


def _recorded(state: State) -> tuple:
    where = {name: floe.place for floe in state.board.floes for name in floe.pyramids}
    return where, frozenset(floe.place for floe in state.board.floes), ()


def _tiles(state: State) -> dict[str, bool]:
    there = {floe.place for floe in state.board.floes}
    return {place: place in there for place in PLACES}


def _afloat_tiles(state: State) -> list[str]:
    return [floe.place for floe in state.board.floes]


def _moving(state: State) -> State:
    """The state in which somebody moves next, where nothing else has to be seen or said before."""
    return _silent_acts(state)[1]


def _silent_acts(state: State) -> Found:
    """No empty tile goes, and the torch is handed on, without a word."""
    moves: tuple[str, ...] = ()
    if state.phase == "extra":
        moves, state = (str(Removal(None)),), engine.play(state, Removal(None))
    if state.phase == "torch":
        torch = Torch(state.after(state.torch))
        moves, state = (*moves, str(torch)), engine.play(state, torch)
    return moves, state


def _visible_acts(state: State) -> Iterator[Found]:
    """Acts that are seen, with what is done without a word before."""
    if state.phase in ("remove", "extra"):
        for move in engine.legal_moves(state):
            if isinstance(move, Removal) and move.tile:
                yield (str(move),), engine.play(state, move)
    words, moving = _silent_acts(state)
    if moving.phase == "move":
        for move in engine.legal_moves(moving):
            if isinstance(move, Slide) or (
                isinstance(move, Movement) and move.origin != move.target
            ):
                yield (*words, str(move)), engine.play(moving, move)


def _placings(state: State, now: tuple) -> Iterator[Found]:
    """The next pyramids in their order, as they stand."""
    where, _, _ = now
    moves: tuple[str, ...] = ()
    for name in state.placing_order[len(state.board.pyramids) :]:
        if name not in where:
            return
        move = Placing(name, where[name])
        if engine.violation(state, move):
            return
        moves, state = (*moves, str(move)), engine.play(state, move)
        yield moves, state
