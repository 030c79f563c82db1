"""A table checked in millimetres, through the command line with pictures on disk."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.quality.error_model import Errors, error_map, radius_95
from calibration.quality.gap_error import gap_accuracy
from cli.main import main
from simulation.generate.cases import resized
from simulation.generate.tables import square_marker
from simulation.players.ice_boule_table import demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from table.observation import Camera
from table.solids import lying, upright
from table.table_config import Setup, rows_of, save_table
from tests.support.words import same_words
from vision.cameras.frame import Image
from vision.geometry.camera_model import on_plane, perturbed_lens, project
from vision.geometry.piece_pose import Hypothesis
from vision.localization.fiducials import locate

pytestmark = pytest.mark.slow

SETUP = demo_setup()
CARDS = (square_marker(10, 150.0, 225.0, 40.0), square_marker(11, 450.0, 240.0, 40.0, 5.0))
APART_MM = float(np.hypot(300.0, 15.0))
PIECES = (
    ("yellow", "upright", 300.0, 200.0, 20.0),
    ("red", "lying", 260.0, 330.0, 100.0),
    ("blue", "lying", 380.0, 120.0, 200.0),
    ("blue", "lying", 120.0, 90.0, 300.0),
)


def with_markers(markers: tuple) -> Setup:
    return msgspec.structs.replace(
        SETUP, fiducials=msgspec.structs.replace(SETUP.fiducials, markers=markers)
    )


@pytest.fixture(scope="module")
def still() -> list[Image]:
    """Two pictures of a still table with two cards more than its own."""
    (size,) = SETUP.sizes
    solids = {"upright": upright, "lying": lying}
    pieces = tuple(
        ScenePiece(solids[pose](size, x, y, heading), colour)
        for colour, pose, x, y, heading in PIECES
    )
    renderer, rng = (
        Renderer(with_markers(SETUP.fiducials.markers + CARDS), demo_place()),
        np.random.default_rng(1),
    )
    scene = Scene(demo_stage(3), pieces)
    return [renderer.picture(scene, rng) for _ in range(2)]


@dataclass
class Table:
    folder: Path

    @property
    def still(self) -> Path:
        return self.folder / "still"

    def run(
        self, *words: object, source: tuple[object, ...] | None = None, language: str = "en"
    ) -> tuple[int, str, str]:
        start = [
            "calibrate",
            "check",
            "--table",
            self.folder / "table.json",
            "--out",
            self.folder / "check.html",
        ]
        source = ("--from", self.still) if source is None else source
        done = CliRunner().invoke(
            main,
            [str(word) for word in (*start, *source, *words)],
            env={"RINKSIDE_LANGUAGE": language},
        )
        return done.exit_code, " ".join(done.stdout.split()), done.stderr


@pytest.fixture
def table(tmp_path: Path, still: list[Image]) -> Table:
    save_table(SETUP, tmp_path / "table.json")
    (tmp_path / "still").mkdir()
    for number, image in enumerate(still):
        write(tmp_path / "still" / f"{number:03d}.png", image)
    return Table(tmp_path)


def write(path: Path, image: Image) -> None:
    assert cv2.imwrite(str(path), image[..., ::-1])


def figure(message: str, what: str) -> float:
    found = re.search(rf"{re.escape(what)}\D* ([\d.]+)", message)
    assert found, message
    return float(found[1])


class Links(HTMLParser):
    """Everything that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [value or "" for name, value in attrs if name in ("src", "href", "srcset")]


def test_a_good_table_is_measured_and_predicted(table: Table) -> None:
    code, message, err = table.run(
        "--cards",
        "10,11",
        "--distance-mm",
        f"{APART_MM:.2f}",
        "--at",
        "300,200",
        "--picture",
        table.folder / "map.png",
    )
    assert (code, err) == (0, "")
    assert "Ice Boule calls can be trusted here" in message
    assert figure(message, "distance of markers 10 and 11") == pytest.approx(APART_MM, abs=0.15)
    assert figure(message, "piece put at (300, 200) mm") < 0.4
    assert figure(message, "markers off their places") < 0.2
    assert figure(message, "repeatability, x and y each ±") < 0.2
    apart = figure(message, "two gaps told apart in 95 of 100 from")
    assert apart > 1.8 * figure(message, "a gap ±")
    assert cv2.imread(str(table.folder / "map.png")).shape[1] > 1000
    page = (table.folder / "check.html").read_text()
    links = Links()
    links.feed(page)
    assert [link.partition(",")[0] for link in links.fetched] == ["data:image/png;base64"]
    assert "Ice Boule calls can be trusted here" in page
    assert "lens not calibrated here; results may be off" in page
    assert page.count('class="how measured"') == 6
    assert page.count('class="how predicted"') == 4


MEASURED = ("--cards", "10,11", "--distance-mm", f"{APART_MM:.2f}", "--at", "300,200")
"""Everything that can be measured of a table."""


SAME = {"boule", "hand", "pixel"}
"""Words that are the same in German or Spanish."""


def read_page(folder: Path) -> tuple[str, str]:
    """The report's language, and its words."""
    page = (folder / "check.html").read_text()
    (language,) = re.findall('<html lang="(.*?)">', page)
    alt = " ".join(re.findall('alt="(.*?)"', page))
    shown = re.sub(r"(?s)<style>.*?</style>|<[^>]*>", " ", page)
    return language, " ".join(f"{alt} {shown}".split())


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "de",
            (
                "Abstand der Marken 10 und 11",
                "Pyramide bei (300, 200) mm",
                "gemessen",
                "vorhergesagt",
                "Entscheidungen bei Ice Boule sind hier verlässlich. Abstände, die sich um mehr",
                "± und „95 %“ umfassen 95 von 100 wahren Werten.",
            ),
        ),
        (
            "es",
            (
                "distancia de las marcas 10 y 11",
                "pirámide puesta en (300, 200) mm",
                "medido",
                "previsto",
                "Las decisiones de Ice Boule son fiables aquí. Dos distancias que difieren en más",
                "± y «95 %» contienen 95 de cada 100 valores verdaderos.",
            ),
        ),
    ],
)
def test_all_of_it_is_said_in_the_language_that_is_set(
    table: Table, language: str, said: tuple[str, ...]
) -> None:
    english, page, pictures = "", "", []
    for code in ("en", language):
        picture = table.folder / f"{code}.png"
        done, out, err = table.run(*MEASURED, "--picture", picture, language=code)
        assert (done, err) == (0, "")
        spoken, shown = read_page(table.folder)
        assert spoken == code
        pictures.append(cv2.imread(str(picture)))
        if code == "en":
            english, page = out, shown
    assert [one for one in said if one not in out or one not in shown] == []
    assert re.search(r"\b300,\d+ ± \d,\d", shown)
    assert same_words(out, english) <= SAME
    assert same_words(shown, page) <= SAME
    assert pictures[0].shape == pictures[1].shape
    top, foot = pictures[0][:100], pictures[0][-80:]
    assert (top != pictures[1][:100]).any()
    assert (foot != pictures[1][-80:]).any()


def test_what_is_wrong_is_said_in_the_language_that_is_set(table: Table) -> None:
    moved, *others = SETUP.fiducials.markers
    moved = msgspec.structs.replace(
        moved, corners_mm=tuple((x + 1.5, y) for x, y in moved.corners_mm)
    )
    save_table(with_markers((moved, *others)), table.folder / "table.json")
    _, out, _ = table.run(language="es")
    assert re.search(
        r"Las decisiones no son fiables aquí: la marca \d se ve a \d,\d\d mm de su posición en"
        r" table\.json\. Eso es \d+,\d veces más lejos de lo que cabe esperar\.",
        out,
    )


def test_lengths_that_are_read_wrong_are_not_trusted(table: Table) -> None:
    larger = tuple(
        msgspec.structs.replace(
            one, corners_mm=tuple((1.01 * x, 1.01 * y) for x, y in one.corners_mm)
        )
        for one in SETUP.fiducials.markers
    )
    save_table(with_markers(larger), table.folder / "table.json")
    code, message, _ = table.run("--cards", "10,11", "--distance-mm", f"{APART_MM:.2f}")
    assert code == 0
    (longer,) = re.findall(
        r"Calls cannot be trusted here: lengths are read ([\d.]+) % too long", message
    )
    assert float(longer) == pytest.approx(1.0, abs=0.1)


def test_a_fiducial_that_was_moved_is_named(table: Table) -> None:
    first, *others = SETUP.fiducials.markers
    moved = msgspec.structs.replace(
        first, corners_mm=tuple((x + 1.5, y) for x, y in first.corners_mm)
    )
    save_table(with_markers((moved, *others)), table.folder / "table.json")
    _, message, _ = table.run()
    assert re.search(
        r"Calls cannot be trusted here: marker \d is seen [\d.]+ mm from its place", message
    )


LENS_SIGMA = {"fx": 6.0, "fy": 0.0, "cx": 4.0, "cy": 0.0, "k1": 0.008}
DOUBTFUL = msgspec.structs.replace(
    SETUP,
    camera=msgspec.structs.replace(
        SETUP.camera, covariance=rows_of(np.diag(list(LENS_SIGMA.values())) ** 2)
    ),
)
"""The table with a lens that is not exact."""


def test_the_lens_adds_its_doubt(table: Table) -> None:
    apart = []
    for setup in (SETUP, DOUBTFUL):
        save_table(setup, table.folder / "table.json")
        code, message, _ = table.run()
        assert code == 0
        apart.append(figure(message, "two gaps told apart in 95 of 100 from"))
    assert apart[1] > apart[0]
    assert "uncertainty included" in (table.folder / "check.html").read_text()


def test_shifts_by_the_lens_are_those_of_reading_with_a_lens_that_is_off(
    still: list[Image],
) -> None:
    camera = locate(still[0], SETUP)
    assert isinstance(camera, Camera)
    places = np.array([[60.0, 60.0], [300.0, 220.0], [560.0, 400.0]])
    pixels = project(np.column_stack([places, np.full(3, 10.0)]), camera, SETUP.camera)
    unsure = locate(still[0], DOUBTFUL)
    assert isinstance(unsure, Camera)
    shifts = []
    for name, sigma in LENS_SIGMA.items():
        off = msgspec.structs.replace(
            SETUP, camera=perturbed_lens(SETUP.camera, sigma * (np.array(list(LENS_SIGMA)) == name))
        )
        moved = locate(still[0], off)
        assert isinstance(moved, Camera)
        shifts.append(on_plane(pixels, moved, off.camera, 10.0) - places)
    pose = Errors(camera, SETUP).shared(places, 10.0)
    both = Errors(unsure, DOUBTFUL).shared(places, 10.0)
    for k in range(3):
        by_lens = np.transpose(shifts, (1, 2, 0))[k]
        expected, covariance = by_lens @ by_lens.T + pose[k] @ pose[k].T, both[k] @ both[k].T
        assert np.trace(by_lens @ by_lens.T) > 2 * np.trace(pose[k] @ pose[k].T)
        # The pose follows the lens by robust fits, which the covariance takes as linear.
        assert 0.7 < np.sqrt(np.trace(covariance) / np.trace(expected)) < 1.4


def test_an_empty_table_is_checked_by_its_fiducials_alone(tmp_path: Path) -> None:
    save_table(SETUP, tmp_path / "table.json")
    (tmp_path / "still").mkdir()
    picture = Renderer(SETUP, demo_place()).picture(Scene(demo_stage(3)), np.random.default_rng(2))
    write(tmp_path / "still" / "000000000.png", picture)
    code, message, _ = Table(tmp_path).run(source=("--camera", f"folder:{tmp_path / 'still'}"))
    assert code == 0
    assert "repeatability" not in message
    assert "as on drawn tables" in (tmp_path / "check.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cards", "10,12", "--distance-mm", "300"), "expected to see marker 12 (DICT_4X4_50)"),
        (("--cards", "10,11"), "expected --cards N,M and --distance-mm together"),
        (
            ("--cards", "10,10", "--distance-mm", "300"),
            "--cards: expected the numbers of two markers, such as 10,11, got '10,10'",
        ),
        (
            ("--cards", "10,11", "--distance-mm", "3"),
            "--distance-mm: expected 20 to 10000 mm, got 3",
        ),
        (("--at", "300;200"), "--at: expected a position on the table in mm"),
        (
            ("--at", "450,80"),
            "expected a piece with its base at (450, 80) mm, but the nearest is blue large",
        ),
    ],
)
def test_what_cannot_be_checked_is_one_line_and_writes_nothing(
    table: Table, words: tuple[str, ...], message: str
) -> None:
    code, out, err = table.run(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not (table.folder / "check.html").exists()


def test_pictures_that_cannot_be_checked_by_are_refused(table: Table, still: list[Image]) -> None:
    (table.folder / "check.html").write_text("the last good one")
    covered = np.array(still[0])
    corner = project(
        np.array([[*np.mean(SETUP.fiducials.markers[2].corners_mm, axis=0), 0.0]]),
        demo_place(),
        SETUP.camera,
    )[0].astype(int)
    cv2.rectangle(
        covered,
        tuple(int(v) for v in corner - 45),
        tuple(int(v) for v in corner + 45),
        (90, 90, 90),
        -1,
    )
    for image, message in (
        (covered, "marker 2 is covered"),
        (still[0][::2, ::2], "got 640 x 480 px"),
    ):
        write(table.still / "000.png", np.ascontiguousarray(image))
        code, out, err = table.run()
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    code, _, err = table.run(source=("--from", table.folder / "nowhere"))
    assert (code, err.count("\n")) == (2, 1)
    assert (table.folder / "check.html").read_text() == "the last good one"


def test_95_of_100_errors_are_within_their_radius() -> None:
    covariance = np.array([[0.09, 0.03], [0.03, 0.04]])
    away = np.random.default_rng(3).multivariate_normal(np.zeros(2), covariance, 20000)
    assert np.mean(np.hypot(*away.T) < radius_95(covariance)) == pytest.approx(0.95, abs=0.015)
    assert radius_95(np.diag([np.inf, np.inf])) == np.inf


def test_shared_shifts_are_those_of_a_pose_that_is_off(still: list[Image]) -> None:
    """Their covariance is that of places read with poses drawn from the camera's own doubt."""
    camera = locate(still[0], SETUP)
    assert isinstance(camera, Camera)
    places = np.array([[80.0, 60.0], [500.0, 400.0]])
    pixels = project(np.column_stack([places, np.full(2, 12.0)]), camera, SETUP.camera)
    rvec, read = cv2.Rodrigues(camera.rotation)[0].reshape(3), []
    for off in np.random.default_rng(4).multivariate_normal(np.zeros(6), camera.covariance, 1500):
        moved = replace(
            camera,
            rotation=cv2.Rodrigues(rvec + off[:3])[0],
            translation_mm=camera.translation_mm + off[3:],
        )
        read.append(on_plane(pixels, moved, SETUP.camera, 12.0) - places)
    drawn = np.cov(np.array(read).reshape(len(read), 4).T)
    shared = Errors(camera, SETUP).shared(places, 12.0).reshape(4, -1)
    assert np.allclose(shared @ shared.T, drawn, atol=0.12 * np.abs(drawn).max())


def test_fewer_pixels_and_larger_residuals_make_larger_errors(still: list[Image]) -> None:
    camera = locate(still[0], SETUP)
    assert isinstance(camera, Camera)
    piece = Hypothesis(SETUP.sizes[0], "lying", 300.0, 200.0, 40.0)
    fine = Errors(camera, SETUP)
    coarse = Errors(camera, resized(SETUP, SETUP.camera.width // 2))
    ratio = np.sqrt(
        np.trace(coarse.own_covariance(piece)[:2, :2])
        / np.trace(fine.own_covariance(piece)[:2, :2])
    )
    assert 2.5 < ratio < 5.5, (
        "half the pixels across: profiles tell half as exactly, there are half as many, and more"
        " doubt is told larger"
    )
    doubled = replace(fine, larger=2.0)
    assert np.allclose(
        doubled.shared(np.array([[300.0, 200.0]]), 5.0),
        2 * fine.shared(np.array([[300.0, 200.0]]), 5.0),
    )
    assert gap_accuracy(coarse).apart_mm > 1.5 * gap_accuracy(fine).apart_mm


def test_the_map_covers_the_board(still: list[Image]) -> None:
    camera = locate(still[0], SETUP)
    assert isinstance(camera, Camera)
    found = error_map(Errors(camera, SETUP))
    assert (
        found.lying_mm.shape
        == found.standing_mm.shape
        == found.pixel_mm.shape
        == (len(found.y_mm), len(found.x_mm))
    )
    assert 0 < found.x_mm[0] < found.x_mm[-1] < 600
    assert 450 > found.y_mm[0] > found.y_mm[-1] > 0
    assert found.lying_mm[-1].mean() < found.lying_mm[0].mean(), (
        "the camera stands at the near side"
    )
