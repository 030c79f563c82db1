"""Drivers of live cameras that fail in ways of their own: the camera is lost, with the reason, and
tried again.
"""

from __future__ import annotations

import pytest

from tests.support.live_cameras import SETUP, Scripted, bright, live
from vision.cameras.base import CameraLost
from vision.cameras.live import LiveCamera


def test_a_driver_that_fails_in_a_way_of_its_own_has_lost_the_camera():
    """Neither the thread that reads the device nor the referee ends because of it."""
    feeds = Scripted(ValueError("no such\ncontrol")), Scripted(bright(20))
    camera = live(*feeds)
    with pytest.raises(CameraLost, match="test camera: ValueError: no such control"):
        camera.read()
    assert feeds[0].closed.wait(5)
    assert camera.read().image[0, 0, 0] == 20
    camera.close()


def test_a_device_that_cannot_be_reached_or_closed_is_told_of():
    class Stuck(Scripted):
        def close(self):
            raise OSError("it hangs")

    def connect():
        return feeds.pop(0)()

    feeds = [lambda: {}["device"], lambda: Stuck(CameraLost("the cable is out"))]
    camera = LiveCamera("test camera", connect, SETUP)
    with pytest.raises(CameraLost, match="test camera: KeyError: 'device'"):
        camera.read()
    with pytest.raises(
        CameraLost, match=r"the cable is out; it could not be closed \(OSError: it hangs\)"
    ):
        camera.read()
