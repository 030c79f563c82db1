"""Render a verdict as one picture to share: photograph, board, sentence, measurements."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator

import cv2
import numpy as np
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from referee.presentation.session_view import SessionView, Verdict
from referee.presentation.shown_games import title
from table.measured_text import shown_date
from table.messages import msg
from webui.filters import clauses_in_words, shown_at, shown_gap, shown_verdict
from webui.svg.board import Drawing
from webui.svg.labels import Label
from webui.svg.marks import DrawnMark
from webui.svg.palette import letter, paint

WIDTH, EDGE, GAP = 1200.0, 40.0, 24.0
"""Width of the picture, its margins, and the spacing of its parts, in pixels."""
PICTURES = 465.0
"""Height of the photograph and of the drawing, in pixels."""
SAID, SMALL, ROWS, CHIP = 32.0, 20.0, 4, 25.0
"""Text height of the sentence and of all else, number of distances, and side of a colour chip;
lengths in pixels.
"""
INK, QUIET, LINE, GROUND, DARK = "#12202b", "#556674", "#d5dfe6", "#e6eff5", "#c9d9e3"
_pdfium = threading.Lock()
"""PDFium is not thread-safe."""


def verdict_png(
    view: SessionView, drawing: Drawing | None, jpeg: bytes | None, say: Callable[[str], str] = str
) -> bytes:
    """The newest verdict of a view as a PNG, in the language of `say`.

    `jpeg` is the picture behind the verdict, if it is stored.
    """
    ruled = view.verdicts[0] if view.verdicts else None
    message = say(ruled.message if ruled else msg("Nothing has been ruled yet."))
    lines = _wrap_lines(message, "Helvetica-Bold", SAID, WIDTH - 2 * EDGE)
    rows = _distance_rows(view, say)
    height = _height(len(lines), len(rows))
    packed = io.BytesIO()
    canvas = Canvas(packed, pagesize=(WIDTH, height), pageCompression=0)
    y = height - EDGE - 22
    _heading(canvas, y, view, say)
    y -= 22 + PICTURES
    _pictures(canvas, y, drawing, jpeg, say)
    y -= GAP + SMALL
    if ruled:
        _kind_and_players(canvas, y, ruled, view, say)
    y = _message(canvas, y, lines)
    y = _distances(canvas, y - SMALL * 0.6, rows)
    if ruled and ruled.rests_on:
        _basis(canvas, y - SMALL * 1.6, ruled.rests_on, say)
    canvas.save()
    return _png(packed.getvalue())


def _height(lines: int, rows: int) -> float:
    """Height of a picture with these message lines and distance rows."""
    heading, below = EDGE + 44, SMALL * 2 + lines * SAID * 1.25 + (rows + 2) * SMALL * 1.45
    return heading + PICTURES + GAP + below + EDGE


def _heading(canvas: Canvas, y: float, view: SessionView, say: Callable[[str], str]) -> None:
    """The program's name on the left, game and session on the right."""
    _text(canvas, EDGE, y, "Rinkside", "Helvetica-Bold", 24)
    played = msg(
        "{raw}, game {n}, session {n2} - simulated table"
        if view.simulated
        else "{raw}, game {n}, session {n2}",
        raw=title(view.game),
        n=view.game_number,
        n2=view.session,
    )
    canvas.setFillColor(QUIET)
    when = shown_date(view.started_utc)
    _text(canvas, WIDTH - EDGE, y, f"{say(played)} · {when}", "Helvetica", SMALL, right=True)


def _kind_and_players(
    canvas: Canvas, y: float, ruled: Verdict, view: SessionView, say: Callable[[str], str]
) -> None:
    """The verdict's kind and time, and the players' names with their colours."""
    players = (
        f"{view.names[one]} ({say(one)})" if one in view.names else say(one) for one in view.players
    )
    when = say(shown_at(ruled.at_ms))
    text = f"{say(shown_verdict(ruled)).upper()}   {when}   {', '.join(players)}"
    canvas.setFillColor(QUIET)
    _text(canvas, EDGE, y, text, "Helvetica-Bold", SMALL * 0.85)


def _message(canvas: Canvas, y: float, lines: list[str]) -> float:
    """Draw lines below y; returns the y of the last one."""
    canvas.setFillColor(INK)
    for line in lines:
        y -= SAID * 1.25
        _text(canvas, EDGE, y, line, "Helvetica-Bold", SAID)
    return y


def _distances(canvas: Canvas, y: float, rows: list[tuple[str, str]]) -> float:
    """Draw rows of colour and text below y; returns the y of the last one."""
    for colour, words in rows:
        y -= SMALL * 1.45
        _chip(canvas, EDGE, y - 5, colour)
        canvas.setFillColor(INK)
        _text(canvas, EDGE + 34, y, words, "Helvetica", SMALL)
    return y


def _basis(canvas: Canvas, y: float, rests_on: str, say: Callable[[str], str]) -> None:
    """Draw the rules behind the verdict."""
    text = say(msg("Based on: {text}", text=clauses_in_words(rests_on)))
    canvas.setFillColor(QUIET)
    _text(canvas, EDGE, y, text, "Helvetica", SMALL)


def _distance_rows(view: SessionView, say: Callable[[str], str]) -> list[tuple[str, str]]:
    """Colour and text of the shortest distances to the target."""
    return [
        (row.colour, f"{say(row.colour)} {say(row.size)}: {say(shown_gap(row))}")
        for row in view.ranking[:ROWS]
    ]


def _pictures(
    canvas: Canvas, y: float, drawing: Drawing | None, jpeg: bytes | None, say: Callable[[str], str]
) -> None:
    """Draw photograph and drawing side by side above y; one alone gets the full width."""
    room = WIDTH - 2 * EDGE
    halves = [room * 0.56 - GAP / 2, room * 0.44 - GAP / 2] if jpeg and drawing else [room, room]
    if jpeg:
        image = ImageReader(io.BytesIO(jpeg))
        canvas.drawImage(
            image,
            EDGE,
            y,
            halves[0],
            PICTURES,
            preserveAspectRatio=True,
            anchor="nw" if drawing else "n",
        )
    if drawing:
        canvas.saveState()
        _, _, width, height = drawing.view_box
        scale = min(halves[1] / width, PICTURES / height)
        left = WIDTH - EDGE - halves[1] + (halves[1] - scale * width) / 2
        canvas.translate(
            left - scale * drawing.view_box[0], y + PICTURES + scale * drawing.view_box[1]
        )
        canvas.scale(scale, -scale)
        room_for_it = canvas.beginPath()
        room_for_it.rect(*drawing.view_box)
        canvas.clipPath(room_for_it, stroke=0, fill=0)
        _board(canvas, drawing, 1.0 / scale, say)
        canvas.restoreState()


def _board(canvas: Canvas, drawing: Drawing, px: float, say: Callable[[str], str]) -> None:
    """Draw the board on a canvas scaled to it; `px` is a pixel in the drawing's units."""
    canvas.setLineWidth(px)
    canvas.setLineJoin(1)
    _polygon(canvas, drawing.outline, GROUND, LINE)
    for cell in drawing.cells:
        canvas.setFillColor(DARK if cell.dark else GROUND)
        canvas.rect(cell.x, cell.y, cell.side_mm, cell.side_mm, stroke=0, fill=1)
    for hexagon in drawing.hexes:
        _polygon(canvas, hexagon.points, GROUND, DARK)
    for counter in drawing.counters:
        canvas.setFillColor(paint(counter.colour)[0])
        canvas.setStrokeColor(QUIET)
        canvas.circle(counter.x, counter.y, counter.radius_mm, stroke=1, fill=1)
    canvas.setLineWidth(2 * px)
    for gap in drawing.gaps[:ROWS]:
        canvas.setStrokeColor(INK if gap.leading else QUIET)
        canvas.line(gap.x1, gap.y1, gap.x2, gap.y2)
    canvas.setLineWidth(1.2 * px)
    for piece in drawing.pieces:
        _polygon(canvas, piece.outline, paint(piece.colour)[0], INK)
        for face in piece.faces:
            _polygon(
                canvas,
                face.points,
                "#ffffff" if face.shade > 0 else "#000000",
                INK,
                min(1.0, abs(face.shade)),
            )
    for mark in drawing.trace:
        _mark(canvas, mark, px)
    canvas.setStrokeColor(INK)
    canvas.setLineWidth(px)
    for label in drawing.labels:
        canvas.line(*label.leader)
    for label in drawing.labels:
        canvas.saveState()
        canvas.translate(label.x - label.width_mm / 2, label.y + label.height_mm / 2)
        canvas.scale(label.height_mm / CHIP, -label.height_mm / CHIP)
        _label(canvas, label, say(label.text))
        canvas.restoreState()


def _mark(canvas: Canvas, mark: DrawnMark, px: float) -> None:
    for colour, width in (("#ffffff", 6 * px), (INK, 3 * px)):
        canvas.setStrokeColor(colour)
        canvas.setLineWidth(width)
        for line in re.findall(r"M([^MZ]+)(Z?)", mark.path):
            path = canvas.beginPath()
            for index, point in enumerate(line[0].split("L")):
                x, y = map(float, point.split())
                (path.lineTo if index else path.moveTo)(x, y)
            if line[1]:
                path.close()
            canvas.drawPath(path, stroke=1, fill=0)


def _label(canvas: Canvas, label: Label, text: str) -> None:
    """Draw a plate, as tall as a chip, with the colour's letter and the distance or name."""
    canvas.setLineWidth(1)
    canvas.setFillColor("#ffffff")
    canvas.setStrokeColor(LINE)
    canvas.roundRect(0, 0, CHIP * label.width_mm / label.height_mm, CHIP, 5, stroke=1, fill=1)
    _chip(canvas, 0, 0, label.colour)
    canvas.setFillColor(INK)
    canvas.setFont("Helvetica-Bold", 15)
    canvas.drawString(CHIP + 5, 7, text)


def _polygon(canvas: Canvas, points: str, fill: str, stroke: str, alpha: float = 1.0) -> None:
    path = canvas.beginPath()
    for index, point in enumerate(points.split()):
        x, y = map(float, point.split(","))
        (path.lineTo if index else path.moveTo)(x, y)
    path.close()
    canvas.setFillColor(fill, alpha)
    canvas.setStrokeColor(stroke)
    canvas.drawPath(path, stroke=1, fill=1)


def _chip(canvas: Canvas, x: float, y: float, colour: str) -> None:
    fill, on = paint(colour)
    canvas.setFillColor(fill)
    canvas.setStrokeColor(INK)
    canvas.roundRect(x, y, CHIP, CHIP, 5, stroke=1, fill=1)
    canvas.setFillColor(on)
    canvas.setFont("Helvetica-Bold", 15)
    canvas.drawCentredString(x + CHIP / 2, y + 7, letter(colour))


def _text(
    canvas: Canvas, x: float, y: float, text: str, font: str, size: float, right: bool = False
) -> None:
    """Draw one line; characters missing from the font become `?`."""
    canvas.setFont(font, size)
    (canvas.drawRightString if right else canvas.drawString)(
        x, y, text.encode("cp1252", "replace").decode("cp1252")
    )


def _wrap_lines(text: str, font: str, size: float, width: float) -> list[str]:
    """Wrap to lines of at most `width`; a number stays with its unit."""
    return list(
        _lines(
            re.sub(r" (±|mm)", "\u00a0\\1", text).replace("± ", "±\u00a0").split(" "),
            font,
            size,
            width,
        )
    )


def _lines(words: list[str], font: str, size: float, width: float) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line} {word}" if line else word
        if line and stringWidth(longer, font, size) > width:
            yield line
            line = word
        else:
            line = longer
    yield line


def _png(pdf: bytes) -> bytes:
    from pypdfium2 import (
        PdfDocument,
    )  # loads a library of 7 MB, which only sharing and printing need

    with _pdfium:
        document = PdfDocument(pdf)
        image = np.asarray(document[0].render(scale=1.0).to_numpy()).copy()
        document.close()
    return cv2.imencode(".png", np.ascontiguousarray(image[:, :, :3]))[1].tobytes()
