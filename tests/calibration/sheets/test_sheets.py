"""Sheets, read back by OpenCV from the pictures of their own PDFs: everything lies where it is said
to, to hundredths of a mm.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from pypdfium2 import PdfDocument

from calibration.sheets.cards import target_board, target_square_mm
from calibration.sheets.catalogue import SHEETS, make_sheet
from calibration.sheets.layout import FOOT_MM, HEAD_MM, MARGIN_MM, PAPERS, Layout, Page, lay_out
from calibration.sheets.pdf import BAR_LOW_MM, read_pages, write_pdf
from calibration.sheets.sheet import Sheet
from engines.icebreaker.board import board as icebreaker_board
from engines.icebreaker.board import label
from engines.zamboni_wars.board import SPACES, STRAIGHT, USUAL
from table.boards import Chessboard, Coasters, Hex, Open, Tiles
from table.cells import cells_mm
from table.errors import InputError
from tests.support.words import same_words
from vision.assignment.colour import PALETTE

pytestmark = pytest.mark.slow

DPI = 300.0
BOARDS = ("chessboard", "hex", "tiles", "coasters", "mat")


@cache
def printed(name: str, paper: str, dpi: float = DPI) -> tuple[Sheet, Layout, list[np.ndarray]]:
    sheet = make_sheet(name, PAPERS[paper])
    layout = lay_out(sheet, PAPERS[paper])
    return sheet, layout, read_pages(write_pdf(sheet, layout), dpi)


def grey(image: np.ndarray) -> np.ndarray:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))


def mm_a_px(image: np.ndarray, page: Page) -> np.ndarray:
    """Across and down; 300 dpi, but for pages that are no whole number of pixels."""
    return np.array([page.width_mm / image.shape[1], page.depth_mm / image.shape[0]])


def to_sheet(image: np.ndarray, page: Page, pixels: np.ndarray) -> np.ndarray:
    """Pixels (n, 2) of a picture of a page, as mm of the sheet."""
    x, down = ((np.asarray(pixels, float).reshape(-1, 2) + 0.5) * mm_a_px(image, page)).T
    return np.column_stack([x, page.depth_mm - down]) - page.origin_mm


def to_pixels(image: np.ndarray, page: Page, points: np.ndarray) -> np.ndarray:
    """Places (n, 2) of the sheet as pixels."""
    x, y = (np.asarray(points, float).reshape(-1, 2) + page.origin_mm).T
    return np.column_stack([x, page.depth_mm - y]) / mm_a_px(image, page) - 0.5


def grey_at(image: np.ndarray, page: Page, point: np.ndarray) -> int:
    u, v = to_pixels(image, page, point).round().astype(int)[0]
    return int(grey(image)[v, u])


def profile(
    image: np.ndarray, page: Page, at: np.ndarray, way: np.ndarray, reach_mm: float
) -> tuple[np.ndarray, np.ndarray]:
    """Steps in mm and grey from 0 to 1 along a way through a place of the sheet."""
    steps = np.arange(-reach_mm, reach_mm, 0.01)
    pixels = to_pixels(image, page, np.asarray(at) + steps[:, None] * np.asarray(way)).astype(
        np.float32
    )
    return (
        steps,
        cv2.remap(grey(image), pixels[:, 0], pixels[:, 1], cv2.INTER_LINEAR).reshape(-1) / 255,
    )


def line_off_mm(image: np.ndarray, page: Page, at: np.ndarray, way: np.ndarray) -> float:
    """How far the middle of a dark line is from a place, measured along a way across it."""
    steps, level = profile(image, page, at, way, 0.8)
    dark = np.clip(0.78 - level, 0, None)
    assert dark.max() > 0.1, f"no line at {at}"
    return float(np.average(steps, weights=dark))


def lines_of(pdf: bytes) -> list[list[tuple[str, tuple[float, float, float, float]]]]:
    """The lines of text of each page, with their boxes on paper, mm: left, low, right, high."""
    document = PdfDocument(pdf)
    pages = []
    for page in document:
        text = page.get_textpage()
        boxes = [text.get_rect(index) for index in range(text.count_rects())]
        pages.append(
            [
                (text.get_text_bounded(*box), tuple(25.4 / 72 * side for side in box))
                for box in boxes
            ]
        )
    document.close()
    return pages


def on_page(page: Page, point: np.ndarray) -> bool:
    """Whether a page shows a place, on its seams too: it goes on a little beyond them."""
    return bool(
        np.all(point > np.subtract(page.low_mm, 0.1)) and np.all(point < np.add(page.high_mm, 0.1))
    )


@pytest.mark.parametrize("paper", PAPERS)
def test_the_target_is_read_where_it_is_printed(paper: str) -> None:
    sheet, layout, (image,) = printed("charuco", paper)
    square = target_square_mm(PAPERS[paper])
    board = target_board(square)
    corners, ids, _, marker_ids = cv2.aruco.CharucoDetector(board).detectBoard(grey(image))
    assert sorted(np.asarray(ids).reshape(-1)) == list(range(8 * 12))
    assert sorted(np.asarray(marker_ids).reshape(-1)) == [marker.id for marker in sheet.markers]
    expected = np.asarray(board.getChessboardCorners())[np.asarray(ids).reshape(-1), :2] * (
        1,
        -1,
    ) + (0, sheet.high_mm[1])
    assert np.abs(to_sheet(image, layout.pages[0], corners) - expected).max() < 0.05
    assert square >= 11


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", SHEETS)
def test_every_marker_is_read_at_its_corners(name: str, paper: str) -> None:
    sheet, layout, pages = printed(name, paper)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    detector = cv2.aruco.ArucoDetector(
        cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, sheet.dictionary)), parameters
    )
    found = {}
    for image, page in zip(pages, layout.pages, strict=True):
        quads, ids, _ = detector.detectMarkers(grey(image))
        for number, quad in zip(
            [] if ids is None else np.asarray(ids).reshape(-1), quads, strict=True
        ):
            assert int(number) not in found
            found[int(number)] = to_sheet(image, page, quad)
    assert found.keys() == {marker.id for marker in sheet.markers}
    for marker in sheet.markers:
        assert np.abs(found[marker.id] - np.array(marker.corners_mm)).max() < 0.06


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", SHEETS)
def test_the_check_bar_measures_100_mm_on_every_page(name: str, paper: str) -> None:
    _, layout, pages = printed(name, paper)
    for image, page in zip(pages, layout.pages, strict=True):
        across_mm, down_mm = mm_a_px(image, page)
        ink = (
            1
            - grey(image)[
                round((page.depth_mm - BAR_LOW_MM + 0.8) / down_mm), : round(130 / across_mm)
            ]
            / 255
        )
        left, right = np.flatnonzero(ink > 0.01)[[0, -1]]
        # A pixel at the edge is as dark as much of it is covered.
        length_px = (right - left - 1) + (ink[left] + ink[right]) / ink.max()
        assert length_px * across_mm == pytest.approx(100, abs=0.02)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", SHEETS)
def test_nothing_is_printed_where_printers_cannot_reach(name: str, paper: str) -> None:
    _, _, pages = printed(name, paper)
    edge = int((MARGIN_MM - 0.3) * DPI / 25.4)
    for image in pages:
        rim = np.ones(image.shape[:2], bool)
        rim[edge:-edge, edge:-edge] = False
        assert image[rim].min() == 255


@pytest.mark.parametrize("paper", PAPERS)
def test_the_chessboards_corners_are_where_the_board_says(paper: str) -> None:
    sheet, layout, pages = printed("chessboard", paper)
    board = sheet.board
    assert isinstance(board, Chessboard)
    checked = set()
    for image, page in zip(pages, layout.pages, strict=True):
        for file in range(1, 8):
            for rank in range(1, 8):
                corner = board.square_mm * np.array([file, rank], float)
                if not on_page(page, corner):
                    continue
                start = to_pixels(image, page, corner).reshape(-1, 1, 2).astype(
                    np.float32
                ) + np.float32(3)
                criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 100, 1e-4)
                seen = cv2.cornerSubPix(grey(image), start, (12, 12), (-1, -1), criteria)
                assert np.abs(to_sheet(image, page, seen) - corner).max() < 0.05
                checked.add((file, rank))
        if on_page(page, np.array([5.0, 5.0])):
            assert grey_at(image, page, np.array([5.0, 5.0])) < 100, "a1 is dark"
    assert len(checked) == 49


def lines(sheet: Sheet) -> list[tuple[np.ndarray, np.ndarray]]:
    """Places on the lines of a board, with the way across."""
    match sheet.board:
        case Hex() as board:
            middles = board.middles()
            pairs = [
                (middles[q, r], middles[q + a, r + b])
                for q, r in middles
                for a, b in ((1, 0), (0, 1), (-1, 1))
                if (q + a, r + b) in middles
            ]
            return [((one + other) / 2, (other - one) / board.cell_mm) for one, other in pairs]
        case Tiles() | Coasters() as board:
            cell, (x0, y0) = board.cell_mm, board.origin_mm
            every = 1 if isinstance(board, Tiles) else 3
            across = [
                (np.array([x0 + k * cell, y0 + 0.8 * cell]), np.array([1.0, 0.0]))
                for k in range(0, board.cols + 1, every)
            ]
            return across + [
                (np.array([x0 + 0.8 * cell, y0 + k * cell]), np.array([0.0, 1.0]))
                for k in range(0, board.rows + 1, every)
            ]
        case Open() as board:
            outline = board.outline()
            ways = np.roll(outline, -1, axis=0) - outline
            return [
                (corner + 0.4 * way, np.array([-way[1], way[0]]) / np.hypot(*way))
                for corner, way in zip(outline, ways, strict=True)
            ]
        case _:
            raise AssertionError


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", ["hex", "tiles", "coasters", "mat"])
def test_the_lines_of_a_board_are_where_the_board_says(name: str, paper: str) -> None:
    sheet, layout, pages = printed(name, paper)
    checked = 0
    for image, page in zip(pages, layout.pages, strict=True):
        inside = [(at, way) for at, way in lines(sheet) if on_page(page, at)]
        for at, way in inside:
            edge = sheet.board.outline() if isinstance(sheet.board, Tiles) else None
            outer = edge is not None and (np.abs(at - edge).min(axis=0) < 1e-6).any()
            # The outermost places of tiles begin half of the gap further in.
            allowed = 0.05 + (0.1 if outer else 0.0)
            assert abs(line_off_mm(image, page, at, way)) < allowed, at
        checked += len(inside)
    assert checked >= len(lines(sheet))


def test_arrows_are_printed_where_the_rules_have_them_and_nowhere_else() -> None:
    sheet, layout, (image,) = printed("coasters", "A3")
    board, (page,) = sheet.board, layout.pages
    assert isinstance(board, Coasters)
    assert board.layout == (("yellow", "red"), ("green", "blue"))
    steps = {"N": (0, 1), "E": (1, 0), "S": (0, -1), "W": (-1, 0)}
    for space in SPACES:
        middle = board.cell_mm * np.array([space.file + 0.5, space.row + 0.5])
        for way in STRAIGHT:
            dark = grey_at(image, page, middle + 0.43 * board.cell_mm * np.array(steps[way])) < 170
            assert dark == (way in USUAL.arrows[space]), f"{space} {way}"


def test_cells_are_named_as_in_the_rules() -> None:
    sheet = make_sheet("hex", PAPERS["A3"])
    assert isinstance(sheet.board, Hex)
    ours = {name: corners.mean(axis=0) for name, corners in cells_mm(sheet.board).items()}
    for row in icebreaker_board(5).rows:
        names = [label(cell) for cell in row]
        places = np.array([ours[name] for name in names])
        assert (np.diff(places[:, 0]) > 0).all()
        assert np.ptp(places[:, 1]) < 1e-9
    assert ours["A1"][1] < 0 < ours["E9"][1]


def test_patches_have_the_colours_of_their_names() -> None:
    _, _, (image,) = printed("colours", "A4")
    light = image.reshape(-1, 3)[::7].astype(float) / 255
    linear = np.where(light <= 0.04045, light / 12.92, ((light + 0.055) / 1.055) ** 2.4)
    for name, rgb in PALETTE.items():
        share = np.mean(np.abs(linear - rgb).max(axis=1) < 0.012)
        assert share > 0.015, name


def test_a_board_too_large_for_a_paper_names_one_that_does() -> None:
    with pytest.raises(
        InputError,
        match=(
            r"A4 is too small: expected a sheet of at most 12 pages, got 20 for 908 x 808 mm; print"
            r" it on A3"
        ),
    ):
        lay_out(make_sheet("chessboard", PAPERS["A4"], 100), PAPERS["A4"])


@pytest.mark.parametrize("name", BOARDS)
def test_the_same_sheet_is_the_same_file(name: str) -> None:
    sheet = make_sheet(name, PAPERS["A4"])
    layout = lay_out(sheet, PAPERS["A4"])
    assert write_pdf(sheet, layout) == write_pdf(sheet, layout)


NAMES = {
    "boule",
    "charuco",
    "cyan",
    "iceberg",
    "icebreaker",
    "icefloe",
    "null",
    "orange",
    "piecepack",
    "rinkside",
    "storm",
    "wars",
    "zamboni",
}
"""Words that are the same in another language."""


@pytest.mark.parametrize("language", ["de", "es"])
@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_in_one_language(name: str, language: str) -> None:
    sheet = make_sheet(name, PAPERS["A4"])
    layout = lay_out(sheet, PAPERS["A4"])
    text = {
        code: " ".join(
            line for page in lines_of(write_pdf(sheet, layout, code)) for line, _ in page
        )
        for code in ("en", language)
    }
    assert same_words(text["en"], text[language]) <= NAMES
    assert "100 mm; measured:" in text["en"]
    measured, page = {"de": ("gemessen", "Seite 1 von"), "es": ("medido", "página 1 de")}[language]
    assert f"100 mm; {measured}:" in text[language]
    assert (page in text[language]) == (len(layout.pages) > 1)
    assert f"/Lang ({language})".encode() in write_pdf(sheet, layout, language)


def test_words_of_a_sheet_have_the_letters_of_their_language() -> None:
    said = {
        ("tiles", "de"): "Auf diesen Plätzen wird IceFloe gespielt",
        ("tiles", "es"): "En estos lugares se juega a IceFloe: se ponen los témpanos",
        ("colours", "de"): "Grün",
        ("charuco", "de"): "Druckt mit 100 % („tatsächliche Größe“), nicht „an Seite anpassen“.",
        ("hex", "es"): "28 mm entre lados, cinco por borde; marcas 0 a 3 de 40 mm (DICT_4X4_50)",
        ("coasters", "de"): "Vier Untersetzer von 101,6 mm, Felder im Abstand von 33,87 mm; Marken",
    }
    for (name, language), words in said.items():
        sheet = make_sheet(name, PAPERS["A3"])
        (page, *_) = lines_of(write_pdf(sheet, lay_out(sheet, PAPERS["A3"]), language))
        assert words in " ".join(line for line, _ in page), (name, language)


@pytest.mark.parametrize("language", ["en", "de", "es"])
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("name", SHEETS)
def test_no_line_around_a_sheet_is_over_another_or_off_the_paper(
    name: str, paper: str, language: str
) -> None:
    sheet = replace(make_sheet(name, PAPERS[paper]), draw=lambda _: None)
    layout = lay_out(sheet, PAPERS[paper])
    for page, lines in zip(layout.pages, lines_of(write_pdf(sheet, layout, language)), strict=True):
        assert len(lines) >= 6
        for line, (left, low, right, high) in lines:
            assert MARGIN_MM - 0.3 < left < right < page.width_mm - MARGIN_MM + 0.3, line
            assert low > page.depth_mm - MARGIN_MM - HEAD_MM or high < MARGIN_MM + FOOT_MM, line
            over = [
                other
                for other, box in lines
                if other != line
                and min(right, box[2]) - max(left, box[0]) > -1.0
                and min(high, box[3]) - max(low, box[1]) > 0.3
            ]
            assert over == [], line
