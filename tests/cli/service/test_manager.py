"""What systemd is told, over a real socket: ready, at work, stopping, and nothing without it."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import numpy as np
import pytest

from cli.service.manager import LONGEST_STATUS, FedCamera, ServiceManager
from tests.support.service_manager import Notifications, service_manager
from vision.cameras.base import CameraLost
from vision.cameras.frame import Frame

LIMIT_S = 8.0


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def variables(path: object, **more: str) -> dict[str, str]:
    """As systemd sets them for a service with `WatchdogSec=8`."""
    limit = str(round(LIMIT_S * 1e6))
    return {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": limit, "HOME": "/", **more}


def test_it_is_told_ready_with_a_status_then_fed_then_stopping(tmp_path: Path) -> None:
    with service_manager(tmp_path / "notify") as notifications:
        clock = Clock()
        manager = ServiceManager(variables(tmp_path / "notify"), clock)
        manager.status = lambda: "Waiting for the next throw or move."
        manager.ready()
        manager.feed()
        manager.stopping()
        assert notifications.waiting() == [
            {"READY": "1", "STATUS": "Waiting for the next throw or move."},
            {"WATCHDOG": "1"},
            {"STOPPING": "1"},
        ]


def fed(notifications: Notifications) -> int:
    return sum("WATCHDOG" in message for message in notifications.waiting())


def test_the_watchdog_is_fed_four_times_in_its_limit_however_fast_the_loop_is(
    tmp_path: Path,
) -> None:
    with service_manager(tmp_path / "notify") as notifications:
        clock = Clock()
        manager = ServiceManager(variables(tmp_path / "notify"), clock)
        for frame in range(400):
            clock.now_s = 100 + LIMIT_S * frame / 400
            manager.feed()
        assert fed(notifications) == 4


def test_a_status_is_told_when_it_changes_and_is_one_harmless_line(tmp_path: Path) -> None:
    with service_manager(tmp_path / "notify") as notifications:
        manager = ServiceManager({"NOTIFY_SOCKET": str(tmp_path / "notify")})
        said = iter(["a", "a", "b\nREADY=1\x1b[2J", "x" * 1000])
        manager.status = lambda: next(said)
        for _ in range(4):
            manager.feed()
        assert notifications.waiting() == [
            {"STATUS": "a"},
            {"STATUS": "b READY=1 [2J"},
            {"STATUS": "x" * LONGEST_STATUS},
        ]


def test_an_abstract_socket_is_told_too() -> None:
    path = Path(f"@rinkside-{uuid.uuid4()}")
    with service_manager(path) as notifications:
        ServiceManager(variables(path)).ready()
        assert notifications.waiting() == [{"READY": "1"}]


def test_child_processes_have_none_of_the_manager_s_variables(tmp_path: Path) -> None:
    own = variables(tmp_path / "notify", WATCHDOG_PID=str(os.getpid()))
    assert ServiceManager(own).present
    assert own == {"HOME": "/"}


def test_a_watchdog_of_another_process_is_not_fed(tmp_path: Path) -> None:
    with service_manager(tmp_path / "notify") as notifications:
        manager = ServiceManager(variables(tmp_path / "notify", WATCHDOG_PID="1"))
        manager.feed()
        assert notifications.waiting() == []


def test_after_a_loop_that_ended_as_it_should_nothing_more_is_expected(tmp_path: Path) -> None:
    with service_manager(tmp_path / "notify") as notifications:
        ServiceManager(variables(tmp_path / "notify")).rest()
        assert notifications.waiting() == [{"WATCHDOG_USEC": "0"}]


@pytest.mark.parametrize("address", ["", "vsock:2:9999", "no/absolute/path", "/no/such/socket"])
def test_without_a_socket_that_can_be_used_nothing_happens(address: str) -> None:
    manager = ServiceManager(variables(address))
    manager.ready()
    manager.feed()
    manager.rest()
    manager.stopping()
    assert manager.present is address.startswith("/")


class Camera:
    name, simulated, missing = "double", False, "the last pictures"
    closed = False

    def __init__(self) -> None:
        picture = Frame(np.zeros((2, 2, 3), np.uint8), 0, 0)
        self.answers = iter([picture, CameraLost("unplugged"), picture, None])

    def read(self) -> Frame | None:
        if isinstance(answer := next(self.answers), CameraLost):
            raise answer
        return answer

    def close(self) -> None:
        self.closed = True


def test_every_read_of_a_camera_feeds_also_of_a_lost_one() -> None:
    camera, feeds = Camera(), []
    reader = FedCamera(camera, lambda: feeds.append(1))
    assert reader.read() is not None
    with pytest.raises(CameraLost):
        reader.read()
    assert reader.read() is not None
    assert reader.read() is None
    reader.close()
    assert (len(feeds), camera.closed) == (4, True)
    assert (reader.name, reader.simulated, reader.missing) == ("double", False, camera.missing)
