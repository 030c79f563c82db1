"""Icebreaker before the fuzzer: ships and icebergs anywhere, and the truth by cells alone."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import numpy as np

from benchmarks.fuzz.fuzzer import NOTHING, FuzzedAct, Truth, sentences_of
from benchmarks.fuzz.table import Effect, OnTable, Table, Thing, camera_over, do_something
from engines import icebreaker as engine
from engines.icebreaker.board import ROW, label, members, parse_cell, union
from engines.icebreaker.moves import Move
from engines.icebreaker.state import State
from engines.verdict import Verdict
from table.boards import Hex
from table.pieces import load_piece_set

SLOPPY_MM = 5.0
"""Things stand so far from the middle of their cell at most."""
OPEN_CELLS = 1.6
"""No ship hides an iceberg that is so far from it."""
CELL = r"([A-O]\d{1,2})"


class FuzzedIcebreaker(OnTable):
    """`Fuzzed`.  A ship is named by the cell it is recorded on, `ship A1`, an iceberg `ice B1`."""

    name, engine = "icebreaker", engine

    def __init__(self) -> None:
        self._sizes = load_piece_set("looney")

    def begin(self, chance: Random) -> tuple[State, Table]:
        """After any number of random moves."""
        size = chance.choice(["4", "5", "5", "6"])
        rulings = {"size": size, "end": chance.choice(["majority", "last"])}
        state = engine.start(tuple(chance.sample(["red", "black", "blue", "green"], 2)), rulings)
        self.board = Hex(size=int(size), cell_mm=32.0)
        last = self.board.size - 1
        numbered = self.board.middles().items()
        self._middles = {label(q + r + last + ROW * (r + last)): at for (q, r), at in numbered}
        self._names, self._grid = list(self._middles), np.array(list(self._middles.values()))
        self._camera = camera_over(self.board.outline())
        for _ in range(chance.choice([0, chance.randrange(90), chance.randrange(90)])):
            after = engine.play(state, chance.choice(list(engine.legal_moves(state))))
            if engine.outcome(after) is not None:
                break
            state = after
        return state, self._lay_out(state, chance)

    def name_things(self, _state: State, table: Table) -> Table:
        """Named by the cells; a ship near the edge of its cell is put into the middle."""
        things = {}
        for one in table.things.values():
            cell = self._cell(one.at_mm)
            off = one.at_mm - self._middles.get(cell, one.at_mm)
            inside = np.hypot(*off) <= SLOPPY_MM
            things[f"ship {cell}"] = one if inside else one.put(self._middles[cell] + off / 8)
        ice = {f"ice {self._cell(np.array(at))}": at for at in table.counters.values()}
        return Table(things=things, counters=ice)

    def random_act(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """One of those below, if it can be done; what it truly was is told by the table alone."""
        effects: dict[str, Effect] = {
            "lawful": self._move,
            "near the edge of a cell": self._move_near_the_edge,
            "wrong step": self._wrong_step,
            "other's ship": self._others_ship,
            "two at once": self._two_at_once,
            "three at once": self._three_at_once,
            "act half done": self._half,
            "ice stolen": self._steal,
            "ice nudged": self._nudge,
            "ice too many": self._too_much_ice,
            "move with more ice taken": self._greedy,
            "move that knocks": self._knocks,
            "knocked": self._knock_over,
            "knocked off": self._knock_off,
            "toppled": self._topple,
            "leaning": self._leaning,
            "swapped": self._swap,
            "another colour": self._recolour,
            "extra piece": self._extra,
            "nothing": lambda _state, table, _chance: table,
            "straightened": self._straighten,
        }
        effect, after = do_something(effects, state, table, chance, lawful=6)
        truth, then = self.truth(state, after), None
        if effect == "act half done" and truth.kind != "lawful":
            truth = replace(truth, kind="half" if truth.kind == "amiss" else truth.kind)
        if truth.kind == "half" and (whole := self._finish_act(state, after)) is not None:
            then = FuzzedAct("finished", whole, self.truth(state, whole))
        return FuzzedAct(effect, after, truth, then=then)

    # What truly happened.

    def truth(self, state: State, table: Table) -> Truth:
        """By the cells: nothing, moves that leave just this, a forbidden move, or none of these."""
        ships, ice, fallen = now = self._read(table)
        if now == _recorded(state):
            return NOTHING
        ways = [] if fallen else _ways(state, *(_cells(state, ships, ice)))
        if ways:
            moves, *others = ways
            return Truth("lawful", moves, tuple(others))
        codes = frozenset() if fallen else self._codes(state, ships, ice)
        return Truth("forbidden" if codes else "amiss", codes=codes)

    def _codes(self, state: State, ships: frozenset, ice: frozenset) -> frozenset[str]:
        """Violations by which it may be called."""
        were, ices, _ = _recorded(state)
        gone, came = were - ships, ships - were
        if sorted(owner for _, owner in gone) != sorted(owner for _, owner in came):
            return frozenset()
        if len(gone) == 1:
            ((here, _),), ((there, _),) = gone, came
            move = engine.parse_move(f"{here}-{there}")
            if wrong := engine.violation(state, move):
                return frozenset({wrong.code})
            return frozenset({"ice.captured"}) if ices - ice - {there} else frozenset()
        own = {owner for _, owner in gone} == {state.next}
        return frozenset({"ice.two"}) if len(gone) == 2 and own else frozenset()

    def _read(self, table: Table) -> tuple[frozenset, frozenset, bool]:
        """(cell, player) of ships, cells of icebergs, and whether anything has fallen."""
        ships = [(self._cell(one.at_mm), one.colour) for one in table.things.values()]
        ice = [self._cell(np.array(at)) for at in table.counters.values()]
        fallen = any(one.pose != "upright" for one in table.things.values())
        return (
            frozenset(ships),
            frozenset(filter(None, ice)),
            fallen or len(set(ships)) < len(ships),
        )

    def _cell(self, at_mm: np.ndarray) -> str:
        """The nearest cell; empty beside the board."""
        away = np.hypot(*(self._grid - at_mm).T)
        nearest = int(away.argmin())
        return self._names[nearest] if away[nearest] < self.board.cell_mm * 0.577 else ""

    # What people do.

    def _move(self, state: State, table: Table, chance: Random) -> Table:
        return self._apply_move(table, chance.choice(list(engine.legal_moves(state))), chance)

    def _move_near_the_edge(self, state: State, table: Table, chance: Random) -> Table:
        """A legal move to a place within the doubt of a reading of the next cell."""
        move = chance.choice(list(engine.legal_moves(state)))
        table = self._apply_move(table, move, chance)
        name, there = f"ship {label(move.from_cell)}", label(move.to_cell)
        others = sorted(self._middles, key=lambda cell: self._distance_cells(there, cell))[1:7]
        toward = self._middles[chance.choice(others)] - self._middles[there]
        half = self.board.cell_mm / 2
        toward = toward / np.hypot(*toward) * (half - chance.uniform(0.2, 3.0))
        return table.with_thing(name, table.things[name].put(self._middles[there] + toward))

    def _wrong_step(self, state: State, table: Table, chance: Random) -> Table:
        """An own ship goes where it may not; the iceberg there goes too, or stays."""
        tried = [
            Move(ship, cell)
            for ship in members(state.ships[state.seat or 0])
            for cell in _free(state)
        ]
        near = [
            move
            for move in tried
            if self._distance_cells(label(move.from_cell), label(move.to_cell)) < 2.1
        ]
        choice = near if near and chance.random() < 0.7 else tried
        return self._apply_move(table, chance.choice(choice), chance, take=chance.random() < 0.8)

    def _others_ship(self, state: State, table: Table, chance: Random) -> Table:
        ship = chance.choice(list(members(state.ships[1 - (state.seat or 0)])))
        return self._apply_move(table, Move(ship, chance.choice(_free(state))), chance)

    def _two_at_once(self, state: State, table: Table, chance: Random) -> Table | None:
        """Two moves, most of them legal one after the other."""
        for _ in range(2):
            if engine.outcome(state) is not None:
                return None
            if chance.random() < 0.75:
                move = chance.choice(list(engine.legal_moves(state)))
                if f"ship {label(move.from_cell)}" not in table.things:
                    return None
                table, state = self._apply_move(table, move, chance), engine.play(state, move)
                table = self._name_by_cell(table)
            else:
                ship = chance.choice(list(table.things))
                cell = chance.choice([label(cell) for cell in _free(state)])
                if any(self._cell(one.at_mm) == cell for one in table.things.values()):
                    return None
                table = self._name_by_cell(self._carry(table, ship, cell, chance))
        return table

    def _three_at_once(self, state: State, table: Table, chance: Random) -> Table | None:
        cells = chance.sample([label(cell) for cell in _free(state)], 3)
        for name, cell in zip(chance.sample(list(table.things), 3), cells, strict=True):
            table = self._carry(table, name, cell, chance).without(f"ice {cell}")
        return table

    def _half(self, state: State, table: Table, chance: Random) -> Table:
        """The ship is in a hand, or beside the iceberg, or the iceberg is gone already."""
        move = chance.choice(list(engine.legal_moves(state)))
        match chance.randrange(3):
            case 0:
                return table.without(f"ship {label(move.from_cell)}")
            case 1:
                return self._apply_move(table, move, chance, take=False)
            case _:
                return table.without(f"ice {label(move.to_cell)}")

    def _steal(self, _state: State, table: Table, chance: Random) -> Table | None:
        seen = self._visible_ice(table)
        count = chance.choice([1, 1, 2, 3])
        return table.without(*chance.sample(seen, count)) if len(seen) >= count else None

    def _nudge(self, state: State, table: Table, chance: Random) -> Table | None:
        return self._too_much_ice(state, self._steal(state, table, chance) or table, chance)

    def _too_much_ice(self, state: State, table: Table, chance: Random) -> Table | None:
        bare = [label(cell) for cell in _free(state) if not state.ice >> cell & 1]
        bare = [cell for cell in bare if self._is_clear(table, cell)]
        return self._put_ice(table, chance.choice(bare), chance) if bare else None

    def _greedy(self, state: State, table: Table, chance: Random) -> Table | None:
        return self._steal(state, self._move(state, table, chance), chance)

    def _knocks(self, state: State, table: Table, chance: Random) -> Table | None:
        """A legal move whose hand pushes another ship, any way."""
        moved = self._name_by_cell(self._move(state, table, chance))
        other = chance.choice([self._knock_over, self._knock_off, self._topple])
        return other(state, moved, chance)

    def _knock_over(self, _state: State, table: Table, chance: Random) -> Table | None:
        """A ship slides on, any distance, to where no ship stands."""
        name = chance.choice(list(table.things))
        cell = chance.choice(list(self._middles))
        taken = [self._cell(one.at_mm) for other, one in table.things.items() if other != name]
        return None if cell in taken else self._carry(table, name, cell, chance)

    def _knock_off(self, _state: State, table: Table, chance: Random) -> Table:
        name = chance.choice(list(table.things))
        return table.knocked_off(name, self.board.outline().max(axis=0) + 40.0)

    def _swap(self, _state: State, table: Table, chance: Random) -> Table:
        """Two ships are put back in each other's place."""
        one, other = chance.sample(list(table.things), 2)
        a, b = table.things[one], table.things[other]
        return table.with_thing(one, a.put(b.at_mm)).with_thing(other, b.put(a.at_mm))

    def _recolour(self, state: State, table: Table, chance: Random) -> Table:
        name = chance.choice(list(table.things))
        (other,) = {*state.players} - {table.things[name].colour}
        return table.with_thing(name, replace(table.things[name], colour=other))

    def _extra(self, state: State, table: Table, chance: Random) -> Table:
        cell = label(chance.choice(_free(state)))
        thing = self._ship(chance.choice(state.players), cell, chance)
        return table.with_thing("one too many", thing)

    def _straighten(self, _state: State, table: Table, chance: Random) -> Table:
        """A ship is put straight in its cell."""
        name = chance.choice(list(table.things))
        return self._carry(table, name, self._cell(table.things[name].at_mm), chance)

    # What people are told to do.

    def follow(self, state: State, table: Table, verdict: Verdict, _old: Table) -> Table | None:
        """Each order to the letter."""
        text, chance = sentences_of(verdict), Random(0)
        after = table
        for player, cell in re.findall(rf"(\w+)'s ship to {CELL}", text):
            after = self._put_ship(after, state, player.lower(), cell, chance)
        for player, cell, _ in re.findall(rf"(\w+)'s ship from {CELL} is on {CELL}\.", text):
            after = self._put_ship(after, state, player.lower(), cell, chance)
        for player, cell in re.findall(rf"(\w+)'s ship from {CELL} is missing\.", text):
            after = self._put_ship(after, state, player.lower(), cell, chance)
        if listed := re.search(r"Not seen on the board: (.*?)\. Put it there", text):
            for player, cell in re.findall(rf"(\w+)'s ship from {CELL}", listed[1]):
                after = self._put_ship(after, state, player.lower(), cell, chance)
        for colour, cell in re.findall(rf"There is one (\w+) ship too many, on {CELL}\.", text):
            after = self._take_ship(after, colour, cell)
        pattern = rf"A (\w+) ship stands on {CELL}, but (\w+)'s ship belongs on {CELL}\."
        for colour, cell, player, home in re.findall(pattern, text):
            after = self._take_ship(after, colour, cell)
            after = self._put_ship(after, state, player.lower(), home, chance)
        if fallen := re.search(r"Stand the (\w+) ship upright where it belongs", text):
            after = self._stand_up(after, fallen[1])
        after = self._ice_put_right(after, text, chance)
        return None if after is table else after

    def _ice_put_right(self, table: Table, text: str, chance: Random) -> Table:
        for put in re.findall(r"(?:Put back|Missing:)[^.]*?the icebergs? on ([^.]*)\.", text):
            for cell in re.findall(CELL, put):
                if not any(self._cell(np.array(at)) == cell for at in table.counters.values()):
                    table = self._put_ice(table, cell, chance)
        for gone in re.findall(r"No iceberg belongs on ([^.]*)\.", text):
            table = self._clear_cells(table, re.findall(CELL, gone))
        for cell in re.findall(rf"The ship is on {CELL}: take the iceberg there away", text):
            table = self._clear_cells(table, [cell])
        for cell in re.findall(
            rf"The iceberg on {CELL} is gone: now move the ship.*put it back", text
        ):
            table = self._put_ice(table, cell, chance)
        return table

    def _clear_cells(self, table: Table, cells: list[str]) -> Table:
        names = [name for name, at in table.counters.items() if self._cell(np.array(at)) in cells]
        return table.without(*names) if names else table

    def _put_ship(
        self, table: Table, state: State, player: str, cell: str, chance: Random
    ) -> Table:
        """The player's ship of that cell, wherever it is; another of theirs where it is none."""
        name = f"ship {cell}"
        if name not in table.things or self._cell(table.things[name].at_mm) == cell:
            spare = [
                other
                for other, one in table.things.items()
                if one.colour == player
                and (self._cell(one.at_mm), player) not in _recorded(state)[0]
            ]
            name = spare[0] if spare else f"ship {cell}"
        off = {other: one for other, one in table.off.items() if other != name}
        return replace(table, off=off).with_thing(name, self._ship(player, cell, chance))

    def _take_ship(self, table: Table, colour: str, cell: str) -> Table:
        names = [
            n
            for n, one in table.things.items()
            if (one.colour, self._cell(one.at_mm)) == (colour, cell)
        ]
        return table.without(*names[:1]) if names else table

    def _stand_up(self, table: Table, colour: str) -> Table:
        """A fallen ship is stood up where it belongs, which is the cell it fell in."""
        for name, one in table.things.items():
            if one.pose != "upright" and one.colour == colour:
                return table.with_thing(name, replace(one, pose="upright", heading_deg=0.0))
        return table

    # Things.

    def _finish_act(self, state: State, table: Table) -> Table | None:
        """A half done act finished: the iceberg under the ship is taken."""
        ships = {self._cell(one.at_mm) for one in table.things.values()}
        bare = self._clear_cells(table, list(ships))
        return bare if self.truth(state, bare).kind == "lawful" else None

    def _lay_out(self, state: State, chance: Random) -> Table:
        table = Table()
        for player, cells in zip(state.players, state.ships, strict=True):
            for cell in map(label, members(cells)):
                table = table.with_thing(f"ship {cell}", self._ship(player, cell, chance))
        for cell in map(label, members(state.ice)):
            table = self._put_ice(table, cell, chance)
        return table

    def _apply_move(self, table: Table, move: Move, chance: Random, take: bool = True) -> Table:
        there = label(move.to_cell)
        table = self._carry(table, f"ship {label(move.from_cell)}", there, chance)
        return table.without(f"ice {there}") if take else table

    def _carry(self, table: Table, name: str, cell: str, chance: Random) -> Table:
        return table.with_thing(name, table.things[name].put(self._spot(cell, chance)))

    def _name_by_cell(self, table: Table) -> Table:
        named = self.name_things(None, table)
        return replace(table, things=named.things, counters=named.counters)

    def _ship(self, player: str, cell: str, chance: Random) -> Thing:
        x, y = self._spot(cell, chance)
        return Thing(player, "medium", "upright", float(x), float(y), chance.uniform(0, 90))

    def _put_ice(self, table: Table, cell: str, chance: Random) -> Table:
        x, y = self._spot(cell, chance)
        return replace(table, counters={**table.counters, f"ice {cell}": (float(x), float(y))})

    def _spot(self, cell: str, chance: Random) -> np.ndarray:
        turn, away = chance.uniform(0, 2 * np.pi), SLOPPY_MM * chance.random()
        return self._middles[cell] + away * np.array([np.cos(turn), np.sin(turn)])

    def _distance_cells(self, one: str, other: str) -> float:
        """In cells."""
        return float(np.hypot(*(self._middles[one] - self._middles[other]))) / self.board.cell_mm

    def _visible_ice(self, table: Table) -> list[str]:
        """Icebergs that no ship hides."""
        return [name for name in table.counters if self._is_clear(table, name.removeprefix("ice "))]

    def _is_clear(self, table: Table, cell: str) -> bool:
        at, reach = self._middles[cell], OPEN_CELLS * self.board.cell_mm
        return all(np.hypot(*(one.at_mm - at)) > reach for one in table.things.values())


def _recorded(state: State) -> tuple[frozenset, frozenset, bool]:
    ships = [
        (label(cell), player)
        for player, cells in zip(state.players, state.ships, strict=True)
        for cell in members(cells)
    ]
    return frozenset(ships), frozenset(map(label, members(state.ice))), False


def _cells(state: State, ships: frozenset, ice: frozenset) -> tuple[tuple[int, ...], int]:
    """What was read as sets of cells."""
    owned = [[cell for cell, owner in ships if owner == player] for player in state.players]
    return tuple(union(*map(parse_cell, filter(None, own))) for own in owned), union(
        *map(parse_cell, ice)
    )


def _ways(state: State, ships: tuple[int, ...], ice: int) -> list[tuple[str, ...]]:
    """One legal move, or two, that leave ships and ice so."""
    ways = []
    for first in engine.legal_moves(state):
        after = engine.play(state, first)
        if (after.ships, after.ice) == (ships, ice):
            ways.append((str(first),))
        for then in engine.legal_moves(after):
            last = engine.play(after, then)
            if (last.ships, last.ice) == (ships, ice):
                ways.append((str(first), str(then)))
    return sorted(ways, key=len)


def _free(state: State) -> list[int]:
    return list(members(state.setting.board.cells & ~state.ships[0] & ~state.ships[1]))
