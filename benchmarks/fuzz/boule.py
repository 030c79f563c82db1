"""Ice Boule for the fuzzer.

Throws touch, knock, stack and leave the ground, and hands carry things.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from benchmarks.fuzz.fuzzer import NOTHING, FuzzedAct, Truth, do_deed, sentences_of
from benchmarks.fuzz.table import OnTable, Table, Thing, camera_over, solid_of
from engines import ice_boule as engine
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import Line, LineMarked, Move, Size, Target, Throw, Void
from engines.ice_boule.state import State
from engines.verdict import Verdict
from table.boards import Open
from table.clearance import clearance, is_free
from table.pieces import load_piece_set
from table.solids import Pose, lying

WIDTH_MM, DEPTH_MM, EDGE_MM = 600.0, 450.0, 50.0
APART_MM, TRIES = 2.0, 200
MOVED_MM = 8.0
"""What is knocked goes at least so far."""
SAME_MM = 0.1
SIZE, TARGET = "large", "target"
HOUSE_RULES = ("stop", "repeat", "equal", "out", "sizes", "on_target")
SIZES = ("small", "medium", "large")
OFTEN = {"lawful": 6, "on the target": 3, "stack pushed over": 4}
"""Acts that are tried more often than others; most stacks cannot be built, or are not there."""
NESTS_MM = 8.0
"""What was pushed over and is still in the piece that it stood on sticks out of that by so much."""
COLOURS = ("red", "blue", "green", "black")
TARGETS = ("yellow", "white")
Effects = dict[str, Callable[[State, Table, Random], FuzzedAct | None]]


class FuzzedBoule(OnTable):
    """`Fuzzed`.  The target is named so; projectiles are numbered as they were thrown, `red 3`."""

    name, engine = "ice_boule", engine
    board = Open(outline_mm=((0.0, 0.0), (WIDTH_MM, 0.0), (WIDTH_MM, DEPTH_MM), (0.0, DEPTH_MM)))

    def __init__(self) -> None:
        self._sizes = load_piece_set("looney")
        self._camera = camera_over(self.board.outline())
        self._thrown = 0
        self._chosen: dict[str, str] = {}

    def begin(self, chance: Random) -> tuple[State, Table]:
        """After any number of lawful throws."""
        rulings = {
            ruling.name: chance.choice(ruling.values)
            for ruling in engine.RULINGS
            if ruling.name in HOUSE_RULES and chance.random() < 0.5
        }
        players = tuple(chance.sample(COLOURS, chance.choice([1, 2, 2, 2, 3])))
        self._chosen = {player: chance.choice((*SIZES, SIZE, SIZE)) for player in players}
        state, table = engine.start(players, rulings), Table()
        for _ in range(
            chance.choice([0, chance.randrange(14), chance.randrange(14), chance.randrange(60)])
        ):
            deed = self._likely(state, table, chance)
            if deed is None or deed.truth.kind != "lawful":
                break
            after = engine.play(state, engine.parse_move(deed.truth.moves[0]))
            if engine.outcome(after) is not None:
                break
            state, table = after, self.name_things(after, deed.table)
        return state, table

    def _likely(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """The next lawful act, and rather a stack than chance would bring."""
        if state.next is None:
            return self._target(state, table, chance)
        if state.undeclared:
            player = state.undeclared[0]
            return FuzzedAct("", table, Truth("lawful", (str(Size(player, self._chosen[player])),)))
        on_it = self._on_target(state, table, chance) if chance.random() < 0.15 else None
        return on_it or self._throw(state, table, chance)

    def name_things(self, state: State, table: Table) -> Table:
        """Nothing is left beside the ground; the one piece of the target's colour is the target."""
        return Table(
            things={
                TARGET if one.colour == state.target else name: one
                for name, one in table.things.items()
            }
        )

    def same(self, state: State, other: State) -> bool:
        """In all that counts: distances may be known better or worse."""

        def facts(one: State) -> tuple[Any, ...]:
            lies = Counter((lie.colour, lie.on_target) for lie in one.layout.lies)
            ended = one.target is None
            return (
                one.scores,
                one.next,
                one.starter,
                one.target,
                one.thrown,
                one.end,
                *(() if ended else (one.leading, lies, one.sizes)),
            )

        return facts(state) == facts(other)

    def random_act(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """A word, or one of those below."""
        if chance.random() < (0.7 if state.undeclared else 0.1):
            return self._word(state, table, chance)
        effects = self._between() if state.next is None else self._throws()
        weights = [OFTEN.get(effect, 1) for effect in effects]
        return do_deed(effects, weights, state, table, chance)

    def _throws(self) -> Effects:
        return {
            "lawful": self._throw,
            "level with another": self._level,
            "touching": self._touching,
            "on the target": self._on_target,
            "throw that knocks": self._throw_that_knocks,
            "throw that knocks the target": self._throw_at_the_target,
            "stack pushed over": self._push_over,
            "target knocked out": self._target_out,
            "thrown off the board": self._throw_out,
            "off the board, and knocks": self._out_that_knocks,
            "thrown out of turn": self._out_of_turn,
            "two at once": self._two_at_once,
            "two players at once": self._two_players,
            "another size": self._another_size,
            "piece carried": self._carry,
            "knocked off": self._knock_off,
            "piece stolen": self._steal,
            "swapped": self._swap,
            "another colour": self._recolour,
            "extra piece": self._extra,
            "nothing": lambda _state, table, _chance: FuzzedAct("", table, NOTHING),
        }

    def _between(self) -> Effects:
        return {
            "lawful": self._target,
            "target toppled": self._target_toppled,
            "board not cleared": self._not_cleared,
            "two targets": self._two_targets,
            "target in a player's colour": self._own_target,
            "nothing": lambda _state, table, _chance: FuzzedAct("", table, NOTHING, compared=True),
        }

    def _word(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        player = (
            state.next if state.next and chance.random() < 0.6 else chance.choice(state.players)
        )
        word = chance.choice(["stop", "out", "void", "size", "line"])
        heard: dict[str, Any] = {"player": player, word: True}
        if word == "size" or (state.undeclared and chance.random() < 0.7):
            player = state.undeclared[0] if state.undeclared else player
            size = self._chosen[player] if chance.random() < 0.8 else chance.choice(SIZES)
            word, heard = "size", {"player": player, "size": size}
        if word in ("stop", "out"):  # what hangs on distances is asked about
            return FuzzedAct("told at any time", table, Truth("said"), heard)
        if word == "line" and chance.random() < 0.7:
            player = state.starter
            points = [[chance.uniform(0, WIDTH_MM), 0.0], [chance.uniform(0, WIDTH_MM), DEPTH_MM]]
            heard = {"player": player, "line": chance.choice([True, points])}
        move: Move = Void() if word == "void" else LineMarked()
        if word == "size":
            move = Size(player, heard["size"])
        elif word == "line" and heard["line"] is not True:
            (x0, y0), (x1, y1) = heard["line"]
            move = Line((round(x0, 1), y0), (round(x1, 1), y1))
        wrong = engine.violation(state, move)
        if wrong or (word == "line" and player != state.starter):
            codes = frozenset({wrong.code if wrong else "boule.line"})
            return FuzzedAct("told at another time", table, Truth("forbidden", codes=codes), heard)
        return FuzzedAct("told", table, Truth("lawful", (str(move),)), heard)

    # What truly happened.

    def truth(self, state: State, table: Table) -> Truth:
        """Whether a table that people put right is as recorded.

        Between ends: whether a target stands there alone.
        """
        if state.target is None:
            alone = list(table.things.values())
            if (
                len(alone) == 1
                and TARGET not in table.things
                and alone[0].pose == "upright"
                and alone[0].colour not in state.players
            ):
                return Truth("lawful", (str(Target(alone[0].colour)),))
            return NOTHING
        if TARGET not in table.things or table.things[TARGET].colour != state.target:
            return Truth("amiss")
        now, then = self._layout(state, table).lies, state.layout.lies
        known = {(lie.colour, lie.on_target) for lie in now} == {
            (lie.colour, lie.on_target) for lie in then
        }
        near = all(
            any(
                abs(one.gap_mm - lie.gap_mm) <= SAME_MM and one.colour == lie.colour for one in then
            )
            for lie in now
        )
        strange = any(
            one.colour not in state.players for name, one in table.things.items() if name != TARGET
        )
        return (
            NOTHING if known and near and not strange and len(now) == len(then) else Truth("amiss")
        )

    def _layout(self, state: State, table: Table) -> Layout:
        """All that lies in play, nearest first, measured without error."""
        lies = sorted(
            (
                self._lie(state, table, name)
                for name in table.things
                if table.things[name].colour in state.players
            ),
            key=lambda lie: lie.rank,
        )
        links = tuple(
            "=" if near.rank == far.rank and near.gap_mm == 0 else "<"
            for near, far in pairwise(lies)
        )
        return Layout(tuple(lies), links)

    @staticmethod
    def _stands(state: State, table: Table, one: Thing) -> bool:
        """Does a piece stand on the target, or on what stands there?  As ruled before play."""
        if one.on == TARGET or state.ruling("on_target") == "lowest":
            return one.on == TARGET and one.pose == table.things[TARGET].pose == "upright"
        below = table.things[str(one.on)]
        return one.pose == "upright" and FuzzedBoule._stands(state, table, below)

    def _lie(self, state: State, table: Table, name: str) -> Lie:
        target = solid_of(table.things[TARGET], self._sizes)
        one = table.things[name]
        if one.on is not None:
            return Lie(one.colour, 0.0, on_target=self._stands(state, table, one))
        return Lie(one.colour, clearance(solid_of(one, self._sizes), target).mm)

    def _act(self, state: State, table: Table, thrown: str | None, player: str) -> FuzzedAct:
        """A throw by its result, lawful or what the rules say of it."""
        layout = self._layout(state, table)
        lie = self._lie(state, table, thrown) if thrown else None
        size = table.things[thrown].size if thrown else None
        move = Throw(player, size, lie, layout)
        if wrong := engine.violation(state, move):
            return FuzzedAct("", table, Truth("forbidden", codes=frozenset({wrong.code})))
        return FuzzedAct("", table, Truth("lawful", (str(move),)))

    # Throws.

    def _new(self, colour: str) -> str:
        self._thrown += 1
        return f"{colour} {self._thrown}"

    def _throw(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        return self._landing(state, table, self._next(state, table, chance))

    def _size(self, state: State, player: str) -> str:
        """What a player throws in this end."""
        return state.size(player) or self._chosen.get(player, SIZE)

    def _next(
        self, state: State, table: Table, chance: Random, about_mm: np.ndarray | None = None
    ) -> Thing | None:
        """The piece of who throws next, at rest."""
        player = str(state.next)
        return self._rest(player, table, chance, about_mm, self._size(state, player))

    def _landing(
        self, state: State, table: Table, piece: Thing | None, size: str = ""
    ) -> FuzzedAct | None:
        if piece is None:
            return None
        name = self._new(piece.colour)
        piece = replace(piece, size=size or piece.size)
        return self._act(state, table.with_thing(name, piece), name, piece.colour)

    def _level(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece lands nearly as far from the target as another player's."""
        others = [
            name
            for name, one in table.things.items()
            if one.colour in state.players and one.colour != state.next and one.on is None
        ]
        if not others:
            return None
        wanted = self._lie(state, table, chance.choice(others)).gap_mm + chance.choice(
            [-1, 1]
        ) * chance.uniform(0.02, 0.8)
        target = solid_of(table.things[TARGET], self._sizes)
        for _ in range(TRIES // 10):
            piece = self._next(state, table, chance)
            if piece is None:
                return None
            toward = table.things[TARGET].at_mm - piece.at_mm
            toward = toward / np.hypot(*toward)
            for _ in range(8):
                gap = clearance(solid_of(piece, self._sizes), target).mm
                piece = piece.put(piece.at_mm + (gap - wanted) * toward)
            if abs(
                clearance(solid_of(piece, self._sizes), target).mm - wanted
            ) < 0.01 and self._free(table, piece):
                return self._landing(state, table, piece)
        return None

    def _touching(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece slides against the target."""
        target = solid_of(table.things[TARGET], self._sizes)
        piece = self._next(state, table, chance, table.things[TARGET].at_mm)
        if piece is None:
            return None
        toward = table.things[TARGET].at_mm - piece.at_mm
        toward = toward / np.hypot(*toward)
        for _ in range(20):
            piece = piece.put(
                piece.at_mm + clearance(solid_of(piece, self._sizes), target).mm * 0.999 * toward
            )
        gone = table.without(TARGET)
        return self._landing(state, table, piece) if self._free(gone, piece) else None

    def _on_target(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece comes to stand on the target, which stands, or on top of what stands there."""
        top, below = TARGET, table.things[TARGET]
        while over := [name for name, one in table.things.items() if one.on == top]:
            top, below = over[0], table.things[over[0]]
        size = self._size(state, str(state.next))
        if below.pose != "upright" or SIZES.index(size) > SIZES.index(below.size):
            return None
        heading = chance.uniform(0, 90)
        one = Thing(str(state.next), size, "upright", below.x_mm, below.y_mm, heading, on=top)
        return self._landing(state, table, one)

    def _push_over(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A stack is pushed over by the throw.

        Pieces come free of the target, or stay nested.
        """
        stack = [name for name, one in table.things.items() if one.on is not None]
        if not stack or any(table.things[name].pose != "upright" for name in (TARGET, *stack)):
            return None
        stood = {name: table.things[name] for name in stack}
        moved = table.without(*stack)
        nested = chance.random() < 0.4
        if nested or chance.random() < 0.5:
            fallen = self._push(moved, TARGET, chance, "lying" if nested else None)
            if fallen is None:
                return None
            moved = fallen
        target = moved.things[TARGET]
        ahead = np.array(
            [math.cos(math.radians(a)) for a in (target.heading_deg, target.heading_deg - 90)]
        )
        for number, (name, one) in enumerate(stood.items(), 1):
            if nested:
                at_mm, size = target.at_mm + NESTS_MM * number * ahead, self._sizes[one.size]
                shape = lying(size, *map(float, at_mm), target.heading_deg)
                fell = one.put(at_mm, pose="lying", heading_deg=target.heading_deg)
                moved = moved.with_thing(name, replace(fell, shape=shape))
                continue
            free = self._rest(one.colour, moved, chance, target.at_mm, one.size)
            if free is None:
                return None
            moved = moved.with_thing(name, free)
        return self._throw(state, moved, chance)

    def _throw_that_knocks(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        moved = self._knocks(table, chance)
        return moved and self._throw(state, moved, chance)

    def _throw_at_the_target(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """The target is pushed, or knocked over; what stood on it falls beside it."""
        if any(one.on for one in table.things.values()):
            return None
        moved = self._push(table, TARGET, chance)
        return moved and self._throw(state, moved, chance)

    def _target_out(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        if any(one.on for one in table.things.values()):
            return None
        out = table.knocked_off(TARGET, self._beside(0, chance))
        piece = self._next(state, out, chance)
        if piece is None:
            return None
        return FuzzedAct(
            "", out.with_thing(self._new(piece.colour), piece), Truth("lawful", (str(Void()),))
        )

    def _throw_out(
        self, state: State, table: Table, chance: Random, moved: bool = False
    ) -> FuzzedAct:
        out = {
            **table.off,
            "thrown": Thing(
                str(state.next),
                self._size(state, str(state.next)),
                "lying",
                *self._beside(len(table.off), chance),
            ),
        }
        act = self._act(state, replace(table, off=out), None, str(state.next))
        return replace(act, typed=None if moved else {"player": state.next, "out": True})

    def _out_that_knocks(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        moved = self._knocks(table, chance)
        return moved and self._throw_out(state, moved, chance, moved=True)

    def _out_of_turn(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        others = [player for player in state.players if player != state.next]
        return (
            self._landing(
                state, table, self._piece_at_rest(state, chance.choice(others), table, chance)
            )
            if others
            else None
        )

    def _piece_at_rest(
        self, state: State, player: str, table: Table, chance: Random
    ) -> Thing | None:
        """A piece that a player throws, at rest."""
        return self._rest(player, table, chance, None, self._size(state, player))

    def _two_at_once(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        return self._two_throws(state, table, chance, str(state.next))

    def _two_players(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        others = [player for player in state.players if player != state.next]
        return self._two_throws(state, table, chance, chance.choice(others)) if others else None

    def _two_throws(
        self, state: State, table: Table, chance: Random, then: str
    ) -> FuzzedAct | None:
        """Two throws in one look.

        They are lawful where the rules let the second follow the first, whichever that was.
        """
        pieces = []
        for colour in (str(state.next), then):
            piece = self._piece_at_rest(state, colour, table, chance)
            if piece is None:
                return None
            pieces.append((self._new(colour), piece))
            table = table.with_thing(*pieces[-1])
        ways = []
        for first, second in (pieces, pieces[::-1]):
            one = self._act(state, table.without(second[0]), first[0], first[1].colour)
            if one.truth.kind == "lawful":
                after = engine.play(state, engine.parse_move(one.truth.moves[0]))
                if after.next is not None:
                    other = self._act(after, table, second[0], second[1].colour)
                    if other.truth.kind == "lawful":
                        ways.append((*one.truth.moves, *other.truth.moves))
        if ways:
            return FuzzedAct("", table, Truth("lawful", ways[0], tuple(ways[1:])))
        return FuzzedAct("", table, Truth("forbidden", codes=frozenset({"boule.throw.two"})))

    def _another_size(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """Beside it, an own piece may be knocked anywhere, or out."""
        if chance.random() < 0.5:
            table = self._knocks(table, chance) or table
        piece = self._next(state, table, chance)
        return piece and self._landing(state, table, piece, chance.choice(SIZES))

    # What hands do.

    def _carry(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        moved = self._push(table, chance.choice(list(table.things)), chance)
        return moved and FuzzedAct("", moved, self.truth(state, moved), compared=True)

    def _knock_off(self, _state: State, table: Table, chance: Random) -> FuzzedAct | None:
        below = {one.on for one in table.things.values()}
        names = [name for name in table.things if name not in (TARGET, *below)]
        if not names:
            return None
        return FuzzedAct(
            "", table.knocked_off(chance.choice(names), self._beside(0, chance)), Truth("amiss")
        )

    def _steal(self, _state: State, table: Table, chance: Random) -> FuzzedAct | None:
        names = [
            name
            for name in table.things
            if not any(one.on == name for one in table.things.values())
        ]
        return FuzzedAct("", table.without(chance.choice(names)), Truth("amiss"))

    def _swap(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        names = [name for name, one in table.things.items() if name != TARGET and one.on is None]
        if len(names) < 2:
            return None
        one, other = chance.sample(names, 2)
        a, b = table.things[one], table.things[other]
        swapped = table.with_thing(one, replace(b, colour=a.colour, size=a.size))
        swapped = swapped.with_thing(other, replace(a, colour=b.colour, size=b.size))
        return FuzzedAct("", swapped, self.truth(state, swapped))

    def _recolour(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        names = [name for name in table.things if name != TARGET]
        if not names or len(state.players) < 2:
            return None
        name = chance.choice(names)
        colour = chance.choice(
            [player for player in state.players if player != table.things[name].colour]
        )
        codes = frozenset({"boule.throw.turn", "boule.throw.spent", "boule.throw.size"})
        return FuzzedAct(
            "",
            table.with_thing(name, replace(table.things[name], colour=colour)),
            Truth("amiss", codes=codes),
        )

    def _extra(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece in a colour that nobody plays."""
        colour = chance.choice([one for one in COLOURS if one not in state.players])
        piece = self._rest(colour, table, chance)
        return piece and FuzzedAct(
            "",
            table.with_thing("extra", piece),
            Truth("forbidden", codes=frozenset({"boule.throw.colour"})),
        )

    # Between ends.

    def _target(self, _state: State, _table: Table, chance: Random) -> FuzzedAct | None:
        piece = self._rest(chance.choice(TARGETS), Table(), chance)
        stands = replace(piece, pose="upright")
        return FuzzedAct(
            "", Table(things={TARGET: stands}), Truth("lawful", (str(Target(stands.colour)),))
        )

    def _target_toppled(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        deed = self._target(state, table, chance)
        (one,) = deed.table.things.values()
        return FuzzedAct(
            "", Table(things={"new target": replace(one, pose="lying")}), Truth("half"), then=deed
        )

    def _not_cleared(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        if not any(one.colour in state.players for one in table.things.values()):
            return None
        piece = self._rest(chance.choice(TARGETS), table, chance)
        return piece and FuzzedAct(
            "", table.with_thing("new target", replace(piece, pose="upright")), Truth("half")
        )

    def _two_targets(self, _state: State, _table: Table, chance: Random) -> FuzzedAct | None:
        table = Table()
        for name in ("new target", "another"):
            table = table.with_thing(
                name, replace(self._rest(chance.choice(TARGETS), table, chance), pose="upright")
            )
        return FuzzedAct("", table, Truth("half"))

    def _own_target(self, state: State, _table: Table, chance: Random) -> FuzzedAct | None:
        piece = replace(self._rest(chance.choice(state.players), Table(), chance), pose="upright")
        return FuzzedAct(
            "",
            Table(things={"new target": piece}),
            Truth("half", codes=frozenset({"boule.target.colour"})),
        )

    # What people are told to do.

    def follow(self, state: State, table: Table, verdict: Verdict, old: Table) -> Table | None:
        """Follow each order literally.

        What is to be moved back is moved by people who remember where it was.
        """
        text = sentences_of(verdict)
        if "lear the table" in text:
            return Table()
        if "Leave one target" in text:
            return table.without(list(table.things)[-1])
        if "Stand the" in text:
            (name,) = [name for name, one in table.things.items() if one.pose == "lying"]
            return table.with_thing(name, replace(table.things[name], pose="upright"))
        if "Take it away" in text and "extra" in table.things:
            return table.without("extra")
        words = (
            "ake",
            "ut it back",
            "ut it right",
            "ut the pieces back",
            "show",
            "cannot be seen",
            "target is hidden",
        )
        if any(word in text for word in words) or type(verdict).__name__ == "Refused":
            return Table() if state.target is None else old
        return None

    # Things.

    def _knocks(self, table: Table, chance: Random) -> Table | None:
        """One or two projectiles are knocked any distance, or out of play."""
        names = [name for name, one in table.things.items() if name != TARGET and one.on is None]
        if not names:
            return None
        for name in chance.sample(names, min(len(names), chance.choice([1, 1, 2]))):
            if chance.random() < 0.2:
                table = table.knocked_off(name, self._beside(len(table.off), chance))
            else:
                table = self._push(table, name, chance) or table
        return table

    def _push(
        self, table: Table, name: str, chance: Random, pose: Pose | None = None
    ) -> Table | None:
        if any(one.on == name for one in table.things.values()):
            return None
        one, rest = table.things[name], table.without(name)
        near = chance.random() < 0.5
        for _ in range(10):
            piece = self._rest(one.colour, rest, chance, one.at_mm if near else None, one.size)
            if piece is None or (pose and piece.pose != pose):
                continue
            if np.hypot(*(piece.at_mm - one.at_mm)) > MOVED_MM:
                return table.with_thing(name, piece)
        return None

    def _rest(
        self,
        colour: str,
        table: Table,
        chance: Random,
        about_mm: np.ndarray | None = None,
        size: str = SIZE,
    ) -> Thing | None:
        for _ in range(TRIES):
            x, y = (
                chance.uniform(EDGE_MM, WIDTH_MM - EDGE_MM),
                chance.uniform(EDGE_MM, DEPTH_MM - EDGE_MM),
            )
            if about_mm is not None:
                turn, away = chance.uniform(0, 2 * math.pi), chance.uniform(20, 80)
                x, y = about_mm + away * np.array([math.cos(turn), math.sin(turn)])
            pose = "lying" if chance.random() < 0.85 else "upright"
            one = Thing(colour, size, pose, float(x), float(y), chance.uniform(0, 360))
            inside = EDGE_MM <= x <= WIDTH_MM - EDGE_MM and EDGE_MM <= y <= DEPTH_MM - EDGE_MM
            if inside and self._free(table, one):
                return one
        return None

    def _free(self, table: Table, one: Thing) -> bool:
        solids = [solid_of(other, self._sizes) for other in table.things.values()]
        return is_free(solid_of(one, self._sizes), solids, APART_MM)

    def _beside(self, number: int, chance: Random) -> np.ndarray:
        return np.array([WIDTH_MM + 60.0 + chance.uniform(0, 20), 40.0 + 80 * number])
