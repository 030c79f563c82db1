"""`rinkside measure` and `rinkside observe` on observations made by hand: what people and programs
are told.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from table.observation import Camera, Observation, SeenPiece, Unusable
from table.pieces import load_piece_set
from table.solids import lying, on_top, upright
from table.table_config import Fiducials, Game, Lens, Marker, Setup, save_table
from table.table_config import Open as OpenGround
from tests.support.words import same_words

LARGE = load_piece_set("looney")["large"]
EYE_MM = np.array([200.0, 150.0, 700.0])
DOWN = np.diag([1.0, -1.0, -1.0])
CAMERA = Camera(DOWN, -DOWN @ EYE_MM, np.eye(6) * 1e-8, 0.12, (0, 1, 3))
SETUP = Setup(
    camera=Lens(
        width=480,
        height=360,
        matrix=((450.0, 0.0, 239.5), (0.0, 450.0, 179.5), (0.0, 0.0, 1.0)),
        distortion=(0.0, 0.0, 0.0, 0.0),
    ),
    fiducials=Fiducials(
        markers=(Marker(id=0, corners_mm=((-50, 50), (-10, 50), (-10, 10), (-50, 10))),)
    ),
    board=OpenGround(outline_mm=((0, 0), (400, 0), (400, 300), (0, 300))),
    game=Game(name="ice_boule", colours=("red", "green"), sizes=("large",), target="blue"),
    pieces=load_piece_set("looney"),
)


def piece(
    colour: str,
    x_mm: float,
    y_mm: float = 150.0,
    heading_deg: float = 0.0,
    sigma_mm: float = 0.1,
    **more: object,
) -> SeenPiece:
    solid = lying(LARGE, x_mm, y_mm, heading_deg)
    return SeenPiece(
        colour,
        "large",
        "lying",
        np.array([x_mm, y_mm]),
        heading_deg,
        solid,
        np.diag([sigma_mm, sigma_mm, 0.3]) ** 2,
        **more,
    )


def standing(colour: str, x_mm: float, y_mm: float) -> SeenPiece:
    solid = upright(LARGE, x_mm, y_mm, 0.0)
    return SeenPiece(
        colour,
        "large",
        "upright",
        np.array([x_mm, y_mm]),
        0.0,
        solid,
        np.diag([0.1, 0.1, 0.3]) ** 2,
    )


TARGET = standing("blue", 100, 150)
EDGE_MM = 100 + LARGE.base_mm / 2
"""x of the target's right side."""


def seen(*pieces: SeenPiece, **more: object) -> Observation:
    return Observation(0, 0, CAMERA, pieces, **more)


class Table:
    """A photograph and table.json, and the command line on them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._patch = folder, monkeypatch
        save_table(SETUP, folder / "table.json")
        assert cv2.imwrite(str(folder / "photo.png"), np.full((360, 480, 3), 120, np.uint8))

    def __call__(self, command: str, observation: Observation | Unusable, *words: str) -> Result:
        self._patch.setattr("cli.photo.observe_frame", lambda *_: observation)
        photo, table = self.folder / "photo.png", self.folder / "table.json"
        return CliRunner().invoke(
            main, [command, str(photo), "--table", str(table), *words], env={"COLUMNS": "120"}
        )

    @property
    def picture(self) -> Path:
        return self.folder / "out.png"


@pytest.fixture
def rinkside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    return Table(tmp_path, monkeypatch)


CLEAR = seen(
    TARGET, piece("green", EDGE_MM + 60), piece("red", EDGE_MM + 20), piece("red", EDGE_MM + 40, 60)
)
"""Red leads with 20 mm; green's 60 mm comes before red's second."""


def test_ranks_by_gap_and_says_who_leads(rinkside: Table) -> None:
    result = rinkside("measure", CLEAR)
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split() for line in result.stdout.splitlines() if line.strip().startswith("#")]
    assert [row[:3] for row in rows] == [
        ["#1", "red", "large"],
        ["#2", "green", "large"],
        ["#3", "red", "large"],
    ]
    assert rows[0][4:7] == ["20.0", "±", "0.3"]
    assert "red leads and would score 1 point if the end stopped now." in result.stdout


def test_gaps_and_call_are_one_document(rinkside: Table) -> None:
    document = json.loads(rinkside("measure", CLEAR, "--json").stdout)
    assert [(gap["colour"], round(gap["gap_mm"])) for gap in document["gaps"]][:2] == [
        ("red", 20),
        ("green", 60),
    ]
    assert (
        document["call"]["leading"],
        document["call"]["points"],
        document["call"]["too_close"],
    ) == ("red", 1, False)


def test_too_close_to_call_is_said_and_what_to_do(rinkside: Table) -> None:
    close = seen(TARGET, piece("green", EDGE_MM + 20.2), piece("red", EDGE_MM + 20, 153))
    result = rinkside("measure", close)
    assert "too close to call with #2" in result.stdout
    assert "too close to call with #1" in result.stdout
    sentence = " ".join(result.stdout.split("gaps")[-1].split())
    assert sentence.startswith("Too close to call: #1 red and #2 green differ by 0.2 ± 0.")
    assert "calliper" in sentence
    assert json.loads(rinkside("measure", close, "--json").stdout)["call"]["too_close"] is True


def test_a_clear_lead_with_points_in_doubt_says_both(rinkside: Table) -> None:
    result = rinkside(
        "measure",
        seen(
            TARGET,
            piece("red", EDGE_MM + 5),
            piece("red", EDGE_MM + 30, 155),
            piece("green", EDGE_MM + 30.1, 152),
        ),
    )
    assert "red leads, but the points are too close to call: #2 red and #3 green" in " ".join(
        result.stdout.split()
    )


def test_a_colour_in_doubt_that_decides_is_said(rinkside: Table) -> None:
    result = rinkside(
        "measure",
        seen(
            TARGET, piece("red", EDGE_MM + 20, colour_probability=0.7), piece("green", EDGE_MM + 60)
        ),
    )
    first = next(line for line in result.stdout.splitlines() if "#1" in line)
    assert "colour 70 % sure" in first
    assert "Too close to call" in result.stdout
    assert "may be green" in " ".join(result.stdout.split())


def test_on_the_target_and_touching_are_remarked(rinkside: Table) -> None:
    top = on_top(LARGE, TARGET.solid, 0.0)
    stacked = SeenPiece(
        "red",
        "large",
        "upright",
        np.array([100.0, 150.0]),
        0.0,
        top,
        np.diag([0.1, 0.1, 0.3]) ** 2,
        on=0,
    )
    result = rinkside("measure", seen(TARGET, piece("green", EDGE_MM - 0.5), stacked))
    first, second = (line for line in result.stdout.splitlines() if line.strip().startswith("#"))
    assert first.rstrip().endswith("on the target")
    assert "touching" in second
    assert "would score 2 points" in result.stdout


def test_an_empty_table_is_no_mistake(rinkside: Table) -> None:
    result = rinkside("measure", seen(TARGET))
    assert (result.exit_code, result.stdout.strip()) == (
        0,
        "There is no thrown piece in the play area.",
    )


def test_the_target_can_be_named(rinkside: Table) -> None:
    document = json.loads(rinkside("measure", CLEAR, "--target", "green", "--json").stdout)
    assert {gap["colour"] for gap in document["gaps"]} == {"red", "blue"}


def test_the_picture_shows_the_measurement(rinkside: Table) -> None:
    result = rinkside("measure", CLEAR, "--picture", str(rinkside.picture))
    assert result.exit_code == 0
    picture = cv2.imread(str(rinkside.picture))
    assert picture is not None
    assert max(picture.shape) == 1600
    assert (picture != 120).any(axis=2).mean() > 0.01


@pytest.mark.parametrize("command", ["measure", "observe"])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_full_disk_is_said_before_anything_is_printed(
    rinkside: Table, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple[str, ...]
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("table.files.os.fsync", full)
    before = sorted(rinkside.folder.iterdir())
    result = rinkside(command, CLEAR, "--picture", str(rinkside.picture), *words)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "No space left on device" in result.stderr
    assert sorted(rinkside.folder.iterdir()) == before


@pytest.mark.parametrize("command", ["measure", "observe"])
@pytest.mark.parametrize("words", [(), ("--json",)])
def test_what_cannot_be_read_is_one_line_and_nothing_else(
    rinkside: Table, command: str, words: tuple[str, ...]
) -> None:
    result = rinkside(
        command,
        Unusable(0, 0, "fiducials 2 and 3 are covered"),
        "--picture",
        str(rinkside.picture),
        *words,
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert (
        result.stderr
        == f"rinkside: {rinkside.folder / 'photo.png'}: fiducials 2 and 3 are covered\n"
    )
    assert not rinkside.picture.exists()


@pytest.mark.parametrize("pieces", [(), (TARGET, standing("blue", 300, 150))])
def test_no_target_or_two_of_them_cannot_be_measured(
    rinkside: Table, pieces: tuple[SeenPiece, ...]
) -> None:
    result = rinkside("measure", seen(*pieces), "--picture", str(rinkside.picture))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "blue" in result.stderr
    assert not rinkside.picture.exists()


def test_observe_prints_the_observation_with_gaps_and_call(rinkside: Table) -> None:
    document = json.loads(rinkside("observe", CLEAR, "--json").stdout)
    assert document["format"] == "rinkside-observation/1"
    assert [piece["colour"] for piece in document["pieces"]] == ["blue", "green", "red", "red"]
    assert len(document["gaps"]) == 3
    assert document["call"]["leading"] == "red"


def test_observe_without_a_target_in_view_still_says_what_is_there(rinkside: Table) -> None:
    document = json.loads(rinkside("observe", seen(piece("red", 200)), "--json").stdout)
    assert len(document["pieces"]) == 1
    assert document["call"]["too_close"] is True


def test_observe_lists_pieces_with_margins_and_doubts(rinkside: Table) -> None:
    unsure = piece("red", 200, colour_probability=0.81)
    stray = piece("green", 450)
    result = rinkside(
        "observe", seen(TARGET, unsure, off_board=(stray,), notes=("fiducial 2 is covered",))
    )
    first, second, third = (line for line in result.stdout.splitlines() if "large" in line)
    assert "100.0 ± 0.2" in first
    assert "colour 81 % sure" in second
    assert "off the board" in third
    assert "700 mm above the table" in result.stdout
    assert "fiducial 2 is covered" in result.stdout


@pytest.mark.parametrize(
    ("code", "headings", "row", "below"),
    [
        pytest.param(
            "de",
            "Pyramide Lage x, mm y, mm Richtung, ° Bemerkungen",
            "große rote liegend 200,0 ± 0,2 150,0 ± 0,2 0,0 ± 0,6 Farbe zu 81 % sicher",
            "Die Kamera ist 700 mm über dem Tisch",
            id="German",
        ),
        pytest.param(
            "es",
            "pirámide postura x, mm y, mm orientación, ° observaciones",
            "rojo grande tumbada 200,0 ± 0,2 150,0 ± 0,2 0,0 ± 0,6 color con un 81 % de certeza",
            "La cámara está a 700 mm",
            id="Spanish",
        ),
    ],
)
def test_observe_speaks_the_set_language(
    rinkside: Table, monkeypatch: pytest.MonkeyPatch, code: str, headings: str, row: str, below: str
) -> None:
    table = seen(
        TARGET, piece("red", 200, colour_probability=0.81), off_board=(piece("green", 450),)
    )
    english = rinkside("observe", table).stdout
    monkeypatch.setenv("RINKSIDE_LANGUAGE", code)
    output = " ".join(rinkside("observe", table).stdout.split())
    assert [one for one in (headings, row, below) if one not in output] == []
    assert same_words(output, english) == set()


@pytest.mark.parametrize(
    ("code", "headings", "row"),
    [
        ("de", "Pyramide Lage Abstand, mm Bemerkungen", "#1 große rote liegend 20,0 ± 0,3"),
        ("es", "pirámide postura distancia, mm observaciones", "#1 rojo grande tumbada 20,0 ± 0,3"),
    ],
)
def test_measure_speaks_the_set_language(
    rinkside: Table, monkeypatch: pytest.MonkeyPatch, code: str, headings: str, row: str
) -> None:
    english = rinkside("measure", CLEAR).stdout
    monkeypatch.setenv("RINKSIDE_LANGUAGE", code)
    output = " ".join(rinkside("measure", CLEAR).stdout.split())
    assert [one for one in (headings, row) if one not in output] == []
    assert same_words(output, english) == set()


def test_observe_draws_every_piece(rinkside: Table) -> None:
    assert rinkside("observe", CLEAR, "--picture", str(rinkside.picture)).exit_code == 0
    assert rinkside.picture.read_bytes().startswith(b"\x89PNG")
