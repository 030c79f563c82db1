"""The home page notices a game whose loop no longer reports."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cli.service.heartbeat import Heartbeat
from cli.service.manager import ServiceManager


class Clock:
    """Seconds that a test moves."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def heartbeat(clock: Clock) -> Iterator[Heartbeat]:
    heartbeat = Heartbeat(8.0, clock)
    yield heartbeat
    heartbeat.close()


def game(heartbeat: Heartbeat, clock: Clock) -> ServiceManager:
    return ServiceManager(dict(heartbeat.environment), clock)


def test_a_game_that_reports_in_time_does_not_hang(heartbeat: Heartbeat, clock: Clock) -> None:
    manager = game(heartbeat, clock)
    for _ in range(10):
        manager.feed()
        assert not heartbeat.hangs()
        clock.now_s += 2.0


def test_a_game_that_stops_reporting_hangs(heartbeat: Heartbeat, clock: Clock) -> None:
    game(heartbeat, clock).feed()
    assert not heartbeat.hangs()
    clock.now_s += 8.1
    assert heartbeat.hangs()


@pytest.mark.parametrize("ended", ["rest", "stopping"])
def test_a_loop_that_ended_as_it_should_does_not_hang(
    heartbeat: Heartbeat, clock: Clock, ended: str
) -> None:
    manager = game(heartbeat, clock)
    manager.feed()
    getattr(manager, ended)()
    clock.now_s += 1000.0
    assert not heartbeat.hangs()


def test_what_never_reports_is_not_taken_to_hang(heartbeat: Heartbeat, clock: Clock) -> None:
    game(heartbeat, clock).ready()
    clock.now_s += 1000.0
    assert not heartbeat.hangs()


def test_what_a_game_does_is_passed_on(heartbeat: Heartbeat, clock: Clock) -> None:
    manager = game(heartbeat, clock)
    manager.status = lambda: "Red throws next."
    manager.feed()
    assert not heartbeat.hangs()
    assert heartbeat.status == "Red throws next."
