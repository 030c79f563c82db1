"""Hypothesis for the whole house: the same examples every time, and no deadlines, as a slow machine
is no mistake.

`pytest --hypothesis-profile=explore` looks for new examples, many more of them.
"""

import pytest
from hypothesis import settings

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
