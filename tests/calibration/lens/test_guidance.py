"""Guidance while the target is held before a camera: where next, what is refused, when it is
enough; and `rinkside calibrate lens --camera`.
"""

from __future__ import annotations

import io
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import msgspec
import numpy as np
import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from calibration.lens.capture import Terminal, take_views
from calibration.lens.file import lens_file, load_lens
from calibration.lens.fit import calibrate_lens
from calibration.lens.guidance import Guidance, begin
from calibration.lens.overlay import coverage_picture, draw_guidance
from calibration.lens.synthetic_views import random_lens, random_pose, simulated_view, wide_lens
from calibration.lens.target import Charuco, ChessTarget, DetectedCorners, NotFound
from calibration.lens.views import Views
from cli.main import main
from table.errors import InputError
from table.languages import translated
from table.table_config import Lens, rows_of
from vision.cameras.base import CameraLost
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import pose_of

pytestmark = pytest.mark.slow


def shown(lens: Lens, pose, rng: np.random.Generator) -> DetectedCorners:
    """What a camera with this lens sees of the target in a pose: corners inside the picture, with
    noise.
    """
    view = simulated_view("", lens, pose, 0.1, rng)
    inside = ((view.pixels > 2) & (view.pixels < np.array([lens.width, lens.height]) - 3)).all(
        axis=1
    )
    return DetectedCorners(view.target_mm[inside], view.pixels[inside], 1.0)


def held(guidance: Guidance, found: DetectedCorners, at_ms: int) -> Guidance:
    """The target held still for a second."""
    return guidance.after(found, at_ms).after(found, at_ms + 1000)


def asked_for(guidance: Guidance, lens: Lens, rng: np.random.Generator) -> DetectedCorners:
    """The target as a player holds it who follows: about where it is asked for."""
    outline = np.column_stack([guidance.target.outline_mm, np.zeros(4)])
    turn, shift = pose_of(outline, guidance.next_place.outline_px, lens)
    return shown(lens, (turn + rng.normal(0, 0.05, 3), shift * (1 + rng.normal(0, 0.03))), rng)


def size(lens: Lens) -> tuple[int, int]:
    return lens.width, lens.height


@pytest.mark.parametrize("kind", [random_lens, wide_lens])
def test_who_follows_has_a_good_lens_after_few_views(kind) -> None:
    rng = np.random.default_rng(31)
    lens = kind(rng)
    guidance = begin(Charuco(), size(lens))
    for step in range(18):
        if guidance.enough:
            break
        guidance = held(guidance, asked_for(guidance, lens, rng), 2000 * step)
    assert guidance.enough, guidance.lacking
    assert len(guidance.taken) >= 12
    found = calibrate_lens(guidance.taken, size(lens))
    assert found.lens.model == lens.model
    assert found.lens.matrix[0][0] == pytest.approx(lens.matrix[0][0], rel=0.0015)
    assert (
        np.hypot(
            found.lens.matrix[0][2] - lens.matrix[0][2], found.lens.matrix[1][2] - lens.matrix[1][2]
        )
        < 2
    )


def test_as_many_views_are_not_enough_where_they_tell_little() -> None:
    """Fourteen views in the left half of the picture, none nearer than any other: the count alone
    would do.
    """
    rng = np.random.default_rng(5)
    lens = random_lens(rng)
    guidance, step = begin(Charuco(), size(lens)), 0
    while len(guidance.taken) < 14:
        found = shown(lens, random_pose(lens, rng), rng)
        if len(found.pixels) == 96 and found.pixels[:, 0].max() < 0.55 * lens.width:
            guidance, step = held(guidance, found, 2000 * step), step + 1
    assert not guidance.enough
    assert any(
        "target corners in another " in lack and " of the picture (" in lack and "right" in lack
        for lack in guidance.lacking
    )
    assert "right" in guidance.next_place.description or "centre" in guidance.next_place.description


@pytest.mark.parametrize(
    "target", [Charuco(), ChessTarget(9, 6)], ids=lambda target: target.description
)
def test_places_are_in_the_picture_and_not_where_the_target_was(target) -> None:
    rng = np.random.default_rng(7)
    lens = random_lens(rng)
    guidance = begin(target, size(lens))
    points, whole = (
        np.column_stack([flat, np.zeros(len(flat))])
        for flat in (target.corners_mm, target.outline_mm)
    )
    outlines = []
    for step in range(8):
        outline = guidance.next_place.outline_px
        assert (outline > 0).all()
        assert (outline < size(lens)).all()
        assert all(
            np.hypot(*(outline - other).T).mean() > 0.1 * lens.width for other in outlines
        ), step
        outlines.append(outline)
        turn, shift = pose_of(whole, outline, lens)
        pixels = cv2.projectPoints(
            points, turn, shift, np.array(lens.matrix), np.array(lens.distortion)
        )[0].reshape(-1, 2)
        guidance = held(
            guidance,
            DetectedCorners(target.corners_mm, pixels + rng.normal(0, 0.1, pixels.shape), 1.0),
            2000 * step,
        )
        assert guidance.doing == "taken", guidance.message


def test_what_is_of_no_use_is_refused_with_its_reason() -> None:
    rng = np.random.default_rng(2)
    lens = random_lens(rng)
    guidance = begin(Charuco(), size(lens))
    nothing = guidance.after(NotFound("the target is mirrored", "turn off mirroring"), 0)
    assert (nothing.doing, nothing.message) == (
        "looking",
        "the target is mirrored: turn off mirroring",
    )
    first = shown(lens, random_pose(lens, rng, most_tilt_deg=2.0), rng)
    soft = held(guidance, DetectedCorners(first.target_mm, first.pixels, 3.1), 0)
    assert (soft.doing, soft.taken) == ("refused", ())
    assert soft.message.startswith("it is blurred: edges are 3.1 px wide")
    once = held(guidance, first, 0)
    again = held(
        once, DetectedCorners(first.target_mm, first.pixels + 0.02 * lens.width, 1.0), 2000
    )
    assert (again.doing, again.message) == (
        "refused",
        "it looks the same as another view: see view-01; move or tilt the target between photos",
    )
    step = 0
    while (
        step := step + 1
    ) < 60 and once.message != "the target is not tilted enough: tilt it by 20 to 45 degrees":
        once = held(once, shown(lens, random_pose(lens, rng, most_tilt_deg=2.0), rng), 2000 * step)
    assert step < 60
    assert len(once.taken) == 4


def test_a_view_is_taken_only_when_the_target_is_held_still() -> None:
    rng = np.random.default_rng(3)
    lens = random_lens(rng)
    guidance = begin(Charuco(), size(lens))
    found = shown(lens, random_pose(lens, rng), rng)
    for step in range(30):
        moved = DetectedCorners(found.target_mm, found.pixels + step * 0.003 * lens.width, 1.0)
        guidance = guidance.after(moved, 100 * step)
        assert (guidance.doing, guidance.message) == ("holding", "hold still")
    still = guidance.after(moved, 3400)
    assert not still.taken
    assert not still.after(NotFound("nothing"), 3450).after(moved, 3700).taken
    assert still.after(moved, 3600).message == "view-01 taken"


def test_what_is_drawn_shows_what_is_covered_and_what_is_asked_for() -> None:
    rng = np.random.default_rng(4)
    lens = random_lens(rng)
    frame = np.full((lens.height, lens.width, 3), 90, np.uint8)
    guidance = begin(Charuco(), size(lens))
    empty = draw_guidance(frame, guidance)
    x, y = np.rint(guidance.next_place.outline_px.mean(axis=0)).astype(int)
    corner = np.rint(guidance.next_place.outline_px[0]).astype(int)
    assert (frame == 90).all()
    assert tuple(empty[corner[1], corner[0]]) == (255, 190, 60)
    found = asked_for(guidance, lens, rng)
    taken = held(guidance, found, 0)
    drawn = draw_guidance(frame, taken, found)
    at = np.rint(found.pixels[40]).astype(int)
    assert (drawn[at[1], at[0]] >= 250).all()
    middles = [
        ((2 * row + 1) * lens.height // 8, (2 * column + 1) * lens.width // 12)
        for row in range(4)
        for column in range(6)
    ]
    green = np.array([drawn[middle][1] > drawn[middle][0] for middle in middles])
    np.testing.assert_array_equal(
        green[~near_a_line(drawn, middles)], taken.covered.ravel()[~near_a_line(drawn, middles)]
    )
    assert 0 <= y < lens.height
    assert 0 <= x < lens.width


def near_a_line(drawn: np.ndarray, middles) -> np.ndarray:
    """Cells in whose very middle something else was drawn."""
    return np.array(
        [
            np.ptp(drawn[row - 4 : row + 5, column - 4 : column + 5].reshape(-1, 3), axis=0).max()
            > 0
            for row, column in middles
        ]
    )


def rinkside(*words: object) -> Result:
    return CliRunner().invoke(main, ["calibrate", "lens", *map(str, words)], terminal_width=120)


@pytest.fixture(scope="module")
def live(taken, tmp_path_factory) -> Path:
    """A recording of a player who holds the target still 15 times, for 700 ms each."""
    folder = tmp_path_factory.mktemp("live")
    for index, path in enumerate(sorted(taken[0].iterdir())):
        for at_ms in (3000 * index, 3000 * index + 700):
            shutil.copy(path, folder / f"{at_ms:06d}.jpg")
    return folder


def test_a_lens_from_a_camera_and_again_from_what_was_kept(
    live: Path, photographs, tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir()
    message = rinkside(
        "--camera",
        f"folder:{live}",
        "--keep",
        tmp_path / "kept",
        "--out",
        tmp_path / "lens.json",
        "--picture",
        tmp_path / "seen.png",
    )
    assert message.exit_code == 0, message.output
    words = " ".join(message.stderr.split())
    assert (
        "Still needed: 14 more views; 4 of them tilted; target corners in another 75 % of the"
        " picture. Hold the target close to the camera, " in words
    )
    assert "view-01 taken. Still needed: 13 more views" in words
    assert words.endswith("taken. That is enough.")
    file = load_lens(tmp_path / "lens.json")
    assert file.camera.matrix[0][0] == pytest.approx(photographs.LENS.matrix[0][0], rel=0.0015)
    assert [view.name for view in file.views] == [
        path.stem for path in sorted((tmp_path / "kept").iterdir())
    ]
    assert cv2.imread(str(tmp_path / "seen.png")).shape == (960, 1280, 3)
    again = rinkside("--from", tmp_path / "kept", "--out", tmp_path / "again.json")
    assert again.exit_code == 0, again.output
    np.testing.assert_allclose(load_lens(tmp_path / "again.json").camera.matrix, file.camera.matrix)


def test_a_recording_that_ends_too_soon_is_refused_and_nothing_is_overwritten(
    live: Path, tmp_path: Path
) -> None:
    (tmp_path / "short").mkdir()
    for path in sorted(live.iterdir())[:6]:
        shutil.copy(path, tmp_path / "short")
    out = tmp_path / "lens.json"
    out.write_text("the last good one")
    message = rinkside("--camera", f"folder:{tmp_path / 'short'}", "--out", out)
    assert message.exit_code == 2
    assert (
        message.stderr.strip()
        .splitlines()[-1]
        .endswith("folder short: expected at least 12 usable views, got 3")
    )
    assert out.read_text() == "the last good one"
    assert {path.name for path in tmp_path.iterdir()} == {"short", "lens.json"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [],
            (
                "expected either --from FOLDER or --camera; --keep, --lens and --panel go only with"
                " --camera"
            ),
        ),
        (
            ["--from", "here", "--camera", "folder:here"],
            "expected either --from FOLDER or --camera",
        ),
        (["--from", "here", "--keep", "there"], "expected either --from FOLDER or --camera"),
        (
            ["--camera", "folder:here", "--keep", "nowhere"],
            "--keep: expected a folder that exists, got nowhere",
        ),
        (
            ["--from", "here", "--lens", "camera-module-3"],
            "expected either --from FOLDER or --camera",
        ),
        (["--camera", "simulated:4"], "expected a camera that can look at a target, got simulated"),
        (
            ["--camera", "folder:here", "--picture", "seen.doc"],
            "seen.doc: expected a name that ends in .png",
        ),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(
    words: list[str], message: str, tmp_path: Path
) -> None:
    result = rinkside(*words, "--out", tmp_path / "lens.json")
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@dataclass
class Played:
    """A camera that gives what it is told to."""

    what: list[Frame | CameraLost]
    name: str = "a camera"
    simulated: bool = False
    waited: list[float] = field(default_factory=list)

    def read(self) -> Frame | None:
        if not self.what:
            return None
        if isinstance(now := self.what.pop(0), CameraLost):
            raise now
        return now

    def close(self) -> None:
        pass


def test_a_camera_that_is_lost_is_asked_again_for_a_while() -> None:
    frame = Frame(0, 0, np.full((480, 640, 3), 90, np.uint8))
    quiet = Terminal(Console(file=io.StringIO()))
    back = Played([frame, *[CameraLost("unplugged")] * 4, frame])
    with pytest.raises(InputError, match="a camera: expected at least 12 usable views, got 0"):
        take_views(back, Charuco(), quiet, pause=back.waited.append)
    assert back.waited == [1.0] * 4
    gone = Played([frame, *[CameraLost("unplugged")] * 20])
    with pytest.raises(
        InputError,
        match="a camera: expected a picture, but the camera does not come back: unplugged",
    ):
        take_views(gone, Charuco(), quiet, pause=gone.waited.append)
    none = Played([])
    with pytest.raises(InputError, match="a camera: expected pictures of the target, got none"):
        take_views(none, Charuco(), quiet, pause=none.waited.append)
    other = Played([frame, Frame(1, 100, np.zeros((720, 1280, 3), np.uint8))])
    with pytest.raises(
        InputError, match="expected pictures of 640 x 480 px like the first one, got 1280 x 720 px"
    ):
        take_views(other, Charuco(), quiet, pause=other.waited.append)


@pytest.mark.parametrize(
    ("code", "wanted", "refused"),
    [
        ("en", "Still needed: 14 more views", "not taken: it is blurred"),
        ("de", "Nötig: noch 14 Aufnahmen", "nicht gemacht: sie ist unscharf"),
    ],
)
def test_guidance_in_a_terminal_is_in_its_language(code: str, wanted: str, refused: str) -> None:
    rng = np.random.default_rng(3)
    lens, written = random_lens(rng), io.StringIO()
    guidance = begin(Charuco(), size(lens))
    seen = shown(lens, random_pose(lens, rng), rng)
    with Terminal(
        Console(file=written, width=400), lambda text: translated(text, code) or text
    ) as terminal:
        terminal.show(Frame(0, 0, np.zeros((8, 8, 3), np.uint8)), seen, guidance)
        blurred = held(guidance, replace(seen, blur_px=9.0), 1000)
        terminal.show(Frame(1, 1, np.zeros((8, 8, 3), np.uint8)), seen, blurred)
    assert wanted in written.getvalue()
    assert refused in written.getvalue()


def test_a_focus_that_changes_meanwhile_is_refused(live: Path) -> None:
    images = [read_image(path).image for path in sorted(live.iterdir())[:4:2]]
    frames = [Frame(k, 700 * k, images[k // 2], 1.0 + k // 2) for k in range(4)]
    with pytest.raises(
        InputError,
        match=(
            r"a camera: expected the focus to stay at 1\.00 dioptres, got 2\.00; lock the"
            r" camera's focus"
        ),
    ):
        take_views(Played(frames), Charuco(), Terminal(Console(file=io.StringIO())))


def test_the_coverage_of_a_calibration_is_drawn_and_its_focus_kept() -> None:
    rng = np.random.default_rng(8)
    lens = random_lens(rng)
    views = [simulated_view(str(k), lens, random_pose(lens, rng), 0.1, rng) for k in range(12)]
    found = calibrate_lens(tuple(views), size(lens))
    kept = lens_file(found, Views(size(lens), tuple(views), (), 1.25), "a target", 20.0)
    assert kept.camera == msgspec.structs.replace(
        found.lens, focus_dpt=1.25, covariance=rows_of(found.covariance)
    )
    drawn = coverage_picture(found)
    assert drawn.shape == (lens.height, lens.width, 3)
    at = np.rint(found.views[0].view.pixels).astype(int)
    assert (drawn[at[:, 1], at[:, 0]] > 100).any(axis=1).all()


def test_a_page_guides_as_the_terminal_does(live: Path, photographs, tmp_path: Path) -> None:
    """What the page shows is tested in tests/webui; here, that the same lens comes of it and the
    command ends though nobody looks.
    """
    message = rinkside(
        "--camera", f"folder:{live}", "--panel", "--port", 0, "--out", tmp_path / "lens.json"
    )
    assert message.exit_code == 0, message.output
    assert "The page is on http://localhost:" in message.stderr
    assert load_lens(tmp_path / "lens.json").camera.matrix[0][0] == pytest.approx(
        photographs.LENS.matrix[0][0], rel=0.0015
    )
