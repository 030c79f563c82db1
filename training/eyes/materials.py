"""Materials: several variants of each colour, see-through and opaque; inks, woods and cloths."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from training.eyes.draw import Draw
from training.eyes.product import COLOURS

BODY: dict[str, tuple[tuple[float, float, float], ...]] = {
    "red": ((0.45, 0.03, 0.03), (0.55, 0.05, 0.04), (0.30, 0.015, 0.02)),
    "yellow": ((0.75, 0.50, 0.05), (0.80, 0.60, 0.10), (0.70, 0.42, 0.02)),
    "green": ((0.04, 0.25, 0.08), (0.08, 0.40, 0.10), (0.02, 0.14, 0.05)),
    "blue": ((0.03, 0.07, 0.35), (0.05, 0.13, 0.50), (0.015, 0.03, 0.20)),
    "black": ((0.03, 0.03, 0.03), (0.012, 0.012, 0.014), (0.045, 0.045, 0.05)),
    "purple": ((0.18, 0.05, 0.30), (0.25, 0.06, 0.40), (0.12, 0.02, 0.18)),
    "orange": ((0.58, 0.17, 0.03), (0.70, 0.22, 0.03), (0.55, 0.12, 0.01)),
    "cyan": ((0.06, 0.32, 0.42), (0.10, 0.50, 0.60), (0.04, 0.28, 0.34)),
    "white": ((0.72, 0.72, 0.70), (0.82, 0.82, 0.80), (0.70, 0.68, 0.62)),
    "clear": ((0.60, 0.62, 0.62), (0.62, 0.62, 0.60), (0.58, 0.62, 0.64)),
    "pink": ((0.75, 0.25, 0.35), (0.80, 0.35, 0.45), (0.70, 0.18, 0.32)),
    "grey": ((0.20, 0.20, 0.20), (0.26, 0.26, 0.27), (0.16, 0.16, 0.17)),
}
"""Reflectances of opaque plastic by colour, in commercial variants. A see-through variant derives
its dye from the same values.
"""
CLEAR_SHARE = {"clear": 1.0, "white": 0.05, "black": 0.25, "grey": 0.5}
"""Probability that a colour is see-through, if it is not HALF."""
HALF = 0.45
WEIGHTS = (1.6, 1.5, 1.5, 1.6, 1.5, 1.0, 1.0, 1.0, 1.5, 0.6, 0.35, 0.4)
"""Relative frequency of each of COLOURS; usual colours of sets have more."""
WALL_MM = 1.5
"""Wall thickness for which a dye's transmission is stated."""
THROUGH, LEAST_THROUGH, MOST_THROUGH, DEEP = 0.85, 0.035, 0.93, 0.7
"""Share of light that a wall transmits apart from its dye; least and largest share in a colour;
exponent by which a body colour is softened for a dye. As in `vision.scene_pieces.tint`.
"""
JITTER, HUE_JITTER = 0.18, 0.10
"""Variation between makes, 1 sigma in natural logarithms: common to all channels, and per channel.
"""


class Plastic(NamedTuple):
    """Material of plastic bodies.

    `colour` (..., 3), reflectance; `absorbs` (..., 3), 1/mm; `clear` (...), 1 for see-through.
    """

    colour: Tensor
    absorbs: Tensor
    clear: Tensor


def plastics(names: Tensor, make: Tensor, clear: Tensor, depth: Tensor, off: Tensor) -> Plastic:
    """Plastic of colours `names` (b, k), indices in COLOURS.

    `make` (b, k) is one of three variants; `depth` (b, k) is the optical depth of the dye; `off`
    (b, k, 3) is the colour's deviation, as a logarithm.
    """
    device = names.device
    bodies = torch.tensor([BODY[name] for name in COLOURS], device=device)
    colour = (bodies[names, make] * torch.exp(off)).clamp(0.004, 0.93)
    softened = (colour / colour.amax(dim=-1, keepdim=True)) ** DEEP
    grey = torch.tensor([name in ("black", "grey") for name in COLOURS], device=device)[names][
        ..., None
    ]
    through = THROUGH * torch.where(
        grey, colour.clamp(min=0.02) ** 0.5, softened.clamp(LEAST_THROUGH, MOST_THROUGH)
    )
    absorbs = -torch.log(through) / WALL_MM * depth[..., None]
    colourless = torch.tensor([name == "clear" for name in COLOURS], device=device)[names][
        ..., None
    ]
    absorbs = torch.where(colourless, 0.02 * depth[..., None] * torch.exp(3 * off), absorbs)
    return Plastic(colour, torch.where(clear[..., None], absorbs, 1e3), clear.float())


def see_through(names: Tensor, chance: Tensor) -> Tensor:
    """Mask of see-through pieces (b, k); `chance` (b, k) is uniform in 0..1, one for each set."""
    share = torch.tensor([CLEAR_SHARE.get(name, HALF) for name in COLOURS], device=names.device)
    return chance < share[names]


def inks(draw: Draw, count: int) -> Tensor:
    """Colours (b, count, 3) of print and cloth: dark, pale or strong."""
    strong = torch.exp(draw.normal(1.0, count, 3)) * 0.18
    grey = draw.log_uniform(0.01, 0.9, count, 1) * torch.exp(draw.normal(0.2, count, 3))
    body = torch.tensor([BODY[name][0] for name in COLOURS], device=draw.device)[
        draw.whole(len(COLOURS), count)
    ] * torch.exp(draw.normal(0.2, count, 3))
    kind = draw.pick([0.2, 0.5, 0.3], count)[..., None]
    return torch.where(kind == 0, strong, torch.where(kind == 1, grey, body)).clamp(0.008, 0.88)


def woods(draw: Draw) -> tuple[Tensor, Tensor]:
    """Light and dark colour (b, 3) of a wood."""
    tone = draw.log_uniform(0.04, 0.6, 1)
    warm = torch.tensor([1.0, 0.62, 0.34], device=draw.device) ** draw.uniform(0.5, 1.2, 1)
    light = (tone * warm * torch.exp(draw.normal(0.08, 3))).clamp(0.01, 0.85)
    return light, light * draw.uniform(0.25, 0.8, 1)
