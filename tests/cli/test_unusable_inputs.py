"""Input that cannot be used: exit code 2, one line on stderr, nothing on stdout, nothing
written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from cli.main import main
from referee.sessions.event_store import Log

WIDTH, HEIGHT, FOCAL, EYE_MM = 960, 720, 900.0, 700.0
CORNERS_MM = ((-30, 330), (430, 330), (430, -30), (-30, -30))
SIDE_MM = 40.0


def table_document() -> dict[str, Any]:
    markers = [{"id": id_, "corners_mm": square(*at, SIDE_MM)} for id_, at in enumerate(CORNERS_MM)]
    return {
        "format": "rinkside-table/1",
        "camera": {
            "width": WIDTH,
            "height": HEIGHT,
            "matrix": [[FOCAL, 0, WIDTH / 2 - 0.5], [0, FOCAL, HEIGHT / 2 - 0.5], [0, 0, 1]],
            "distortion": [0, 0, 0, 0, 0],
        },
        "fiducials": {"dictionary": "DICT_4X4_50", "z_mm": 0.0, "markers": markers},
        "board": {"kind": "open", "outline_mm": [[0, 0], [400, 0], [400, 300], [0, 300]]},
        "game": {
            "name": "ice_boule",
            "colours": ["red", "yellow"],
            "target": "blue",
            "sizes": ["large"],
            "pieces": "looney",
        },
    }


def square(x_mm: float, y_mm: float, side_mm: float) -> list[list[float]]:
    """Corners clockwise from the top left, about a centre."""
    half = side_mm / 2
    return [
        [x_mm - half, y_mm + half],
        [x_mm + half, y_mm + half],
        [x_mm + half, y_mm - half],
        [x_mm - half, y_mm - half],
    ]


def photograph(markers: list[tuple[int, list[list[float]]]]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A plain grey table from straight above its middle (200, 150), with these fiducials on it."""
    picture = np.full((HEIGHT, WIDTH, 3), (96, 104, 110), np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    for id_, corners_mm in markers:
        drawn = cv2.copyMakeBorder(
            cv2.aruco.generateImageMarker(dictionary, id_, 240),
            40,
            40,
            40,
            40,
            cv2.BORDER_CONSTANT,
            value=255,
        )
        pixels = [
            [
                WIDTH / 2 + (x - 200) * FOCAL / EYE_MM - 0.5,
                HEIGHT / 2 - (y - 150) * FOCAL / EYE_MM - 0.5,
            ]
            for x, y in corners_mm
        ]
        where = cv2.getPerspectiveTransform(
            np.array([[39.5, 39.5], [279.5, 39.5], [279.5, 279.5], [39.5, 279.5]], np.float32),
            np.array(pixels, np.float32),
        )
        ink = cv2.warpPerspective(
            np.dstack([drawn] * 3),
            where,
            (WIDTH, HEIGHT),
            flags=cv2.INTER_AREA,
            borderValue=(0, 0, 0),
        )
        paper = cv2.warpPerspective(
            np.full_like(drawn, 255), where, (WIDTH, HEIGHT), flags=cv2.INTER_AREA
        )
        picture = np.where(paper[..., None] > 127, ink, picture)
    return cv2.GaussianBlur(picture, (0, 0), 0.8)


def as_stated() -> list[tuple[int, list[list[float]]]]:
    return [(id_, square(*at, SIDE_MM)) for id_, at in enumerate(CORNERS_MM)]


class Desk:
    """A folder with a good table and a good photograph of it, and ways to spoil them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.table = folder / "table.json"
        self.photo = folder / "photo.jpg"
        self.write_table(table_document())
        self.write_photo(as_stated())
        (folder / "frames").mkdir()
        (folder / "frames" / "000000250.jpg").write_bytes(self.photo.read_bytes())

    def write_table(self, document: dict[str, Any]) -> None:
        self.table.write_text(json.dumps(document), encoding="utf-8")

    def write_photo(self, markers: list[tuple[int, list[list[float]]]]) -> None:
        assert cv2.imwrite(str(self.photo), photograph(markers))

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def refusal(desk: Desk, *words: str) -> str:
    """Call the command line, check that it refuses as it should, and give back its one line."""
    before = desk.files()
    result = CliRunner().invoke(
        main, [word.format(photo=desk.photo, table=desk.table, desk=desk.folder) for word in words]
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("rinkside: ")
    assert result.stderr.count("\n") == 1
    assert desk.files() == before
    return result.stderr


def edited(path: str, value: object) -> Callable[[Desk], None]:
    """Set one value of table.json, `board.kind` or `game.colours.0`."""

    def spoil(desk: Desk) -> None:
        document: Any = table_document()
        *way, last = path.split(".")
        place = document
        for step in way:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = value
        desk.write_table(document)

    return spoil


def half_a_jpeg(desk: Desk) -> None:
    data = desk.photo.read_bytes()
    desk.photo.write_bytes(data[: len(data) // 2])


def another_size(desk: Desk) -> None:
    assert cv2.imwrite(
        str(desk.photo), cv2.resize(photograph(as_stated()), (WIDTH // 2, HEIGHT // 2))
    )


def twice_as_large(desk: Desk) -> None:
    desk.write_photo([(0, square(*CORNERS_MM[0], 2 * SIDE_MM)), *as_stated()[1:]])


SPOILED = {
    "not an image": (lambda desk: desk.photo.write_text("no picture at all"), "photo.jpg"),
    "half a JPEG": (half_a_jpeg, "photo.jpg"),
    "an empty file": (lambda desk: desk.photo.write_bytes(b""), "photo.jpg"),
    "another size": (another_size, "960"),
    "no photograph": (lambda desk: desk.photo.unlink(), "photo.jpg"),
    "a folder for a photograph": (
        lambda desk: (desk.photo.unlink(), desk.photo.mkdir()),
        "photo.jpg",
    ),
    "no fiducial": (lambda desk: desk.write_photo([]), "no marker is in view"),
    "one fiducial twice": (
        lambda desk: desk.write_photo([*as_stated(), (2, square(60, 150, SIDE_MM))]),
        "2",
    ),
    "a marker twice as large": (twice_as_large, "marker 0 does not fit the others"),
    "no table": (lambda desk: desk.table.unlink(), "table.json"),
    "half a table": (
        lambda desk: desk.table.write_text(json.dumps(table_document())[:200]),
        "table.json",
    ),
    "unknown board": (edited("board.kind", "pond"), "board"),
    "unknown colour": (edited("game.colours.0", "mauve"), "mauve"),
    "unknown target": (edited("game.target", "mauve"), "mauve"),
    "NaN": (edited("camera.matrix.0.0", float("nan")), "camera.matrix[0][0]"),
    "infinity": (edited("fiducials.z_mm", float("inf")), "fiducials.z_mm"),
    "one id twice in table.json": (edited("fiducials.markers.1.id", 0), "markers[1].id"),
    "unknown size": (edited("game.sizes.0", "giant"), "giant"),
    "a newer table": (edited("format", "rinkside-table/2"), "format"),
}


@pytest.mark.parametrize("command", ["measure", "observe"])
@pytest.mark.parametrize("how", SPOILED)
def test_refuses_a_spoiled_photograph_or_table(desk: Desk, how: str, command: str) -> None:
    spoil, named = SPOILED[how]
    spoil(desk)
    line = refusal(
        desk, command, "{photo}", "--table", "{table}", "--json", "--picture", "{desk}/out.png"
    )
    assert named in line


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["measure", "{photo}"], "marker 0"),
        (["observe", "{photo}"], "--table"),
        (["measure", "{photo}", "--table", "{table}", "--target", "mauve"], "mauve"),
        (["measure", "{photo}", "--table", "{table}", "--empty", "{desk}/none.jpg"], "none.jpg"),
        (["measure", "{photo}", "--table", "{table}", "--picture", "{desk}/out.gif"], "out.gif"),
        (
            ["measure", "{photo}", "--table", "{table}", "--picture", "{desk}/nowhere/out.png"],
            "nowhere",
        ),
        (
            ["observe", "{photo}", "--table", "{table}", "--picture", "{desk}/nowhere/out.png"],
            "nowhere",
        ),
        (["measure", "{photo}", "--table", "{table}", "--picture", "{photo}/out.png"], "photo.jpg"),
        (["measure", "{photo}", "{photo}", "--table", "{table}"], "photo.jpg"),
        (["log", "list", "--log", "{desk}/log.sqlite"], "log.sqlite"),
        (["log", "list", "--log", "{table}"], "table.json"),
        (["log", "show", "--log", "{photo}"], "photo.jpg"),
        (["log", "show", "one"], "one"),
        (["rules", "ice_cricket"], "ice_cricket"),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "periscope:1",
                "--game",
                "ice_boule",
                "--players",
                "red,yellow",
            ],
            "periscope:1",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/none",
                "--game",
                "ice_boule",
                "--players",
                "red,yellow",
            ],
            "none",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--game",
                "ice_cricket",
                "--players",
                "red,yellow",
            ],
            "ice_cricket",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--game",
                "icebreaker",
                "--players",
                "red,yellow",
            ],
            "hex board",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--game",
                "ice_boule",
                "--players",
                "red,red",
            ],
            "red",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--game",
                "ice_boule",
                "--players",
                "red,mauve",
            ],
            "mauve",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--game",
                "ice_boule",
                "--players",
                "red,green",
            ],
            "green",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--players",
                "red,yellow",
                "--rule",
                "repeat",
            ],
            "repeat",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--players",
                "red,yellow",
                "--ruling",
                "repeat=never",
            ],
            "never",
        ),
        (
            [
                "referee",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--players",
                "red,yellow",
                "--ruling",
                "colour=red",
            ],
            "colour",
        ),
        (
            [
                "play",
                "--table",
                "{table}",
                "--camera",
                "periscope:1",
                "--port",
                "0",
                "--data",
                "{desk}/data",
            ],
            "periscope:1",
        ),
        (
            [
                "play",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--port",
                "0",
                "--new-lens",
                "--data",
                "{desk}/data",
            ],
            "--resume SESSION",
        ),
        (
            [
                "play",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--port",
                "0",
                "--data",
                "{desk}/data",
                "--begins",
                "mauve",
            ],
            "mauve",
        ),
        (
            [
                "play",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--port",
                "0",
                "--data",
                "{desk}/data",
                "--players",
                "red,pink",
            ],
            "pink",
        ),
        (
            [
                "play",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--port",
                "0",
                "--begins",
                "lot",
                "--set-up",
            ],
            "--begins",
        ),
        (
            [
                "play",
                "--table",
                "{table}",
                "--camera",
                "folder:{desk}/frames",
                "--port",
                "0",
                "--begins",
                "lot",
                "--resume",
                "1",
            ],
            "--begins",
        ),
        (["demo", "--port", "70000"], "70000"),
        (["demo", "--game", "halma"], "halma"),
        (["umpire"], "umpire"),
    ],
)
def test_refuses_what_it_cannot_do(desk: Desk, words: list[str], named: str) -> None:
    assert named in refusal(desk, *words)


@pytest.mark.parametrize("command", ["list", "show"])
def test_refuses_a_log_of_a_newer_version(desk: Desk, command: str) -> None:
    path = desk.folder / "log.sqlite"
    Log(path).close()
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
        database.execute("PRAGMA journal_mode = DELETE")
    database.close()
    assert "99" in refusal(desk, "log", command, "--log", str(path))
