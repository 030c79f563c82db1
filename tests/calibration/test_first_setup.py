"""A table set up from nothing, through a camera that nobody knows anything of."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import msgspec
import numpy as np
import pytest

from calibration import first_setup
from calibration.first_setup import CameraChoice, FirstSetUp, marker_guidance
from simulation.printed import LENS, PrintedTable, PrintedTableCamera
from table.errors import InputError
from table.printed_boards import printed_fiducials, printed_table, printed_tables
from table.table_config import Lens
from vision.cameras.base import CameraLost
from vision.cameras.frame import Frame, Image

pytestmark = pytest.mark.slow
CAMERA = "v4l2:/dev/video0"
FIDUCIALS = printed_fiducials(printed_table("mat")[1])


class Film:
    """A camera of pictures, of errors, and of what people do between them."""

    name, simulated = "film", True

    def __init__(self, *shots):
        self.shots, self.count = list(shots), 0

    def read(self):
        while self.shots and callable(self.shots[0]):
            self.shots.pop(0)()
        if not self.shots:
            return None
        if isinstance(shot := self.shots.pop(0), Exception):
            raise shot
        self.count += 1
        return Frame(self.count, 1000 * self.count, shot)

    def close(self):
        """Nothing is held."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_setup, "LOOK_S", 0.0)


@pytest.fixture(scope="module")
def pictures() -> dict[str, Image]:
    """An empty table with each printed board."""
    return {
        sheet: PrintedTableCamera(PrintedTable(sheet, None, 3), 3).read().image
        for sheet in printed_tables()
    }


def covered(image: Image, *corners: int) -> Image:
    """The picture with some of the markers, clockwise from the far left, painted over."""
    height, width = image.shape[:2]
    image = image.copy()
    for corner in corners:
        y = slice(0, height // 2) if corner < 2 else slice(height // 2, height)
        x = slice(0, width // 4) if corner in (0, 3) else slice(3 * width // 4, width)
        image[y, x] = 90
    return image


class Walk:
    """A set-up whose camera sees these pictures; `run` ends with the last of them."""

    def __init__(self, *shots, lens: Lens | None = None, cameras=(CAMERA,)):
        self.pauses: list[float] = []
        self.film = Film(*shots, self.stop)
        self.first = FirstSetUp(
            [CameraChoice(one, one) for one in cameras],
            lambda _spec: self.film,
            lambda _spec: lens,
            self.pauses.append,
        )

    def stop(self):
        self.first.stop()

    def to(self, sheet: str, /, **how: object) -> FirstSetUp:
        """Choose camera and board, print it, and look."""
        self.first.choose_camera(CAMERA)
        self.first.choose_sheet(sheet)
        board = self.first.look().board
        assert board is not None
        self.first.printed(replace(board, **how))
        self.first.run()
        return self.first


@pytest.mark.parametrize("sheet", printed_tables())
def test_one_picture_of_a_printed_board_makes_a_table(pictures, sheet: str) -> None:
    walk = Walk(pictures[sheet])
    walk.film.shots.insert(1, lambda: walk.first.measure())
    walk.film.shots.insert(2, pictures[sheet])
    first = walk.to(sheet)
    now, setup = first.look(), first.setup
    assert (now.step, now.refusal) == ("check", "")
    assert setup.game.name == printed_table(sheet)[0]
    assert setup.camera.first_estimate
    assert setup.camera.covariance is not None
    off = setup.camera.matrix[0][0] - LENS.matrix[0][0]
    assert abs(off) < 3 * float(np.sqrt(setup.camera.covariance[0][0]))
    assert any("Gap errors are 1.1 times" in one for one in now.outcome)
    assert first.checked() is not None


def test_a_lens_that_was_calibrated_is_used_if_it_is_for_such_pictures(pictures) -> None:
    for lens, used in ((LENS, True), (msgspec.structs.replace(LENS, width=640, height=480), False)):
        walk = Walk(lens=lens)
        walk.film.shots[:0] = [lambda walk=walk: walk.first.measure(), pictures["mat"]]
        assert (walk.to("mat").setup.camera == lens) is used


def test_the_check_bar_scales_all_that_is_printed(pictures) -> None:
    walk = Walk()
    walk.film.shots[:0] = [lambda: walk.first.measure(), pictures["mat"]]
    setup = walk.to("mat", bar_mm=98.0).setup
    assert setup.outline_mm().max(axis=0) == pytest.approx([0.98 * 440, 0.98 * 360])


def test_colours_of_the_pieces_are_those_that_people_have(pictures) -> None:
    walk = Walk()
    walk.film.shots[:0] = [lambda: walk.first.measure(), pictures["mat"]]
    game = walk.to("mat", colours=("yellow", "purple", "cyan"), target="red").setup.game
    assert (game.colours, game.target) == (("yellow", "purple", "cyan"), "red")


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"bar_mm": 90.0}, "95 to 105 mm, got 90"),
        ({"colours": ("red", "green")}, "colour that is not in play; green is taken"),
        ({"colours": ("red", "mauve")}, "expected a colour"),
        ({"colours": ("red", "red")}, "table.json: game.colours"),
        ({"colours": ()}, "table.json: game.colours"),
        ({"sheet": "halma"}, "expected a printed board"),
    ],
)
def test_what_was_printed_otherwise_is_refused(how: dict[str, object], expected: str) -> None:
    walk = Walk()
    with pytest.raises(InputError, match=expected):
        walk.to("mat", **how)
    assert walk.first.look().step == "print"


def test_a_table_is_not_measured_before_its_board_lies_there() -> None:
    first = Walk().first
    for wish in (first.measure, partial(first.choose_sheet, "halma"), lambda: first.setup):
        with pytest.raises(InputError):
            wish()
    with pytest.raises(InputError, match="such as rpicam:0"):
        first.choose_camera("my camera")
    assert first.look().step == "camera"


def test_guidance_follows_what_is_seen(pictures) -> None:
    mat = pictures["mat"]
    small = np.full_like(mat, 90)
    small[240:720, 320:960] = mat[::2, ::2]
    for image, seen, expected in (
        (np.full_like(mat, 90), (), "No marker is in view yet"),
        (covered(mat, 2), (0, 1, 3), "Not seen yet: the marker near right."),
        (covered(mat, 0, 1), (2, 3), "Not seen yet: the markers far left, far right."),
        (np.ascontiguousarray(mat[:, ::-1]), (), "mirror"),
        (small, (0, 1, 2, 3), "Move the camera closer"),
        (mat, (0, 1, 2, 3), "All markers are in view. Clear the board"),
    ):
        found, said = marker_guidance(image, FIDUCIALS)
        assert found == seen
        assert expected in said


def test_what_cannot_be_measured_is_told_and_nothing_is_lost(pictures) -> None:
    walk = Walk()
    walk.film.shots[:0] = [lambda: walk.first.measure(), covered(pictures["mat"], 0, 2)]
    first = walk.to("mat")
    assert "expected at least 3 markers" in first.look().refusal
    assert (first.look().step, first.look().measuring) == ("lay", False)
    with pytest.raises(InputError, match="measure it first"):
        _ = first.setup


def test_a_lost_camera_is_told_and_tried_again(pictures) -> None:
    said = []
    walk = Walk(CameraLost("it sends no more pictures"))
    walk.film.shots.insert(1, lambda: said.append(walk.first.look().trouble))
    walk.film.shots.insert(2, pictures["mat"])
    first = walk.to("mat")
    assert "Camera lost (it sends no more pictures)" in said[0]
    assert walk.pauses == [0.5]
    assert first.look().trouble == ""


def test_every_camera_is_shown_until_one_is_chosen_and_a_bad_one_says_why(pictures) -> None:
    walk = Walk(pictures["mat"], pictures["mat"], cameras=(CAMERA,))
    shown = []
    walk.film.shots.insert(2, lambda: shown.append(walk.first.jpeg(CAMERA)))
    walk.first.run()
    assert shown[0] is not None
    assert walk.first.look().step == "camera"

    def refuse(_spec):
        first.stop()
        raise InputError("camera: rpicam-vid is not installed")

    first = FirstSetUp([CameraChoice("rpicam:0", "Pi")], refuse, lambda _spec: None)
    first.run()
    assert first.look().cameras[0].trouble == "camera: rpicam-vid is not installed"


def test_an_earlier_step_can_be_done_again(pictures) -> None:
    walk = Walk()
    walk.film.shots[:0] = [lambda: walk.first.measure(), pictures["mat"]]
    first = walk.to("mat")
    first.back("check")  # nothing: it is not earlier
    assert first.look().step == "check"
    for step in ("lay", "print", "game", "camera"):
        first.back(step)
        assert first.look().step == step
    assert first.look().camera == ""


def test_the_simulated_table_is_empty_before_a_game() -> None:
    with pytest.raises(InputError, match="expected a printed board"):
        PrintedTable("halma", None, 0)
    table = PrintedTable("mat", None, 0)
    assert table.scene_at(0).pieces == ()
