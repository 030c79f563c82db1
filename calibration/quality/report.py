"""Report of a table check: sentences and figures, an image, and a page that needs no network."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.quality.check import Residual
from calibration.quality.error_model import ErrorMap
from table.solids import Array
from table.table_config import Setup
from vision.annotate.text import letter_mask
from vision.cameras.frame import Image, swapped

How = Literal["measured", "predicted"]
Tone = Literal["good", "doubtful", "bad"]
ToPixels = Callable[[Array], Array]
"""Maps table points (n, 2) to pixels (n, 2) of the report's image."""

WIDE_PX, HIGH_PX = 1100, 800
"""Largest size of the board itself; margins are added to it."""
MARGIN_PX, TOP_PX, BAR_PX = 110, 140, 200
LETTER_PX = 17.0
INK, FAINT, PAPER = (28, 32, 40), (110, 116, 126), (255, 255, 255)
LEAST_RANGE_MM = 0.2
COLOURS = cv2.COLORMAP_VIRIDIS
VALUES = 5
"""Number of values written along each side of the map."""


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: name, value with unit, measured or predicted, and what it is based on."""

    what: str
    figure: str
    how: How
    rests_on: str


@dataclass(frozen=True, slots=True)
class Report:
    """All figures and the conclusion: `verdict` is a sentence or two, `tone` its colour."""

    title: str
    verdict: str
    tone: Tone
    rows: tuple[Row, ...]


def draw_map(
    map_: ErrorMap, setup: Setup, residuals: Sequence[Residual], title: str, below: str
) -> Image:
    """Map of the errors of lying pieces over the board, R-G-B, far side up.

    Fiducials are drawn around it, each with its residual.
    """
    outline = setup.outline_mm()
    low, high = outline.min(axis=0), outline.max(axis=0)
    markers = {marker.id: np.array(marker.corners_mm) for marker in setup.fiducials.markers}
    corners = np.concatenate([outline, *markers.values()])
    first, last = corners.min(axis=0), corners.max(axis=0)
    scale = min(WIDE_PX / (last[0] - first[0]), HIGH_PX / (last[1] - first[1]))
    wide, high_px = (math.ceil(scale * length) for length in last - first)
    canvas = np.full(
        (high_px + TOP_PX + MARGIN_PX, wide + 2 * MARGIN_PX + BAR_PX, 3), PAPER, np.uint8
    )

    def at(points_mm: Array) -> Array:
        return np.column_stack(
            [
                MARGIN_PX + scale * (points_mm[:, 0] - first[0]),
                TOP_PX + scale * (last[1] - points_mm[:, 1]),
            ]
        )

    values = map_.lying_mm
    least, most = _range(values)
    left_top, right_bottom = (
        np.rint(at(np.array([corner]))[0]).astype(int)
        for corner in ((low[0], high[1]), (high[0], low[1]))
    )
    size = tuple(int(length) for length in right_bottom - left_top)
    shown = np.nan_to_num(values, posinf=most)
    fine = np.asarray(cv2.resize(shown, size, interpolation=cv2.INTER_CUBIC), float)
    inside = np.zeros(canvas.shape[:2], np.uint8)
    cv2.fillPoly(inside, [np.rint(at(outline)).astype(np.int32)], 1)
    box = (slice(left_top[1], right_bottom[1]), slice(left_top[0], right_bottom[0]))
    canvas[box][inside[box] > 0] = _coloured(fine, least, most)[inside[box] > 0]
    cv2.polylines(
        canvas, [np.rint(16 * at(outline)).astype(np.int32)], True, INK, 2, cv2.LINE_AA, 4
    )
    _write_values(canvas, fine, inside[box] > 0, left_top, (least + most) / 2)
    _draw_fiducials(canvas, markers, at, residuals)
    _draw_bar(canvas, wide + MARGIN_PX + 110, TOP_PX, high_px, least, most)
    _write(canvas, title, (MARGIN_PX, 34.0), 1.35 * LETTER_PX, INK)
    _write(
        canvas,
        "95 % of lying pieces are read nearer than this to where they are, mm",
        (MARGIN_PX, 72.0),
        LETTER_PX,
        FAINT,
    )
    _write(canvas, below, (MARGIN_PX, canvas.shape[0] - 72.0), 0.9 * LETTER_PX, FAINT)
    if residuals:
        off_mm = "off: how far a fiducial is seen from its place in table.json, mm (measured)"
        _write(canvas, off_mm, (MARGIN_PX, canvas.shape[0] - 40.0), 0.9 * LETTER_PX, FAINT)
    return canvas


def _range(values: Array) -> tuple[float, float]:
    """Ends of the colour scale, in tenths of a mm."""
    finite = values[np.isfinite(values)]
    least, most = (
        (math.floor(10 * finite.min()) / 10, math.ceil(10 * finite.max()) / 10)
        if len(finite)
        else (0.0, 1.0)
    )
    return least, max(most, least + LEAST_RANGE_MM)


def _coloured(values: Array, least: float, most: float) -> Image:
    """Colour-code errors: light for small ones, dark for large ones."""
    share = np.clip((values - least) / (most - least), 0, 1)
    return swapped(cv2.applyColorMap(np.rint(255 * (1 - share)).astype(np.uint8), COLOURS))


def _write_values(
    canvas: Image,
    errors_mm: Array,
    inside: NDArray[np.bool_],
    corner: NDArray[np.intp],
    middle_mm: float,
) -> None:
    """Write errors (h, w) as figures at evenly spaced places `inside` (h, w) the board.

    `corner` is the pixel of the array's left top.
    """
    rows, columns = (
        [int(count * (k + 0.5) / VALUES) for k in range(VALUES)] for count in errors_mm.shape
    )
    for row, column in product(rows, columns):
        if inside[row, column]:
            ink = PAPER if errors_mm[row, column] > middle_mm else INK
            _write(
                canvas,
                f"{errors_mm[row, column]:.2f}",
                (float(corner[0] + column), float(corner[1] + row)),
                LETTER_PX,
                ink,
                middle=True,
            )


def _draw_fiducials(
    canvas: Image, markers: dict[int, Array], at: ToPixels, residuals: Sequence[Residual]
) -> None:
    """Draw each fiducial as a black square with its number, its residual beside it."""
    off = {one.name: one.off_mm for one in residuals}
    for id_, corners in markers.items():
        square = at(corners)
        cv2.fillPoly(canvas, [np.rint(16 * square).astype(np.int32)], INK, cv2.LINE_AA, 4)
        _write(canvas, str(id_), square.mean(axis=0), LETTER_PX, PAPER, middle=True)
        if (off_mm := off.get(f"fiducial {id_}")) is not None:
            low, high = square[:, 1].min(), square[:, 1].max()
            row = low - 14 if square[:, 1].mean() < canvas.shape[0] / 2 else high + 16
            _write(
                canvas,
                f"off {off_mm:.2f}",
                (square[:, 0].mean(), row),
                0.8 * LETTER_PX,
                INK,
                middle=True,
            )


def _draw_bar(canvas: Image, left: int, top: int, height: int, least: float, most: float) -> None:
    ramp = np.linspace(most, least, height)[:, None].repeat(28, axis=1)
    canvas[top : top + height, left : left + 28] = _coloured(ramp, least, most)
    cv2.rectangle(canvas, (left, top), (left + 28, top + height), INK, 1)
    steps = max(2, min(8, round((most - least) / 0.1)))
    for k in range(steps + 1):
        value = least + (most - least) * k / steps
        row = top + height * (1 - k / steps)
        _write(canvas, f"{value:.2f} mm", (left + 38.0, row - LETTER_PX / 2), LETTER_PX, INK)


def _write(
    canvas: Image,
    text: str,
    at: Sequence[float] | Array,
    letter_px: float,
    ink: tuple[int, int, int],
    middle: bool = False,
) -> None:
    """Write text with its left top, or its middle, at a pixel."""
    mask = letter_mask(text, letter_px)
    x, y = (round(float(value)) for value in at)
    if middle:
        x, y = x - mask.shape[1] // 2, y - mask.shape[0] // 2
    x, y = (
        max(0, min(x, canvas.shape[1] - mask.shape[1])),
        max(0, min(y, canvas.shape[0] - mask.shape[0])),
    )
    part = canvas[y : y + mask.shape[0], x : x + mask.shape[1]]
    mask = mask[: part.shape[0], : part.shape[1], None]
    part[:] = np.rint(part * (1 - mask) + np.array(ink) * mask)


STYLE = """
:root { color-scheme: light dark; --ink: #1c2028; --faint: #5b626e; --paper: #f6f7f9; --card: #fff; --line: #d9dde3 }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ebee; --faint: #a3abb8; --paper: #14171c; --card: #1d2127; --line: #343a44 } }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.2rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.6rem; margin: 0 0 .2rem } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem }
p { margin: .4rem 0 } .faint { color: var(--faint) }
.verdict { background: var(--card); border: 1px solid var(--line); border-left: .5rem solid #d69a00; border-radius: .5rem;
  padding: .9rem 1.1rem; margin: 1.2rem 0; font-size: 1.1rem }
.verdict.good { border-left-color: #1f9d55 } .verdict.bad { border-left-color: #cc3344 }
figure { margin: 1.4rem 0 } img { width: 100%; height: auto; border: 1px solid var(--line); border-radius: .5rem; background: #fff }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--line) }
th, td { text-align: left; padding: .5rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top }
th { font-size: .85rem; color: var(--faint); font-weight: 600 } td.figure { white-space: nowrap; font-variant-numeric: tabular-nums }
.how { font-size: .8rem; border-radius: 1rem; padding: .1rem .55rem; border: 1px solid var(--line); white-space: nowrap }
.how.measured { border-color: #1f9d55; color: #1f9d55 }
"""  # noqa: E501


def page(report: Report, picture_png: bytes) -> str:
    """The report as one HTML file, picture and style inside."""
    rows = "\n".join(
        f"<tr><td>{html.escape(row.what)}</td><td"
        f' class="figure">{html.escape(row.figure)}</td><td><span class="how'
        f' {row.how}">{row.how}</span></td><td class="faint">{html.escape(row.rests_on)}</td></tr>'
        for row in report.rows
    )
    picture = base64.b64encode(picture_png).decode("ascii")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(report.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{html.escape(report.title)}</h1>
<p class="verdict {report.tone}">{html.escape(report.verdict)}</p>
<figure><img alt="Map of the errors over the table" src="data:image/png;base64,{picture}"></figure>
<table>
<thead><tr><th>what</th><th>figure</th><th></th><th>what it rests on</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p class="faint">± and "95 %" hold 95 of 100 true values. Predicted: by the camera's place, the lens and what edges can tell, as said beside it;
measured: seen on this table.</p>
</body>
</html>
"""  # noqa: E501
