"""Pytest plugin that records the entry points of Rinkside called by each test.

It verifies the stated level of a test.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest

import engines.ice_boule.measure
import engines.ice_storm.touches
from engines import GAMES
from engines.first_player import RolledFirst
from referee.live.referee import Referee
from referee.sessions.session import Session

NEEDS = {"engine": "the rules", "judge": "a judge", "referee": "a session"}
"""By level, what a test must have called."""
JUDGES = ("judge", "hear", "judge_answer", "set_up", "measurement")
"""A game's functions that convert observations, boards and words into its own terms."""
MEASURING = (
    (engines.ice_boule.measure, "measure"),
    (engines.ice_storm.touches, "touches"),
    (engines.ice_storm.touches, "check_setup"),
    (RolledFirst, "hear"),
)
"""Functions with which judges measure and hear; tests call these too."""
SESSIONS = ((Referee, "run"), (Session, "command"), (Session, "view"))
"""The loop, and the panel's interface to a session."""


class Doors:
    """Outcome of each test by id, and whether it called a judge or ran the loop.

    Entry points are wrapped before any test is imported, since tests hold references to them.
    """

    def __init__(self) -> None:
        self.came: dict[str, str] = {}
        self._through: dict[str, set[str]] = {}
        self._now: set[str] = set()
        for place, name in (
            *((game, name) for game in GAMES.values() for name in JUDGES),
            *MEASURING,
        ):
            setattr(place, name, self._record_door(getattr(place, name), "judge"))
        for place, name in SESSIONS:
            setattr(place, name, self._record_door(getattr(place, name), "referee"))

    def has_reached(self, test: str, level: str) -> bool:
        """True if a test called an entry point of its level."""
        return level == "engine" or level in self._through.get(test, ())

    def _record_door(self, door: Callable[..., Any], level: str) -> Callable[..., Any]:
        @wraps(door)
        def watched(*given: Any, **named: Any) -> Any:
            self._now.add(level)
            return door(*given, **named)

        return watched

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._now = self._through.setdefault(nodeid, set())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.came[report.nodeid] = report.outcome
