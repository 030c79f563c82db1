"""Random throws: places of the pieces of a whole end or attack on a table."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from simulation.generate.rest_poses import flush_deg, lean_against, slide_against
from simulation.render.ground import table_z_mm
from simulation.render.scene import ALBEDO, ALWAYS_OPAQUE, Rgb, ScenePiece
from table.boards import within
from table.clearance import is_free
from table.pieces import PieceSize
from table.solids import Array, Pose, Solid, lying, on_top, upright
from table.table_config import Setup

Role = Literal["target", "projectile", "reserve", "thrown", "stray", "ship", "zamboni", "pyramid"]
AT_REST: tuple[Role, ...] = ("reserve", "stray")
"""Roles of pieces beside the board."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A piece and its role in the game; `lies_on` is what it rests on besides the table."""

    piece: ScenePiece
    size: str
    pose: Pose
    base_mm: Array
    heading_deg: float
    role: Role
    on_target: bool = False


class Thrower:
    """Lays pieces on a table without overlap.

    Each colour is see-through or opaque; the colours of a set may be a mixture of both.
    """

    def __init__(self, setup: Setup, rng: np.random.Generator, opaque_share: float = 0.35) -> None:
        """`opaque_share` is the probability that a colour is opaque; most sets are of one kind."""
        self.setup, self.rng = setup, rng
        self.size: PieceSize = setup.sizes[0]
        mixed = rng.random() < 0.2
        shares = (
            rng.random(len(setup.colours)) if mixed else np.full(len(setup.colours), rng.random())
        )
        self.opaque = {
            colour
            for colour, share in zip(setup.colours, shares, strict=True)
            if share < opaque_share
        } | set(ALWAYS_OPAQUE)
        self.hollow = bool(rng.random() < 0.8)
        self.depth, self.glitter = (
            float(rng.uniform(0.5, 1.9)),
            float(rng.choice([0.0, rng.uniform(0.1, 0.6)])),
        )
        self.gloss = float(rng.choice([0.0, rng.uniform(0.2, 1.0), 1.0]))
        self.dyes = {colour: _shade(ALBEDO[colour], rng) for colour in setup.colours}
        self.placed: list[Placed] = []

    def place(
        self,
        colour: str,
        pose: Pose,
        solid: Solid,
        base_mm: Array,
        heading_deg: float,
        role: Role,
        *,
        size: PieceSize | None = None,
    ) -> Placed:
        """Place a piece in a given pose, of the first size if none is named."""
        size = size or self.size
        self.placed.append(
            Placed(self.piece(colour, solid, size), size.name, pose, base_mm, heading_deg, role)
        )
        return self.placed[-1]

    def piece(self, colour: str, solid: Solid, size: PieceSize, layers: int = 1) -> ScenePiece:
        """A piece of this set, not placed; the outermost of a nest of `layers`."""
        wall_mm = size.wall_mm if self.hollow else 0.0
        depth = self.depth * (1 + 0.35 * (layers - 1))
        return ScenePiece(
            solid,
            colour,
            colour not in self.opaque,
            wall_mm,
            depth,
            self.dyes[colour],
            self.gloss,
            self.glitter,
        )

    def solids(self) -> list[Solid]:
        """Solids of all pieces placed so far."""
        return [place.piece.solid for place in self.placed]

    def throw(
        self,
        colour: str,
        around_mm: Array,
        spread_mm: float,
        role: Role,
        z_mm: float = 0.0,
        *,
        size: PieceSize | None = None,
    ) -> bool:
        """Lay a piece down near a place, free of the others; False if there is no room."""
        size = size or self.size
        for _ in range(40):
            x, y = around_mm + self.rng.normal(0, spread_mm, 2)
            heading = float(self.rng.uniform(0, 360))
            pose: Pose = "lying" if self.rng.random() < 0.75 else "upright"
            solid = (
                lying(size, x, y, heading, z_mm)
                if pose == "lying"
                else upright(size, x, y, heading, z_mm)
            )
            if self._fits(solid, role) and is_free(solid, self.solids()):
                self.place(colour, pose, solid, np.array([x, y]), heading, role, size=size)
                return True
        return False

    def throw_beside(self, colour: str, size: PieceSize | None = None) -> bool:
        """Lay a piece down on the table beside the board."""
        low, high = (
            self.setup.outline_mm().min(axis=0) - 70,
            self.setup.outline_mm().max(axis=0) + 70,
        )
        return self.throw(
            colour, self.rng.uniform(low, high), 40.0, "reserve", table_z_mm(self.setup), size=size
        )

    def lean(self, colour: str, role: Role) -> bool:
        """Let a piece fall against a lying one; False if none can carry it."""
        for _ in range(40):
            support = self.placed[int(self.rng.integers(len(self.placed)))].piece.solid
            if support.vertices_mm[:, 2].min() < -0.01:
                continue
            heading = float(self.rng.uniform(0, 360))
            away = float(self.rng.uniform(0.3, 1.0)) * self.size.slant_mm + self.size.base_mm / 2
            towards = np.array([math.cos(math.radians(heading)), math.sin(math.radians(heading))])
            edge = (
                support.vertices_mm[:, :2].mean(axis=0) - away * towards + self.rng.normal(0, 3, 2)
            )
            solid = lean_against(self.size, edge, heading, support)
            others = [other for other in self.solids() if other is not support]
            if solid is not None and self._fits(solid, role) and is_free(solid, others):
                self.place(colour, "leaning", solid, edge, heading, role)
                return True
        return False

    def push_last(self, against: Solid | None = None) -> None:
        """Slide the piece thrown last against another, if nothing is in the way.

        The other is its nearest piece, unless `against` names one.
        """
        last = self.placed.pop()
        before, others = last.piece.solid, self.solids()
        if against is None and others:
            middle = before.vertices_mm.mean(axis=0)
            against = min(
                others,
                key=lambda other: float(np.linalg.norm(other.vertices_mm.mean(axis=0) - middle)),
            )
        solid = slide_against(before, against) if against is not None else None
        if (
            solid is not None
            and self._fits(solid, last.role)
            and is_free(solid, [other for other in others if other is not against])
        ):
            shift = (solid.vertices_mm - before.vertices_mm)[0, :2]
            last = replace(
                last, piece=replace(last.piece, solid=solid), base_mm=last.base_mm + shift
            )
        self.placed.append(last)

    def _fits(self, solid: Solid, role: Role) -> bool:
        """Whether it is wholly inside the outline, or wholly outside outline, frame and cards."""
        outline, plan = self.setup.outline_mm(), solid.vertices_mm[:, :2]
        if role not in AT_REST:
            return all(within(outline, corner) for corner in plan)
        low, high = outline.min(axis=0) - 22, outline.max(axis=0) + 22
        beside = bool((plan.max(axis=0) < low).any() or (plan.min(axis=0) > high).any())
        return beside and is_clear_of_cards(
            self.setup, plan.mean(axis=0), float(np.ptp(plan, axis=0).max())
        )


def _shade(rgb: Rgb, rng: np.random.Generator) -> Rgb:
    """A colour with the variation between manufacturers."""
    r, g, b = (
        float(min(value, 0.85))
        for value in np.array(rgb) * rng.uniform(0.75, 1.25) * rng.uniform(0.88, 1.12, 3)
    )
    return r, g, b


def is_clear_of_cards(setup: Setup, place_mm: Array, reach_mm: float) -> bool:
    """Is a place (2,) farther than `reach_mm` from the white of every card?"""
    for marker in setup.fiducials.markers:
        corners = np.array(marker.corners_mm)
        card_mm = 0.71 * float(np.hypot(*(corners[1] - corners[0]))) + 8.0
        if float(np.hypot(*(corners.mean(axis=0) - place_mm))) < card_mm + reach_mm:
            return False
    return True


def throw_boule(setup: Setup, rng: np.random.Generator) -> list[Placed]:
    """A target and the pieces that players have thrown towards it."""
    thrower, outline = Thrower(setup, rng), setup.outline_mm()
    low, high = outline.min(axis=0), outline.max(axis=0)
    spot, heading = low + (high - low) * rng.uniform(0.25, 0.75, 2), float(rng.uniform(0, 360))
    target = upright(thrower.size, float(spot[0]), float(spot[1]), heading)
    assert setup.game.target is not None
    thrower.place(setup.game.target, "upright", target, spot, heading, "target")
    spread = float(rng.uniform(45, 120))
    for colour in setup.game.colours:
        for _ in range(int(rng.integers(1, 5))):
            if rng.random() < 0.06:
                thrower.lean(colour, "projectile")
            elif thrower.throw(colour, spot, spread, "projectile") and rng.random() < 0.12:
                thrower.push_last(target)
        for _ in range(int(rng.integers(0, 3))):
            thrower.throw(colour, low + (high - low) * rng.uniform(-0.15, 1.15, 2), 30.0, "reserve")
    if (
        thrower.hollow
        and rng.random() < 0.2
        and is_free(on_top(thrower.size, target, 0.0), thrower.solids()[1:], 1.0)
    ):
        turn = flush_deg(target, rng)
        top = thrower.place(
            setup.game.colours[0],
            "upright",
            on_top(thrower.size, target, turn),
            spot,
            turn,
            "projectile",
        )
        thrower.placed[-1] = replace(top, on_target=True)
    return thrower.placed


def throw_storm(setup: Setup, rng: np.random.Generator) -> list[Placed]:
    """Pieces of every player as they were thrown on to a chessboard."""
    thrower, outline = Thrower(setup, rng), setup.outline_mm()
    low, high = outline.min(axis=0), outline.max(axis=0)
    for _ in range(int(rng.integers(4, 6))):
        for colour in setup.game.colours:
            if thrower.placed and rng.random() < 0.07:
                thrower.lean(colour, "thrown")
            elif (
                thrower.throw(
                    colour, low + (high - low) * rng.uniform(0.04, 0.96, 2), 8.0, "thrown"
                )
                and rng.random() < 0.1
            ):
                thrower.push_last()
    for _ in range(int(rng.integers(0, 5))):
        colour = setup.game.colours[int(rng.integers(len(setup.game.colours)))]
        thrower.throw(
            colour, low + (high - low) * rng.uniform(-0.2, 1.2, 2), 40.0, "stray", table_z_mm(setup)
        )
    return thrower.placed
