"""The network is shown a photograph as it was shown scenes in training."""

import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch: pip install '.[training]'")

from simulation.generate.cases import write_case  # noqa: E402
from table.observation import Camera  # noqa: E402
from table.solids import Array  # noqa: E402
from table.table_config import load_table  # noqa: E402
from training.eyes import photos, unmarked  # noqa: E402
from training.eyes.cameras import View, project, random_views, scale_and_lean, slopes, view_channels  # noqa: E402
from training.eyes.detections import Detection  # noqa: E402
from training.eyes.draw import Draw  # noqa: E402
from training.eyes.model import CHANNELS_IN, CHANNELS_OUT, WHOLE, Answer  # noqa: E402
from vision.cameras.image_files import read_image  # noqa: E402
from vision.geometry.rectified_view import Photo  # noqa: E402
from vision.localization.fiducials import locate  # noqa: E402


@dataclass(frozen=True)
class OfAView:
    """What is asked of a photograph, answered by a view of training."""

    view: View

    def pixels(self, points_mm: Array) -> Array:
        there = torch.from_numpy(points_mm).float()[None]
        return np.asarray(project(self.view, there)[0].double().numpy())


def test_scale_and_lean_of_a_photograph_are_those_of_training() -> None:
    view = random_views(Draw(4, 1, torch.device("cpu")), 128)
    places = np.array([[0.0, 0.0], [20.0, -15.0], [-30.0, 10.0]])
    scale, lean = photos.scale_at(OfAView(view), places)
    points = torch.from_numpy(np.column_stack([places, np.zeros(3)])).float()[None]
    own_scale, own_lean = scale_and_lean(slopes(view, points)[0])
    assert np.allclose(scale, own_scale.numpy(), rtol=2e-3)
    assert np.allclose(lean, own_lean.numpy(), atol=5e-3)
    assert view_channels(view, 128).shape == (1, 3, 128, 128)


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("case") / "boule-1"
    write_case(folder, "boule", 7)
    return folder


@pytest.fixture(scope="module")
def photo(case: Path) -> Photo:
    setup = load_table(case / "table.json")
    image = read_image(case / "image.jpg", setup).image
    camera = locate(image, setup)
    assert isinstance(camera, Camera)
    return Photo(image, camera, setup)


def test_the_network_is_shown_all_of_the_table_at_its_scale(photo: Photo) -> None:
    look = photos.look_at(photo, photo.image)
    n, channels, h, w = look.picture.shape
    assert (n, channels, h % WHOLE, w % WHOLE) == (1, CHANNELS_IN, 0, 0)
    assert np.isfinite(look.picture).all()
    assert np.abs(look.picture[:, 3:6]).max() == 0  # it is its own empty table
    assert (look.picture[:, 6] == 1).all()
    outline = photo.setup.outline_mm()
    seen = photo.pixels(np.column_stack([outline, np.zeros(len(outline))]))
    at = (seen - look.start + 0.5) * look.zoom - 0.5
    assert (at > 0).all()
    assert (at < [w, h]).all()
    assert np.allclose(look.pixels(at), seen)


def test_a_perfect_find_is_laid_where_the_piece_is(photo: Photo, case: Path) -> None:

    look = photos.look_at(photo, None)
    truth = json.loads((case / "truth.json").read_text())["pieces"]
    checked = 0
    for true in truth:
        if true["pose"] == "leaning":
            continue
        corners = np.array(true["vertices_mm"]) if "vertices_mm" in true else None
        if corners is None:
            continue
        points = (photo.pixels(corners) - look.start + 0.5) * look.zoom - 0.5
        scale = photos.scale_at(photo, corners[:4, :2].mean(axis=0)[None])[0][0] * look.zoom
        base_px = float(np.linalg.norm(corners[1] - corners[0]) * scale)
        chances = np.zeros(6)
        chances[("upright", "lying").index(true["pose"])] = 1.0
        find = Detection(
            centre=(points[:4].mean(axis=0) + points[4]) / 2,
            chances=chances,
            points=points,
            doubts=np.ones(5),
            turn=np.zeros(2),
            base_px=base_px,
            base_doubt=0.01,
            colours=np.ones(12) / 12,
            clear=0.0,
            raised=0.0,
            visible=1.0,
        )
        message = photos.place_detection(find, look, photo)
        assert (message.pose, message.size) == (true["pose"], true["size"])
        assert np.hypot(*(message.base_mm - true["base_mm"])) < 0.6  # how well the camera is placed
        checked += 1
    assert checked


def test_there_is_no_look_beyond_the_photograph(photo: Photo) -> None:
    look = photos.look_at(photo, None)
    h, w = photo.image.shape[:2]
    assert (look.start >= 0).all()
    assert (look.start < [w, h]).all()
    assert (
        cv2.pointPolygonTest(
            np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32)[:, None],
            (float(look.start[0]), float(look.start[1])),
            False,
        )
        >= 0
    )


class Network:
    """Sees nothing, or one thing in the middle; notes what it was shown."""

    def __init__(self, there: bool) -> None:
        self.there, self.shape = there, (0, 0, 0, 0)

    def setInput(self, picture: np.ndarray, name: str) -> None:  # noqa: N802  (OpenCV's word)
        assert name == "image"
        self.shape = picture.shape

    def forward(self, name: str) -> np.ndarray:
        assert name == "answer"
        answer = np.full(
            (1, CHANNELS_OUT, self.shape[2] // 4, self.shape[3] // 4), -9.0, np.float32
        )
        answer[:, Answer.POINTS] = 0.0
        if self.there:
            answer[0, 1, answer.shape[2] // 2, answer.shape[3] // 2] = 9.0
        return answer


def test_a_photograph_without_fiducials_is_read_with_its_own_camera(tmp_path: Path) -> None:
    picture, camera = tmp_path / "table.png", tmp_path / "camera.json"
    cv2.imwrite(str(picture), np.full((240, 320, 3), 180, np.uint8))
    turn = [[1, 0, 0], [0, -0.8, -0.6], [0, 0.6, -0.8]]
    document = {"f": 400.0, "R": turn, "t": [0, 0, 500.0], "lo": [-80.0, -60.0], "hi": [80.0, 60.0]}
    camera.write_text(json.dumps(document))
    photo = unmarked.read(picture, camera, ("red", "green"))
    assert np.allclose(photo.pixels(np.zeros((1, 3))), [[159.5, 119.5]])
    assert unmarked.detections_in(photo, Network(False))[1] == []
    look, (detection,) = unmarked.detections_in(photo, Network(True))
    assert detection.pose == "lying"
    assert detection.colour in ("red", "green")
    assert np.abs(detection.middle_mm).max() < 80
    assert unmarked.draw_detections(photo, look, [detection]).shape == (720, 960, 3)
