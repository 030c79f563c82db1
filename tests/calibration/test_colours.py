"""Colours learned from pictures of one piece of each, through the command line with files on
disk.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from cli.main import main
from simulation.players.ice_boule_table import demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from table.solids import lying, upright
from table.table_config import load_table, save_table
from tests.support.words import same_words
from vision.geometry.camera_model import project

pytestmark = pytest.mark.slow

DYES = {
    "orange": (0.80, 0.09, 0.04),
    "red": (0.36, 0.02, 0.05),
    "blue": (0.05, 0.06, 0.30),
    "yellow": (0.70, 0.42, 0.05),
}
"""An orange that looks red beside one that is sold, and a dark red."""
SETUP = msgspec.structs.replace(
    demo_setup(), game=msgspec.structs.replace(demo_setup().game, colours=("red", "blue", "orange"))
)
STAGE = demo_stage(5)
ORDER = ("blue", "orange", "yellow", "red")


def piece(
    colour: str, x_mm: float, y_mm: float, heading_deg: float, stands: bool = False
) -> ScenePiece:
    (size,) = SETUP.sizes
    return ScenePiece(
        (upright if stands else lying)(size, x_mm, y_mm, heading_deg),
        colour,
        see_through=True,
        dye=DYES[colour],
    )


def in_a_row(colours: tuple[str, ...]) -> tuple[ScenePiece, ...]:
    return tuple(
        piece(colour, 120.0 + 120 * k, 200.0 + 40 * (k % 2), 50.0 * k, stands=k == 1)
        for k, colour in enumerate(colours)
    )


@dataclass
class Table:
    folder: Path
    renderer: Renderer

    def picture(self, name: str, pieces: tuple[ScenePiece, ...]) -> Path:
        path = self.folder / name
        image = self.renderer.picture(Scene(STAGE, pieces), np.random.default_rng(7))
        assert cv2.imwrite(str(path), image[..., ::-1])
        return path

    def run(self, *words: object, language: str = "en") -> tuple[int, str, str]:
        done = CliRunner().invoke(
            main,
            ["calibrate", "colours", "--table", str(self.folder / "table.json"), *map(str, words)],
            env={"RINKSIDE_LANGUAGE": language},
        )
        return done.exit_code, done.stdout, done.stderr


@pytest.fixture(scope="module")
def renderer() -> Renderer:
    return Renderer(SETUP, demo_place())


@pytest.fixture
def table(tmp_path: Path, renderer: Renderer) -> Table:
    save_table(SETUP, tmp_path / "table.json")
    return Table(tmp_path, renderer)


def demo_pixels(marker: int) -> np.ndarray:
    corners = np.array(SETUP.fiducials.markers[marker].corners_mm)
    return project(np.column_stack([corners, np.zeros(4)]), demo_place(), SETUP.camera).mean(axis=0)


def colours_read(photo: Path, table_path: Path) -> list[tuple[str, float]]:
    message = CliRunner().invoke(
        main, ["observe", str(photo), "--table", str(table_path), "--json"]
    )
    assert message.exit_code == 0, message.output
    pieces = sorted(json.loads(message.stdout)["pieces"], key=lambda one: one["base_mm"][0])
    return [(one["colour"], one["probability"]["colour"]) for one in pieces]


def test_colours_that_were_learned_are_read_and_the_table_before_is_kept(table: Table) -> None:
    before = (table.folder / "table.json").read_bytes()
    code, out, err = table.run(
        "--picture", table.picture("one-of-each.png", in_a_row(ORDER)), "--order", ",".join(ORDER)
    )
    assert (code, err) == (0, "")
    assert "table.json: written. What was there before is in" in out
    assert (table.folder / "table.json.bak").read_bytes() == before
    learned = {
        one.colour: np.array(one.light)
        for one in load_table(table.folder / "table.json").learned_colours
    }
    assert set(learned) == set(SETUP.colours)
    thrown = (*ORDER[::-1], "orange", "red")
    game = table.picture(
        "game.png",
        tuple(
            piece(c, 90.0 + 75 * k, 320.0 - 30 * k, 77.0 * k, k == 2) for k, c in enumerate(thrown)
        ),
    )
    read = colours_read(game, table.folder / "table.json")
    assert tuple(colour for colour, _ in read) == thrown
    sold = colours_read(game, table.folder / "table.json.bak")
    least = [
        min(chance for _, chance in rows) if tuple(colour for colour, _ in rows) == thrown else 0.0
        for rows in (read, sold)
    ]
    assert least[0] > least[1]


def test_close_colours_are_named(table: Table) -> None:
    _, out, _ = table.run(
        "--picture",
        table.picture("one-of-each.png", in_a_row(ORDER)),
        "--order",
        ",".join(ORDER),
        "--out",
        table.folder / "new.json",
    )
    (line,) = [
        line
        for line in " ".join(out.split()).split(". ")
        if "Orange and red" in line or "Red and orange" in line
    ]
    assert "look alike here" in line
    assert "of 100 pieces would be mistaken for the other" in line
    assert load_table(table.folder / "table.json").learned_colours == ()


def test_colours_are_told_by_their_looks_and_the_answer_says_which(table: Table) -> None:
    row = tuple(replace(one, dye=None) for one in in_a_row(ORDER))
    code, out, err = table.run("--picture", table.picture("one-of-each.png", row))
    assert (code, err) == (0, "")
    assert "told by their looks" in out
    places = {
        line.split()[0]: float(line.split("(")[1].split(",")[0])
        for line in out.splitlines()
        if "(" in line
    }
    assert sorted(ORDER, key=places.__getitem__) == list(ORDER)


SAID = {
    "de": (
        ("Farbe", "Licht, %", "Pyramide bei"),
        ("Blau", "Orange", "Gelb", "Rot"),
        "Licht: Rot, Grün, Blau des Kunststoffs, von 100, die weißes Papier hier zurückwirft",
        "Welche Pyramide welche ist, wurde an ihrem Aussehen erkannt, jede Farbe einmal."
        " Wenn das nicht stimmt, gebt es mit --order an.",
        "sehen sich hier ähnlich",
    ),
    "es": (
        ("color", "luz, %", "pirámide en"),
        ("azul", "naranja", "amarillo", "rojo"),
        "luz: rojo, verde y azul del plástico, de 100 que devuelve aquí el papel blanco",
        "Qué pirámide es cuál se reconoció por su aspecto, cada color una vez."
        " Si no es así, se indica con --order.",
        "se parecen aquí",
    ),
}
"""Headings, colours, caption, and the sentences below."""


def test_colours_are_told_in_the_language_that_is_set(table: Table) -> None:
    alike = table.picture("alike.png", in_a_row(ORDER))
    sold = table.picture("sold.png", tuple(replace(one, dye=None) for one in in_a_row(ORDER)))
    out = {
        (code, photo.name): " ".join(
            table.run(
                "--picture", photo, *words, "--out", table.folder / "new.json", language=code
            )[1].split()
        )
        for code in ("en", *SAID)
        for photo, words in ((alike, ("--order", ",".join(ORDER))), (sold, ()))
    }
    for code, (headings, colours, caption, by_looks, close) in SAID.items():
        output = out[code, "sold.png"]
        assert output.startswith(" ".join(headings))
        assert [one for one in (*colours, caption, by_looks) if one not in output] == []
        assert close in out[code, "alike.png"]
        for name in ("sold.png", "alike.png"):
            assert same_words(out[code, name], out["en", name]) <= {"orange"}


def test_two_pictures_are_learned_from_together(table: Table) -> None:
    first = table.picture("first.png", in_a_row(ORDER))
    second = table.picture(
        "second.png",
        tuple(
            piece(colour, 120.0 + 120 * k, 300.0, 80.0 + 90 * k) for k, colour in enumerate(ORDER)
        ),
    )
    code, out, _ = table.run("--picture", first, "--picture", second, "--order", ",".join(ORDER))
    assert code == 0
    assert out.count("; (") == len(ORDER)


def test_a_folder_is_a_camera(table: Table) -> None:
    (table.folder / "frames").mkdir()
    table.picture("frames/000000100.png", in_a_row(ORDER))
    code, _, _ = table.run(
        "--camera", f"folder:{table.folder / 'frames'}", "--order", ",".join(ORDER)
    )
    assert code == 0


@pytest.mark.parametrize(
    ("pieces", "order", "message"),
    [
        (
            (),
            None,
            (
                "expected one piece of each of 4 colours (red, blue, orange, yellow) on"
                " the board, found none"
            ),
        ),
        (in_a_row(("blue", "blue", "yellow", "red")), None, "both look blue"),
        (
            in_a_row(("blue", "blue", "yellow", "red")),
            ("blue", "orange", "yellow", "red"),
            "should be orange and looks blue",
        ),
        (in_a_row(("yellow", "orange", "blue", "red")), ORDER, "should be blue and looks yellow"),
        (
            in_a_row(ORDER),
            ("blue", "yellow", "red"),
            "expected one piece of each of 3 colours (blue, yellow, red) on the board, found 4",
        ),
        (
            in_a_row(ORDER),
            ("blue", "yellow", "red", "red"),
            "--order: expected each colour once, for one piece of each, got 'red' again",
        ),
        (
            in_a_row(ORDER),
            ("blue", "yellow", "red", "pink"),
            "--order: expected colours of this table (red, blue, orange, yellow), got 'pink'",
        ),
        (
            tuple(piece(c, 200.0 + 4 * k, 80.0 + 90 * k, 0.0) for k, c in enumerate(ORDER)),
            ORDER,
            "are one behind the other",
        ),
    ],
    ids=[
        "none",
        "two of one",
        "two of one said to be two",
        "another order",
        "too few",
        "twice",
        "unknown",
        "in a column",
    ],
)
def test_what_cannot_be_learned_from_is_one_line_and_changes_nothing(
    table: Table, pieces, order, message: str
) -> None:
    photo = table.picture("photo.png", pieces)
    before = (table.folder / "table.json").read_bytes()
    code, out, err = table.run("--picture", photo, *(["--order", ",".join(order)] if order else []))
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert (table.folder / "table.json").read_bytes() == before
    assert sorted(path.name for path in table.folder.iterdir()) == ["photo.png", "table.json"]


def test_a_covered_fiducial_and_a_picture_of_another_size_are_refused(table: Table) -> None:
    photo = table.picture("photo.png", in_a_row(ORDER))
    image = cv2.imread(str(photo))
    cv2.imwrite(str(table.folder / "small.png"), image[::2, ::2])
    corner = np.clip(demo_pixels(0), 0, None).astype(int)
    image[corner[1] - 60 : corner[1] + 60, max(0, corner[0] - 60) : corner[0] + 60] = 90
    cv2.imwrite(str(table.folder / "covered.png"), image)
    for name, message in (
        ("covered.png", "marker 0 is covered"),
        ("small.png", "expected 1280 x 960 px as in table.json, got 640 x 480 px"),
    ):
        code, out, err = table.run("--picture", table.folder / name)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    assert not (table.folder / "table.json.bak").exists()
