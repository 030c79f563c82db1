"""Ice Storm on a simulated table: pieces thrown, knocked away and fired at, and mistakes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import combinations, permutations
from random import Random
from typing import Any

import numpy as np

from engines import ice_storm as engine
from engines.ice_storm.moves import LEANING, OTHER_SIZE, Capture, Change, Settle, Throw, Void
from engines.ice_storm.place import Piece, Place
from engines.ice_storm.rules import targets
from engines.ice_storm.state import PIECES, State
from engines.ice_storm.touches import touches
from simulation.generate.rest_poses import lean_against
from simulation.generate.tables import random_setup
from simulation.generate.throws import Thrower, is_clear_of_cards
from simulation.players.acts import Act
from simulation.players.driver import BoardPlayers, ByHand
from simulation.players.laying import Bodies, without
from simulation.render.ground import table_z_mm
from simulation.render.scene import Body, ScenePiece
from table.boards import Chessboard
from table.cells import cells_mm
from table.clearance import is_free
from table.observation import SeenPiece
from table.pieces import PieceSize
from table.solids import Array, Pose, Solid, lying, upright
from table.table_config import Setup

THROW, WASTED, ATTACK, SYNC = (
    "storm.throw",
    "storm.throw.wasted",
    "storm.attack",
    "storm.out_of_sync",
)
APART_MM = 4.0
"""Least gap of pieces at rest. Throws with smaller gaps, which may look like contact, are repeated.
"""
CLEAR_MM, CLEAR_DEG = 1.0, 2.0
"""Assumed 1 sigma errors. Throws that are too close to call with these are repeated."""
EDGE_MM, BESIDE_MM = 25.0, (25.0, 70.0)
"""Distances from the board's edge: inside for throws on it, outside for wasted ones."""
LEANING_MM = 4.0
"""Least distance of leaning pieces from the board's edge, inside it."""
NEAR_MM = 30.0
"""Approximate distance within which half of the knocked pieces end; the others end anywhere."""
MOVED_MM = 8.0
"""Least distance by which a knocked piece is carried."""
WASTES, KNOCKS, LEANS, KNOCKED_OFF, KNOCKED_MOST = 0.12, 0.25, 0.2, 0.2, 3
"""Shares of throws that are wasted, and that knock pieces; of the knocking ones, share that come to
lean; of knocked pieces, share that leave the board; largest number of knocked pieces.
"""
TRIES = 400
LAID_SPREAD, LAID_TRIES = 0.3, 4000
"""Search for a piece on given squares: standard deviation from their middle, in squares, and number
of tries.
"""


class StormPlay(ByHand):
    """`Play` of Ice Storm.

    Bodies have names of their own; pieces of the record are identified by colour and place.
    """

    engine = engine

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        board = setup.board
        assert isinstance(board, Chessboard), "Ice Storm is played on a chessboard"
        self._rng, self._chance, self._board, self._setup = (
            rng,
            Random(int(rng.integers(1 << 30))),
            board,
            setup,
        )
        self._thrower, self._named, self._leaning = Thrower(setup, rng), 0, ""

    def begin(self, _state: State) -> None:
        """The board begins empty."""

    def laid(self, state: State) -> Bodies:
        """As `ByHand.laid`.

        Raises ValueError for a place where no piece can lie.
        """
        bodies: Bodies = {}
        for piece in state.pieces:
            solid = self._laid(piece.place, bodies)
            body = self._thrower.piece(piece.colour, solid, self._thrower.size)
            bodies = {**bodies, self._new(piece.colour): body}
        return bodies

    def _laid(self, place: Place, bodies: Bodies) -> Solid:
        """A piece at `place`, apart from the others; raises ValueError if there is none."""
        pose, others = (lying if place.tips else upright), [_solid(one) for one in bodies.values()]
        cells = cells_mm(self._board)
        corners_mm: Array = np.vstack([cells[str(square)] for square in place.squares])
        for _ in range(LAID_TRIES):
            spread_mm = LAID_SPREAD * self._board.square_mm
            x, y = self._rng.normal(corners_mm.mean(axis=0), spread_mm)
            askew_deg = self._rng.uniform(-1, 1) * self._rng.choice([5, 45])
            heading_deg = float(self._rng.choice([0, 90, 180, 270]) + askew_deg) % 360
            solid = pose(self._thrower.size, float(x), float(y), heading_deg)
            if self._place(solid) == place and is_free(solid, others, APART_MM):
                return solid
        raise ValueError(f"expected a place in which a piece may lie, got {place}")

    def spares(self) -> Bodies:
        """As `ByHand.spares`: the pieces of every player."""
        size = self._thrower.size
        return {
            f"{colour} in hand {number}": self._thrower.piece(colour, upright(size, 0, 0, 0), size)
            for colour in self._setup.game.colours
            for number in range(1, PIECES + 1)
        }

    def turn(self, state: State, bodies: Bodies) -> Act:
        """A throw, or a piece taken."""
        if state.next is None:
            sure = [target for target, certain in targets(state).items() if certain]
            if not sure:
                return self._settle_doubt(state, bodies)
            target = self._chance.choice(sure)
            taken = without(bodies, self._name(bodies, target))
            return Act(
                "shot", taken, "accepted", ATTACK, (str(Capture(target.colour, target.number)),)
            )
        player, changes = state.next, list[Change]()
        first = state.thrown == 0 or state.round_over
        bodies = {} if first else without(bodies, self._leaning)
        if not first and self._chance.random() < WASTES:
            return self._wasted_throw(player, bodies)
        if not first and state.pieces and self._chance.random() < KNOCKS:
            bodies, changes = self._knock_pieces(state, bodies)
            if (
                changes
                and self._chance.random() < LEANS
                and (leaning := self._add_leaning_piece(state, bodies))
            ):
                stands = Void(player, tuple(changes))
                return Act(
                    "leaning throw that knocks",
                    leaning,
                    "again",
                    "storm.throw.leaning",
                    (str(stands),),
                )
        piece, place = self._rest(player, bodies)
        # Pieces of one colour look alike: a player's own piece that is knocked off may be the one
        # that was thrown.
        alike = any(change.place is None and change.name.startswith(player) for change in changes)
        move = Throw(player, place, tuple(changes))
        return Act(
            "throw",
            {**bodies, self._new(player): piece},
            "accepted",
            "" if alike else THROW,
            (str(move),),
        )

    def _wasted_throw(self, player: str, bodies: Bodies) -> Act:
        """A throw off the board: the piece lies beside it, or the player declares it lost."""
        moves = (str(Throw(player, None)),)
        if self._chance.random() < 0.5:
            return Act(
                "wasted throw, said",
                bodies,
                "heard",
                WASTED,
                moves,
                {"player": player, "off": True},
            )
        return Act(
            "wasted throw",
            {**bodies, **self._beside(player, bodies)},
            "accepted",
            WASTED,
            moves,
            typed={"player": player, "off": True},
        )

    def _settle_doubt(self, state: State, bodies: Bodies) -> Act:
        """The players decide on a piece that is too close to call and that a shot depends on."""
        ways = [move for move in engine.legal_moves(state) if isinstance(move, Settle)]
        return Act("settle", bodies, "declared", "", (str(self._chance.choice(ways)),))

    def mistake(self, state: State, bodies: Bodies) -> Act | None:
        """One of the mistakes below, if possible."""
        if state.round_over or state.thrown == 0 or not state.pieces or self._leaning in bodies:
            return None
        throws = [
            self._out_of_turn,
            self._two_at_once,
            self._leaning_throw,
            self._nudge,
            self._steal,
        ]
        if len(self._setup.sizes) > 1:
            throws.append(self.throw_another_size)
        shots = [self._bad_shot, self._own_piece, self._two_taken, self._nudge]
        return self._chance.choice(throws if state.next else shots)(state, bodies)

    def same(self, state: State, other: State) -> bool:
        """True if states agree, up to the numbers of pieces of one colour.

        A hand may exchange those.
        """

        def facts(one: State) -> tuple[Any, ...]:
            document = engine.state_document(one)
            return Counter((piece.colour, piece.place) for piece in one.pieces), *(
                document[key]
                for key in (
                    "on_board",
                    "score",
                    "next",
                    "attacker",
                    "round_over",
                    "scores",
                    "phase",
                )
            )

        return facts(state) == facts(other)

    def _out_of_turn(self, state: State, bodies: Bodies) -> Act:
        """A throw by a player whose turn it is not."""
        player = self._chance.choice([player for player in state.players if player != state.next])
        return Act(
            "throw out of turn",
            {**bodies, self._new(player): self._rest(player, bodies)[0]},
            "refused",
            "storm.throw.turn",
        )

    def _two_at_once(self, state: State, bodies: Bodies) -> Act:
        """The next player throws two pieces."""
        for _ in range(2):
            bodies = {**bodies, self._new(str(state.next)): self._rest(str(state.next), bodies)[0]}
        return Act("two throws at once", bodies, "refused", "storm.throw.two")

    def throw_another_size(self, state: State, bodies: Bodies) -> Act:
        """The next player throws a piece of a different size."""
        player = str(state.next)
        piece, _ = self._rest(player, bodies, size=self._setup.sizes[1])
        tried = str(Throw(player, None, (), OTHER_SIZE))
        return Act(
            "piece of another size",
            {**bodies, self._new(player): piece},
            "refused",
            "storm.throw.size",
            (tried,),
        )

    def _leaning_throw(self, state: State, bodies: Bodies) -> Act | None:
        """A throw after which the piece leans on another and is wholly on the board.

        A piece that lies partly off the board is wasted, leaning or not.
        """
        if (leaning := self._add_leaning_piece(state, bodies)) is None:
            return None
        self._leaning = ""
        move = Throw(str(state.next), None, (), LEANING)
        return Act("leaning throw", leaning, "refused", "storm.throw.leaning", (str(move),))

    def _add_leaning_piece(self, state: State, bodies: Bodies) -> Bodies | None:
        """The bodies with a piece of the next player's that leans on another, or None.

        It stays until the next throw.
        """
        player, size = str(state.next), self._thrower.size
        lying = [body for body in bodies.values() if self._place(_solid(body))]
        if not lying:
            return None
        support = _solid(self._chance.choice(lying))
        others = [_solid(body) for body in bodies.values() if _solid(body) is not support]
        for _ in range(TRIES):
            heading_deg = float(self._rng.uniform(0, 360))
            ahead = np.array(
                [math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))]
            )
            away_mm = float(self._rng.uniform(0.3, 1.0)) * size.slant_mm + size.base_mm / 2
            solid = lean_against(
                size,
                support.vertices_mm[:, :2].mean(axis=0)
                - away_mm * ahead
                + self._rng.normal(0, 3, 2),
                heading_deg,
                support,
            )
            if solid is not None and self._inside(solid) and is_free(solid, others, APART_MM):
                self._leaning = self._new(player)
                return {**bodies, self._leaning: self._thrower.piece(player, solid, size)}
        return None

    def _nudge(self, state: State, bodies: Bodies) -> Act | None:
        """A hand moves a piece of a player other than the possible thrower to other squares."""
        others = [piece for piece in state.pieces if piece.colour != state.next]
        if not others:
            return None
        piece = self._chance.choice(others)
        name = self._name(bodies, piece)
        rest = without(bodies, name)
        for _ in range(TRIES):
            body, place = self._rest(piece.colour, rest)
            if not place.squares & piece.place.squares:
                return Act("piece carried", {**rest, name: body}, "out_of_sync", SYNC)
        return None

    def _steal(self, state: State, bodies: Bodies) -> Act:
        """A piece is taken although it is no time to fire."""
        return Act(
            "stolen piece",
            without(bodies, self._name(bodies, self._chance.choice(state.pieces))),
            "out_of_sync",
            SYNC,
        )

    def _bad_shot(self, state: State, bodies: Bodies) -> Act | None:
        """An enemy piece is taken that no line of fire reaches."""
        can = targets(state)
        return self._taken(
            "bad shot",
            bodies,
            [
                piece
                for piece in state.pieces
                if piece not in can and piece.colour != state.attacker
            ],
        )

    def _own_piece(self, state: State, bodies: Bodies) -> Act | None:
        """The attacker takes an own piece."""
        return self._taken(
            "own piece taken",
            bodies,
            [piece for piece in state.pieces if piece.colour == state.attacker],
        )

    def _taken(self, name: str, bodies: Bodies, targets: list[Piece]) -> Act | None:
        if not targets:
            return None
        target = self._chance.choice(targets)
        return Act(
            name,
            without(bodies, self._name(bodies, target)),
            "refused",
            ATTACK,
            (str(Capture(target.colour, target.number)),),
        )

    def _two_taken(self, state: State, bodies: Bodies) -> Act | None:
        """Two pieces are taken at once that two successive shots could not have taken."""
        pairs = [
            pair
            for pair in combinations(state.pieces, 2)
            if not any(map(partial(_may_all_be_taken, state), permutations(pair)))
        ]
        if not pairs:
            return None
        return Act(
            "two taken",
            without(bodies, *(self._name(bodies, piece) for piece in self._chance.choice(pairs))),
            "refused",
            ATTACK,
        )

    def _knock_pieces(self, state: State, bodies: Bodies) -> tuple[Bodies, list[Change]]:
        """The bodies after a throw that knocks pieces over the board, or off it."""
        most = min(KNOCKED_MOST, len(state.pieces))
        changes = []
        for piece in self._chance.sample(state.pieces, self._chance.randint(1, most)):
            name = self._name(bodies, piece)
            if self._chance.random() < KNOCKED_OFF:
                rest = without(bodies, name)
                bodies, change = (
                    {**rest, **self._beside(piece.colour, rest)},
                    Change(piece.name, None),
                )
            elif (knocked := self._knock_piece(bodies, name, piece)) is not None:
                bodies, change = knocked
            else:
                continue
            changes.append(change)
        return bodies, changes

    def _knock_piece(self, bodies: Bodies, name: str, piece: Piece) -> tuple[Bodies, Change] | None:
        """A piece that a throw moves to other squares of the board."""
        was, rest = _solid(bodies[name]).vertices_mm[:, :2].mean(axis=0), without(bodies, name)
        near = self._chance.random() < 0.5
        for _ in range(TRIES):
            body, place = self._rest(piece.colour, rest, was if near else None)
            if (
                np.hypot(*(body.vertices_mm[:, :2].mean(axis=0) - was)) > MOVED_MM
                and place != piece.place
            ):
                return {**rest, name: body}, Change(piece.name, place)
        return None

    def _rest(
        self,
        colour: str,
        bodies: Bodies,
        about_mm: Array | None = None,
        size: PieceSize | None = None,
    ) -> tuple[ScenePiece, Place]:
        """A piece at rest somewhere on the board, or about a place, apart from all others.

        Its squares are clear to call. `size` defaults to the game's. Raises ValueError for a full
        board.
        """
        size = size or self._thrower.size
        outline, others = self._board.outline(), [_solid(body) for body in bodies.values()]
        low, high = outline.min(axis=0) + EDGE_MM, outline.max(axis=0) - EDGE_MM
        for _ in range(TRIES):
            x, y = (
                self._rng.uniform(low, high)
                if about_mm is None
                else self._rng.normal(about_mm, NEAR_MM / 2)
            )
            pose = lying if self._rng.random() < 0.75 else upright
            solid = pose(size, float(x), float(y), float(self._rng.uniform(0, 360)))
            if is_free(solid, others, APART_MM) and (place := self._place(solid)):
                return self._thrower.piece(colour, solid, size), place
        raise ValueError("expected room for one more piece on the simulated chessboard")

    def _beside(self, colour: str, bodies: Bodies) -> Bodies:
        """A piece on the table beside the board."""
        outline, others = self._board.outline(), [_solid(body) for body in bodies.values()]
        low, high = outline.min(axis=0), outline.max(axis=0)
        for _ in range(TRIES):
            spot = self._rng.uniform(low - BESIDE_MM[1], high + BESIDE_MM[1])
            solid = lying(
                self._thrower.size,
                float(spot[0]),
                float(spot[1]),
                float(self._rng.uniform(0, 360)),
                table_z_mm(self._setup),
            )
            plan = solid.vertices_mm[:, :2]
            beside = (plan.max(axis=0) < low - BESIDE_MM[0]).any() or (
                plan.min(axis=0) > high + BESIDE_MM[0]
            ).any()
            if (
                beside
                and is_clear_of_cards(self._setup, spot, self._thrower.size.slant_mm)
                and is_free(solid, others, APART_MM)
            ):
                return {self._new(colour): self._thrower.piece(colour, solid, self._thrower.size)}
        raise ValueError("expected room beside the simulated chessboard")

    def _inside(self, solid: Solid) -> bool:
        outline, plan = self._board.outline(), solid.vertices_mm[:, :2]
        return bool(
            (plan > outline.min(axis=0) + LEANING_MM).all()
            and (plan < outline.max(axis=0) - LEANING_MM).all()
        )

    def _place(self, solid: Solid) -> Place | None:
        """Its place on the board, or None if that is too close to call."""
        place = touches(_exact_observation(solid, CLEAR_MM, CLEAR_DEG), self._board).place
        return None if place is None or place.in_doubt else place

    def _name(self, bodies: Bodies, piece: Piece) -> str:
        """Name of the body for a piece of the record: the one that lies most in its squares."""
        wanted = piece.place.squares

        def agrees(name: str) -> tuple[bool, int]:
            place = touches(
                _exact_observation(_solid(bodies[name]), CLEAR_MM, CLEAR_DEG), self._board
            ).place
            squares = set() if place is None else place.squares
            return place == piece.place, len(squares & wanted) - len(squares ^ wanted)

        return max(
            (name for name, body in bodies.items() if _has_colour(body, piece.colour)), key=agrees
        )

    def _new(self, colour: str) -> str:
        self._named += 1
        return f"{colour} {self._named}"


def _may_all_be_taken(state: State, targets: Iterable[Piece]) -> bool:
    """True if these pieces may be taken by successive shots of the next players."""
    for target in targets:
        move = Capture(target.colour, target.number)
        if engine.violation(state, move):
            return False
        state = engine.play(state, move)
    return True


def _has_colour(body: Body, colour: str) -> bool:
    return isinstance(body, ScenePiece) and body.colour == colour


def _solid(body: Body) -> Solid:
    assert isinstance(body, ScenePiece), "nothing but pieces lies there"
    return body.solid


def _exact_observation(solid: Solid, sigma_mm: float, sigma_deg: float) -> SeenPiece:
    """An exact observation of a piece that stands or lies, with the given standard deviations."""
    vertices = solid.vertices_mm
    stands = bool(np.ptp(vertices[:4, 2]) < 0.01)
    base = vertices[:4, :2].mean(axis=0) if stands else vertices[1:3, :2].mean(axis=0)
    along = (vertices[1] - vertices[0])[:2] if stands else vertices[4, :2] - base
    covariance = np.diag([sigma_mm, sigma_mm, sigma_deg]) ** 2
    pose: Pose = "upright" if stands else "lying"
    return SeenPiece(
        "red", "", pose, base, math.degrees(math.atan2(along[1], along[0])), solid, covariance
    )


PLAYERS = BoardPlayers(random_setup=partial(random_setup, "storm"), play=StormPlay, lessons_seed=17)
