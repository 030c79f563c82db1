"""The Raspberry Pi's camera against a double of rpicam-vid that has its options and writes what it
writes.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from table.errors import InputError
from table.table_config import parse_table
from tests.support.live_cameras import SETUP
from tests.support.pictures import HEIGHT, TABLE, WIDTH, picture
from vision.cameras import rpicam
from vision.cameras.base import CameraLost, open_camera
from vision.cameras.i420 import Converter, RawVideo
from vision.cameras.testing import fake_rpicam
from vision.cameras.testing.fake_rpicam import Behaviour

LOCKED_BY_HAND = "--shutter 8000 --gain 2 --awbgains 1.9,1.6 --lens-position 4.2"
LEVELS = 3
"""How far off a value may be that was converted."""


def i420(image):
    """Full-range I420 without padding, (3 h / 2, w), and the image (h, w, 3) that it stands for.

    By the formulas of JFIF 1.02.
    """
    red, green, blue = np.moveaxis(image.astype(float), 2, 0)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    height, width = luma.shape
    planes = [np.rint(luma).clip(0, 255).astype(np.uint8)]
    for part in ((blue - luma) / 1.772, (red - luma) / 1.402):
        mean = part.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3))
        planes.append(np.rint(128 + mean).clip(0, 255).astype(np.uint8))
    luma, cb, cr = (plane.astype(float) for plane in planes)
    cb, cr = (np.kron(plane - 128, np.ones((2, 2))) for plane in (cb, cr))
    rgb = np.stack([luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.772 * cb], 2)
    return np.concatenate([plane.ravel() for plane in planes]).tobytes(), rgb.clip(0, 255)


def grey(level, width=WIDTH, height=HEIGHT):
    return np.full((height, width, 3), level, np.uint8)


@pytest.fixture
def camera_program(tmp_path, monkeypatch):
    """camera_program(image, ..., what the double does): puts the double on PATH."""

    def install(*images, **does):
        images = images or (picture(),)
        names = []
        for number, image in enumerate(images):
            names.append(str(tmp_path / f"{number}.yuv"))
            (tmp_path / f"{number}.yuv").write_bytes(i420(image)[0])
        size = does.pop("size", (images[0].shape[1], images[0].shape[0]))
        fake_rpicam.install(tmp_path, Behaviour(size=size, pictures=tuple(names), **does))
        monkeypatch.setenv("PATH", str(tmp_path))
        return lambda: [start.words for start in fake_rpicam.starts(tmp_path)]

    return install


def read(spec, count=1, setup=SETUP):
    """The last of some frames."""
    camera = open_camera(spec, setup)
    try:
        for _ in range(count):
            frame = camera.read()
    finally:
        camera.close()
    return frame


def until_lost(camera):
    """Mean levels of all frames until the camera is lost."""
    levels = []
    while True:
        try:
            levels.append(float(camera.read().image.mean()))
        except CameraLost as error:
            return levels, str(error)


def value(words, option):
    return words[words.index(option) + 1]


# --- pictures ---


@pytest.mark.parametrize("row_bytes", [2, 64, 128, 256])
@pytest.mark.parametrize("size", [(96, 80), (102, 66), (164, 90)])
def test_pictures_are_right_however_rows_are_padded(camera_program, row_bytes, size):
    width, height = size
    image = np.random.default_rng(3).integers(0, 256, (height, width, 3), np.uint8)
    camera_program(image, row_bytes=row_bytes, ends="waits", frames=3)
    frame = read(f"rpicam:0@{width}x{height}", setup=None)
    assert frame.image.shape == (height, width, 3)
    assert frame.image.flags.c_contiguous
    assert np.abs(frame.image - i420(image)[1]).max() <= LEVELS
    assert frame.shown_ms == frame.utc_ms > 1_600_000_000_000


def test_black_white_and_pure_colours_keep_their_full_range():
    shades = [(0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255), (1, 1, 1)]
    image = np.repeat(np.repeat(np.array([shades], np.uint8), 4, axis=0), 4, axis=1)
    planes, meant = i420(image)
    rows = np.frombuffer(bytearray(planes), np.uint8).reshape(6, 24)
    assert np.abs(Converter().rgb(rows, 24) - meant).max() <= LEVELS
    assert np.abs(meant - image).max() <= 2


@pytest.mark.parametrize("stride", [24, 64])
def test_an_image_stays_as_it_is_when_the_next_one_is_made(stride):
    images, converter = [], Converter()
    for level in (50, 200):
        planes = fake_rpicam.padded(i420(grey(level, 24, 16))[0], 24, 16, stride)
        rows = np.frombuffer(bytearray(planes), np.uint8).reshape(24, stride)
        images.append(converter.rgb(rows, 24))
    assert [
        abs(float(image.mean()) - level) <= LEVELS
        for image, level in zip(images, (50, 200), strict=True)
    ] == [True, True]


def test_the_newest_picture_is_given_and_older_ones_are_dropped(camera_program):
    images = [grey(4 * number) for number in range(60)]
    camera_program(*images, frames=60, ends="waits", period_s=0.005)
    camera = open_camera(f"rpicam:0 {LOCKED_BY_HAND}", SETUP)
    first = newest = camera.read()
    time.sleep(1)
    while newest.image.mean() < 4 * 59 - LEVELS:
        newest = camera.read()
    camera.close()
    assert first.image.mean() < newest.image.mean()
    assert newest.seq < 30


def video_of(images, row_bytes=64):
    """Bytes of a stream, and what is reported with each frame."""
    behaviour = Behaviour(size=(WIDTH, HEIGHT), pictures=())
    reported = [fake_rpicam.reported({}, behaviour, number) for number in range(len(images))]
    parts = []
    for number, image in enumerate(images):
        parts.append(fake_rpicam.padded(i420(image)[0], WIDTH, HEIGHT, row_bytes))
        parts.append(fake_rpicam.written(reported[number], first=number == 0))
    return b"".join(parts), reported


def reader(data, pieces=()):
    """A `read` that hands the data out in pieces of these lengths, the rest at once."""
    left, pieces = bytearray(data), list(pieces)

    def read_some(into):
        if not left:
            raise CameraLost("over")
        count = min(len(into), len(left), pieces.pop(0) if pieces else len(left))
        into[:count] = left[:count]
        del left[:count]
        return count

    return read_some


@given(st.lists(st.integers(1, 30_000), max_size=40))
def test_a_slow_pipe_gives_the_same_pictures_in_whatever_pieces_they_come(pieces):
    images = [picture(seed) for seed in range(3)]
    data, reported = video_of(images)
    video = RawVideo(reader(data, pieces), WIDTH, HEIGHT)
    for image, meant in zip(images, reported, strict=True):
        got, values = video.next()
        assert np.abs(got - i420(image)[1]).max() <= LEVELS
        assert values == {name: str(text).strip('"') for name, text in meant.items()}
    with pytest.raises(CameraLost, match="over"):
        video.next()


def test_a_stream_that_is_out_of_step_is_lost():
    data, _ = video_of([picture()] * 3)
    first = len(data) // 3
    video = RawVideo(reader(data[: first + 500] + data[first + 507 :]), WIDTH, HEIGHT)
    video.next()
    with pytest.raises(CameraLost, match="misaligned"):
        video.next()


# --- locking ---


def test_the_camera_is_locked_at_what_it_reports_after_thirty_pictures(camera_program):
    started = camera_program()
    frame = read("rpicam:0", 40)
    first, second = started()
    assert value(first, "--autofocus-mode") == "auto"
    assert not {"--shutter", "--gain", "--awbgains", "--lens-position"} & set(first)
    assert value(second, "--shutter").startswith("9")
    number = int(value(second, "--shutter")) - 9000
    assert number == 29
    assert float(value(second, "--gain")) == pytest.approx(1.5 + number / 100)
    assert value(second, "--awbgains") == f"{1.9 + number / 100:.6f},1.600000"
    assert (value(second, "--autofocus-mode"), value(second, "--lens-position")) == (
        "manual",
        "3.500000",
    )
    assert frame.focus_dpt == 3.5


def test_pictures_go_on_counting_while_the_camera_is_locked(camera_program):
    started = camera_program(period_s=0.002)
    camera = open_camera("rpicam:0", SETUP)
    numbers = [camera.read().seq]
    while len(started()) < 2:
        numbers.append(camera.read().seq)
    numbers.append(camera.read().seq)
    camera.close()
    assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize(("scanning", "locked_at"), [(0, 29), (50, 50), (10**6, 89)])
def test_a_search_for_the_focus_may_end_before_it_is_locked(camera_program, scanning, locked_at):
    started = camera_program(scanning=scanning)
    camera = open_camera("rpicam:0", SETUP)
    while len(started()) < 2:
        camera.read()
    camera.close()
    assert value(started()[1], "--shutter") == str(9000 + locked_at)


def test_a_lens_that_cannot_be_focused_is_left_alone(camera_program):
    started = camera_program(lens=False)
    camera = open_camera("rpicam:0", SETUP)
    while len(started()) < 2:
        frame = camera.read()
    camera.close()
    assert frame.focus_dpt is None
    assert "--shutter" in started()[1]
    assert not {"--autofocus-mode", "--lens-position"} & set(started()[1])


def test_what_people_set_stays_and_the_rest_is_locked(camera_program):
    started = camera_program()
    camera = open_camera("rpicam:--shutter 8000 --analoggain=2 --autofocus-mode continuous", SETUP)
    while len(started()) < 2:
        camera.read()
    camera.close()
    assert started()[1][-5:] == [
        *("--shutter", "8000", "--analoggain=2", "--autofocus-mode", "continuous")
    ]
    assert value(started()[1], "--awbgains").endswith(",1.600000")
    assert "--gain" not in started()[1]
    assert "--lens-position" not in started()[1]


def test_a_camera_that_people_locked_is_started_once(camera_program):
    started = camera_program()
    frame = read(f"rpicam:0 {LOCKED_BY_HAND}", 80)
    assert len(started()) == 1
    assert frame.focus_dpt == 4.2


def test_a_lens_is_focused_where_it_was_calibrated(camera_program):
    table = {**TABLE, "camera": {**TABLE["camera"], "focus_dpt": 1.25}}
    started = camera_program()
    frame = read("rpicam:0", setup=parse_table(table))
    assert frame.focus_dpt == 1.25
    words = started()[0]
    assert (value(words, "--autofocus-mode"), value(words, "--lens-position")) == ("manual", "1.25")


# --- what goes wrong ---


def test_a_program_that_ended_is_started_again_as_it_was_locked(camera_program):
    started = camera_program(frames=35)
    camera = open_camera("rpicam:0", SETUP)
    assert until_lost(camera)[1] == "Raspberry Pi camera 0: rpicam-vid ended with code 0"
    before = started()
    camera.read()
    camera.close()
    assert len(before) == 2
    assert started()[2] == before[1]


def test_half_a_picture_is_not_given(camera_program):
    camera_program(grey(10), grey(200), frames=1, ends="half")
    camera = open_camera("rpicam:0", SETUP)
    levels, says = until_lost(camera)
    assert says == "Raspberry Pi camera 0: rpicam-vid ended with code 0"
    assert all(abs(level - 10) <= LEVELS for level in levels)


def test_a_program_that_hangs_is_ended(camera_program, tmp_path, monkeypatch):
    monkeypatch.setattr(rpicam, "SILENT_S", 1.0)
    camera_program(frames=2, ends="waits")
    camera = open_camera("rpicam:0", SETUP)
    assert until_lost(camera)[1] == "Raspberry Pi camera 0: no picture arrived for 1 s"
    camera.close()
    (start,) = fake_rpicam.starts(tmp_path)
    assert not Path(f"/proc/{start.pid}").exists()


def test_why_the_program_ended_is_said_in_one_line(camera_program):
    camera_program(error="no cameras available")
    with pytest.raises(CameraLost) as error:
        read("rpicam:1")
    assert (
        str(error.value) == "Raspberry Pi camera 1: rpicam-vid ended with code 255: ERROR: *** no"
        " cameras available ***"
    )


@pytest.mark.parametrize("size", [(64, 64), (48, 160), (480, 80), (96, 160), (94, 80)])
def test_a_camera_that_has_another_size_is_refused(camera_program, size):
    camera_program(np.zeros((size[1], size[0], 3), np.uint8), frames=40)
    with pytest.raises(InputError) as error:
        read("rpicam:0")
    assert (
        str(error.value) == f"Raspberry Pi camera 0: expected pictures of {WIDTH} x {HEIGHT} px,"
        f" got {size[0]} x {size[1]} px; choose a size that the camera has"
    )


def test_a_frame_of_a_strange_length_is_refused():
    data = bytes(WIDTH * HEIGHT * 3 // 2 + 2) + video_of([picture()])[0][-300:]
    with pytest.raises(InputError, match=rf"expected pictures of {WIDTH} x {HEIGHT} px, got \d+ b"):
        RawVideo(reader(data), WIDTH, HEIGHT).next()
    endless = RawVideo(reader(bytes(10**6)), WIDTH, HEIGHT)
    with pytest.raises(InputError, match="choose a size that the camera has"):
        endless.next()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--frobnicate 1", "unrecognised option '--frobnicate'"),
        ("--shut 1 --shutter 2", "option '--shutter' cannot be specified more than once"),
        ("--wid 640", "option '--width' cannot be specified more than once"),
        ("--auto continuous", "option '--auto' is ambiguous and matches"),
        ("--shutter", "the required argument for option '--shutter' is missing"),
        ("--gain much", "the argument ('much') for option '--gain' is invalid"),
        ("--rotation 180 loud", "too many positional options have been specified"),
        ("--lens-position near", "Invalid lens position: near"),
    ],
)
def test_options_that_the_program_refuses_are_refused_in_one_line(camera_program, options, says):
    camera_program()
    with pytest.raises(InputError) as error:
        read(f"rpicam:0 {options}")
    assert str(error.value).startswith(
        f"Raspberry Pi camera 0: rpicam-vid refuses its options: {says}"
    )
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("rpicam:0 --width 640", "rpicam: expected no --width, which Rinkside sets itself"),
        ("rpicam:-t 500", "rpicam: expected no --timeout"),
        ("rpicam:-omovie.h264", "rpicam: expected no --output"),
        ("rpicam:0 --codec=mjpeg", "rpicam: expected no --codec"),
        ("rpicam:0 --framerate 5", "written rpicam:0@1640x1232:10$"),
        ("rpicam:0 --gain 1 --gain 2", "rpicam: expected --gain once, got it twice"),
        ("rpicam:0 --gain 1 --analoggain 2", "rpicam: expected --gain once, got it twice"),
        ("rpicam:front", "rpicam: expected a camera such as rpicam:0 or .*, got 'front'"),
        ("rpicam:-1", "rpicam: expected a camera such as rpicam:0|rpicam-vid"),
        ("rpicam:0@big", "camera: expected a size such as 0@2304x1296, got '0@big'"),
        ("rpicam:0@640x480", r"camera: expected 96 x 80 px as in table\.json, or no size"),
        ("rpicam:0@96x80:0", "rpicam: expected 1 to 120 pictures a second"),
        ("rpicam:0@96x80:fast", "rpicam: expected 1 to 120 pictures a second"),
        ("rpicam:0@96x80:10:5", "rpicam: expected 1 to 120 pictures a second"),
        ("rpicam:'", "rpicam: expected options of rpicam-vid"),
    ],
)
def test_what_is_no_camera_is_refused(camera_program, spec, says):
    camera_program()
    with pytest.raises(InputError, match=says) as error:
        read(spec)
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("camera_program")
def test_an_odd_size_is_refused():
    table = {**TABLE, "camera": {**TABLE["camera"], "width": 97}}
    for spec, setup in (("rpicam:0@97x80", None), ("rpicam:0", parse_table(table))):
        with pytest.raises(InputError, match="expected an even width and height, got 97 x 80 px"):
            open_camera(spec, setup)


@pytest.mark.parametrize(
    ("spec", "size", "rate"),
    [
        ("rpicam:", (2304, 1296), "10"),
        ("rpicam:1", (2304, 1296), "10"),
        ("rpicam:0@1640x1232", (1640, 1232), "10"),
        ("rpicam:@1640x1232:15", (1640, 1232), "15"),
        ("rpicam:0@1640x1232:7.5 --rotation 180", (1640, 1232), "7.5"),
        ("rpicam:0:5", (2304, 1296), "5"),
    ],
)
def test_number_size_and_rate_come_from_the_name_of_the_camera(camera_program, spec, size, rate):
    started = camera_program(error="no cameras available")
    with pytest.raises(CameraLost):
        read(spec, setup=None)
    words = started()[0]
    assert (int(value(words, "--width")), int(value(words, "--height"))) == size
    assert value(words, "--framerate") == rate
    assert value(words, "--camera") == ("1" if "rpicam:1" in spec else "0")


def test_a_pi_without_the_program_is_told_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="sudo apt install rpicam-apps"):
        open_camera("rpicam:", SETUP)
