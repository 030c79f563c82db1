"""Hypothesis for the whole house: the same examples every time, and no deadlines, as a slow machine
is no mistake.  And a watch on the states of every referee that a test runs.

`pytest --hypothesis-profile=explore` looks for new examples, many more of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import playwright.sync_api
import pytest
from hypothesis import settings

from referee.live.states import TRANSITIONS, LoopState, StateMachine
from tools import chromium as installed

pytest.register_assert_rewrite("tests.support")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Whatever a browser is opened for is marked, and slow; what long_tests.txt lists is long.

    What is slow comes first: so no worker is left with a long test when the others have nothing to
    do any more.
    """
    unseen = set(LONG)
    for item in items:
        if named := {item.nodeid, item.nodeid.partition("[")[0]} & LONG:
            item.add_marker(pytest.mark.long)
            unseen -= named
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)
    if unseen and config.args == config.getini("testpaths"):
        raise pytest.UsageError(f"tests/long_tests.txt: no such test: {', '.join(sorted(unseen))}")
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    """0 for tests of several minutes, 1 for other slow ones, 2 for the rest."""
    if item.get_closest_marker("slow") is None:
        return 2
    return 0 if item.path.name in LONGEST else 1


LONG = frozenset(
    line
    for line in (Path(__file__).parent / "long_tests.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
)
"""Tests, by their node ids, that `make test` leaves out."""
LONGEST = {"test_virtual_table.py", "test_example_game.py", "test_new_game.py"}
"""Modules with the longest tests."""


settings.register_profile("house", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("house")


@pytest.fixture(autouse=True)
def transitions(monkeypatch):
    """Transitions of every referee's loop in this test, (before, after) each; one that
    `referee.live.states` does not declare fails the test.
    """
    seen: list[tuple[LoopState, LoopState]] = []
    enter = StateMachine.enter

    def entered(machine: StateMachine, state: LoopState) -> None:
        seen.append((machine.state, state))
        enter(machine, state)

    monkeypatch.setattr(StateMachine, "enter", entered)
    yield seen
    undeclared = sorted({f"{a.value} -> {b.value}" for a, b in set(seen) - TRANSITIONS})
    assert not undeclared, f"transitions that docs/LOOP.md says never happen: {undeclared}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[playwright.sync_api.Browser]:
    """The Chromium that is installed, without a window.

    It ends with each module: as long as Playwright runs, this thread has an event loop, and what
    looks for one, as zeroconf does, waits for it in vain.
    """
    if installed.path() is None:
        pytest.skip("no Chromium is installed (sudo apt install chromium)")
    with installed.chromium() as browser:
        yield browser
