"""Fixture for Rinkside's suites: the count of pyramids in Convoy."""

import pytest


@pytest.fixture
def pieces_add_up():
    def add_up(_game, state):
        signs = "".join(state.rows)
        there = [signs.count(sign) + lost for sign, lost in zip("12", state.lost, strict=True)]
        return there == [len(state.rows[0])] * 2

    return add_up
