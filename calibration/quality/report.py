"""Report of a table check: sentences and figures, an image, and a self-contained HTML page."""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import cv2
import numpy as np

from calibration.quality.check import Residual
from calibration.quality.error_model import ErrorMap
from table.languages import Language, translation
from table.messages import Message, Number, msg, sentences
from table.solids import Array
from table.table_config import Setup
from vision.annotate.text import letter_mask
from vision.cameras.frame import Image, swapped

How = Literal["measured", "predicted"]
Tone = Literal["good", "doubtful", "bad"]
Ink = tuple[int, int, int]
Range = tuple[float, float]
"""Least and greatest error of the colour scale, mm."""

WIDE_PX, HIGH_PX = 1100, 800
"""Largest size of the board in the image, without margins."""
MARGIN_PX, TOP_PX, BAR_PX = 110, 140, 200
LETTER_PX = 17.0
INK, FAINT, PAPER = (28, 32, 40), (110, 116, 126), (255, 255, 255)
LEAST_RANGE_MM = 0.2
COLOURS = cv2.COLORMAP_VIRIDIS
VALUES = 5
"""Number of values written along each side of the map."""
HOW: dict[How, Message] = {"measured": msg("measured"), "predicted": msg("predicted")}
MARGINS = msg("± and “{share}” hold 95 of 100 true values.", share="95 %")
PREDICTED = msg(
    "Predicted: by the camera's place, the lens and what edges can tell, as said beside it."
)
MEASURED = msg("Measured: seen on this table.")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: name, value with unit, measured or predicted, and its basis."""

    what: Message
    figure: Message
    how: How
    rests_on: Message


@dataclass(frozen=True, slots=True)
class Report:
    """All figures and the conclusion: `verdict` is a sentence or two, `tone` its colour."""

    title: Message
    verdict: Message
    tone: Tone
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A picture, R-G-B, with text in a language.

    Table points (n, 2), mm, are drawn at `scale` px per mm. `corner_mm` is at the top left of the
    drawing.
    """

    canvas: Image
    language: Language
    corner_mm: Array
    scale: float

    def at(self, points_mm: Array) -> Array:
        """Pixels (n, 2) of table points (n, 2)."""
        left_top = np.array([MARGIN_PX, TOP_PX], float)
        return np.asarray(left_top + self.scale * (points_mm - self.corner_mm) * (1, -1))

    def write(
        self,
        text: Message,
        at: Sequence[float] | Array,
        letter_px: float = LETTER_PX,
        ink: Ink = INK,
        middle: bool = False,
    ) -> None:
        """Write text with its left top, or its middle, at a pixel."""
        mask = letter_mask(translation(text, self.language), letter_px)
        x, y = (round(float(value)) for value in at)
        if middle:
            x, y = x - mask.shape[1] // 2, y - mask.shape[0] // 2
        x, y = (
            max(0, min(x, self.canvas.shape[1] - mask.shape[1])),
            max(0, min(y, self.canvas.shape[0] - mask.shape[0])),
        )
        part = self.canvas[y : y + mask.shape[0], x : x + mask.shape[1]]
        mask = mask[: part.shape[0], : part.shape[1], None]
        part[:] = np.rint(part * (1 - mask) + np.array(ink) * mask)

    def write_line(self, text: Message, row: float, letter_px: float, ink: Ink) -> None:
        """Write a line from the left margin on, smaller if it would not fit."""
        words = translation(text, self.language)
        most_px = self.canvas.shape[1] - 1.5 * MARGIN_PX
        share = most_px / letter_mask(words, letter_px).shape[1]
        self.write(text, (MARGIN_PX, row), min(1.0, share) * letter_px, ink)


def draw_map(
    map_: ErrorMap,
    setup: Setup,
    residuals: Mapping[int, Residual],
    title: Message,
    below: Message,
    language: Language = "en",
) -> Image:
    """Map of the errors of lying pieces over the board, R-G-B, far side up.

    Fiducials are drawn around it, each with its residual, of `residuals` by their numbers.
    """
    outline = setup.outline_mm()
    markers = {marker.id: np.array(marker.corners_mm) for marker in setup.fiducials.markers}
    corners = np.concatenate([outline, *markers.values()])
    first, last = corners.min(axis=0), corners.max(axis=0)
    scale = min(WIDE_PX / (last[0] - first[0]), HIGH_PX / (last[1] - first[1]))
    wide, high = (math.ceil(scale * length) for length in last - first)
    shape = high + TOP_PX + MARGIN_PX, wide + 2 * MARGIN_PX + BAR_PX, 3
    drawing = _Drawing(
        np.full(shape, PAPER, np.uint8), language, np.array([first[0], last[1]]), scale
    )
    least, most = _range(map_.lying_mm)
    _draw_errors(drawing, map_.lying_mm, outline, (least, most))
    _draw_fiducials(drawing, markers, residuals)
    _draw_bar(drawing, wide + MARGIN_PX + 110, high, (least, most))
    drawing.write_line(title, 34.0, 1.35 * LETTER_PX, INK)
    meaning = msg(
        "{share} of lying pieces are read nearer than this to where they are, mm", share="95 %"
    )
    drawing.write_line(meaning, 72.0, LETTER_PX, FAINT)
    drawing.write_line(below, shape[0] - 72.0, 0.9 * LETTER_PX, FAINT)
    if residuals:
        off = msg("off: how far a marker is seen from its place in table.json, mm (measured)")
        drawing.write_line(off, shape[0] - 40.0, 0.9 * LETTER_PX, FAINT)
    return drawing.canvas


def _range(values: Array) -> Range:
    """Ends of the colour scale, in tenths of a mm."""
    finite = values[np.isfinite(values)]
    least, most = (
        (math.floor(10 * finite.min()) / 10, math.ceil(10 * finite.max()) / 10)
        if len(finite)
        else (0.0, 1.0)
    )
    return least, max(most, least + LEAST_RANGE_MM)


def _colour_map(values: Array, ends: Range) -> Image:
    """Colour-code errors from light for small ones to dark for large ones."""
    least, most = ends
    share = np.clip((values - least) / (most - least), 0, 1)
    return swapped(cv2.applyColorMap(np.rint(255 * (1 - share)).astype(np.uint8), COLOURS))


def _draw_errors(drawing: _Drawing, errors_mm: Array, outline: Array, ends: Range) -> None:
    """Colour the board by its errors (h, w), and write some of the values on it."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    canvas, border = drawing.canvas, drawing.at(outline)
    (left, top), (right, bottom) = (
        np.rint(drawing.at(np.array([[low[0], high[1]], [high[0], low[1]]]))).astype(int).tolist()
    )
    shown = np.nan_to_num(errors_mm, posinf=ends[1])
    fine = np.asarray(
        cv2.resize(shown, (right - left, bottom - top), interpolation=cv2.INTER_CUBIC), float
    )
    board = np.zeros(canvas.shape[:2], np.uint8)
    cv2.fillPoly(board, [np.rint(border).astype(np.int32)], 1)
    inside = board[top:bottom, left:right] > 0
    canvas[top:bottom, left:right][inside] = _colour_map(fine, ends)[inside]
    cv2.polylines(canvas, [np.rint(16 * border).astype(np.int32)], True, INK, 2, cv2.LINE_AA, 4)
    rows, columns = (
        [int(count * (k + 0.5) / VALUES) for k in range(VALUES)] for count in fine.shape
    )
    for row, column in product(rows, columns):
        if inside[row, column]:
            error_mm = float(fine[row, column])
            ink = PAPER if error_mm > sum(ends) / 2 else INK
            drawing.write(
                _number(f"{error_mm:.2f}"), (left + column, top + row), ink=ink, middle=True
            )


def _draw_fiducials(
    drawing: _Drawing, markers: Mapping[int, Array], residuals: Mapping[int, Residual]
) -> None:
    """Draw each fiducial as a black square with its number, its residual beside it."""
    canvas = drawing.canvas
    for id_, corners in markers.items():
        square = drawing.at(corners)
        cv2.fillPoly(canvas, [np.rint(16 * square).astype(np.int32)], INK, cv2.LINE_AA, 4)
        drawing.write(_number(str(id_)), square.mean(axis=0), ink=PAPER, middle=True)
        if id_ in residuals:
            low, high = square[:, 1].min(), square[:, 1].max()
            row = low - 14 if square[:, 1].mean() < canvas.shape[0] / 2 else high + 16
            off = msg("off {mm}", mm=f"{residuals[id_].off_mm:.2f}")
            drawing.write(off, (square[:, 0].mean(), row), 0.8 * LETTER_PX, middle=True)


def _draw_bar(drawing: _Drawing, left: int, height: int, ends: Range) -> None:
    canvas, (least, most) = drawing.canvas, ends
    ramp = np.linspace(most, least, height)[:, None].repeat(28, axis=1)
    canvas[TOP_PX : TOP_PX + height, left : left + 28] = _colour_map(ramp, ends)
    cv2.rectangle(canvas, (left, TOP_PX), (left + 28, TOP_PX + height), INK, 1)
    steps = max(2, min(8, round((most - least) / 0.1)))
    for k in range(steps + 1):
        value = least + (most - least) * k / steps
        row = TOP_PX + height * (1 - k / steps)
        drawing.write(_number(f"{value:.2f} mm"), (left + 38.0, row - LETTER_PX / 2))


def _number(text: str) -> Message:
    return Message(Number(text))


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


def page(report: Report, picture_png: bytes, language: Language = "en") -> str:
    """The report as one HTML file in a language, with embedded picture and style."""

    def say(text: Message) -> str:
        return html.escape(translation(text, language))

    rows = "\n".join(
        f'<tr><td>{say(row.what)}</td><td class="figure">{say(row.figure)}</td><td><span'
        f' class="how {row.how}">{say(HOW[row.how])}</span></td><td'
        f' class="faint">{say(row.rests_on)}</td></tr>'
        for row in report.rows
    )
    picture = base64.b64encode(picture_png).decode("ascii")
    alt = say(msg("Map of the errors over the table"))
    headings = "".join(
        f"<th>{say(heading) if heading else ''}</th>"
        for heading in (msg("what"), msg("figure"), None, msg("what it rests on"))
    )
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{say(report.title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{say(report.title)}</h1>
<p class="verdict {report.tone}">{say(report.verdict)}</p>
<figure><img alt="{alt}" src="data:image/png;base64,{picture}"></figure>
<table>
<thead><tr>{headings}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p class="faint">{say(sentences(MARGINS, PREDICTED, MEASURED))}</p>
</body>
</html>
"""
