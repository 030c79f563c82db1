"""A table before a camera as plain values: surface, lamps, sensor, pieces and hands.

Everything is in the table frame and mm; colours are (red, green, blue) reflectances, linear, 0..1.
`simulation.render.renderer` draws scenes. The simulated camera and the validation cases use them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from table.errors import InputError
from table.messages import msg
from table.observation import Camera
from table.pieces import COLOURS
from table.solids import Array, Solid

Rgb = tuple[float, float, float]
SurfaceKind = Literal["wood", "cloth", "paper"]

ALBEDO: dict[str, Rgb] = {
    "red": (0.60, 0.05, 0.04),
    "yellow": (0.72, 0.50, 0.04),
    "green": (0.05, 0.34, 0.09),
    "blue": (0.03, 0.09, 0.48),
    "black": (0.025, 0.025, 0.028),
    "purple": (0.24, 0.06, 0.38),
    "orange": (0.76, 0.24, 0.03),
    "cyan": (0.06, 0.48, 0.56),
    "white": (0.80, 0.79, 0.77),
    "clear": (0.82, 0.84, 0.84),
    "pink": (0.78, 0.28, 0.42),
    "grey": (0.28, 0.28, 0.29),
}
"""Reflectance of opaque plastic, by the colour's name."""

ALWAYS_OPAQUE = ("black", "white", "grey")


@dataclass(frozen=True, slots=True, eq=False)
class ScenePiece:
    """A pyramid: an open shell of `wall_mm` (0: solid), of opaque or see-through plastic.

    `depth` is the optical depth of see-through plastic: 2 transmits the square of what 1 transmits.
    `dye` is its actual colour, ALBEDO's if None. `gloss` is 0 for a rough surface, 1 for a polished
    one. `glitter` is the unevenness of light in see-through plastic, and `rims` the shine of its
    edges, as shares of the usual value. `grain` is the unevenness of transmitted light, and `bent`
    the difference between its faces by refraction, as logarithms.
    """

    solid: Solid
    colour: str
    see_through: bool = False
    wall_mm: float = 1.5
    depth: float = 1.0
    dye: Rgb | None = None
    gloss: float = 0.6
    glitter: float = 0.5
    grain: float = 0.0
    bent: float = 0.0
    rims: float = 1.0

    def __post_init__(self) -> None:
        if self.colour not in COLOURS:
            raise InputError(
                msg(
                    "scene: piece: expected a colour ({raw}), got {raw2}",
                    raw=", ".join(COLOURS),
                    raw2=repr(self.colour),
                )
            )
        if self.solid.vertices_mm.shape != (5, 3) or not np.isfinite(self.solid.vertices_mm).all():
            raise InputError(
                msg(
                    "scene: {raw} pyramid: expected five finite vertices in mm, got {raw2}",
                    raw=self.colour,
                    raw2=self.solid.vertices_mm.tolist(),
                )
            )

    @property
    def vertices_mm(self) -> Array:
        """Corners of the base and the tip, (5, 3)."""
        return self.solid.vertices_mm

    @property
    def rgb(self) -> Rgb:
        """Its reflectance if opaque."""
        return self.dye or ALBEDO[self.colour]


@dataclass(frozen=True, slots=True, eq=False)
class Print:
    """A printed picture on a flat body.

    `rgb` (h, w, 3) is float32 with row 0 at the far side; a texel is `texel_mm` wide. The middle of
    the print is at `middle_mm` (2,). It is rotated by `turn_deg` from reading upright for the near
    side.
    """

    rgb: NDArray[np.float32]
    texel_mm: float
    middle_mm: tuple[float, float] = (0.0, 0.0)
    turn_deg: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Slab:
    """A flat body with an upright rim: a counter or a tile.

    A convex `outline_mm` (n, 2), counter-clockwise, from `low_mm` up to `top_mm`. Its top shows
    `face`, or `rgb` all over; `gloss` is as of a Surface.
    """

    outline_mm: Array
    low_mm: float
    top_mm: float
    rgb: Rgb
    face: Print | None = None
    gloss: float = 0.0

    @property
    def vertices_mm(self) -> Array:
        """Corners of the underside and of the top, (2 n, 3)."""
        return np.concatenate(
            [
                np.column_stack([self.outline_mm, np.full(len(self.outline_mm), z)])
                for z in (self.low_mm, self.top_mm)
            ]
        )


@dataclass(frozen=True, slots=True, eq=False)
class SceneDie:
    """A six-sided die with its middle at `middle_mm` (3,).

    The columns of `rotation` (3, 3) point out of its faces 2, 3 and 1, in the table frame; opposite
    faces sum to seven. `pip_share` is a pip's radius and `spread_share` the distance of the outer
    pips from the middle, as shares of the edge. A `worded` die has strokes instead of pips, like
    the die of Treehouse.
    """

    middle_mm: Array
    rotation: Array
    edge_mm: float
    rgb: Rgb
    ink: Rgb
    pip_share: float = 0.1
    spread_share: float = 0.25
    gloss: float = 0.3
    worded: bool = False

    @property
    def vertices_mm(self) -> Array:
        """Its corners, (8, 3)."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(self.middle_mm + self.edge_mm / 2 * signs @ self.rotation.T)


Body = ScenePiece | Slab | SceneDie


@dataclass(frozen=True, slots=True)
class Limb:
    """A round, tapered part of a hand or arm, from `a_mm` to `b_mm`, with a radius at each end."""

    a_mm: tuple[float, float, float]
    b_mm: tuple[float, float, float]
    radius_a_mm: float
    radius_b_mm: float
    rgb: Rgb


@dataclass(frozen=True, slots=True)
class Surface:
    """Material of a table or a mat.

    `contrast` is the spread of its grain, `grain_deg` the direction in which wood runs.
    """

    kind: SurfaceKind
    rgb: Rgb
    contrast: float = 0.25
    grain_deg: float = 0.0
    gloss: float = 0.0


@dataclass(frozen=True, slots=True)
class Lamp:
    """A round lamp; `power` is its irradiance on the table straight below."""

    at_mm: tuple[float, float, float]
    power: float
    radius_mm: float = 60.0
    rgb: Rgb = (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Sensor:
    """Model of lens and sensor: Gaussian blur, exposure for each channel, vignetting, noise.

    `vignetting` is the share of light lost in the corners. Noise has a variance of `read_noise`² +
    `shot_noise`² x light.
    """

    blur_px: float = 0.65
    exposure: Rgb = (1.0, 1.0, 1.0)
    vignetting: float = 0.15
    shot_noise: float = 0.012
    read_noise: float = 0.003


NO_NOISE = Sensor(blur_px=0.0, vignetting=0.0, shot_noise=0.0, read_noise=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Everything that stays during a game: table, mat or board colours, lamps, sensor.

    `seed` determines grain, sparkle and print of the board. `table_mm` (x0, y0, x1, y1) bounds the
    table; beyond it is the floor. The board itself and the fiducials are those of the Setup.
    """

    table: Surface
    lamps: tuple[Lamp, ...]
    sensor: Sensor = Sensor()
    ambient: float = 0.35
    mat: Surface | None = None
    squares: tuple[Rgb, Rgb] = ((0.02, 0.02, 0.022), (0.72, 0.70, 0.65))
    """Dark and light squares of a chessboard."""
    frame_rgb: Rgb = (0.03, 0.02, 0.02)
    frame_mm: float = 14.0
    card_margin_mm: float = 5.0
    table_mm: tuple[float, float, float, float] | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """One moment: a stage, and the pieces, limbs, movable counters and tiles, and dice on it."""

    stage: Stage
    pieces: tuple[ScenePiece, ...] = ()
    limbs: tuple[Limb, ...] = ()
    slabs: tuple[Slab, ...] = ()
    dice: tuple[SceneDie, ...] = ()


def look_at(eye_mm: Array, target_mm: Array, roll_deg: float = 0.0) -> Camera:
    """A camera at `eye_mm` (3,) with `target_mm` (3,) in the middle of its picture.

    At roll 0 y of the table runs up. Raises InputError if the eye is at the target.
    """
    eye, ahead = np.asarray(eye_mm, float), np.asarray(target_mm, float) - np.asarray(eye_mm, float)
    if not np.linalg.norm(ahead) > 1e-6:
        raise InputError(
            msg(
                "camera: expected the eye and its target in different places, got {raw} mm"
                " for both",
                raw=eye.tolist(),
            )
        )
    ahead = ahead / np.linalg.norm(ahead)
    up = np.array([0.0, 1.0, 0.0]) if abs(ahead[1]) < 0.999 else np.array([0.0, 0.0, 1.0])
    right = np.cross(ahead, up)
    right = right / np.linalg.norm(right)
    down = np.cross(ahead, right)
    c, s = math.cos(math.radians(roll_deg)), math.sin(math.radians(roll_deg))
    rotation = np.array([c * right + s * down, c * down - s * right, ahead])
    return Camera(rotation, -rotation @ eye, np.zeros((6, 6)), 0.0, ())


SKINS: tuple[Rgb, ...] = (
    (0.58, 0.36, 0.26),
    (0.42, 0.24, 0.15),
    (0.20, 0.11, 0.07),
    (0.66, 0.45, 0.35),
)

SLEEVES: tuple[Rgb, ...] = (
    (0.10, 0.14, 0.22),
    (0.03, 0.03, 0.03),
    (0.62, 0.60, 0.56),
    (0.30, 0.05, 0.05),
    (0.08, 0.20, 0.10),
)


def reaching_arm(
    tip_mm: Array, heading_deg: float, skin: Rgb = SKINS[0], sleeve: Rgb = SLEEVES[0]
) -> tuple[Limb, ...]:
    """A hand with its finger tips at `tip_mm` (3,), reaching along `heading_deg`.

    A forearm and a sleeve are behind it.
    """
    tip = np.asarray(tip_mm, float)
    c, s = math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))
    ahead, left = np.array([c, s, 0.0]), np.array([-s, c, 0.0])

    def at(back_mm: float, left_mm: float, up_mm: float) -> tuple[float, float, float]:
        x, y, z = tip - back_mm * ahead + left_mm * left + (0.0, 0.0, up_mm)
        return float(x), float(y), float(z)

    fingers = [
        Limb(at(reach, offset, 8), at(70, 0.7 * offset, 34), 7.5, 10.0, skin)
        for reach, offset in ((14.0, 30.0), (2.0, 11.0), (0.0, -9.0), (10.0, -28.0))
    ]
    knuckles = [
        Limb(at(68, offset, 34), at(135, 0.7 * offset, 38), 13.0, 21.0, skin)
        for offset in (18.0, 0.0, -18.0)
    ]
    thumb = Limb(at(28, 46, 4), at(100, 18, 32), 9.0, 17.0, skin)
    wrist = Limb(at(128, 0, 38), at(240, 0, 62), 24.0, 31.0, skin)
    cuff = Limb(at(222, 0, 60), at(700, 0, 190), 38.0, 56.0, sleeve)
    return (cuff, wrist, *knuckles, thumb, *fingers)


def forearm(tip_mm: Array, heading_deg: float, skin: Rgb = SKINS[0]) -> tuple[Limb, ...]:
    """A bare forearm with a closed fist at `tip_mm` (3,), reaching along `heading_deg`."""
    x, y, z = (float(value) for value in tip_mm)
    c, s = math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))
    fist = Limb((x, y, z), (x - 70 * c, y - 70 * s, z + 12), 27.0, 33.0, skin)
    arm = Limb(
        (x - 60 * c, y - 60 * s, z + 12), (x - 600 * c, y - 600 * s, z + 150), 25.0, 42.0, skin
    )
    return arm, fist
