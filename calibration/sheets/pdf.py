"""Write sheets as PDF, in a language.

Each page has title, sizes and a 100 mm bar to check the printer.
"""

from __future__ import annotations

import io

import numpy as np
from reportlab.pdfgen.canvas import Canvas

from calibration.sheets.canvas import GREY, INK, PALE, WHITE, Pen, rectangle, words_mm
from calibration.sheets.layout import BLEED_MM, HEAD_MM, MARGIN_MM, Layout, Page
from calibration.sheets.sheet import Sheet
from table.boards import Point
from table.languages import Language, capital
from table.messages import msg, sentences
from vision.cameras.frame import Image

POINTS_A_MM = 72 / 25.4
BAR_MM = 100.0
BAR_LOW_MM = MARGIN_MM + 4.6
"""Height of the check bar on the paper."""
CROP_MM, CROP_INSIDE_MM = 1.4, 2.0
"""Length of the crop marks beyond the drawing, and into the white around it at sides without a
further page.
"""
UPRIGHT_SHARES, LEVEL_SHARES = (0.36, 0.72), (0.31, 0.69)
"""Positions of registration marks along a seam, beside the lines and text of every board."""
NOTE_MM, NOTES_APART_MM = 2.4, 6.0
"""Font size of the two notes at the foot, and least distance between them."""
PREVIEW_DPI, PREVIEW_GAP_PX = 100.0, 24


def write_pdf(sheet: Sheet, layout: Layout, language: Language = "en") -> bytes:
    """The PDF, vector throughout; the same sheet in the same language gives the same bytes."""
    data = io.BytesIO()
    canvas = Canvas(
        data, invariant=1, pageCompression=1, initialFontName="Helvetica", lang=language
    )
    pen = Pen(canvas, language)
    canvas.setTitle(f"Rinkside: {pen.translate(sheet.title)}")
    canvas.setSubject(pen.translate(sheet.purpose))
    canvas.setCreator("Rinkside")
    canvas.setAuthor("Rinkside")
    for number, page in enumerate(layout.pages, 1):
        canvas.setPageSize((page.width_mm * POINTS_A_MM, page.depth_mm * POINTS_A_MM))
        canvas.scale(POINTS_A_MM, POINTS_A_MM)
        _part(pen, sheet, layout, page)
        _head(pen, sheet, layout, page, number)
        _foot(pen, page, layout)
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def read_pages(pdf: bytes, dpi: float) -> list[Image]:
    """The pages of a PDF as pictures (h, w, 3)."""
    from pypdfium2 import PdfDocument  # loads a library of 7 MB that printing does not need

    document = PdfDocument(pdf)
    pages = [
        np.ascontiguousarray(
            page.render(scale=dpi / 72, rev_byteorder=True).to_numpy()[:, :, :3], np.uint8
        )
        for page in document
    ]
    document.close()
    return pages


def preview(pdf: bytes, layout: Layout) -> Image:
    """All pages in one picture, joined."""
    pages = read_pages(pdf, PREVIEW_DPI)
    height, width = (max(page.shape[axis] for page in pages) + PREVIEW_GAP_PX for axis in (0, 1))
    picture = np.full(
        (layout.rows * height + PREVIEW_GAP_PX, layout.columns * width + PREVIEW_GAP_PX, 3),
        150,
        np.uint8,
    )
    for image, page in zip(pages, layout.pages, strict=True):
        top, left = PREVIEW_GAP_PX + page.row * height, PREVIEW_GAP_PX + page.column * width
        picture[top : top + image.shape[0], left : left + image.shape[1]] = image
    return picture


def _part(pen: Pen, sheet: Sheet, layout: Layout, page: Page) -> None:
    """Draw the part of the sheet on this page, with bleed at seams and marks to join it."""
    joined = _joined_sides(layout, page)
    low = page.low_mm[0] - BLEED_MM * joined["left"], page.low_mm[1] - BLEED_MM * joined["near"]
    high = page.high_mm[0] + BLEED_MM * joined["right"], page.high_mm[1] + BLEED_MM * joined["far"]
    pen.canvas.saveState()
    pen.canvas.translate(*page.origin_mm)
    clip = pen.canvas.beginPath()
    clip.rect(*low, high[0] - low[0], high[1] - low[1])
    pen.canvas.saveState()
    pen.canvas.clipPath(clip, stroke=0, fill=0)
    sheet.draw(pen)
    for marker in sheet.markers:
        pen.marker(marker, sheet.dictionary)
    for seam in _seams(layout, page):
        _registration(pen, seam)
    pen.canvas.restoreState()
    for x, side in ((page.low_mm[0], "left"), (page.high_mm[0], "right")):
        for y, end, way in ((low[1], "near", -1), (high[1], "far", 1)):
            if joined[side]:
                pen.line(
                    [
                        (x, y + way * (0.3 if joined[end] else -CROP_INSIDE_MM)),
                        (x, y + way * CROP_MM),
                    ],
                    0.15,
                    INK,
                )
    for y, side in ((page.low_mm[1], "near"), (page.high_mm[1], "far")):
        for x, end, way in ((low[0], "left", -1), (high[0], "right", 1)):
            if joined[side]:
                pen.line(
                    [
                        (x + way * (0.3 if joined[end] else -CROP_INSIDE_MM), y),
                        (x + way * CROP_MM, y),
                    ],
                    0.15,
                    INK,
                )
    pen.canvas.restoreState()


def _joined_sides(layout: Layout, page: Page) -> dict[str, bool]:
    """Sides on which another page follows."""
    return {
        "left": page.column > 0,
        "right": page.column < layout.columns - 1,
        "far": page.row > 0,
        "near": page.row < layout.rows - 1,
    }


def _seams(layout: Layout, page: Page) -> list[Point]:
    """Places of the registration marks on this page's seams; the neighbour has the same ones."""
    joined, (x0, y0), (x1, y1) = _joined_sides(layout, page), page.low_mm, page.high_mm
    upright = [
        (x, y0 + share * (y1 - y0))
        for x, side in ((x0, "left"), (x1, "right"))
        if joined[side]
        for share in UPRIGHT_SHARES
    ]
    level = [
        (x0 + share * (x1 - x0), y)
        for y, side in ((y0, "near"), (y1, "far"))
        if joined[side]
        for share in LEVEL_SHARES
    ]
    return upright + level


def _registration(pen: Pen, at: Point) -> None:
    """A cross in a circle that is whole when two pages meet."""
    x, y = at
    pen.disc(at, 1.8, WHITE)
    pen.ring(at, 1.6, 0.15, INK)
    pen.line([(x - 3, y), (x + 3, y)], 0.15, GREY)
    pen.line([(x, y - 3), (x, y + 3)], 0.15, GREY)


def _head(pen: Pen, sheet: Sheet, layout: Layout, page: Page, number: int) -> None:
    top, right = page.depth_mm - MARGIN_MM, page.width_mm - MARGIN_MM
    title_mm = text_mm = right - MARGIN_MM
    if len(layout.pages) > 1:
        wide, high = 3.0, 3.0 * page.depth_mm / page.width_mm
        left = right - layout.columns * wide
        for other in layout.pages:
            low = left + other.column * wide, top - (other.row + 1) * high
            box = rectangle(low, (low[0] + wide, low[1] + high))
            pen.fill(box, INK if other is page else WHITE)
            pen.line(box, 0.2, INK, closed=True)
        where = msg("page {n} of {n2}", n=number, n2=len(layout.pages))
        pen.write((left - 2, top - 3), where, 3.1, INK, anchor="right")
        text_mm = left - 2 - MARGIN_MM
        title_mm = text_mm - words_mm(pen.translate(where), 3.1) - 3
    pen.write((MARGIN_MM, top - 4.2), sheet.title, 5.0, INK, bold=True, most_mm=title_mm)
    pen.write((MARGIN_MM, top - 8.8), sheet.purpose, 3.1, most_mm=text_mm)
    sizes = capital(pen.translate(sheet.sizes))
    pen.write((MARGIN_MM, top - 12.4), sizes, 2.9, GREY, most_mm=text_mm)
    pen.line([(MARGIN_MM, top - HEAD_MM + 0.5), (right, top - HEAD_MM + 0.5)], 0.15, PALE)


def _foot(pen: Pen, page: Page, layout: Layout) -> None:
    """Draw the check bar and a place to write down its measured length.

    It is exactly 100 mm between the outer edges of its end ticks.
    """
    x, y = MARGIN_MM, BAR_LOW_MM
    ticks = [rectangle((x + at - 0.1, y), (x + at + 0.1, y + 1.6)) for at in range(10, 100, 10)]
    ends = [
        rectangle((x, y - 1.5), (x + 0.3, y + 3)),
        rectangle((x + BAR_MM - 0.3, y - 1.5), (x + BAR_MM, y + 3)),
    ]
    pen.fill_all([rectangle((x, y - 0.15), (x + BAR_MM, y + 0.15)), *ticks, *ends], INK)
    text, place = msg("100 mm; measured:"), x + BAR_MM + 3
    pen.write((place, y), text, 3.1)
    box = place + words_mm(pen.translate(text), 3.1) + 2
    pen.line(rectangle((box, y - 1.3), (box + 18, y + 4.2)), 0.2, INK, closed=True)
    pen.write((box + 19.5, y), "mm", 3.1)
    advice = sentences(
        msg("Outer edge to outer edge."),
        msg("Print at {share} (“actual size”), not “fit to page”.", share="100 %"),
    )
    joining = (
        msg(
            "To join pages, cut one at the marks and lay it on its neighbour so that the circles"
            " meet."
        )
        if len(layout.pages) > 1
        else "Rinkside"
    )
    both_mm = sum(words_mm(pen.translate(line), NOTE_MM) for line in (advice, joining))
    share = min(1.0, (page.width_mm - 2 * MARGIN_MM - NOTES_APART_MM) / both_mm)
    pen.write((MARGIN_MM, y - 3.9), advice, share * NOTE_MM, GREY)
    pen.write((page.width_mm - MARGIN_MM, y - 3.9), joining, share * NOTE_MM, GREY, anchor="right")
