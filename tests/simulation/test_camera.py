"""The simulated camera keeps the contract of every camera."""

from __future__ import annotations

import numpy as np
import pytest

from simulation import camera as simulated
from simulation.camera import SimulatedCamera, real_time
from simulation.render.scene import Lamp, Scene, Stage, Surface, look_at
from table.errors import InputError
from table.table_config import parse_table
from vision.cameras.base import open_camera

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def setup():
    side = [[-18, 18], [18, 18], [18, -18], [-18, -18]]
    middles = [(-30, 230), (330, 230), (330, -30), (-30, -30)]
    markers = [
        {"id": id_, "corners_mm": [[x + dx, y + dy] for dx, dy in side]}
        for id_, (x, y) in enumerate(middles)
    ]
    return parse_table(
        {
            "format": "rinkside-table/1",
            "camera": {
                "width": 320,
                "height": 240,
                "matrix": [[300, 0, 160], [0, 300, 120], [0, 0, 1]],
                "distortion": [0, 0, 0, 0],
            },
            "fiducials": {"markers": markers},
            "board": {"kind": "open", "outline_mm": [[0, 0], [300, 0], [300, 200], [0, 200]]},
            "game": {
                "name": "ice_boule",
                "colours": ["red", "blue"],
                "target": "yellow",
                "sizes": ["large"],
            },
        }
    )


PLACE = look_at(np.array([150.0, 0.0, 500.0]), np.array([150.0, 100.0, 0.0]))
SCENE = Scene(Stage(Surface("paper", (0.4, 0.4, 0.4)), (Lamp((0.0, 0.0, 900.0), 0.8),)))


def test_frames_come_at_their_times_and_show_what_is_there_then(setup):
    asked = []

    def scene_at(at_ms):
        asked.append(at_ms)
        return SCENE

    camera = SimulatedCamera(setup, PLACE, scene_at, period_ms=200, start_ms=5000)
    frames = [camera.read() for _ in range(3)]
    assert [frame.seq for frame in frames] == [0, 1, 2]
    assert [frame.at_ms for frame in frames] == asked == [5000, 5200, 5400]
    assert frames[0].image.shape == (240, 320, 3)
    assert camera.simulated


def test_frames_that_come_too_late_are_left_out(setup):
    times = iter([0, 900, 1000])
    camera = SimulatedCamera(
        setup, PLACE, lambda _: SCENE, period_ms=100, pace=lambda _due: next(times)
    )
    assert [camera.read().at_ms for _ in range(3)] == [0, 900, 1000]


def test_real_time_waits_until_a_frame_is_due_and_never_goes_back(monkeypatch):
    now_s = [50.0]
    monkeypatch.setattr(simulated.time, "monotonic", lambda: now_s[0])
    monkeypatch.setattr(
        simulated.time, "sleep", lambda seconds: now_s.__setitem__(0, now_s[0] + seconds)
    )
    pace = real_time(start_ms=7000)
    assert pace(7000) == 7000
    assert pace(7250) == 7250
    assert now_s[0] == pytest.approx(50.25)
    now_s[0] += 2.0
    assert pace(7500) == 9250


def test_a_closed_camera_gives_no_pictures(setup):
    camera = SimulatedCamera(setup, PLACE, lambda _: SCENE)
    camera.close()
    camera.close()
    with pytest.raises(ValueError, match="the camera was closed"):
        camera.read()


def test_the_same_seed_gives_the_same_frames(setup):
    def film(seed):
        camera = SimulatedCamera(setup, PLACE, lambda _: SCENE, seed=seed)
        return [camera.read().image for _ in range(2)]

    assert np.array_equal(film(1), film(1))
    assert not np.array_equal(film(1), film(2))
    assert not np.array_equal(*film(1)), "two frames of a real sensor are never the same"


def test_it_is_opened_by_name(setup, monkeypatch):
    monkeypatch.setattr(simulated.time, "sleep", lambda _: None)
    camera = open_camera("simulated:7", setup)
    assert camera.simulated
    first, second = camera.read(), camera.read()
    assert first.image.shape == (240, 320, 3)
    assert second.at_ms > first.at_ms > 1_600_000_000_000, "live cameras count from the epoch"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda setup: open_camera("simulated:", setup),
            "expected a number .* such as simulated:7, got ''",
        ),
        (lambda setup: open_camera("simulated:-1", setup), "got '-1'"),
        (
            lambda setup: SimulatedCamera(setup, PLACE, lambda _: SCENE, period_ms=0),
            "expected a period of at least 1 ms, got 0 ms",
        ),
    ],
)
def test_bad_input_is_said_in_one_line(setup, make, message):
    with pytest.raises(InputError, match=message):
        make(setup)
