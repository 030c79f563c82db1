"""Films: which way up they are read, and whether all of them is."""

from __future__ import annotations

import os

import cv2
import pytest

from table.errors import InputError
from table.table_config import parse_table
from tests.support.films import HEIGHT, TURNED, WIDTH, cut, film, trimmed, turned, zeroed
from tests.support.pictures import TABLE
from vision.cameras.base import open_camera, unread_part

SETUP = parse_table(TABLE)
UPRIGHT = parse_table(TABLE | {"camera": TABLE["camera"] | {"orientation": "upright"}})


def red_above(frame):
    return bool(frame.image[10, 10, 0] > 150 > frame.image[-10, 10, 0])


def all_of(camera):
    return list(iter(camera.read, None))


# --- which way up ---


def test_a_film_is_read_as_the_sensor_wrote_it_whatever_its_flag_says(tmp_path):
    path = turned(film(tmp_path / "game.mp4"), 180)
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    assert capture.get(cv2.CAP_PROP_ORIENTATION_META) == 180
    capture.release()
    for setup in (None, SETUP):
        assert red_above(open_camera(f"video:{path}", setup).read())


def test_a_film_is_turned_by_its_flag_where_the_table_is_from_turned_pictures(tmp_path):
    assert not red_above(
        open_camera(f"video:{turned(film(tmp_path / 'game.mp4'), 180)}", UPRIGHT).read()
    )
    assert red_above(open_camera(f"video:{film(tmp_path / 'other.mp4')}", UPRIGHT).read())


@pytest.mark.parametrize("setup", [None, SETUP, UPRIGHT], ids=["no table", "sensor", "upright"])
@pytest.mark.parametrize("how", [90, 270, "mirrored"])
def test_a_film_on_its_side_or_mirrored_is_refused(tmp_path, setup, how):
    path = turned(film(tmp_path / "game.mp4"), how)
    with pytest.raises(
        InputError,
        match=r"game\.mp4: expected a picture that is not rotated, but .*; hold the camera",
    ) as error:
        open_camera(f"video:{path}", setup)
    assert "\n" not in str(error.value)
    assert (f"{how}°" in str(error.value)) == (how in (90, 270))


def test_every_flag_is_tested():
    assert set(TURNED) == {90, 180, 270, "mirrored"}


# --- whole films ---


@pytest.mark.parametrize("name", ["a.mp4", "a.avi", "a.mkv", "a.mov", "a.ts"])
def test_a_whole_film_lacks_nothing(tmp_path, name):
    camera = open_camera(f"video:{film(tmp_path / name)}", SETUP)
    assert unread_part(camera) == ""
    assert len(all_of(camera)) == 20
    assert unread_part(camera) == ""


def test_a_film_that_was_trimmed_lacks_nothing(tmp_path):
    camera = open_camera(f"video:{trimmed(film(tmp_path / 'a.mp4', frames=60), 4)}", SETUP)
    assert len(all_of(camera)) == 40
    assert unread_part(camera) == ""


def test_a_camera_that_is_no_recording_lacks_nothing():
    assert unread_part(open_camera("stream:http://127.0.0.1:9/video", SETUP)) == ""


@pytest.mark.parametrize(
    "name", ["2026-11-27T19:30:00.mp4", "file:x.mp4", "concat:a|b.mp4", "a b%03d.mp4", "-.mp4"]
)
def test_any_name_of_a_film_is_read(tmp_path, monkeypatch, name):
    film(tmp_path / "made.mp4").rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    for path in (name, tmp_path / name):
        assert len(all_of(open_camera(f"video:{path}", SETUP))) == 20


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(InputError, match="expected a video file with a name in UTF-8"):
        open_camera(f"video:{os.fsdecode(bytes([0x63, 0xE9]))}.mp4", SETUP)


# --- films cut short ---


@pytest.mark.parametrize("name", ["a.avi", "a.mkv"])
def test_a_film_cut_short_says_how_much_there_should_be(tmp_path, name):
    camera = open_camera(f"video:{cut(film(tmp_path / name, 'MJPG', frames=60), 0.6)}", SETUP)
    read = len(all_of(camera))
    assert 20 < read < 40
    message = unread_part(camera)
    assert f"{name}: expected " in message
    assert ("60 pictures, as the video says, could read only" in message) or (
        "pictures for 6.0 s, as the video says, could read only" in message
    )
    assert str(read) in message
    assert "\n" not in message


def test_an_mp4_whose_pictures_end_before_its_index_says_is_cut_short(tmp_path):
    """An index in front, as phones and web pages have it: the file is cut in its pictures."""
    path = film(tmp_path / "a.mp4", frames=60)
    data = path.read_bytes()
    at = data.index(b"moov") - 4
    path.write_bytes(data[: int(0.6 * at)] + bytes(at - int(0.6 * at)) + data[at:])
    camera = open_camera(f"video:{path}", SETUP)
    read = len(all_of(camera))
    assert 20 < read < 50
    assert f"expected 60 pictures, as the video says, could read only {read}" in unread_part(camera)


def test_an_mp4_without_its_index_is_refused_with_the_reason(tmp_path):
    with pytest.raises(
        InputError,
        match=r"a\.mp4: expected a whole video, but its index \(moov\) is missing: it is cut short",
    ):
        open_camera(f"video:{cut(film(tmp_path / 'a.mp4'), 0.6)}", SETUP)


@pytest.mark.parametrize(
    ("name", "fourcc"), [("a.mp4", "mp4v"), ("a.mp4", "MJPG"), ("a.avi", "MJPG"), ("a.mkv", "MJPG")]
)
def test_a_film_with_a_hole_goes_on_after_it_and_says_so(tmp_path, name, fourcc):
    camera = open_camera(
        f"video:{zeroed(film(tmp_path / name, fourcc, frames=100), 0.4, 0.6)}", SETUP
    )
    frames = all_of(camera)
    assert 50 < len(frames) < 100
    assert "it is cut short or damaged: copy it again" in unread_part(camera)
    if name != "a.avi":
        assert frames[-1].at_ms == 9900


def test_the_size_of_a_film_is_that_of_its_sensor(tmp_path):
    with pytest.raises(InputError, match=r"expected 96 x 80 px as in table\.json, got 80 x 96 px"):
        open_camera(f"video:{film(tmp_path / 'a.mp4', size=(HEIGHT, WIDTH))}", SETUP)
