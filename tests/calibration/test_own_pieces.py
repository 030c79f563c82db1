"""A user's own pieces, measured from two photographs through the command line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from calibration import own_pieces
from calibration.own_pieces import CheckedPiece
from cli.main import main
from simulation.players.ice_boule_table import demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from table.pieces import PieceSet, PieceSize, load_piece_set, save_piece_set
from table.solids import lying, upright
from table.table_config import load_table, save_table
from tests.support.words import same_words

pytestmark = pytest.mark.slow

STAGE = demo_stage(5)
COLOURS = ("red", "blue", "yellow")
SIZES = ("small", "medium", "large")
OWN = PieceSet(
    "own",
    (
        PieceSize("small", 16.0, 24.0),
        PieceSize("medium", 21.5, 33.0),
        PieceSize("large", 27.0, 43.0),
    ),
)
"""Larger and less steep than those of the table, which are Looney's."""
SETUP = msgspec.structs.replace(
    demo_setup(),
    game=msgspec.structs.replace(
        demo_setup().game, colours=COLOURS[:2], target=COLOURS[2], sizes=SIZES
    ),
)


def laid_out(lies: bool, left_out: tuple[str, str] | None = None) -> tuple[ScenePiece, ...]:
    """A piece of each size and colour in rows, all standing or all lying."""
    put = lying if lies else upright
    return tuple(
        ScenePiece(
            put(size, 110.0 + 110 * column, 130.0 + 90 * row, 40.0 * column + 17.0 * row), colour
        )
        for row, colour in enumerate(COLOURS)
        for column, size in enumerate(OWN.sizes)
        if (colour, size.name) != left_out
    )


@dataclass
class Table:
    folder: Path
    renderer: Renderer

    @property
    def path(self) -> Path:
        return self.folder / "table.json"

    def picture(self, name: str, pieces: tuple[ScenePiece, ...]) -> Path:
        path = self.folder / name
        image = self.renderer.picture(Scene(STAGE, pieces), np.random.default_rng(7))
        assert cv2.imwrite(str(path), image[..., ::-1])
        return path

    def run(self, *words: object, language: str = "en") -> tuple[int, str, str]:
        done = CliRunner().invoke(
            main,
            ["calibrate", "pieces", "--table", str(self.path), *map(str, words)],
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


def test_sizes_of_a_set_are_measured_within_their_errors_and_used_from_then_on(
    table: Table,
) -> None:
    code, out, err = table.run(
        "--standing",
        table.picture("standing.png", laid_out(lies=False)),
        "--lying",
        table.picture("lying.png", laid_out(lies=True)),
    )
    assert (code, err) == (0, "")
    found = load_table(table.path)
    assert found.game.pieces == "pieces.toml"
    for true in OWN.sizes:
        size = found.pieces[true.name]
        assert abs(size.base_mm - true.base_mm) <= 1.5 * size.base_error_mm < 1.0
        assert abs(size.height_mm - true.height_mm) <= 1.5 * size.height_error_mm < 2.0
    assert {one.colour for one in found.learned_colours} == set(COLOURS)
    assert "Read again: 18 of 18 pieces right." in out
    assert f"{table.path}: written." in out


SAID = {
    "de": (
        ("Größe", "Grundkante, mm", "Höhe, mm", "Pyramiden"),
        ("klein", "mittel", "groß"),
        "Noch einmal gelesen: 0 von 2 Pyramiden richtig.",
        "- Kleine rote Pyramide bei",
        "dort wird nichts gelesen.",
        "gelesen als große blaue Pyramide, liegend.",
    ),
    "es": (
        ("tamaño", "base, mm", "altura, mm", "pirámides"),
        ("pequeña", "mediana", "grande"),
        "Leídas de nuevo: 0 de 2 pirámides bien.",
        "- Pirámide pequeña roja en",
        "ahí no se lee nada.",
        "se lee grande azul, tumbada.",
    ),
}
"""Headings, sizes, and the sentences below."""


def once_each(work: Callable[..., Any], which: int) -> Callable[..., Any]:
    """`work`, done once for each value of one of its arguments."""
    done: dict[str, Any] = {}

    def remembered(*given: Any) -> Any:
        if given[which] not in done:
            done[given[which]] = work(*given)
        return done[given[which]]

    return remembered


def test_sizes_are_told_in_the_language_that_is_set(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_wrong(named, *_):
        one = next(one for one in named if (one.colour, one.size) == ("red", "small"))
        return [CheckedPiece(one, read) for read in (None, ("blue", "large", "lying"))]

    for name, which in (("read_own_pieces", 2), ("measure_size", 0)):
        work = once_each(getattr(own_pieces, name), which)
        monkeypatch.setattr(f"cli.calibrate.pieces.{name}", work)
    monkeypatch.setattr("cli.calibrate.pieces.check_reading", read_wrong)
    photos = (
        "--standing",
        table.picture("standing.png", laid_out(lies=False)),
        "--lying",
        table.picture("lying.png", laid_out(lies=True)),
    )
    out = {code: " ".join(table.run(*photos, language=code)[1].split()) for code in ("en", *SAID)}
    for code, (headings, *said) in SAID.items():
        assert out[code].startswith(" ".join(headings))
        (sizes, *sentences) = said
        assert [one for one in (*sizes, *sentences) if one not in out[code]] == []
        assert same_words(out[code], out["en"]) <= {"base"}


def test_photographs_that_cannot_be_measured_are_refused_and_nothing_is_written(
    table: Table,
) -> None:
    standing = table.picture("standing.png", laid_out(lies=False))
    lying_down = table.picture("lying.png", laid_out(lies=True))
    one_less = table.picture("less.png", laid_out(lies=False, left_out=("blue", "medium")))
    for words, said in (
        (
            ("--standing", one_less, "--lying", lying_down),
            "expected 9 pieces: small, medium, large of each of red, blue, yellow; found 8, at",
        ),
        (("--standing", lying_down, "--lying", standing), "expected all pieces to stand, but the"),
        (("--standing", standing), "expected two photos: either --standing FILE and --lying FILE"),
        (
            ("--standing", standing, "--lying", lying_down, "--sizes", "small,large"),
            "--sizes: expected 'medium' among them",
        ),
        (
            ("--standing", standing, "--lying", lying_down, "--sizes", "small,small"),
            "--sizes: expected different names",
        ),
        (
            ("--standing", standing, "--lying", lying_down, "--out", "../elsewhere.toml"),
            "--out: expected a .toml file in the folder of",
        ),
        (("--standing", standing, "--lying", table.path), "table.json: "),
    ):
        before = table.path.read_bytes()
        code, out, err = table.run(*words)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err.splitlines()) == 1
        assert table.path.read_bytes() == before
        assert not (table.folder / "pieces.toml").exists()


def test_a_camera_takes_both_photos_and_is_named_where_one_cannot_be_used(table: Table) -> None:
    folder = table.folder / "standing"
    folder.mkdir()
    table.picture("standing/0.png", laid_out(lies=False))
    code, out, err = table.run("--camera", f"folder:{folder}")
    assert (code, out) == (2, "")
    assert f"folder:{folder}: expected all pieces to lie, but the one at" in err
    assert not (table.folder / "pieces.toml").exists()


def test_what_is_written_is_what_a_calliper_would_be_typed_into(table: Table) -> None:
    path = table.folder / "set.toml"
    sizes = tuple(replace(size, base_error_mm=0.3, height_error_mm=0.71) for size in OWN.sizes)
    odd = PieceSet('a "set" of ours', (*sizes, PieceSize("very large", 30.0, 50.0)))
    assert save_piece_set(odd, path) is None
    assert load_piece_set("set.toml", table.folder) == odd
    assert tomllib.loads(path.read_text())["sizes"]["small"]["base_error_mm"] == 0.3
    assert save_piece_set(OWN, path) == path.with_name("set.toml.bak")
