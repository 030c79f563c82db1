"""`rinkside calibrate table --board`: a board between four cards at unknown places, on photographs
in files.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibration.lens.file import LensFile, save_lens
from calibration.table.bundle_adjustment import place_points, square
from cli.main import main
from table.boards import Board, Chessboard, Coasters, Hex, Tiles
from table.observation import Camera
from table.table_config import load_table, save_table
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import place_covariance
from vision.localization.fiducials import locate

pytestmark = pytest.mark.slow

CARDS = ((100, 720), (1000, 720), (1000, 100), (100, 100))
BOARDS: dict[str, Board] = {
    "chessboard": Chessboard(square_mm=45),
    "hex": Hex(size=5, cell_mm=36),
    "coasters": Coasters(cell_mm=203.2 / 6, layout=(("yellow", "red"), ("green", "blue"))),
    "tiles": Tiles(cell_mm=51.2),
}


def box(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.array([low, (high[0], low[1]), high, (low[0], high[1])])


def print_of(board: Board) -> tuple[np.ndarray, list[np.ndarray], list[np.ndarray]]:
    """Outline of the board, its dark patches and its lines."""
    outline = board.outline()
    low, high, middle = outline.min(axis=0), outline.max(axis=0), outline.mean(axis=0)
    match board:
        case Chessboard(square_mm=side):
            cells = [
                np.array([file, rank]) * side
                for file in range(8)
                for rank in range(8)
                if (file + rank) % 2 == 0
            ]
            return box(low - 8, high + 8), [box(cell, cell + side) for cell in cells], []
        case Hex(cell_mm=cell):
            turns = np.radians(30 + 60 * np.arange(6))
            corners = cell / np.sqrt(3) * np.column_stack([np.cos(turns), np.sin(turns)])
            return (
                middle + 1.06 * (outline - middle),
                [],
                [at + corners for at in board.middles().values()],
            )
        case _:
            count = 2 if isinstance(board, Coasters) else 5
            margin = 0.0 if isinstance(board, Coasters) else (board.cell_mm - board.tile_mm) / 2
            low, high = low + margin, high - margin
            side = (high - low) / count
            lows = [low + side * (i, j) for i in range(count) for j in range(count)]
            marks = [box(at + 0.4 * side, at + 0.5 * side) for at in lows]
            return box(low, high), marks, [box(at, at + side) for at in lows]


def set_table(
    photographs, folder: Path, board: Board, thickness_mm: float, seed: int, views: int = 1
) -> np.ndarray:
    """Photographs of cards and board laid down carelessly in FOLDER, the lens beside it; the cards'
    true corners (4, 4, 2) in the board's frame.
    """
    rng = np.random.default_rng([31, seed])
    cards = [
        np.array([x + rng.uniform(-8, 8), y + rng.uniform(-8, 8), rng.normal(0, 0.1)])
        for x, y in CARDS
    ]
    place = np.array([0.0, 0.0, rng.normal(0, 0.06)])
    place[:2] = (
        np.array([550, 410])
        + rng.uniform(-15, 15, 2)
        - place_points(place, board.outline().mean(axis=0)[None])[0]
    )
    table, printed = (
        photographs.cards_on_a_table(cards),
        photographs.board_on_a_table(*print_of(board), place),
    )
    folder.mkdir()
    for index in range(views):
        taken = photographs.photograph_with_board(
            table, printed, thickness_mm, photographs.pose_above_table(rng), rng
        )
        photographs.save(taken, folder / f"{index}.jpg")
    nothing = {
        "sigma": {},
        "rms_px": 0.05,
        "held_out_px": {},
        "coverage": 1.0,
        "target": "",
        "square_mm": 20.0,
        "views": (),
        "left_out": (),
    }
    save_lens(
        LensFile(camera=photographs.LENS, model="k1 k2 p1 p2", **nothing),
        folder.parent / "lens.json",
    )
    c, s = np.cos(place[2]), np.sin(place[2])
    return np.array(
        [
            (place_points(card, square(60.0)) - place[:2]) @ np.array([[c, -s], [s, c]])
            for card in cards
        ]
    )


def calibrate(folder: Path, *words: object) -> Result:
    beside = folder.parent
    fixed = [
        "--lens",
        str(beside / "lens.json"),
        "--from",
        str(folder),
        "--out",
        str(beside / "table.json"),
    ]
    return CliRunner().invoke(main, ["calibrate", "table", *fixed, *map(str, words)])


def cell_words(kind: str) -> list[object]:
    match BOARDS[kind]:
        case Chessboard(square_mm=cell) | Hex(cell_mm=cell) | Tiles(cell_mm=cell):
            return ["--board", kind, "--cell-mm", cell]
        case _:
            return ["--board", kind]


@pytest.mark.parametrize(
    ("kind", "thickness_mm"),
    [("chessboard", 10.0), ("hex", 0.0), ("coasters", 2.0), ("tiles", 6.35)],
)
def test_cards_are_placed_around_a_board_that_is_found_by_itself(
    photographs, kind: str, thickness_mm: float, tmp_path: Path
) -> None:
    true = set_table(
        photographs,
        tmp_path / "photos",
        BOARDS[kind],
        thickness_mm,
        1,
        views=2 if kind == "chessboard" else 1,
    )
    message = calibrate(tmp_path / "photos", *cell_words(kind), "--thickness-mm", thickness_mm)
    assert message.exit_code == 0, message.output
    assert f" of the lines of the board ({kind}) are visible; " in message.stdout
    setup = load_table(tmp_path / "table.json")
    assert setup.board == BOARDS[kind]
    assert setup.fiducials.z_mm == -thickness_mm
    corners = np.array([marker.corners_mm for marker in setup.fiducials.markers])
    assert np.abs(corners - true).max() < 0.3
    middle_sigma = np.sqrt(np.diag(np.array(setup.fiducials.covariance))).reshape(4, 3)[:, :2]
    assert (np.abs((corners - true).mean(axis=1)) < 4 * middle_sigma + 0.02).all()
    assert middle_sigma.max() < 0.3


def test_a_table_that_is_not_sure_where_its_cards_lie_says_so_of_pieces(
    photographs, tmp_path: Path
) -> None:
    set_table(photographs, tmp_path / "photos", BOARDS["coasters"], 0.0, 2)
    assert calibrate(tmp_path / "photos", "--board", "coasters").exit_code == 0
    setup = load_table(tmp_path / "table.json")
    exact = msgspec.structs.replace(
        setup, fiducials=msgspec.structs.replace(setup.fiducials, covariance=msgspec.UNSET)
    )
    image = read_image(tmp_path / "photos" / "0.jpg").image
    doubts = []
    for known in (exact, setup):
        camera = locate(image, known)
        assert isinstance(camera, Camera)
        doubts.append(
            np.trace(place_covariance(np.array([100.0, 100.0, 0.0]), camera, known.camera))
        )
    assert doubts[1] > doubts[0]


def test_corners_given_by_hand_take_the_place_of_searching(photographs, tmp_path: Path) -> None:
    board = BOARDS["chessboard"]
    true = set_table(photographs, tmp_path / "photos", board, 4.0, 3)
    words = ["--thickness-mm", 4, *cell_words("chessboard")]
    assert calibrate(tmp_path / "photos", *words).exit_code == 0
    found = load_table(tmp_path / "table.json")
    camera = locate(read_image(tmp_path / "photos" / "0.jpg").image, found)
    outline = np.column_stack([board.outline()[[3, 2, 1, 0]], np.zeros(4)])
    there, _ = cv2.projectPoints(
        outline,
        cv2.Rodrigues(camera.rotation)[0],
        camera.translation_mm,
        np.array(found.camera.matrix),
        np.array(found.camera.distortion),
    )
    dragged = [f"{x + 2:.0f},{y - 2:.0f}" for x, y in np.asarray(there).reshape(-1, 2)]
    message = calibrate(tmp_path / "photos", *words, "--corners-px", *dragged)
    assert message.exit_code == 0, message.output
    corners = np.array(
        [marker.corners_mm for marker in load_table(tmp_path / "table.json").fiducials.markers]
    )
    assert np.abs(corners - true).max() < 0.3
    message = calibrate(tmp_path / "photos", "--thickness-mm", 4, "--corners-px", *dragged)
    assert message.exit_code == 0, message.output
    ground = load_table(tmp_path / "table.json")
    assert np.abs(ground.outline_mm() - board.outline()).max() < 3
    message = calibrate(tmp_path / "photos", *words, "--corners-px", *dragged[::-1])
    assert (
        "--corners-px: expected the board's corners clockwise from the far left" in message.stderr
    )


def test_a_board_that_was_pushed_is_told(photographs, tmp_path: Path) -> None:
    set_table(photographs, tmp_path / "photos", BOARDS["hex"], 4.0, 5)
    assert calibrate(tmp_path / "photos", "--thickness-mm", 4, *cell_words("hex")).exit_code == 0
    words = [
        "calibrate",
        "recheck",
        str(tmp_path / "photos" / "0.jpg"),
        "--table",
        str(tmp_path / "table.json"),
    ]
    assert (
        CliRunner().invoke(main, words).stdout
        == "The corner cards and the board are where table.json says.\n"
    )
    setup = load_table(tmp_path / "table.json")
    save_table(
        msgspec.structs.replace(setup, board=Hex(size=5, cell_mm=36, origin_mm=(1.5, 0.0))),
        tmp_path / "table.json",
    )
    message = CliRunner().invoke(main, words)
    assert message.exit_code == 1
    assert message.stdout in [f"the board is {by} mm from where it was\n" for by in (1.4, 1.5, 1.6)]


def test_boards_that_are_not_there_are_named_and_nothing_is_overwritten(
    photographs, tmp_path: Path
) -> None:
    set_table(photographs, tmp_path / "photos", BOARDS["hex"], 0.0, 4)
    (tmp_path / "table.json").write_text("the last good one")
    for words, part in (
        (
            ("--board", "chessboard", "--cell-mm", 45),
            "expected a board (chessboard) between the corner cards, but its lines are not visible",
        ),
        (("--board", "hex", "--cell-mm", 31), "expected "),
        (("--board", "hex"), "--cell-mm: expected 20 to 60 mm for hex, got none"),
        (
            ("--board", "ludo"),
            "--board: expected open, chessboard, hex, coasters, tiles, got 'ludo'",
        ),
        (("--thickness-mm", 400), "--thickness-mm: expected 0 to 60 mm, got 400"),
        (
            ("--corners-px", "1,2", "3,4", "5,6", "7"),
            "--corners-px: expected four corners such as 412,96.5, got 1,2 3,4 5,6 7",
        ),
    ):
        message = calibrate(tmp_path / "photos", *words)
        assert message.exit_code == 2, message.output
        assert part in message.stderr
        assert message.stderr.count("\n") == 1
        assert (tmp_path / "table.json").read_text() == "the last good one"


def test_corners_are_put_on_a_page_of_what_a_camera_sees(photographs, tmp_path: Path) -> None:
    board = BOARDS["chessboard"]
    set_table(photographs, tmp_path / "photos", board, 4.0, 3)
    fixed = [
        "--lens",
        tmp_path / "lens.json",
        "--camera",
        f"folder:{tmp_path / 'photos'}",
        "--out",
        tmp_path / "table.json",
        "--thickness-mm",
        4,
    ]
    words = ["calibrate", "table", *fixed, "--panel", "--port", 0]
    start = [sys.executable, "-c", "from cli.main import main; main()", *map(str, words)]
    running = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        lines = (running.stderr.readline() for _ in range(3))
        found = (re.search(r"open (http://\S+) and enter (\S+)\.", line) for line in lines)
        url, code = next(filter(None, found)).groups()

        def asked(path: str, form: dict[str, str] | None = None) -> str:
            data = urlencode(form).encode() if form else None
            return (
                urlopen(Request(url + path, data, {"Authorization": f"Bearer {code}"}), timeout=60)
                .read()
                .decode()
            )

        token = re.search(r'name="token" value="([^"]+)"', asked("/"))[1]
        names = ("far left", "far right", "near right", "near left")
        put = ("482.4, 289.3", "818.4, 334.0", "783.6, 667.0", "443.9, 638.8")
        asked("/corners", {"token": token} | dict(zip(names, put, strict=True)))
        while "data-ended" not in (page := asked("/")):
            assert running.poll() is None
        assert running.wait(timeout=60) == 0
    finally:
        running.kill()
        running.communicate()
    assert "table.json: written." in page
    assert np.abs(load_table(tmp_path / "table.json").outline_mm() - board.outline()).max() < 3
    both = CliRunner().invoke(main, [*map(str, words), "--corners-px", "1,2", "3,4", "5,6", "7,8"])
    assert "--corners-px: expected either this or --panel" in both.stderr
