"""Live cameras against doubles that behave as the devices do: an HTTP server, a package, a
device.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import ClassVar

import cv2
import numpy as np
import pytest

from table.errors import InputError
from tests.support.live_cameras import SETUP, Scripted, bright, live
from tests.support.pictures import HEIGHT, WIDTH, picture
from vision.cameras.base import CameraLost, open_camera


def test_only_the_newest_picture_counts():
    feed = Scripted(bright(10), bright(20), bright(30))
    camera = live(feed)
    first = camera.read()
    feed.empty.wait(5)
    assert first.seq == 0
    if first.image[0, 0, 0] != 30:
        assert camera.read().image[0, 0, 0] == 30
    feed.go.set()
    camera.close()
    assert feed.closed.wait(5)


def test_a_lost_camera_is_tried_again_and_frames_go_on_counting():
    feeds = (
        Scripted(bright(10), CameraLost("the cable is out")),
        Scripted(bright(20), CameraLost("again")),
    )
    camera = live(*feeds)
    assert camera.read().seq == 0
    with pytest.raises(CameraLost, match="test camera: the cable is out"):
        camera.read()
    assert feeds[0].closed.wait(5)
    frame = camera.read()
    assert (frame.seq, frame.image[0, 0, 0]) == (1, 20)
    camera.close()


def test_a_camera_that_gives_nothing_is_lost():
    feed = Scripted()
    camera = live(feed, patience_s=0.01)
    feed.go.set()
    with pytest.raises(
        CameraLost, match=r"test camera: (no picture arrived for 0\.01 s|script over)"
    ):
        camera.read()


def test_pictures_of_another_size_are_refused():
    camera = live(Scripted(np.zeros((40, 60, 3), np.uint8)))
    with pytest.raises(InputError, match=r"expected 96 x 80 px as in table\.json, got 60 x 40 px"):
        camera.read()


# --- USB cameras ---


class Device:
    """What cv2.VideoCapture does with a device; records what was set."""

    opened: ClassVar[list[Device]] = []

    def __init__(self, path, backend):
        self.path, self.backend, self.set_, self.released = path, backend, {}, False
        Device.opened.append(self)

    def isOpened(self):  # noqa: N802 - OpenCV's name
        return "busy" not in self.path

    def set(self, name, value):
        self.set_[name] = value
        return True

    def get(self, _):
        return 157.0

    def read(self):
        return True, np.ascontiguousarray(picture()[:, :, ::-1])

    def release(self):
        self.released = True


@pytest.fixture
def devices(monkeypatch):
    Device.opened = []
    monkeypatch.setattr(cv2, "VideoCapture", Device)
    return Device.opened


def test_a_usb_camera_is_asked_for_the_tables_size_and_locked_after_a_while(tmp_path, devices):
    (tmp_path / "video0").touch()
    camera = open_camera(f"v4l2:{tmp_path / 'video0'}", SETUP)
    frame = camera.read()
    while (
        cv2.CAP_PROP_AUTO_EXPOSURE not in devices[0].set_
        or cv2.CAP_PROP_EXPOSURE not in devices[0].set_
    ):
        camera.read()
    camera.close()
    assert np.array_equal(frame.image, picture())
    settings = devices[0].set_
    assert (settings[cv2.CAP_PROP_FRAME_WIDTH], settings[cv2.CAP_PROP_FRAME_HEIGHT]) == (
        WIDTH,
        HEIGHT,
    )
    assert (
        settings[cv2.CAP_PROP_AUTOFOCUS],
        settings[cv2.CAP_PROP_AUTO_EXPOSURE],
        settings[cv2.CAP_PROP_EXPOSURE],
    ) == (0, 1, 157.0)
    assert devices[0].released


@pytest.mark.usefixtures("devices")
@pytest.mark.parametrize(("name", "message"), [("gone", "plug it in"), ("busy", "does not answer")])
def test_a_usb_camera_that_cannot_be_used_is_lost_with_the_reason(tmp_path, name, message):
    (tmp_path / "busy").touch()
    camera = open_camera(f"v4l2:{tmp_path / name}", SETUP)
    with pytest.raises(CameraLost, match=message):
        camera.read()


@pytest.mark.parametrize("argument", ["", "video0", "-1", "..//x"])
def test_what_is_no_device_is_refused(argument):
    with pytest.raises(InputError, match="v4l2: expected a number or a device"):
        open_camera(f"v4l2:{argument}", SETUP)


# --- picamera2 ---


class Picamera2:
    """As much of picamera2 as is used, as its manual describes it."""

    made: ClassVar[list[Picamera2]] = []

    def __init__(self, number):
        if number > 0:
            raise IndexError("list index out of range")
        self.controls, self.configured, self.closed, self.open_requests = {}, None, False, 0
        Picamera2.made.append(self)

    def create_video_configuration(self, main):
        return main

    def configure(self, main):
        self.configured = main

    def start(self):
        assert self.configured

    def capture_request(self):
        self.open_requests += 1
        assert self.open_requests < 4, "requests have to be given back"
        return self

    def make_array(self, stream):
        assert (stream, self.configured["format"]) == ("main", "BGR888")
        return picture()

    def get_metadata(self):
        return {
            "ExposureTime": 9000,
            "AnalogueGain": 1.5,
            "ColourGains": (1.9, 1.6),
            "LensPosition": 3.5,
            "SensorTimestamp": 1,
        }

    def release(self):
        self.open_requests -= 1

    def set_controls(self, controls):
        self.controls |= controls

    def close(self):
        self.closed = True


@pytest.fixture
def picamera2(monkeypatch):
    module = ModuleType("picamera2")
    module.Picamera2 = Picamera2
    Picamera2.made = []
    monkeypatch.setitem(sys.modules, "picamera2", module)
    return Picamera2.made


def test_the_pi_camera_is_read_by_picamera2_and_locked(picamera2):
    camera = open_camera("picamera:0", SETUP)
    frame = camera.read()
    while not picamera2[0].controls:
        camera.read()
    camera.close()
    assert np.array_equal(frame.image, picture())
    assert picamera2[0].configured["size"] == (WIDTH, HEIGHT)
    assert frame.focus_dpt == 3.5
    locked = {
        "AeEnable": False,
        "AwbEnable": False,
        "ExposureTime": 9000,
        "AnalogueGain": 1.5,
        "ColourGains": (1.9, 1.6),
    }
    assert picamera2[0].controls == locked | {"AfMode": 0, "LensPosition": 3.5}
    assert picamera2[0].closed


def test_before_there_is_a_table_people_say_the_size_of_pictures(picamera2):
    for spec, size in (("picamera:0", (2304, 1296)), ("picamera:0@1640x1232", (1640, 1232))):
        camera = open_camera(spec, None)
        assert camera.read().image.shape == (HEIGHT, WIDTH, 3)
        camera.close()
        assert picamera2[-1].configured["size"] == size


@pytest.mark.parametrize(
    "spec", ["picamera:0@big", "v4l2:0@1920", "v4l2:0@1x1", "picamera:0@640x480"]
)
def test_a_size_that_is_none_or_not_the_tables_is_refused(spec):
    with pytest.raises(InputError, match=r"camera: expected .*got"):
        open_camera(spec, SETUP)


@pytest.mark.usefixtures("picamera2")
def test_a_pi_camera_that_is_not_there_is_lost():
    camera = open_camera("picamera:1", SETUP)
    with pytest.raises(CameraLost, match="check its cable"):
        camera.read()


def test_without_the_package_people_are_told_what_to_do(monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "picamera2", raising=False)
    with pytest.raises(InputError) as error:
        open_camera("picamera:0", SETUP)
    assert (
        str(error.value) == "camera: picamera: picamera2 is not installed; use rpicam:0, or run:"
        " sudo apt install python3-picamera2 && make PI=1"
    )


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        (
            "raise ValueError('numpy.dtype size changed, may indicate binary incompatibility')",
            r"\(ValueError: numpy\.dtype size changed, may indicate binary incompatibility\)",
        ),
        (
            "raise AttributeError('_ARRAY_API not found')",
            r"\(AttributeError: _ARRAY_API not found\)",
        ),
        ("import libcamera_", r"\(ModuleNotFoundError: No module named 'libcamera_'\)"),
        (
            "raise ImportError('numpy.core.multiarray\\nfailed to import')",
            r"\(ImportError: numpy\.core\.multiarray failed to import\)",
        ),
    ],
)
def test_a_package_that_does_not_fit_is_one_line(tmp_path, monkeypatch, capsys, fails, says):
    (tmp_path / "picamera2.py").write_text(f"import sys\nsys.stderr.write('a page\\n')\n{fails}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "picamera2", raising=False)
    with pytest.raises(
        InputError, match=rf"^camera: picamera: .*here {says}; use rpicam:0, or run: make PI=1$"
    ):
        open_camera("picamera:0", SETUP)
    assert capsys.readouterr().err == ""


# --- videos ---


def video(path, size=(WIDTH, HEIGHT), frames=5):
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 4.0, size)
    for level in range(frames):
        writer.write(np.full((size[1], size[0], 3), 40 * level, np.uint8))
    writer.release()
    return path


def test_a_video_gives_its_frames_at_their_times(tmp_path):
    camera = open_camera(f"video:{video(tmp_path / 'game.avi')}", SETUP)
    frames = []
    while frame := camera.read():
        frames.append(frame)
    assert [frame.at_ms for frame in frames] == [0, 250, 500, 750, 1000]
    assert [round(float(frame.image.mean()) / 40) for frame in frames] == [0, 1, 2, 3, 4]
    camera.close()
    camera.close()
    with pytest.raises(ValueError, match="closed"):
        camera.read()


def test_what_is_no_video_of_this_table_is_refused(tmp_path):
    (tmp_path / "text.avi").write_text("hello")
    for path, message in (
        (tmp_path / "none.avi", "expected a video file"),
        (tmp_path / "text.avi", "cannot be read"),
    ):
        with pytest.raises(InputError, match=message):
            open_camera(f"video:{path}", SETUP)
    with pytest.raises(InputError, match="expected 96 x 80 px"):
        open_camera(f"video:{video(tmp_path / 'other.avi', (64, 48))}", SETUP)
