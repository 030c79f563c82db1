"""Tables, boards and their print: random pictures of the ground, made on the device.

Places are millimetres on the table, (b, h, w, 2); colours (b, h, w, 3) are reflectances. Edges of
print are a texel wide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import grid_sample

from training.eyes.draw import Draw
from training.eyes.materials import inks, woods

GLYPH_PX = 48
GLYPHS_A_ROW = 8
SIGNS = "ABCDEFGHKMNPRSTVWXYZ23456789?!&@"
"""Letters and digits on boards, tiles and cards."""
FIDUCIALS = 4
CRUMBS = 3
CELLS = 32
"""Cells per side of a random field, which is mirrored beyond."""
Polygon = list[tuple[float, float]]


@cache
def glyphs(device: torch.device) -> Tensor:
    """A sheet (1, 1, h, w) of signs and shapes, GLYPHS_A_ROW to a row, 1 in ink."""
    drawn = [_sign(sign) for sign in SIGNS] + _shapes()
    drawn += [np.zeros((GLYPH_PX, GLYPH_PX), np.float32)] * (-len(drawn) % GLYPHS_A_ROW)
    rows = [
        np.concatenate(drawn[k : k + GLYPHS_A_ROW], axis=1)
        for k in range(0, len(drawn), GLYPHS_A_ROW)
    ]
    return torch.from_numpy(np.concatenate(rows)).to(device)[None, None]


def glyph_count() -> int:
    """Number of signs and shapes."""
    return len(SIGNS) + len(_shapes())


def _sign(sign: str) -> np.ndarray:
    picture = np.zeros((GLYPH_PX, GLYPH_PX), np.uint8)
    size = cv2.getTextSize(sign, cv2.FONT_HERSHEY_DUPLEX, 1.3, 4)[0]
    cv2.putText(
        picture,
        sign,
        ((GLYPH_PX - size[0]) // 2, (GLYPH_PX + size[1]) // 2),
        cv2.FONT_HERSHEY_DUPLEX,
        1.3,
        255,
        4,
        cv2.LINE_AA,
    )
    return picture.astype(np.float32) / 255


def _shapes() -> list[np.ndarray]:
    """Triangles, kites, arrows, squares with diagonals, stars, suits.

    Many of them look like a pyramid from above.
    """
    square = [(0.15, 0.15), (0.85, 0.15), (0.85, 0.85), (0.15, 0.85)]
    slim, wide = [(0.5, 0.08), (0.75, 0.92), (0.25, 0.92)], [(0.5, 0.15), (0.9, 0.85), (0.1, 0.85)]
    diagonals = [[(0.15, 0.15), (0.85, 0.85)], [(0.85, 0.15), (0.15, 0.85)]]
    round_ = [(0.5 + 0.4 * math.cos(k / 4), 0.5 + 0.4 * math.sin(k / 4)) for k in range(25)]
    star = [
        (0.5 + r * math.sin(k * math.pi / 5), 0.5 - r * math.cos(k * math.pi / 5))
        for k, r in enumerate([0.45, 0.2] * 5)
    ]
    arrow = [
        (0.5, 0.05),
        (0.85, 0.45),
        (0.62, 0.45),
        (0.62, 0.95),
        (0.38, 0.95),
        (0.38, 0.45),
        (0.15, 0.45),
    ]
    crown = [(0.1, 0.85), (0.1, 0.2), (0.3, 0.5), (0.5, 0.15), (0.7, 0.5), (0.9, 0.2), (0.9, 0.85)]
    kite = [(0.5, 0.05), (0.8, 0.35), (0.5, 0.95), (0.2, 0.35)]
    half = [(0.15, 0.15), (0.85, 0.15), (0.5, 0.5)]
    return [
        *_fiducials(),
        *(
            _filled(slim),
            _filled(wide),
            _filled(kite),
            _filled(square),
            _filled(half),
            _filled(round_),
            _filled(star),
            _filled(arrow),
            _filled(crown),
        ),
        *(
            _lined(slim),
            _lined(square, *diagonals),
            _lined(wide, width=4),
            _lined(kite),
            _lined(round_, width=4),
            _lined(square, width=4),
            _lined(star),
        ),
    ]


def _filled(*polygons: Polygon) -> np.ndarray:
    """Ink (GLYPH_PX, GLYPH_PX) in 0..1 of polygons with corners in 0..1."""
    picture = np.zeros((GLYPH_PX, GLYPH_PX), np.uint8)
    cv2.fillPoly(picture, _in_pixels(polygons), 255, cv2.LINE_AA, 4)
    return picture.astype(np.float32) / 255


def _lined(*polygons: Polygon, width: int = 2) -> np.ndarray:
    """Ink of the outlines of polygons, as in `_filled`; their `width` is in pixels."""
    picture = np.zeros((GLYPH_PX, GLYPH_PX), np.uint8)
    cv2.polylines(picture, _in_pixels(polygons), True, 255, width, cv2.LINE_AA, 4)
    return picture.astype(np.float32) / 255


def _in_pixels(polygons: Sequence[Polygon]) -> list[np.ndarray]:
    """Polygons in sixteenths of pixels, as OpenCV takes them."""
    return [np.rint(np.array(one) * GLYPH_PX * 16).astype(np.int32) for one in polygons]


def _fiducials() -> list[np.ndarray]:
    """Some of the fiducials that lie around every table."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    drawn = [cv2.aruco.generateImageMarker(dictionary, k, GLYPH_PX) for k in range(FIDUCIALS)]
    return [1 - one.astype(np.float32) / 255 for one in drawn]


def glyph_at(number: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """Ink (b, h, w) of signs `number` (b, h, w) at places u, v (b, h, w).

    A sign fills 0..1; outside there is no ink.
    """
    sheet = glyphs(u.device)
    rows = sheet.shape[2] // GLYPH_PX
    column, row = number % GLYPHS_A_ROW, torch.div(number, GLYPHS_A_ROW, rounding_mode="floor")
    x = (column + u.clamp(0.02, 0.98)) / GLYPHS_A_ROW * 2 - 1
    y = (row + v.clamp(0.02, 0.98)) / rows * 2 - 1
    ink = grid_sample(
        sheet, torch.stack([x, y], dim=-1).reshape(1, -1, u.shape[-1], 2), align_corners=False
    ).reshape(u.shape)
    return ink * ((u > 0) & (u < 1) & (v > 0) & (v < 1))


def field(
    places: Tensor, size_mm: Tensor, draw: Draw, octaves: int = 4, rough: float = 0.5
) -> Tensor:
    """A smooth random field (b, h, w), mean about 0 and amplitude about 1.

    Its coarsest structure has a size (b,) in mm.
    """
    total, weight, norm = torch.zeros_like(places[..., 0]), 1.0, 0.0
    for octave in range(octaves):
        values = draw.normal(1.0, 1, CELLS, CELLS)
        at = places * (2 ** (octave + 1) / (CELLS * size_mm))[:, None, None, None]
        total = (
            total
            + weight * grid_sample(values, at, padding_mode="reflection", align_corners=False)[:, 0]
        )
        norm += weight**2
        weight *= rough
    return total / norm**0.5 * 1.5


def stripes(x: Tensor, period: Tensor, share: Tensor, soft_mm: Tensor) -> Tensor:
    """1 on a share (b,) of every period (b,) mm of places x (b, h, w), 0 elsewhere."""
    period, share, soft_mm = (value[:, None, None] for value in (period, share, soft_mm))
    phase = x / period
    wave = (phase - phase.floor() - 0.5).abs() * 2
    return ((share - wave) * period / (2 * soft_mm) + 0.5).clamp(0, 1)


def mix(first: Tensor, second: Tensor, share: Tensor) -> Tensor:
    """Colours (b, 3) or (b, h, w, 3) mixed by a share (b, h, w) of the second."""
    first, second = (one[:, None, None] if one.dim() == 2 else one for one in (first, second))
    return first + (second - first) * share[..., None]


def speckled(colour: Tensor, places: Tensor, draw: Draw, most: float = 0.12) -> Tensor:
    """Colours with grain and blotches of random size and strength."""
    fine = field(places, draw.log_uniform(0.6, 4, 1)[:, 0], draw, 2)
    coarse = field(places, draw.log_uniform(20, 120, 1)[:, 0], draw, 3)
    strength = draw.uniform(0, most, 2)[:, :, None, None]
    return colour * torch.exp(strength[:, 0] * fine + strength[:, 1] * coarse)[..., None]


Make = Callable[[Tensor, Tensor, Draw], Tensor]
"""Function from places (b, h, w, 2) and texels (b,) mm to a ground's colours (b, h, w, 3)."""


def chessboard(places: Tensor, texel: Tensor, draw: Draw) -> Tensor:
    """Squares in two colours or woods."""
    square = draw.uniform(30, 60)
    colours = inks(draw, 2)
    contrast = draw.chance(0.6, 1)
    first = torch.where(contrast, (colours[:, 0] * 3).clamp(0.3, 0.85), colours[:, 0])
    second = torch.where(contrast, colours[:, 1].clamp(max=0.2), colours[:, 1])
    ways = [
        2 * stripes(places[..., k], 2 * square, torch.full_like(square, 0.5), texel) - 1
        for k in (0, 1)
    ]
    return speckled(mix(first, second, 0.5 - 0.5 * ways[0] * ways[1]), places, draw)


def hexes(places: Tensor, texel: Tensor, draw: Draw) -> Tensor:
    """Hexagonal cells with lines round them."""
    cell, line = draw.uniform(26, 42)[:, None, None], draw.uniform(0.4, 3.0)[:, None, None]
    unit = torch.tensor([1.0, math.sqrt(3)], device=places.device)
    p = places / cell[..., None]
    a, b = torch.remainder(p, unit) - unit / 2, torch.remainder(p - unit / 2, unit) - unit / 2
    near = torch.where((a.norm(dim=-1) < b.norm(dim=-1))[..., None], a, b)
    reach = torch.maximum(
        near[..., 0].abs(), 0.5 * near[..., 0].abs() + math.sqrt(3) / 2 * near[..., 1].abs()
    )
    ink = ((line / 2 - (0.5 - reach) * cell) / texel[:, None, None] + 0.5).clamp(0, 1)
    middle = ((p - near) * torch.tensor([2.0, 2 / math.sqrt(3)], device=p.device)).round()
    colours = inks(draw, 4)
    shade = torch.where(
        draw.chance(0.5, 1, 1), torch.remainder(middle[..., 0] + middle[..., 1], 3) / 2, 0.0
    )
    fill = mix(colours[:, 0], colours[:, 0] + 0.4 * (colours[:, 1] - colours[:, 0]), shade)
    return speckled(mix(fill, colours[:, 2], ink), places, draw, 0.06)


def tiles(places: Tensor, texel: Tensor, draw: Draw) -> Tensor:
    """Square tiles with a sign each, slightly apart, on a table."""
    side, gap = draw.uniform(44, 56)[:, None, None], draw.uniform(0, 2.5)[:, None, None]
    pitch = side + gap
    at = places / pitch[..., None]
    cell = at.floor()
    inside = (at - cell - 0.5).abs().amax(dim=-1) * pitch
    tile = ((side / 2 - inside) / texel[:, None, None] + 0.5).clamp(0, 1)
    chance = hashed(cell)
    colours, number = inks(draw, 6), (chance * 7919).long() % glyph_count()
    suit = (chance * 104729).long() % 4
    ink_colour = colours[:, :4][
        torch.arange(len(places), device=places.device)[:, None, None], suit
    ]
    size = draw.uniform(0.35, 0.85)[:, None, None]
    u, v = ((at[..., k] - cell[..., k] - 0.5) / size + 0.5 for k in (0, 1))
    ink = glyph_at(number, u, 1 - v) * tile
    paper = mix(colours[:, 4], (colours[:, 5] * 3).clamp(0.25, 0.85), tile)
    return speckled(paper + (ink_colour - paper) * ink[..., None], places, draw, 0.08)


def hashed(cells: Tensor) -> Tensor:
    """Pseudo-random number in 0..1 (b, h, w) of each cell (b, h, w, 2)."""
    mixed = torch.sin(cells[..., 0] * 12.9898 + cells[..., 1] * 78.233) * 43758.5453
    return mixed - mixed.floor()


def coasters(places: Tensor, texel: Tensor, draw: Draw) -> Tensor:
    """Coasters of nine coloured spaces with arrows at their sides and rings in the middle."""
    whole = 101.6 + draw.uniform(0, 1.5)[:, None, None]
    at = places / whole[..., None]
    cell = at.floor()
    space = (at - cell) * 3
    small = space.floor().clamp(0, 2)
    p = (space - small - 0.5) * whole[..., None] / 3
    half, line = draw.uniform(11, 15)[:, None, None], draw.uniform(0.4, 1.4)[:, None, None]
    reach = p.abs().amax(dim=-1)
    soft = texel[:, None, None]
    fill = ((half - reach) / soft + 0.5).clamp(0, 1)
    frame = ((line / 2 - (reach - half).abs()) / soft + 0.5).clamp(0, 1)
    colours = inks(draw, 8)
    number = (hashed(cell) * 4099).long() % 4
    tone = colours[:, :4][torch.arange(len(places), device=places.device)[:, None, None], number]
    paper = torch.where(draw.chance(0.75, 1), (colours[:, 4] * 3).clamp(0.5, 0.85), colours[:, 4])
    shown = paper[:, None, None] + (tone - paper[:, None, None]) * fill[..., None]
    shown = mix(shown, colours[:, 5], frame)
    middle = (small == 1).all(dim=-1)
    rings = (
        stripes(
            reach, draw.uniform(4, 7), torch.full((len(places),), 0.3, device=places.device), texel
        )
        * middle
        * (reach < 0.75 * half)
    )
    shown = mix(shown, colours[:, 6], rings)
    side, size = (hashed(cell * 3 + small) * 997).long() % 4, draw.uniform(3, 7)[:, None, None]
    turns = torch.tensor([[1.0, 0], [0, 1], [-1, 0], [0, -1]], device=p.device)[side]
    ahead, across = (
        (p * turns).sum(dim=-1) - half,
        p[..., 0] * -turns[..., 1] + p[..., 1] * turns[..., 0],
    )
    arrow = ((size * 0.5 - ahead.abs() - across.abs() * 0.8) / soft + 0.5).clamp(0, 1) * (
        ahead > -0.2 * size
    )
    return speckled(mix(shown, colours[:, 7], arrow), places, draw, 0.06)


def cloth(places: Tensor, texel: Tensor, draw: Draw) -> Tensor:
    """Woven stripes, checks and dots in two or three colours."""
    colours = inks(draw, 3)
    period, share = draw.log_uniform(8, 120, 2), draw.uniform(0.15, 0.6, 2)
    bands = [stripes(places[..., k], period[:, k], share[:, k], texel) for k in (0, 1)]
    second = torch.where(draw.chance(0.5, 1, 1), bands[1], 0.0)
    dots = torch.remainder(places / period[:, :1, None, None], 1) - 0.5
    dotted = (
        (share[:, 0, None, None] * 0.5 - dots.norm(dim=-1))
        * period[:, 0, None, None]
        / texel[:, None, None]
        + 0.5
    ).clamp(0, 1)
    some = draw.chance(0.25, 1, 1)
    shown = mix(colours[:, 0], colours[:, 1], torch.where(some, dotted, bands[0]))
    shown = mix(shown, colours[:, 2], torch.where(some, 0.0, 0.6 * second))
    return speckled(shown, places, draw, 0.15)


def wood(places: Tensor, texel: Tensor, draw: Draw) -> Tensor:
    """Planks with grain and occasional dark knots."""
    light, dark = woods(draw)
    wide = draw.uniform(40, 220)[:, None, None]
    plank = (places[..., 1] / wide).floor()
    shift = hashed(torch.stack([plank, plank * 0 + 3.7], dim=-1))
    x, y = places[..., 0] + 900 * shift, places[..., 1]
    knot_pitch = draw.uniform(70, 260)[:, None, None]
    cell = torch.stack([(x / knot_pitch).round(), plank], dim=-1)
    kx = (cell[..., 0] + 0.6 * (hashed(cell + 7) - 0.5)) * knot_pitch
    ky = (plank + 0.3 + 0.4 * hashed(cell + 3)) * wide
    size = 3 + 9 * hashed(cell + 11)
    far = torch.hypot((x - kx) / 2.2, y - ky) / size
    has = (hashed(cell + 5) < draw.uniform(0, 0.7)[:, None, None]).float()
    pull = has * torch.exp(-(far**2) / 6)
    stretched = torch.stack(
        [x / draw.uniform(8, 25)[:, None, None], y + 0.9 * size * pull * (y - ky).sign()], dim=-1
    )
    grain = field(stretched, draw.log_uniform(2.0, 14, 1)[:, 0], draw, 4, 0.65)
    rings = torch.sin(far * 4 + grain) * 0.5
    tone = (0.45 + 0.3 * grain + 0.5 * (shift - 0.5) + pull * (0.3 + rings)).clamp(0, 1)
    shown = mix(light, dark, tone) * (1 - 0.85 * has * torch.exp(-(far**2) * 1.5))[..., None]
    joint = stripes(
        places[..., 1] + wide / 2, wide[:, 0, 0], 0.8 / wide[:, 0, 0], texel
    ) * draw.chance(0.5, 1, 1)
    return shown * (1 - 0.6 * joint[..., None])


def plain(places: Tensor, _texel: Tensor, draw: Draw) -> Tensor:
    """One colour, often nearly white or black, almost uniform."""
    colour = inks(draw, 1)[:, 0]
    kind = draw.pick([0.4, 0.3, 0.2, 0.1], 1)
    white, black = (
        draw.uniform(0.6, 0.85, 1) * torch.exp(draw.normal(0.04, 3)),
        draw.log_uniform(0.008, 0.04, 1).expand(-1, 3),
    )
    blue = torch.tensor([0.03, 0.10, 0.30], device=draw.device) * torch.exp(draw.normal(0.4, 3))
    colour = torch.where(
        kind == 0, colour, torch.where(kind == 1, white, torch.where(kind == 2, black, blue))
    )
    return speckled(colour[:, None, None].expand(*places.shape[:3], 3), places, draw)


def cloudy(places: Tensor, _texel: Tensor, draw: Draw) -> Tensor:
    """Two colours in clouds: stone, felt, worn paint."""
    colours = inks(draw, 2)
    near = colours[:, 0] + draw.uniform(0.15, 1, 1) * (colours[:, 1] - colours[:, 0])
    cloud = field(places, draw.log_uniform(15, 150, 1)[:, 0], draw, 5, 0.6)
    return mix(colours[:, 0], near, torch.sigmoid(cloud * draw.uniform(0.8, 4)[:, None, None]))


TABLES: tuple[tuple[Make, float], ...] = ((wood, 3.0), (cloth, 2.0), (plain, 2.5), (cloudy, 2.0))
BOARDS: tuple[tuple[Make, float], ...] = (
    (chessboard, 3.0),
    (hexes, 2.0),
    (tiles, 2.0),
    (coasters, 2.0),
    (plain, 1.2),
    (cloth, 0.4),
)
BARE = 0.22
"""Share of scenes without a board."""


def _ground_of_each(
    makes: tuple[tuple[Make, float], ...], places: Tensor, texel: Tensor, seed: int
) -> Tensor:
    """A ground of random kind for every scene; scenes of one kind are computed together."""
    rng = np.random.default_rng(
        seed
    )  # the kinds are drawn on the CPU, to avoid a synchronization with the device
    weights = np.array([weight for _, weight in makes])
    kinds = rng.choice(len(makes), len(places), p=weights / weights.sum())
    out = torch.zeros(*places.shape[:3], 3, device=places.device)
    for kind, (make, _) in enumerate(makes):
        of = np.flatnonzero(kinds == kind)
        if len(of):
            numbers = torch.from_numpy(of).to(places.device)
            out[numbers] = make(
                places[numbers], texel[numbers], Draw(seed * 31 + kind, len(of), places.device)
            )
    return out


def turn_places(places: Tensor, draw: Draw, reach_mm: float) -> Tensor:
    """Places in the frame of a randomly placed and rotated object."""
    angle = draw.uniform(0, 2 * math.pi)
    c, s = torch.cos(angle)[:, None, None], torch.sin(angle)[:, None, None]
    off = draw.uniform(-reach_mm, reach_mm, 1, 1, 2)
    x, y = places[..., 0], places[..., 1]
    return torch.stack([c * x - s * y, s * x + c * y], dim=-1) + off


def ground_picture(low: Tensor, high: Tensor, side: int, seed: int) -> tuple[Tensor, Tensor]:
    """Colours (b, 3, side, side) of the table between two corners (b, 2) mm.

    Also the mask (b, 1, side, side) of the printed board.
    """
    b, device = len(low), low.device
    draw = Draw(seed, b, device)
    steps = (torch.arange(side, device=device) + 0.5) / side
    y, x = torch.meshgrid(steps, steps, indexing="ij")
    places = low[:, None, None] + torch.stack([x, y], dim=-1)[None] * (high - low)[:, None, None]
    texel = ((high - low).amin(dim=-1) / side).clamp(min=0.2)
    table = _ground_of_each(TABLES, turn_places(places, draw, 300.0), texel, seed * 7 + 1)
    own = turn_places(places, draw, 60.0)
    board = _ground_of_each(BOARDS, own, texel, seed * 7 + 2)
    half, middle = draw.uniform(60, 260, 2), draw.uniform(-140, 140, 2)
    beyond = ((own - middle[:, None, None]).abs() - half[:, None, None]).amax(dim=-1)
    frame = draw.uniform(-4, 14)[:, None, None]
    share = (0.5 - beyond / texel[:, None, None]).clamp(0, 1) * (~draw.chance(BARE))[:, None, None]
    framed = (0.5 - (beyond - frame) / texel[:, None, None]).clamp(0, 1) * (~draw.chance(BARE))[
        :, None, None
    ]
    shown = mix(table, inks(draw, 1)[:, 0], framed * (share.amax(dim=(1, 2), keepdim=True) > 0))
    shown = shown + (board - shown) * share[..., None]
    shown = _with_cards(_with_decals(shown, places, draw), places, texel, draw)
    return shown.permute(0, 3, 1, 2).clamp(0.003, 0.92), share[:, None]


def _with_decals(shown: Tensor, places: Tensor, draw: Draw, most: int = 5) -> Tensor:
    """The picture with crumbs, printed signs and triangles in colours of pieces, in some scenes."""
    some = draw.chance(0.4)
    for _ in range(most):
        there = (some & draw.chance(0.6))[:, None, None]
        own = turn_places(places + draw.uniform(-110, 110, 1, 1, 2), draw, 0.0)
        size = draw.uniform(10, 45)[:, None, None]
        number = draw.whole(glyph_count(), 1, 1).expand(own.shape[:3])
        ink = glyph_at(number, own[..., 0] / size + 0.5, own[..., 1] / size + 0.5) * there
        shown = mix(shown, inks(draw, 1)[:, 0], ink)
    for _ in range(CRUMBS):
        there = (some & draw.chance(0.3))[:, None, None]
        far = (places - draw.uniform(-110, 110, 1, 1, 2)).norm(dim=-1)
        soft = (draw.uniform(0.5, 2.5)[:, None, None] - far).clamp(0, 1) * there
        shown = mix(shown, inks(draw, 1)[:, 0], soft)
    return shown


def _with_cards(shown: Tensor, places: Tensor, texel: Tensor, draw: Draw, most: int = 3) -> Tensor:
    """The picture with fiducials on paper and playing cards, in some scenes."""
    for _ in range(most):
        there = draw.chance(0.25)[:, None, None]
        fiducial = draw.chance(0.5)[:, None, None]
        own = turn_places(places + draw.uniform(-120, 120, 1, 1, 2), draw, 0.0)
        side = draw.uniform(24, 40)[:, None, None]
        half = torch.where(
            fiducial,
            side * draw.uniform(0.53, 0.68)[:, None, None],
            draw.uniform(26, 34)[:, None, None],
        )
        tall = torch.where(fiducial, half, 1.4 * half)
        beyond = torch.maximum(own[..., 0].abs() - half, own[..., 1].abs() - tall)
        paper = (0.5 - beyond / texel[:, None, None]).clamp(0, 1) * there
        shown = mix(shown, draw.uniform(0.6, 0.85, 1).expand(-1, 3), paper)
        number = torch.where(
            fiducial, draw.whole(FIDUCIALS, 1, 1) + len(SIGNS), draw.whole(glyph_count(), 1, 1)
        )
        ink = glyph_at(
            number.expand(own.shape[:3]), own[..., 0] / side + 0.5, own[..., 1] / side + 0.5
        )
        colour = torch.where(fiducial[..., 0], 0.03, inks(draw, 1)[:, 0])
        shown = mix(shown, colour, ink * paper)
    return shown
