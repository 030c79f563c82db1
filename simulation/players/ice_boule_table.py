"""The table of the simulated players of Ice Boule: its pieces, and the effect of a throw on them.

Solids never overlap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from simulation.generate.rest_poses import flush_deg, moved, random_pose, slide_against
from simulation.generate.tables import square_marker
from simulation.players.laying import middle_mm, stands_on
from simulation.render.scene import ALWAYS_OPAQUE, Lamp, ScenePiece, Sensor, Stage, Surface, look_at
from table.boards import Open, within
from table.clearance import clearance, is_free
from table.observation import Camera
from table.pieces import PieceSize, load_piece_set
from table.solids import Array, Solid, lying, on_top
from table.table_config import Fiducials, Game, Lens, Setup

GROUND_MM = (600.0, 450.0)
EDGE_MM = 30.0
"""Least distance from the outline at which throws that stay in play come to rest."""
TRIES = 300
PUSH_MM = (4.0, 300.0)
"""Range of the distance by which pieces are pushed; long pushes are rare."""
KNOCKED_OVER = 0.3
"""Share of pushed pieces that change their pose."""
NESTS = 0.3
"""Share of toppled stacks that stay nested."""
STACK_MOST = 2
"""Largest number of pieces on the target."""


def demo_setup() -> Setup:
    """The simulated table: open ground of 600 x 450 mm between four fiducials.

    Red plays against blue, with a yellow target.
    """
    width, depth = GROUND_MM
    middles = [
        (-15.0, depth + 15.0),
        (width + 15.0, depth + 15.0),
        (width + 15.0, -15.0),
        (-15.0, -15.0),
    ]
    return Setup(
        camera=Lens(
            width=1280,
            height=960,
            matrix=((1052.0, 0.0, 641.5), (0.0, 1052.4, 478.0), (0.0, 0.0, 1.0)),
            distortion=(-0.045, 0.012, 0.0003, -0.0002, 0.0),
        ),
        fiducials=Fiducials(
            markers=tuple(square_marker(id_, x, y, 36.0) for id_, (x, y) in enumerate(middles)),
            z_mm=0.15,
        ),
        board=Open(outline_mm=((0.0, 0.0), (width, 0.0), (width, depth), (0.0, depth))),
        game=Game(name="ice_boule", colours=("red", "blue"), sizes=("large",), target="yellow"),
        pieces=load_piece_set("looney"),
    )


def demo_place() -> Camera:
    """Pose of the simulated camera: over the near edge, tilted by some 16 degrees."""
    width, depth = GROUND_MM
    return look_at(
        np.array([width / 2 + 25, depth / 2 - 195, 668.0]),
        np.array([width / 2 + 2, depth / 2 - 8, 0.0]),
        roll_deg=1.5,
    )


def demo_stage(seed: int) -> Stage:
    """A wooden table with a slate-green cloth, a lamp and light from a window."""
    width, depth = GROUND_MM
    return Stage(
        table=Surface("wood", (0.30, 0.17, 0.085), contrast=0.22, grain_deg=4.0, gloss=0.04),
        mat=Surface("cloth", (0.20, 0.235, 0.215), contrast=0.07),
        lamps=(
            Lamp(
                (width / 2 + 320, depth / 2 + 420, 1250.0),
                0.62,
                radius_mm=90.0,
                rgb=(1.0, 0.95, 0.86),
            ),
            Lamp((-500.0, depth / 2, 1100.0), 0.2, radius_mm=220.0, rgb=(0.86, 0.94, 1.0)),
        ),
        ambient=0.34,
        sensor=Sensor(
            blur_px=0.62,
            exposure=(0.86, 0.86, 0.88),
            vignetting=0.12,
            shot_noise=0.011,
            read_noise=0.0025,
        ),
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class Throw:
    """A throw: aim and spread in mm, and its accidents in order of trial."""

    aim_mm: tuple[float, float]
    spread_mm: float
    accident: str = "none"
    """`none`, `touch` the target, `knock` another piece or the target, land `on target` or on what
    stands there, `topple` that stack, roll `off` the play area.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Tabletop:
    """Pieces on the table; every change makes a new value."""

    setup: Setup
    pieces: tuple[ScenePiece, ...] = ()

    @property
    def target(self) -> ScenePiece | None:
        """The target, if it is on the table."""
        return next(
            (piece for piece in self.pieces if piece.colour == self.setup.game.target), None
        )

    def in_play(self, piece: ScenePiece) -> bool:
        """True if it lies inside the outline."""
        return within(self.setup.outline_mm(), middle_mm(piece.solid))

    @property
    def stack(self) -> tuple[ScenePiece, ...]:
        """Pieces on the target, from below."""
        target = self.target
        over = [
            piece
            for piece in self.pieces
            if target is not None and piece is not target and stands_on(piece, target)
        ]
        return tuple(sorted(over, key=lambda piece: float(piece.solid.vertices_mm[:, 2].min())))

    def gaps_mm(self) -> dict[ScenePiece, float]:
        """True distance of every projectile in play from the target; -1 for pieces on it."""
        target = self.target
        if target is None:
            return {}
        thrown = [piece for piece in self.pieces if piece is not target and self.in_play(piece)]
        return {
            piece: -1.0 if stands_on(piece, target) else clearance(piece.solid, target.solid).mm
            for piece in thrown
        }

    def with_target(self, solid: Solid) -> Tabletop:
        """The table with the target at `solid`; an earlier target is removed."""
        target = self.setup.game.target
        assert target is not None, "Ice Boule is played with a target"
        others = tuple(piece for piece in self.pieces if piece.colour != target)
        return replace(self, pieces=(*others, self.piece(target, solid)))

    def without(self, piece: ScenePiece) -> Tabletop:
        """The table without the piece."""
        return replace(self, pieces=tuple(other for other in self.pieces if other is not piece))

    def piece(self, colour: str, solid: Solid) -> ScenePiece:
        """A piece of these players' sets: see-through except black, white and grey."""
        return ScenePiece(solid, colour, colour not in ALWAYS_OPAQUE, self._size.wall_mm, depth=1.0)

    @property
    def _size(self) -> PieceSize:
        return self.setup.sizes[-1]

    def after_throw(self, colour: str, throw: Throw, rng: np.random.Generator) -> Tabletop:
        """The table after a throw of a piece of `colour` has come to rest."""
        match throw.accident:
            case "touch":
                after = self._touch(colour, rng)
            case "knock":
                after = self._knock(colour, rng)
            case "on target":
                after = self._land_on_target(colour, rng)
            case "topple":
                after = self._topple(colour, rng)
            case "off":
                after = self._roll_off(colour, rng)
            case _:
                after = None
        return after or self._land(colour, throw, rng)

    def _land(self, colour: str, throw: Throw, rng: np.random.Generator) -> Tabletop:
        """A free place, near the aim; the spread grows until there is one."""
        for attempt in range(TRIES):
            spot = np.array(throw.aim_mm) + rng.normal(0, throw.spread_mm * (1 + attempt / 50), 2)
            solid = random_pose(self._size, spot, rng)
            if self._inside(solid) and self._free(solid):
                return replace(self, pieces=(*self.pieces, self.piece(colour, solid)))
        raise RuntimeError("there is no room left on the simulated table")

    def _touch(self, colour: str, rng: np.random.Generator) -> Tabletop | None:
        target = self.target
        if target is None:
            return None
        for _ in range(20):
            away = float(rng.uniform(0, 2 * math.pi))
            start = middle_mm(target.solid) + 80 * np.array([math.cos(away), math.sin(away)])
            solid = slide_against(random_pose(self._size, start, rng), target.solid)
            if solid is not None and self._inside(solid) and self._free(solid, besides=target):
                return replace(self, pieces=(*self.pieces, self.piece(colour, solid)))
        return None

    def _knock(self, colour: str, rng: np.random.Generator) -> Tabletop | None:
        """A throw that hits a piece, which is pushed, knocked over, or pushed off the ground.

        The projectile rests near the former place of the piece.
        """
        loose = [
            piece
            for piece in self.pieces
            if self.in_play(piece) and not any(stands_on(other, piece) for other in self.pieces)
        ]
        loose = [piece for piece in loose if piece.solid.vertices_mm[:, 2].min() < 0.01]
        for _ in range(20):
            if not loose:
                return None
            struck = loose[int(rng.integers(len(loose)))]
            way, push_mm = (
                math.radians(float(rng.normal(90, 25))),
                float(np.exp(rng.uniform(*np.log(PUSH_MM)))),
            )
            ahead = np.array([math.cos(way), math.sin(way)])
            push = push_mm * ahead
            table = self.without(struck)
            if (pushed := table._push(struck.solid, push, rng)) is None:
                continue
            table = replace(table, pieces=(*table.pieces, replace(struck, solid=pushed)))
            short_mm = max(min(0.25 * push_mm, 15.0), 50.0 - push_mm)
            solid = random_pose(self._size, middle_mm(struck.solid) - short_mm * ahead, rng)
            if table._inside(solid) and table._free(solid):
                return replace(table, pieces=(*table.pieces, self.piece(colour, solid)))
        return None

    def _push(self, solid: Solid, push: Array, rng: np.random.Generator) -> Solid | None:
        """Final place of a pushed piece: slid, knocked over, or beyond the far edge.

        None if it cannot lie there.
        """
        x, y = middle_mm(solid) + push
        over = lying(self._size, float(x), float(y), float(rng.uniform(0, 360)))
        slid = over if rng.random() < KNOCKED_OVER else moved(solid, float(push[0]), float(push[1]))
        if y > self._far_mm[1] - EDGE_MM:
            return self._beyond(rng)
        return slid if self._inside(slid) and self._free(slid) else None

    def _topple(self, colour: str, rng: np.random.Generator) -> Tabletop | None:
        """A throw that topples the stack on the target.

        Each of its pieces still nests with the target, comes to touch it, or lies free.
        """
        target, stack = self.target, self.stack
        if target is None or not stack:
            return None
        rest = replace(
            self,
            pieces=tuple(
                piece for piece in self.pieces if piece is not target and piece not in stack
            ),
        )
        for _ in range(TRIES):
            x, y = middle_mm(target.solid) + rng.normal(0, 15, 2)
            lies, nests = (
                lying(self._size, float(x), float(y), float(rng.uniform(0, 360))),
                rng.random() < NESTS,
            )
            if not (rest._inside(lies) and rest._free(lies)):
                continue
            table = rest.with_target(nest_in(self._size, lies) if nests else lies)
            table = (
                replace(table, pieces=(*table.pieces, replace(stack[0], solid=lies)))
                if nests
                else table
            )
            for piece in stack[nests:]:
                fell = table._fall_from_target(rng)
                table = (
                    table
                    if fell is None
                    else replace(table, pieces=(*table.pieces, replace(piece, solid=fell)))
                )
            solid = random_pose(table._size, middle_mm(target.solid) + rng.normal(0, 60, 2), rng)
            if (
                len(table.pieces) == len(self.pieces)
                and table._inside(solid)
                and table._free(solid)
            ):
                return replace(table, pieces=(*table.pieces, self.piece(colour, solid)))
        return None

    def _fall_from_target(self, rng: np.random.Generator) -> Solid | None:
        """Final place of a piece that fell from the target: free, or touching the target.

        None if it cannot lie there.
        """
        target, away = self.target, float(rng.uniform(0, 2 * math.pi))
        assert target is not None, "it fell from there"
        x, y = middle_mm(target.solid) + float(rng.uniform(60, 160)) * np.array(
            [math.cos(away), math.sin(away)]
        )
        free = lying(self._size, float(x), float(y), float(rng.uniform(0, 360)))
        touches = rng.random() < 0.5
        solid = slide_against(free, target.solid) if touches else free
        return (
            solid
            if solid is not None
            and self._inside(solid)
            and self._free(solid, besides=target if touches else None)
            else None
        )

    def _land_on_target(self, colour: str, rng: np.random.Generator) -> Tabletop | None:
        target = self.target
        if (
            target is None
            or abs(target.solid.vertices_mm[:4, 2]).max() > 0.01
            or len(self.stack) >= STACK_MOST
        ):
            return None
        below = self.stack[-1].solid if self.stack else target.solid
        solid = on_top(self._size, below, flush_deg(below, rng))
        if not is_free(
            solid,
            [
                piece.solid
                for piece in self.pieces
                if piece is not target and piece not in self.stack
            ],
        ):
            return None
        return replace(self, pieces=(*self.pieces, self.piece(colour, solid)))

    def _roll_off(self, colour: str, rng: np.random.Generator) -> Tabletop | None:
        solid = self._beyond(rng)
        return (
            None
            if solid is None
            else replace(self, pieces=(*self.pieces, self.piece(colour, solid)))
        )

    def _beyond(self, rng: np.random.Generator) -> Solid | None:
        """A free place beyond the far edge."""
        width, depth = self._far_mm
        for _ in range(50):
            spot = np.array(
                [float(rng.uniform(0.2, 0.8)) * width, depth + float(rng.uniform(28, 40))]
            )
            solid = lying(
                self._size,
                float(spot[0]),
                float(spot[1]),
                float(rng.uniform(-25, 25)) + float(rng.choice([0, 180])),
            )
            outside = solid.vertices_mm[:, 1].min() > depth + 8
            if outside and self._free(solid):
                return solid
        return None

    @property
    def _far_mm(self) -> Array:
        """The far right corner of the ground, (2,); the near left one is the origin."""
        corner: Array = self.setup.outline_mm().max(axis=0)
        return corner

    def _inside(self, solid: Solid) -> bool:
        outline = self.setup.outline_mm()
        low, high = outline.min(axis=0) + EDGE_MM, outline.max(axis=0) - EDGE_MM
        plan = solid.vertices_mm[:, :2]
        return bool((plan > low).all() and (plan < high).all())

    def _free(self, solid: Solid, besides: ScenePiece | None = None) -> bool:
        return is_free(solid, [piece.solid for piece in self.pieces if piece is not besides])


def nest_in(size: PieceSize, shell: Solid) -> Solid:
    """A piece of the same size nested in a shell, in any pose."""
    axis = shell.tip_mm - shell.vertices_mm[:4].mean(axis=0)
    return Solid(shell.vertices_mm - size.stack_step_mm * axis / np.linalg.norm(axis))
