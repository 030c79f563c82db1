"""Hypothesis for the whole house: the same examples every time, and no deadlines, as a slow machine
is no mistake.  And a watch on the states of every referee that a test runs.

`pytest --hypothesis-profile=explore` looks for new examples, many more of them.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from referee.live.states import TRANSITIONS, LoopState, StateMachine

pytest.register_assert_rewrite("tests.support")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever a browser is opened for is marked, and slow."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.slow)


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
