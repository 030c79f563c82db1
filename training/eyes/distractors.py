"""Objects that lie on real tables beside pieces.

Dice, cubes, phones, coins, caps, counters, cups, glasses, pens, arms and hands. The first round
bodies are counters or coins. The last ones are those of an arm, which has a mask of its own and no
middle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

from training.eyes.bodies import Polyhedra, Rounds, boxes, round_things
from training.eyes.draw import Draw
from training.eyes.materials import inks, plastics
from training.eyes.model import KINDS

BOXES, DISCS, ROUNDS = 4, 8, 14
"""Numbers of slots: boxes; flat discs; all round bodies. After the discs come a cup, a glass, a
pen, a forearm, a hand and a finger.
"""
CUP, GLASS, PEN, FOREARM, HAND, FINGER = range(DISCS, ROUNDS)
COUNTER, ELSE, ARM = KINDS.index("counter"), KINDS.index("else"), -2
NOTHING = -1
"""Kind of an empty slot."""
IN_A_THIRD = 0.36
WITH_COUNTERS, WITH_ARM = 0.25, 0.1


class Things(NamedTuple):
    """Objects that are no pieces, (b, k, ...): boxes first, then round bodies.

    `kind`, `middle` (3) mm, `size_mm`, and the material (`colour`, `absorbs`, `clear`, `gloss`).
    `name` is the index of a counter's colour in COLOURS.
    """

    boxes: Polyhedra
    rounds: Rounds
    kind: Tensor
    middle: Tensor
    size_mm: Tensor
    colour: Tensor
    absorbs: Tensor
    clear: Tensor
    gloss: Tensor
    name: Tensor


def turned_about_z(angle: Tensor) -> Tensor:
    """Rotations (..., 3, 3) by angles (...), counter-clockwise."""
    c, s, o, i = torch.cos(angle), torch.sin(angle), torch.zeros_like(angle), torch.ones_like(angle)
    return torch.stack([c, -s, o, s, c, o, o, o, i], dim=-1).reshape(*angle.shape, 3, 3)


def lying_along(angle: Tensor) -> Tensor:
    """Rotations (..., 3, 3) whose third axis is level in a direction (...)."""
    c, s, o, i = torch.cos(angle), torch.sin(angle), torch.zeros_like(angle), torch.ones_like(angle)
    return torch.stack([s, o, c, -c, o, s, o, -i, o], dim=-1).reshape(*angle.shape, 3, 3)


def random_things(draw: Draw, places: Tensor, free: Tensor) -> Things:
    """Random objects at places (b, BOXES + ROUNDS, 2).

    `free` (b, BOXES + ROUNDS) is the radius in mm without pieces there.
    """
    cluttered = draw.chance(IN_A_THIRD)[:, None]
    box, box_kind, box_middle, box_size = _boxes(
        draw, places[:, :BOXES], free[:, :BOXES], cluttered
    )
    rounds, round_kind, round_middle, round_size, counters = _rounds(
        draw, places[:, BOXES:], free[:, BOXES:], cluttered
    )
    kind = torch.cat([box_kind, round_kind], dim=1)
    colour, absorbs, names = _coats(draw, kind, counters)
    gloss = draw.uniform(0, 1, BOXES + ROUNDS) ** 2
    gloss[:, BOXES + FOREARM :] = 0.0
    opaque = (kind == ARM) | (absorbs[..., 0] > 100)
    return Things(
        box,
        rounds,
        kind,
        torch.cat([box_middle, round_middle], dim=1),
        torch.cat([box_size, round_size], dim=1),
        colour,
        absorbs,
        (~opaque).float(),
        gloss,
        names,
    )


def _coats(draw: Draw, kind: Tensor, counters: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Colours and absorptions (b, k, 3) of objects, and colour indices (b, k) of plastic ones.

    `kind` is (b, k); `counters` (b, DISCS) are the discs that are counters.
    """
    count = BOXES + ROUNDS
    discs = slice(BOXES, BOXES + DISCS)
    names = draw.pick([1.0] * 12, count)
    names[:, discs] = torch.where(
        counters, torch.where(draw.chance(0.6, 1), 8, names[:, BOXES : BOXES + 1]), names[:, discs]
    )
    clear = draw.chance(0.12, count)
    clear[:, discs] &= ~counters
    clear[:, BOXES + GLASS] = True
    made = plastics(
        names,
        draw.whole(3, 1).expand(-1, count),
        clear,
        draw.log_uniform(0.4, 1.6, count),
        draw.normal(0.12, count, 3),
    )
    plain = draw.chance(0.5, count)[..., None] & (kind != COUNTER)[..., None]
    colour = torch.where(plain, inks(draw, count), made.colour)
    absorbs = made.absorbs.clone()
    absorbs[:, BOXES + GLASS] = draw.uniform(0.0005, 0.004, 1)
    metal = torch.tensor(
        [[0.55, 0.42, 0.22], [0.45, 0.22, 0.12], [0.5, 0.5, 0.48]], device=draw.device
    )[draw.whole(3, DISCS)]
    colour[:, discs] = torch.where(
        (draw.chance(0.6, DISCS) & ~counters)[..., None], metal, colour[:, discs]
    )
    skin = torch.tensor([0.50, 0.30, 0.20], device=draw.device) * draw.log_uniform(0.25, 1.3, 1)
    sleeve = torch.where(draw.chance(0.5, 1), skin, inks(draw, 1)[:, 0])
    for k, tone in ((FOREARM, sleeve), (HAND, skin), (FINGER, skin)):
        colour[:, BOXES + k] = tone
        absorbs[:, BOXES + k] = 1e3
    return colour, absorbs, names


def _boxes(
    draw: Draw, places: Tensor, free: Tensor, cluttered: Tensor
) -> tuple[Polyhedra, Tensor, Tensor, Tensor]:
    """Dice and cubes, erasers and dominoes, occasionally a phone or a deck."""
    which = draw.pick([0.55, 0.25, 0.2], BOXES)
    cube = draw.uniform(3.5, 10, BOXES, 1).expand(-1, -1, 3)
    brick = torch.stack(
        [draw.uniform(6, 22, BOXES), draw.uniform(4, 12, BOXES), draw.uniform(2, 8, BOXES)], dim=-1
    )
    phone = torch.stack(
        [draw.uniform(30, 80, BOXES), draw.uniform(22, 40, BOXES), draw.uniform(0.3, 9, BOXES)],
        dim=-1,
    )
    half = torch.where(
        (which == 0)[..., None], cube, torch.where((which == 1)[..., None], brick, phone)
    )
    there = cluttered & draw.chance(0.6, BOXES) & (half[..., :2].norm(dim=-1) < free)
    half = torch.where(there[..., None], half, 0.0)
    middle = torch.cat([places, half[..., 2:] + 0.03], dim=-1)
    kind = torch.where(there, ELSE, NOTHING)
    return (
        boxes(middle, turned_about_z(draw.uniform(0, 2 * math.pi, BOXES)), half),
        kind,
        middle,
        2 * half[..., :2].mean(dim=-1),
    )


def _rounds(
    draw: Draw, places: Tensor, free: Tensor, cluttered: Tensor
) -> tuple[Rounds, Tensor, Tensor, Tensor, Tensor]:
    """Counters, all alike, or coins and caps; cup, glass and pen; an arm."""
    b, device = draw.count, draw.device
    counters = draw.chance(WITH_COUNTERS, 1) & ~cluttered
    radius = torch.where(
        counters, draw.uniform(6.5, 12.5, 1).expand(-1, DISCS), draw.uniform(6, 16, DISCS)
    )
    thick = torch.where(
        counters, draw.uniform(0.7, 2.2, 1).expand(-1, DISCS), draw.log_uniform(0.6, 7, DISCS)
    )
    half = torch.zeros(b, ROUNDS, 3, device=device)
    half[:, :DISCS] = torch.stack([radius, radius, thick], dim=-1)
    cup, glass, pen = draw.uniform(22, 44), draw.uniform(22, 38), draw.uniform(3, 6)
    half[:, CUP] = torch.stack([cup, cup, draw.uniform(30, 55)], dim=-1)
    half[:, GLASS] = torch.stack([glass, glass, draw.uniform(35, 70)], dim=-1)
    half[:, PEN] = torch.stack([pen, pen, draw.uniform(50, 75)], dim=-1)
    shares = torch.tensor([0.35] * DISCS + [0.15, 0.15, 0.3, 0.0, 0.0, 0.0], device=device)
    there = cluttered & (draw.uniform(0, 1, ROUNDS) < shares)
    there[:, :DISCS] |= counters & draw.chance(0.6, DISCS)
    there &= half[..., 0] < free
    turn = turned_about_z(draw.uniform(0, 2 * math.pi, ROUNDS))
    angle = draw.uniform(0, 2 * math.pi)
    turn[:, PEN] = lying_along(angle)
    middle = torch.cat([places, half[..., 2:] + 0.03], dim=-1)
    middle[:, PEN, 2] = half[:, PEN, 0] + 0.03
    _put_arm(draw, half, turn, middle, there)
    half = torch.where(there[..., None], half, 0.0)
    shape, hollow = (
        torch.zeros(b, ROUNDS, 2, device=device),
        torch.zeros(b, ROUNDS, 2, device=device),
    )
    shape[:, CUP, 1], shape[:, GLASS, 1] = draw.uniform(0, 0.2), draw.uniform(0, 0.15)
    shape[:, FOREARM, 1] = draw.uniform(-0.25, 0.0)
    shape[:, HAND, 0] = 1.0
    hollow[:, CUP : GLASS + 1] = torch.tensor([0.93, -0.93], device=device)
    kind = torch.full((b, ROUNDS), ELSE, device=device)
    kind[:, :DISCS] = torch.where(counters, COUNTER, ELSE)
    kind[:, FOREARM:] = ARM
    kind = torch.where(there, kind, NOTHING)
    size = 2 * half[..., 0]
    size[:, PEN] = half[:, PEN, 2]
    return round_things(middle, turn, half, shape, hollow), kind, middle, size, counters


def _put_arm(draw: Draw, half: Tensor, turn: Tensor, middle: Tensor, there: Tensor) -> None:
    """A forearm over the table that ends in a hand and a finger, in some scenes."""
    some = draw.chance(WITH_ARM)
    angle = draw.uniform(0, 2 * math.pi)
    ahead = torch.stack([torch.cos(angle), torch.sin(angle)], dim=-1)
    wrist = draw.uniform(-60, 60, 2)
    long, high = draw.uniform(100, 160), draw.uniform(55, 100)
    thick = draw.uniform(22, 42)
    half[:, FOREARM] = torch.stack([thick, thick, long], dim=-1)
    half[:, HAND] = torch.stack(
        [draw.uniform(28, 42), draw.uniform(28, 42), draw.uniform(14, 22)], dim=-1
    )
    half[:, FINGER] = torch.stack(
        [draw.uniform(6, 9), draw.uniform(6, 9), draw.uniform(25, 40)], dim=-1
    )
    turn[:, FOREARM], turn[:, FINGER] = (
        lying_along(angle),
        lying_along(angle + draw.uniform(-0.6, 0.6)),
    )
    middle[:, FOREARM, :2] = wrist - ahead * (long + 20)[:, None]
    middle[:, HAND, :2] = wrist + ahead * 15
    middle[:, FINGER, :2] = wrist + ahead * draw.uniform(55, 75, 1)
    middle[:, FOREARM, 2], middle[:, HAND, 2], middle[:, FINGER, 2] = high, high - 8, high - 18
    there[:, FOREARM], there[:, HAND], there[:, FINGER] = (
        some,
        some & draw.chance(0.8),
        some & draw.chance(0.6),
    )
