"""Ice Storm for the fuzzer.

Pieces are thrown, knocked any distance, leaning, taken and carried anywhere.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from benchmarks.fuzz.fuzzer import NOTHING, FuzzedAct, Truth, do_deed, sentences_of
from benchmarks.fuzz.table import OnTable, Table, Thing, camera_over, solid_of
from engines import ice_storm as engine
from engines.ice_storm.moves import Capture, Change, Low, Pass, Throw, Void
from engines.ice_storm.place import Place, readings
from engines.ice_storm.state import State
from engines.ice_storm.touches import touches
from engines.verdict import Verdict
from simulation.generate.rest_poses import lean_against
from simulation.true_reading import SIGMAS
from table.boards import Chessboard
from table.clearance import is_free
from table.observation import SeenPiece
from table.pieces import load_piece_set
from table.solids import Solid

SIZE = "medium"
APART_MM = 4.0
"""Pieces that come to rest nearer to each other might touch, for all that a reading says."""
EDGE_MM, TRIES = 30.0, 300
MOVED_MM = 16.0
"""What is knocked goes at least so far: pieces that are read otherwise, and nearer, have not been
touched.
"""
CLEAR = np.diag([1.0, 1.0, 2.0]) ** 2
"""Pieces whose place is too close to call with that covariance are thrown again."""
HOUSE_RULES = ("fire", "knocked", "starter", "attack")
OTHER_SIZE = "small"
"""A large piece would be too long for the squares."""
COLOURS = ("red", "green", "blue", "yellow", "black")


class FuzzedStorm(OnTable):
    """`Fuzzed`.  Things have the names of the pieces of the record, `red2`."""

    name, engine = "ice_storm", engine
    board = Chessboard(square_mm=44.45)

    def __init__(self) -> None:
        self._sizes = load_piece_set("looney")
        self._size = self._sizes[SIZE]
        self._camera = camera_over(self.board.outline())

    def begin(self, chance: Random) -> tuple[State, Table]:
        """After any number of lawful throws and shots."""
        players = tuple(chance.sample(COLOURS, chance.choice([3, 3, 4])))
        rulings = {
            ruling.name: chance.choice(ruling.values)
            for ruling in engine.RULINGS
            if ruling.name in HOUSE_RULES and chance.random() < 0.4
        }
        state, table = engine.set_up(players, rulings, self.board), Table()
        pieces = 5 * len(players)
        for _ in range(
            chance.choice(
                [0, chance.randrange(pieces), pieces, pieces, pieces + chance.randrange(3 * pieces)]
            )
        ):
            deed = (self._throw if state.next else self._shot)(state, table, chance)
            if deed is None:
                break
            after = state
            for move in deed.truth.moves:
                after = engine.play(after, engine.parse_move(move))
            if engine.outcome(after) is not None:
                break
            state, table = after, self.name_things(after, deed.table)
        return state, table

    def name_things(self, state: State, table: Table) -> Table:
        """The table with pieces named as in the record.

        Nothing lies beside the board any more, nor what was thrown in vain.
        """
        left = dict(table.things)
        things = {}
        for piece in state.pieces:
            alike = [name for name, one in left.items() if one.colour == piece.colour]
            name = next(name for name in alike if self._reads(left[name]) == piece.place)
            things[piece.name] = left.pop(name)
        return Table(things=things)

    def same(self, state: State, other: State) -> bool:
        """Whether two states are alike.

        Ignored: the numbers of pieces of one colour, which a hand may exchange, and what is
        recorded as too close to call.
        """

        def facts(one: State) -> tuple[Any, ...]:
            document = engine.state_document(one)
            keys = ("score", "next", "attacker", "round_over", "scores", "phase")
            return tuple(document[key] for key in keys)

        return facts(state) == facts(other) and self._lie_alike(state, other)

    @staticmethod
    def _lie_alike(state: State, other: State) -> bool:
        """Can all pieces of two states lie alike?"""
        left = list(other.pieces)
        for piece in sorted(state.pieces, key=lambda piece: len(readings(piece.place))):
            ways = set(readings(piece.place))
            alike = [one for one in left if one.colour == piece.colour]
            alike = [one for one in alike if not ways.isdisjoint(readings(one.place))]
            if not alike:
                return False
            left.remove(min(alike, key=lambda one: one.place != piece.place))
        return not left

    def random_act(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        """A word, or one of those below."""
        if chance.random() < 0.08:
            return self._word(state, table, chance)
        effects = (
            self._attacks()
            if state.next is None
            else self._void()
            if state.void
            else self._throws()
        )
        if state.next and not state.void and (state.thrown == 0 or state.round_over):
            effects = {
                name: effects[name]
                for name in (
                    "lawful",
                    "thrown off the board",
                    "thrown out of turn",
                    "board not cleared",
                    "nothing",
                )
            }
        return do_deed(effects, [6, *[1] * (len(effects) - 1)], state, table, chance)

    def _throws(self) -> dict[str, Callable[[State, Table, Random], FuzzedAct | None]]:
        return {
            "lawful": self._throw,
            "throw that knocks": self._throw_that_knocks,
            "thrown off the board": self._wasted_throw,
            "off the board, and knocks": self._wasted_that_knocks,
            "throw near a line": self._near_a_line,
            "another size": self._another_size,
            "another size, and knocks": self._another_size_that_knocks,
            "leaning throw": self._leaning_throw,
            "leaning throw that knocks": self._leaning_throw_that_knocks,
            "thrown out of turn": self._out_of_turn,
            "two at once": self._two_at_once,
            "two players at once": self._two_players,
            "board not cleared": self._not_cleared,
            **self._unlawful_effects(),
        }

    def _void(self) -> dict[str, Callable[[State, Table, Random], FuzzedAct | None]]:
        """A hand was too low, before its throw was ruled."""
        return {
            "throw with a low hand": self._low_throw,
            "nothing": lambda _state, table, _chance: FuzzedAct("", table, NOTHING),
        }

    def _attacks(self) -> dict[str, Callable[[State, Table, Random], FuzzedAct | None]]:
        return {
            "lawful": self._shot,
            "wrong piece taken": self._wrong_shot,
            "two at once": self._two_taken,
            "shot that knocks": self._shot_that_knocks,
            **self._unlawful_effects(),
        }

    def _unlawful_effects(self) -> dict[str, Callable[[State, Table, Random], FuzzedAct | None]]:
        return {
            "piece carried": self._carry,
            "knocked off": self._knock_off,
            "piece stolen": self._steal,
            "swapped": self._swap,
            "another colour": self._recolour,
            "extra piece": self._extra,
            "nothing": lambda _state, table, _chance: FuzzedAct("", table, NOTHING),
        }

    def _word(self, state: State, table: Table, chance: Random) -> FuzzedAct:
        player = chance.choice(state.players)
        word = chance.choice(["off", "low", "passes"])
        if word == "passes" and state.attacker and chance.random() < 0.7:
            player = state.attacker
        heard = {"player": player, word: True}
        move = {"off": Throw(player, None), "low": Low(player), "passes": Pass(player)}[word]
        if wrong := engine.violation(state, move):
            return FuzzedAct(
                "told at any time", table, Truth("forbidden", codes=frozenset({wrong.code})), heard
            )
        if "low" in heard:  # what lies there afterwards is another matter
            return FuzzedAct("low hand", table, Truth("said"), heard)
        return FuzzedAct("told", table, Truth("lawful", (str(move),)), heard)

    # What truly happened.

    def truth(self, state: State, table: Table) -> Truth:
        """Of a table that people put right: is it as it is recorded?"""
        if state.round_over or state.thrown == 0:
            return NOTHING if not table.things else Truth("half")
        if state.void and "thrown" not in table.things:
            return self._void_truth(state, table)
        found = Counter((one.colour, self._reads(one)) for one in table.things.values())
        there = Counter((piece.colour, piece.place) for piece in state.pieces)
        sizes = all(one.size == SIZE for one in table.things.values())
        return NOTHING if found == there and sizes else Truth("amiss")

    def _void_truth(self, state: State, table: Table) -> Truth:
        """What a throw with a low hand moved, once its piece is picked up."""
        lie = {name: self._reads(one) for name, one in table.things.items()}
        changes = tuple(
            Change(piece.name, lie.get(piece.name))
            for piece in state.pieces
            if lie.get(piece.name) != piece.place
        )
        void = Void(str(state.next), changes)
        return self._act(state, table, void).truth if changes else NOTHING

    def _reads(self, one: Thing) -> Place | None:
        """How it lies; None off the board, or partly off, or where that is too close to call."""
        return self._lies(one, CLEAR / 100)

    def _lies(self, one: Thing, covariance: np.ndarray) -> Place | None:
        solid = solid_of(one, self._sizes)
        seen = SeenPiece(one.colour, SIZE, one.pose, one.at_mm, one.heading_deg, solid, covariance)
        place = touches(seen, self.board).place
        return None if place is None or place.in_doubt else place

    # Throws.

    def _throw(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """The next player's piece comes to rest on the board, and moves nothing."""
        table = Table() if state.thrown == 0 or state.round_over else table
        return self._finish_throw(state, table, (), chance)

    def _finish_throw(
        self, state: State, table: Table, changes: tuple[Change, ...], chance: Random
    ) -> FuzzedAct | None:
        player = str(state.next)
        piece = self._rest(player, table, chance)
        if piece is None:
            return None
        move = Throw(player, self._reads(piece), changes)
        return self._act(state, table.with_thing("thrown", piece), move)

    @staticmethod
    def _act(state: State, table: Table, *moves: Any) -> FuzzedAct:
        """Lawful, or what the rules say of it."""
        for move in moves:
            if wrong := engine.violation(state, move):
                return FuzzedAct("", table, Truth("forbidden", codes=frozenset({wrong.code})))
            state = engine.play(state, move)
        return FuzzedAct("", table, Truth("lawful", tuple(map(str, moves))))

    def _throw_that_knocks(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        table, changes = self._knocks(table, chance)
        return self._finish_throw(state, table, changes, chance) if changes else None

    def _near_a_line(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A throw that ends where it is, or nearly is, too close to call what it touches."""
        player, square_mm = str(state.next), self.board.square_mm
        for _ in range(TRIES):
            piece = self._rest(player, table, chance)
            if piece is None:
                return None
            corners = solid_of(piece, self._sizes).vertices_mm[:, :2]
            axis, corner = chance.randrange(2), corners[chance.randrange(len(corners))]
            away = corner[axis] - square_mm * round(corner[axis] / square_mm)
            shift = np.zeros(2)
            shift[axis] = chance.uniform(-0.6, 0.6) - away
            piece = piece.put(piece.at_mm + shift)
            free = is_free(solid_of(piece, self._sizes), self._solids(table), APART_MM)
            if free and (place := self._reads(piece)) is not None:
                return self._act(state, table.with_thing("thrown", piece), Throw(player, place))
        return None

    def _another_size(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece of another size than those that lie there."""
        piece = self._rest(str(state.next), table, chance) if table.things else None
        codes = frozenset({"storm.throw.size"})
        return piece and FuzzedAct(
            "",
            table.with_thing("thrown", replace(piece, size=OTHER_SIZE)),
            Truth("forbidden", codes=codes),
        )

    def _another_size_that_knocks(
        self, state: State, table: Table, chance: Random
    ) -> FuzzedAct | None:
        """What it moved stays."""
        moved, changes = self._knocks(table, chance)
        other = self._another_size(state, moved, chance) if changes and moved.things else None
        return other and self._act(state, other.table, Void(str(state.next), changes))

    def _solids(self, table: Table) -> list[Solid]:
        return [solid_of(one, self._sizes) for one in table.things.values()]

    def _wasted_throw(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        table = Table() if state.thrown == 0 or state.round_over else table
        return self._off(state, table, (), chance)

    def _off(
        self, state: State, table: Table, changes: tuple[Change, ...], chance: Random
    ) -> FuzzedAct:
        player = str(state.next)
        off = {**table.off, "thrown": self._beside(player, len(table.off), chance)}
        act = self._act(state, replace(table, off=off), Throw(player, None, changes))
        return replace(act, typed=None if changes else {"player": player, "off": True})

    def _wasted_that_knocks(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        table, changes = self._knocks(table, chance)
        return self._off(state, table, changes, chance) if changes else None

    def _leaning_throw(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        leaning = self._leaning_piece(str(state.next), table, chance)
        if leaning is None:
            return None
        return FuzzedAct(
            "",
            table.with_thing("thrown", leaning),
            Truth("forbidden", codes=frozenset({"storm.throw.leaning"})),
        )

    def _leaning_throw_that_knocks(
        self, state: State, table: Table, chance: Random
    ) -> FuzzedAct | None:
        table, changes = self._knocks(table, chance)
        leaning = self._leaning_piece(str(state.next), table, chance) if changes else None
        if leaning is None:
            return None
        void = Void(str(state.next), changes)
        return self._act(state, table.with_thing("thrown", leaning), void)

    def _low_throw(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A throw that is void; what it moved stays."""
        changes: tuple[Change, ...] = ()
        if table.things and chance.random() < 0.5:
            table, changes = self._knocks(table, chance)
        piece = self._rest(str(state.next), table, chance)
        if piece is None:
            return None
        lies, void = table.with_thing("thrown", piece), Void(str(state.next), changes)
        if any(change.name.startswith(void.player) for change in changes):
            # Which of the player's pieces was thrown shows once it is picked up.
            return FuzzedAct("", lies, Truth("half"), then=self._act(state, table, void))
        return self._act(state, lies, void)

    def _out_of_turn(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """Another player throws, and perhaps moves something."""
        changes: tuple[Change, ...] = ()
        if state.thrown == 0 or state.round_over:
            table = Table()
        elif chance.random() < 0.3:
            table, changes = self._knocks(table, chance)
        player = chance.choice([player for player in state.players if player != state.next])
        piece = self._rest(player, table, chance)
        if piece is None:
            return None
        codes = frozenset({"storm.throw.turn"})
        return FuzzedAct(
            "",
            table.with_thing("thrown", piece),
            Truth("amiss" if changes else "forbidden", codes=codes),
        )

    def _two_at_once(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        for number in range(2):
            piece = self._rest(str(state.next), table, chance)
            if piece is None:
                return None
            table = table.with_thing(f"thrown {number}", piece)
        return FuzzedAct("", table, Truth("forbidden", codes=frozenset({"storm.throw.two"})))

    def _two_players(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """Two throws, one after the other."""
        first = self._throw(state, table, chance)
        if first is None:
            return None
        after = engine.play(state, engine.parse_move(first.truth.moves[0]))
        if after.next is None or after.round_over:
            return None
        named = replace(
            first.table,
            things={
                f"first {name}" if name == "thrown" else name: one
                for name, one in first.table.things.items()
            },
        )
        second = self._finish_throw(after, named, (), chance)
        return second and replace(
            second, truth=replace(second.truth, moves=(*first.truth.moves, *second.truth.moves))
        )

    def _not_cleared(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """The first throw of a round beside what was left lying."""
        if not (state.round_over or state.thrown == 0) or not table.things:
            return None
        piece = self._rest(str(state.next), table, chance)
        return piece and FuzzedAct("", table.with_thing("thrown", piece), Truth("half"))

    # Shots.

    def _shot(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        can = [move for move in engine.legal_moves(state) if isinstance(move, Capture)]
        if not can:
            return None
        move = chance.choice(can)
        return self._act(state, table.without(f"{move.colour}{move.number}"), move)

    def _wrong_shot(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """Any piece is taken, an own one too."""
        piece = chance.choice(state.pieces)
        return self._act(state, table.without(piece.name), Capture(piece.colour, piece.number))

    def _two_taken(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """Two lawful shots, or any two pieces."""
        first = self._shot(state, table, chance)
        if first is not None and chance.random() < 0.5:
            after = engine.play(state, engine.parse_move(first.truth.moves[0]))
            second = self._shot(after, first.table, chance)
            if second is not None:
                codes = frozenset({"storm.attack"})
                return FuzzedAct(
                    "",
                    second.table,
                    Truth("lawful", (*first.truth.moves, *second.truth.moves), codes=codes),
                )
        if len(state.pieces) < 2:
            return None
        names = [piece.name for piece in chance.sample(state.pieces, 2)]
        return FuzzedAct(
            "", table.without(*names), Truth("forbidden", codes=frozenset({"storm.attack"}))
        )

    def _shot_that_knocks(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        shot = self._shot(state, table, chance)
        if shot is None:
            return None
        moved, changes = self._knocks(shot.table, chance)
        return (
            FuzzedAct("", moved, Truth("amiss", codes=frozenset({"storm.attack"})))
            if changes
            else None
        )

    # What hands do.

    def _carry(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece is carried elsewhere."""
        names = list(table.things)
        moved = self._push(table, chance.choice(names), chance) if names else None
        return moved and FuzzedAct("", moved, self.truth(state, moved))

    def _knock_off(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        gone = self._steal(state, table, chance)
        if gone is None:
            return None
        (name,) = table.things.keys() - gone.table.things.keys()
        beside = self._beside(table.things[name].colour, 0, chance)
        return replace(gone, table=replace(gone.table, off={name: beside}))

    def _steal(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece is taken; while players fire that is a shot."""
        if state.next is None:
            return self._wrong_shot(state, table, chance)
        names = list(table.things)
        if not names:
            return None
        taken = table.without(chance.choice(names))
        # The only piece there is: without the table before it may lie there unseen.
        return FuzzedAct("", taken, Truth("amiss"), compared=len(names) == 1)

    def _swap(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        if len(table.things) < 2:
            return None
        one, other = chance.sample(list(table.things), 2)
        a, b = table.things[one], table.things[other]
        swapped = table.with_thing(one, replace(b, colour=a.colour)).with_thing(
            other, replace(a, colour=b.colour)
        )
        return FuzzedAct("", swapped, self.truth(state, swapped))

    def _recolour(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        if not table.things:
            return None
        name = chance.choice(list(table.things))
        colour = chance.choice(
            [player for player in state.players if player != table.things[name].colour]
        )
        return FuzzedAct(
            "",
            table.with_thing(name, replace(table.things[name], colour=colour)),
            Truth("amiss", codes=frozenset({"storm.throw.turn"})),
        )

    def _extra(self, state: State, table: Table, chance: Random) -> FuzzedAct | None:
        """A piece nobody threw; of who throws next it would be a throw."""
        colour = chance.choice([player for player in state.players if player != state.next])
        piece = self._rest(colour, table, chance)
        if piece is None:
            return None
        return FuzzedAct(
            "",
            table.with_thing("one too many", piece),
            Truth("amiss", codes=frozenset({"storm.throw.turn"})),
        )

    # What people are told to do.

    def follow(self, state: State, table: Table, verdict: Verdict, old: Table) -> Table | None:
        """Each order to the letter."""
        text = sentences_of(verdict)
        if "Clear the board" in text:
            return Table()
        if (
            "throw a medium one" in text
            or "pick the piece up" in text.lower()
            or "is thrown again" in text
        ):
            return table.without("thrown")
        words = ("ack", "Fix the", "Replace", "Take")
        if any(word in text for word in words):
            return Table() if state.round_over or state.thrown == 0 else old
        if isinstance(getattr(verdict, "tried", None), tuple):
            return table.without("thrown") if "thrown" in table.things else old
        return None

    # Things.

    def _knocks(self, table: Table, chance: Random) -> tuple[Table, tuple[Change, ...]]:
        """One to three pieces are knocked any distance over the board, or off it."""
        changes: list[Change] = []
        names = list(table.things)
        for name in chance.sample(names, min(len(names), chance.choice([1, 1, 2, 3]))):
            if chance.random() < 0.2:
                beside = self._beside(table.things[name].colour, len(table.off), chance)
                table = replace(table.without(name), off={**table.off, name: beside})
                changes.append(Change(name, None))
            elif (pushed := self._push(table, name, chance)) is not None:
                was = self._reads(table.things[name])
                table = pushed
                if (now := self._reads(pushed.things[name])) != was:
                    changes.append(Change(name, now))
        order = {name: number for number, name in enumerate(names)}
        return table, tuple(sorted(changes, key=lambda change: order[change.name]))

    def _push(self, table: Table, name: str, chance: Random) -> Table | None:
        """A piece lies elsewhere, near or far."""
        one, rest = table.things[name], table.without(name)
        was, near = self._middle(one), chance.random() < 0.5
        for _ in range(TRIES // 10):
            piece = self._rest(one.colour, rest, chance, one.at_mm if near else None)
            if piece is not None and np.hypot(*(self._middle(piece) - was)) > MOVED_MM:
                return table.with_thing(name, piece)
        return None

    def _middle(self, one: Thing) -> np.ndarray:
        """Between base and tip, from above."""
        corners = solid_of(one, self._sizes).vertices_mm[:, :2]
        return (corners[:4].mean(axis=0) + corners[4]) / 2

    def _rest(
        self, colour: str, table: Table, chance: Random, about_mm: np.ndarray | None = None
    ) -> Thing | None:
        """Somewhere on the board, apart from all others, and clear to call."""
        solids = self._solids(table)
        low, high = EDGE_MM, 8 * self.board.square_mm - EDGE_MM
        for _ in range(TRIES):
            x, y = chance.uniform(low, high), chance.uniform(low, high)
            if about_mm is not None:
                x, y = about_mm + np.array([chance.gauss(0, 20), chance.gauss(0, 20)])
            pose = "lying" if chance.random() < 0.75 else "upright"
            one = Thing(colour, SIZE, pose, float(x), float(y), chance.uniform(0, 360))
            if self._lies(one, CLEAR) and is_free(solid_of(one, self._sizes), solids, APART_MM):
                return one
        return None

    def _leaning_piece(self, player: str, table: Table, chance: Random) -> Thing | None:
        """A piece that leans on another, and is on the board as a whole."""
        solids = self._solids(table)
        if not solids:
            return None
        for _ in range(TRIES // 3):
            support = chance.choice(solids)
            heading = chance.uniform(0, 360)
            ahead = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading))])
            away = chance.uniform(0.3, 1.0) * self._size.slant_mm + self._size.base_mm / 2
            edge = support.vertices_mm[:, :2].mean(axis=0) - away * ahead
            solid = lean_against(self._size, edge, heading, support)
            others = [one for one in solids if one is not support]
            if solid is not None and self._is_inside(solid) and is_free(solid, others, APART_MM):
                base = solid.vertices_mm[1:3, :2].mean(axis=0)
                return Thing(
                    player, SIZE, "leaning", float(base[0]), float(base[1]), heading, shape=solid
                )
        return None

    def _is_inside(self, solid: Solid) -> bool:
        plan = solid.vertices_mm[:, :2]
        return bool((plan > APART_MM).all() and (plan < 8 * self.board.square_mm - APART_MM).all())

    def _beside(self, colour: str, number: int, chance: Random) -> Thing:
        """A piece on the table beside the board, apart from those that lie there."""
        x = 8 * self.board.square_mm + 40 + chance.uniform(0, 20)
        return Thing(colour, SIZE, "lying", x, 40.0 + 70 * number, chance.uniform(-30, 30))


assert SIGMAS[0] < CLEAR[0, 0] ** 0.5, "what is clear to call is so for the camera, too"
