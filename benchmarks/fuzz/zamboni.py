"""Zamboni Wars before the fuzzer: nests and cover dice anywhere, dice told at any time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import numpy as np

from benchmarks.fuzz.fuzzer import NOTHING, FuzzedAct, Truth, sentences_of
from benchmarks.fuzz.table import Effect, OnTable, Table, Thing, camera_over, do_something, solid_of
from engines import zamboni_wars as engine
from engines.verdict import Verdict
from engines.zamboni_wars.board import FACINGS, SPACES, Space
from engines.zamboni_wars.moves import Drive, Fire, Move, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, Rolling, RollOff, Shooting
from engines.zamboni_wars.state import LAYER_SIZES, State, Zamboni
from table.boards import Coasters
from table.clearance import is_free
from table.pieces import load_piece_set

SLOPPY_MM, SLOPPY_DEG = 4.0, 6.0
"""Hands lay nests so far from the middle of a space, and so far from a compass point, at most."""
TRIES = 60
LAYERS = {size: layers for layers, size in LAYER_SIZES.items()}
SEATS = (
    ("yellow", "blue"),
    ("red", "green"),
    ("yellow", "red", "blue"),
    ("yellow", "red", "blue", "green"),
)
SPACE, FACING = r"([a-f][1-6])", r"([NESW]{1,2})"
LEFT_OUT = "beside the board"


class FuzzedZamboni(OnTable):
    """`Fuzzed`.  A nest is named by its player, cover dice are numbered."""

    _fallen = "upright"

    name, engine = "zamboni_wars", engine
    board = Coasters(cell_mm=33.9, coaster_mm=101.6, layout=(("yellow", "red"), ("green", "blue")))

    def __init__(self) -> None:
        self._sizes = load_piece_set("looney")
        self._camera = camera_over(self.board.outline())

    def begin(self, chance: Random) -> tuple[State, Table]:
        """After any number of random moves."""
        while True:
            rulings = {
                "warp": chance.choice(["off", "on"]),
                "cover": chance.choice(["off", "on"]),
                "roll_off": chance.choice(["each", "once"]),
                "fire": chance.choice(["may", "may", "must"]),
            }
            state = engine.set_up(chance.choice(SEATS), rulings, self.board)
            for _ in range(chance.choice([0, chance.randrange(40), chance.randrange(250)])):
                if engine.outcome(state) is not None:
                    break
                state = engine.play(state, self._likely(state, chance))
            if (
                engine.outcome(state) is None
                and (table := self._lay_out(state, chance)) is not None
            ):
                return state, table

    @staticmethod
    def _likely(state: State, chance: Random) -> Move:
        """Any legal move, rather one that aims at somebody."""
        moves = list(engine.legal_moves(state))
        if isinstance(state.phase, Moving):
            tried = chance.sample(moves, min(4, len(moves)))
            aimed = [one for one in tried if isinstance(engine.play(state, one).phase, Aiming)]
            return aimed[0] if aimed else tried[0]
        return chance.choice(moves)

    def name_things(self, state: State, table: Table) -> Table:
        """Only what is in play; a nest by its player."""
        things = {
            one.colour: one
            for one in table.things.values()
            if one.colour in state.remaining_zambonis
        }
        if not state.cover_dice or len(table.dice or {}) == len(state.dice):
            return Table(things=things, dice=table.dice)
        return Table(things=things, dice=self._dice(state, Random(str(state))))

    def random_act(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """A word, or one of those below; what it truly was is told by the table alone."""
        waits = isinstance(state.phase, RollOff | Rolling | Shooting | Aiming)
        if chance.random() < (0.6 if waits else 0.08):
            return self._word(state, table, chance)
        effects: dict[str, Effect] = {
            "lawful": self._lawful,
            "near the edge": self._near_the_edge,
            "wrong drive": self._wrong_drive,
            "other's drive": self._others_drive,
            "two at once": self._two_at_once,
            "drive and wrong piece taken": self._drive_and_strip,
            "wrong piece taken": self._strip,
            "piece put over": self._armour,
            "act half done": self._half,
            "drive that knocks": self._knocks,
            "knocked": self._knock_over,
            "knocked off": self._knock_off,
            "toppled": self._topple,
            "leaning": self._leaning,
            "swapped": self._swap,
            "another colour": self._recolour,
            "extra piece": self._extra,
            "piece left on the board": self._left_on,
            "cover die carried": self._carry,
            "nothing": lambda _state, table, _chance: table,
            "straightened": self._straighten,
        }
        effect, after = do_something(effects, state, table, chance, lawful=8)
        return FuzzedAct(effect, after, self.truth(state, after))

    def _word(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """A die, a shot or none, at its time or not."""
        player = state.to_move if chance.random() < 0.75 else chance.choice(state.players)
        pips, target = chance.randint(1, 6), chance.choice(state.players)
        mine = player == state.to_move
        heard: dict[str, Any] = {"player": player, "die": pips}
        moves: tuple[str, ...] = ()
        if chance.random() < (0.4 if isinstance(state.phase, Moving) else 0.1):
            return self._word_without_move(state, table, player)
        match state.phase:
            case RollOff() | Rolling() if mine:
                moves = (f"roll {pips}",)
            case Shooting() if mine:
                moves = (f"die {pips}",)
            case Aiming(aimed) if mine:
                target = chance.choice([target, aimed])
                input_kind = chance.choice(["die", "fire", "hold"])
                if input_kind == "die":
                    last = state.remaining_zambonis[aimed].layers == 1
                    moves = (f"fire {aimed}",) if last else (f"fire {aimed}", f"die {pips}")
                elif input_kind == "fire":
                    heard = {"player": player, "fire": target}
                    moves = (f"fire {aimed}",) if target == aimed else ()
                else:
                    heard = {"player": player, "hold": True}
                    moves = ("hold",) if state.ruling("fire") == "may" else ()
            case _:
                other = {"player": player, **chance.choice([{"fire": target}, {"hold": True}])}
                heard = chance.choice([heard, other])
        if moves:
            return FuzzedAct("told", table, Truth("lawful", moves), heard)
        kind = "said" if "die" in heard else "forbidden"
        return FuzzedAct("told at another time", table, Truth(kind, codes=_ANY_WORD), heard)

    @staticmethod
    def _word_without_move(state: State, table: Table, player: str) -> FuzzedAct:
        """A move that ends where it began: nobody can see that."""
        heard, drive = (
            {"player": player, "stays": True},
            Drive(state.mover.space, state.mover.facing),
        )
        if player != state.to_move or engine.violation(state, drive):
            truth = Truth("forbidden", codes=frozenset({"zamboni.move"}))
            return FuzzedAct("told at another time", table, truth, heard)
        return FuzzedAct("told that it stays", table, Truth("lawful", (str(drive),)), heard)

    # What truly happened.

    def truth(self, state: State, table: Table) -> Truth:
        """By spaces, facings and sizes: nothing, moves that leave just this, or none."""
        now = self._read(state, table)
        if now == _recorded(state):
            return NOTHING
        ways = [way for way in _ways(state) if _recorded(way[1]) == now]
        if ways:
            moves, *others = [moves for moves, _ in ways]
            return Truth("lawful", moves, tuple(others))
        codes, parts = self._codes(state, now)
        return Truth("forbidden" if codes and parts == 1 else "amiss", codes=codes)

    def _codes(self, state: State, now: tuple) -> tuple[frozenset[str], int]:
        """Violations that each change of a nest may be called, and the number of changes."""
        nests, dice, rest = now
        were, were_dice, _ = _recorded(state)
        codes, parts = [], len(rest) + (dice != were_dice)
        for player in were:
            if nests.get(player) == were[player]:
                continue
            space, facing, layers = nests.get(player, (None, None, 0))
            parts += 1
            if layers < were[player][2]:
                wrong = engine.violation(state, Take(player))
                codes.append(wrong.code if wrong else "zamboni.take.two")
            elif (space, facing) != were[player][:2] and player != state.to_move:
                codes.append("zamboni.move.player")
            elif (space, facing) != were[player][:2]:
                pushed = () if dice == were_dice else dice
                parts -= bool(pushed)
                wrong = engine.violation(state, Drive(space, facing, pushed))
                codes += [wrong.code] if wrong else []
        return frozenset(codes), parts

    def _read(self, state: State, table: Table) -> tuple:
        """(space, facing, layers) by player, spaces of cover dice, and things of no player."""
        nests: dict[str, tuple[Space, str, int]] = {}
        rest = []
        for one in table.things.values():
            space = self._space(self._middle(one))
            if one.pose != "lying" or one.colour in nests or space is None:
                rest.append((one.colour, one.pose, space))
                continue
            facing = FACINGS[round((90 - one.heading_deg) / 45) % 8]
            nests[one.colour] = (space, facing, LAYERS[one.size])
        dice = [space for at in (table.dice or {}).values() if (space := self._space(np.array(at)))]
        if isinstance(state.phase, RollOff):
            dice = list(state.dice)
        return nests, tuple(sorted(dice)), tuple(rest)

    def _space(self, at_mm: np.ndarray) -> Space | None:
        file, row = np.floor(at_mm / self.board.cell_mm).astype(int)
        return Space(int(file), int(row)) if 0 <= file < 6 and 0 <= row < 6 else None

    def _middle(self, one: Thing) -> np.ndarray:
        if one.pose != "lying":
            return one.at_mm
        turn = math.radians(one.heading_deg)
        ahead = np.array([math.cos(turn), math.sin(turn)])
        return one.at_mm + self._sizes[one.size].slant_mm / 3 * ahead

    # What people do.

    def _lawful(self, state: State, table: Table, chance: Random) -> Table | None:
        ways = [way for way in _ways(state) if len(way[0]) == 1] or list(_ways(state))
        if not ways:
            return None
        _, after = chance.choice(ways)
        return self._table_after(state, after, table, chance)

    def _near_the_edge(self, state: State, table: Table, chance: Random) -> Table | None:
        """A legal drive that ends within the doubt of another space or facing."""
        after = self._lawful(state, table, chance)
        if after is None or not isinstance(state.phase, Moving):
            return None
        one = after.things[state.to_move]
        if chance.random() < 0.5:
            point = 90 - 45 * round((90 - one.heading_deg) / 45)
            heading = point + chance.choice([-1, 1]) * chance.uniform(15.5, 22.0)
            middle = self._middle(one)
            return self._place_if_free(
                after, state.to_move, self._nest(one.colour, middle, heading, one.size)
            )
        cell = self.board.cell_mm
        middle = (np.floor(self._middle(one) / cell) + 0.5) * cell
        shift = np.zeros(2)
        shift[chance.randrange(2)] = chance.choice([-1, 1]) * (cell / 2 - chance.uniform(0.1, 2.5))
        return self._place_if_free(
            after, state.to_move, self._nest(one.colour, middle + shift, one.heading_deg, one.size)
        )

    def _wrong_drive(self, state: State, table: Table, chance: Random) -> Table | None:
        return self._drive_nest(table, state.to_move, state, chance)

    def _others_drive(self, state: State, table: Table, chance: Random) -> Table | None:
        player = chance.choice(
            [player for player in state.remaining_zambonis if player != state.to_move]
        )
        return self._drive_nest(table, player, state, chance)

    def _drive_nest(self, table: Table, player: str, state: State, chance: Random) -> Table | None:
        """A nest goes to any space, often beside its own, or only looks another way."""
        here = state.remaining_zambonis[player]
        beside = [here.space.ahead(way) for way in FACINGS]
        space = chance.choice(
            [chance.choice(SPACES), here.space, chance.choice(beside) or here.space]
        )
        facing = chance.choice(FACINGS)
        taken = {
            nest.space for name, nest in state.remaining_zambonis.items() if name != player
        } | {*state.dice}
        if space in taken:
            return None
        return self._put(table, player, Zamboni(space, facing, here.layers), chance)

    def _two_at_once(self, state: State, table: Table, chance: Random) -> Table | None:
        """Two acts that follow each other by the rules; else two nests go anywhere."""
        longer = [after for moves, after in _ways(state) if len(moves) > 1]
        if longer and chance.random() < 0.7:
            return self._table_after(state, chance.choice(longer), table, chance)
        for player in chance.sample(list(state.remaining_zambonis), 2):
            driven = self._drive_nest(table, player, state, chance)
            if driven is None:
                return None
            table = driven
        return table

    def _drive_and_strip(self, state: State, table: Table, chance: Random) -> Table | None:
        driven = self._lawful(state, table, chance)
        return driven and self._strip(state, driven, chance)

    def _strip(self, state: State, table: Table, chance: Random) -> Table | None:
        """One or two layers are taken off somebody's nest."""
        player = chance.choice(list(state.remaining_zambonis))
        layers = state.remaining_zambonis[player].layers - chance.choice([1, 1, 1, 2])
        if player not in table.things or layers < 0:
            return None
        return self._with_layers(table, player, layers, chance)

    def _armour(self, state: State, table: Table, chance: Random) -> Table | None:
        player = chance.choice(list(state.remaining_zambonis))
        layers = state.remaining_zambonis[player].layers + 1
        return (
            self._with_layers(table, player, layers, chance) if layers <= max(LAYER_SIZES) else None
        )

    def _half(self, state: State, table: Table, chance: Random) -> Table | None:
        """The nest is in a hand, or only the cover die is pushed, or only the nest drove."""
        if not isinstance(state.phase, Moving):
            return table.without(chance.choice(list(state.remaining_zambonis)))
        pushing = [after for moves, after in _ways(state) if after.dice != state.dice]
        if not pushing or chance.random() < 0.4:
            return table.without(state.to_move)
        after = self._table_after(state, chance.choice(pushing), table, chance)
        if after is None:
            return None
        if chance.random() < 0.5:
            return replace(after, dice=table.dice)
        return replace(table, dice=after.dice)

    def _knocks(self, state: State, table: Table, chance: Random) -> Table | None:
        driven = self._lawful(state, table, chance)
        other = chance.choice([self._knock_over, self._knock_off, self._topple, self._carry])
        return driven and other(state, driven, chance)

    def _knock_over(self, _state: State, table: Table, chance: Random) -> Table | None:
        """A nest is pushed any distance and turned any way."""
        name = chance.choice(list(table.things))
        one = table.things[name]
        where = np.array([chance.uniform(20, 183), chance.uniform(20, 183)])
        near = self._middle(one) + np.array([chance.gauss(0, 12), chance.gauss(0, 12)])
        heading = chance.choice([chance.uniform(0, 360), one.heading_deg + chance.gauss(0, 20)])
        middle = near if chance.random() < 0.5 else where
        if self._space(middle) is None or self._unclear(middle, heading):
            return None
        if self._space(middle) in {self._space(np.array(at)) for at in (table.dice or {}).values()}:
            return None
        return self._place_if_free(table, name, self._nest(one.colour, middle, heading, one.size))

    def _unclear(self, middle: np.ndarray, heading: float) -> bool:
        """Is it within the doubt between two spaces, or two facings?"""
        cell = self.board.cell_mm
        away = np.abs(middle / cell - np.floor(middle / cell) - 0.5).max() * cell
        turned = abs((90 - heading) / 45 - round((90 - heading) / 45)) * 45
        return bool(away > cell / 2 - 2.5 or turned > 14)

    def _knock_off(self, _state: State, table: Table, chance: Random) -> Table:
        return table.knocked_off(chance.choice(list(table.things)), np.array([260.0, 100.0]))

    def _change_pose(self, table: Table, pose: str, chance: Random) -> Table:
        name = chance.choice(list(table.things))
        one = table.things[name]
        return table.with_thing(name, one.put(self._middle(one), pose=pose))

    def _swap(self, state: State, table: Table, chance: Random) -> Table | None:
        one, other = chance.sample(list(state.remaining_zambonis), 2)
        rest = table.without(one, other)
        a, b = state.remaining_zambonis[one], state.remaining_zambonis[other]
        first = self._put(rest, one, replace(b, layers=a.layers), chance)
        return first and self._put(first, other, replace(a, layers=b.layers), chance)

    def _recolour(self, _state: State, table: Table, chance: Random) -> Table:
        """A nest of another colour lies there instead."""
        name = chance.choice(list(table.things))
        colours = [one for one in ("yellow", "red", "blue", "green") if one != name]
        return table.with_thing(name, replace(table.things[name], colour=chance.choice(colours)))

    def _extra(self, state: State, table: Table, chance: Random) -> Table | None:
        colour = chance.choice(["yellow", "red", "blue", "green"])
        return self._spare(state, table, colour, chance)

    def _left_on(self, state: State, table: Table, chance: Random) -> Table | None:
        """The layer that was hit is taken off the nest and laid beside it, or stood up there."""
        if not isinstance(state.phase, Hit):
            return None
        stripped = self._lawful(state, table, chance)
        return stripped and self._spare(
            state,
            stripped,
            state.phase.target,
            chance,
            state.remaining_zambonis[state.phase.target].layers,
        )

    def _spare(
        self, state: State, table: Table, colour: str, chance: Random, layers: int | None = None
    ) -> Table | None:
        taken = {nest.space for nest in state.remaining_zambonis.values()} | {*state.dice}
        space = chance.choice([space for space in SPACES if space not in taken])
        zamboni = Zamboni(space, chance.choice(FACINGS), layers or chance.choice(list(LAYER_SIZES)))
        for _ in range(TRIES):
            nest = self._sloppy_nest(colour, zamboni, chance)
            if (spared := self._place_if_free(table, LEFT_OUT, nest)) is not None:
                return spared
        return None

    def _carry(self, state: State, table: Table, chance: Random) -> Table | None:
        if not state.dice or not table.dice:
            return None
        taken = {nest.space for nest in state.remaining_zambonis.values()} | {*state.dice}
        space = chance.choice([space for space in SPACES if space not in taken])
        return replace(
            table, dice={**table.dice, chance.choice(list(table.dice)): self._die(space, chance)}
        )

    def _straighten(self, state: State, table: Table, chance: Random) -> Table | None:
        player = chance.choice(list(state.remaining_zambonis))
        return self._put(table, player, state.remaining_zambonis[player], chance)

    # What people are told to do.

    def follow(self, state: State, table: Table, verdict: Verdict, _old: Table) -> Table | None:
        """Each order to the letter."""
        text, after = sentences_of(verdict), table
        for move in self._orders(state, text):
            after = move(after) or after
        if "no roll is known" in text:
            player = state.to_move if isinstance(state.phase, Rolling) else state.follower
            after = self._put_back(after, player, state.remaining_zambonis[player])
        if "die was not announced" in text:  # nobody rolled: what was taken is put back
            for player, nest in state.remaining_zambonis.items():
                after = self._with_layers(after, player, nest.layers, Random(0)) or after
        return None if after is table else after

    def _orders(self, state: State, text: str) -> Iterator[Callable[[Table], Table | None]]:
        nests = re.findall(rf"(\w+)'s (\w+) nest on {SPACE}, facing {FACING}", text)
        nests += [
            (player, LAYER_SIZES[state.remaining_zambonis[player.lower()].layers], space, facing)
            for player, space, facing in [
                *re.findall(
                    rf"(\w+)'s Zamboni is on \w+, facing \w+, but belongs on {SPACE}, facing"
                    rf" {FACING}",
                    text,
                ),
                *re.findall(rf"(\w+)'s \(it was on {SPACE}, facing {FACING}\)", text),
                *re.findall(rf"Lay (\w+)'s Zamboni on {SPACE} again, facing {FACING}", text),
            ]
        ]
        for player, size, space, facing in nests:
            zamboni = Zamboni(Space.parse(space), facing, LAYERS[size])
            yield partial(self._put_back, player=player.lower(), zamboni=zamboni)
        for player in re.findall(r"(\w+)'s Zamboni is missing\.", text):
            yield partial(
                self._put_back,
                player=player.lower(),
                zamboni=state.remaining_zambonis[player.lower()],
            )
        for player, size in re.findall(r"(\w+)'s outermost piece is \w+, but was (\w+)\.", text):
            yield partial(
                self._with_layers, player=player.lower(), layers=LAYERS[size], chance=Random(0)
            )
        for player in re.findall(r"A \w+ nest lies on \w+, where (\w+)'s belongs", text):
            yield partial(self._exchange, player=player, zamboni=state.remaining_zambonis[player])
        for size, colour, space in [
            *re.findall(rf"There is an extra (\w+) (\w+) piece on {SPACE}", text),
            *re.findall(rf"Take the (\w+) (\w+) piece on {SPACE} off the board", text),
        ]:
            yield partial(self._accepts_table, colour=colour, size=size, space=space)
        for player in re.findall(r"Lay (\w+)'s Zamboni flat", text):
            yield partial(self._lay_as_recorded, state=state, player=player)
        if "cover die" in text or "Not seen: the cover dice" in text:
            yield partial(self._dice_put_back, state=state)

    def _put_back(self, table: Table, player: str, zamboni: Zamboni) -> Table | None:
        spare = [name for name, one in table.things.items() if one.colour == player]
        name = player if player in table.things else spare[0] if spare else player
        rest = replace(table.without(name), off={n: o for n, o in table.off.items() if n != player})
        chance = Random(1)
        return self._put(rest, player, zamboni, chance) or rest.with_thing(
            player, self._sloppy_nest(player, zamboni, chance)
        )

    def _exchange(self, table: Table, player: str, zamboni: Zamboni) -> Table | None:
        there = [
            n for n, one in table.things.items() if self._space(self._middle(one)) == zamboni.space
        ]
        return self._put_back(table.without(*there), player, zamboni)

    def _accepts_table(self, table: Table, colour: str, size: str, space: str) -> Table:
        names = [
            name
            for name, one in table.things.items()
            if (one.colour, one.size, str(self._space(self._middle(one)))) == (colour, size, space)
        ]
        return table.without(*names[-1:]) if names else table

    def _lay_as_recorded(self, table: Table, state: State, player: str) -> Table | None:
        """Laid where it stands, looking as it should: as it is recorded."""
        name = next(
            (n for n, one in table.things.items() if one.colour == player and one.pose != "lying"),
            None,
        )
        if name is None:
            return None
        one = table.things[name]
        if player not in state.remaining_zambonis or name != player:
            return table.without(name)
        zamboni = replace(state.remaining_zambonis[player], layers=LAYERS[one.size])
        space = self._space(one.at_mm)
        return self._put_back(table, player, replace(zamboni, space=space or zamboni.space))

    def _dice_put_back(self, table: Table, state: State) -> Table:
        """Each where it is recorded; those that lie there stay."""
        dice, there = dict(table.dice or {}), [*state.dice]
        lost = []
        for name, at in dice.items():
            space = self._space(np.array(at))
            if space in there:
                there.remove(space)
            else:
                lost.append(name)
        for name, space in zip(lost, there, strict=False):
            dice[name] = self._die(space, Random(2))
        return replace(table, dice=dice)

    # Things.

    def _lay_out(self, state: State, chance: Random) -> Table | None:
        table: Table | None = Table(dice=self._dice(state, chance) if state.cover_dice else None)
        for player, nest in state.remaining_zambonis.items():
            table = table and self._put(table, player, nest, chance)
        return table

    def _dice(self, state: State, chance: Random) -> dict[str, tuple[float, float]]:
        return {f"cover {n}": self._die(space, chance) for n, space in enumerate(state.dice)}

    def _table_after(
        self, state: State, after: State, table: Table, chance: Random
    ) -> Table | None:
        """The table changed from one state to another."""
        changed = table
        for player, nest in state.remaining_zambonis.items():
            now = after.remaining_zambonis.get(player)
            if now is None:
                changed = changed.without(player)
            elif (now.space, now.facing) != (nest.space, nest.facing):
                moved = self._put(changed, player, now, chance)
                if moved is None:
                    return None
                changed = moved
            elif now.layers != nest.layers:
                changed = self._with_layers(changed, player, now.layers, chance) or changed
        return self._dice_put_back(changed, after) if after.dice != state.dice else changed

    def _with_layers(self, table: Table, player: str, layers: int, chance: Random) -> Table | None:
        """So many layers, nearly where it lies, and looking the same way."""
        if player not in table.things:
            return None
        if layers == 0:
            return table.without(player)
        one = table.things[player]
        middle = self._middle(one) + np.array([chance.gauss(0, 0.4), chance.gauss(0, 0.4)])
        heading = one.heading_deg + chance.gauss(0, 0.8)
        if round(heading / 45) != round(one.heading_deg / 45):
            heading = one.heading_deg
        nest = self._nest(one.colour, middle, heading, LAYER_SIZES[layers])
        return self._place_if_free(table, player, nest)

    def _put(self, table: Table, player: str, zamboni: Zamboni, chance: Random) -> Table | None:
        for _ in range(TRIES):
            nest = self._sloppy_nest(player, zamboni, chance)
            if (put := self._place_if_free(table, player, nest)) is not None:
                return put
        return None

    def _place_if_free(self, table: Table, name: str, nest: Thing) -> Table | None:
        others = [
            solid_of(one, self._sizes) for other, one in table.things.items() if other != name
        ]
        return (
            table.with_thing(name, nest) if is_free(solid_of(nest, self._sizes), others) else None
        )

    def _sloppy_nest(self, player: str, zamboni: Zamboni, chance: Random) -> Thing:
        turn, away = chance.uniform(0, 2 * np.pi), SLOPPY_MM * chance.random()
        middle = self.board.cell_mm * (np.array(zamboni.space) + 0.5)
        middle = middle + away * np.array([np.cos(turn), np.sin(turn)])
        heading = 90 - 45 * FACINGS.index(zamboni.facing) + chance.uniform(-SLOPPY_DEG, SLOPPY_DEG)
        return self._nest(player, middle, heading, LAYER_SIZES[zamboni.layers])

    def _nest(self, player: str, middle_mm: np.ndarray, heading_deg: float, size: str) -> Thing:
        """A nest by the middle of what it lies on."""
        turn = math.radians(heading_deg)
        back = self._sizes[size].slant_mm / 3 * np.array([math.cos(turn), math.sin(turn)])
        x, y = middle_mm - back
        return Thing(player, size, "lying", float(x), float(y), heading_deg % 360)

    def _die(self, space: Space, chance: Random) -> tuple[float, float]:
        x, y = self.board.cell_mm * (np.array(space) + 0.5)
        return float(x + chance.uniform(-6, 6)), float(y + chance.uniform(-6, 6))


_ANY_WORD = frozenset(
    {"zamboni.turn", "zamboni.fire", "zamboni.hold", "zamboni.roll", "zamboni.die"}
)


def _recorded(state: State) -> tuple:
    nests = {
        player: (nest.space, nest.facing, nest.layers)
        for player, nest in state.remaining_zambonis.items()
    }
    return nests, state.dice, ()


def _ways(state: State) -> Iterator[tuple[tuple[str, ...], State]]:
    """What may happen on the board without a word.

    A drive, a hit taken off, a last layer shot and taken.
    """
    todo: list[tuple[tuple[str, ...], State]] = [((), state)]
    while todo:
        moves, now = todo.pop(0)
        for way in _next(now):
            after = now
            for move in way:
                after = engine.play(after, move)
            found = (*moves, *map(str, way))
            yield found, after
            if len(found) < 3 and not isinstance(after.phase, Rolling):
                todo.append((found, after))


def _next(state: State) -> Iterator[tuple[Move, ...]]:
    match state.phase:
        case Moving():
            yield from ((move,) for move in engine.legal_moves(state) if isinstance(move, Drive))
        case Hit(target):
            yield (Take(target),)
        case Aiming(target) if state.remaining_zambonis[target].layers == 1:
            yield Fire(target), Take(target)
