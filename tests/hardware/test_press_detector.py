"""From edges to presses: bounces, short, long and double ones."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.press_detector import BOUNCE_MS, DOUBLE_MS, LONG_MS, Presses
from hardware.testing.fakes import FakeButtons

END_MS = 1e6


def presses_of(*edges):
    """(kind, at_ms) of everything told, for edges as (at_ms, down)."""
    button = Presses("next")
    presses = [press for at_ms, down in edges for press in button.edge(down, at_ms)] + button.tick(
        END_MS
    )
    assert all(press.button == "next" for press in presses)
    assert button.due_ms == math.inf
    return [(press.kind, press.at_ms) for press in presses]


@pytest.mark.parametrize(
    ("edges", "presses"),
    [
        ([(0, True), (100, False)], [("down", 0), ("short", 0)]),
        ([(0, True), (20, False)], [("down", 0), ("short", 0)]),
        ([(0, True), (600, False)], [("down", 0), ("short", 0)]),
        ([(0, True), (800, False)], [("down", 0), ("long", 0)]),
        (
            [(0, True), (100, False), (400, True), (500, False)],
            [("down", 0), ("down", 400), ("double", 0)],
        ),
        (
            [(0, True), (100, False), (300, True), (400, False)],
            [("down", 0), ("down", 300), ("double", 0)],
        ),
        (
            [(0, True), (100, False), (401, True), (500, False)],
            [("down", 0), ("short", 0), ("down", 401), ("short", 401)],
        ),
        (
            [(0, True), (100, False), (300, True), (2000, False)],
            [("down", 0), ("down", 300), ("short", 0), ("long", 300)],
        ),
        (
            [(0, True), (2, False), (3, True), (9, False), (10, True), (100, False)],
            [("down", 10), ("short", 10)],
        ),
        ([(0, True), (100, False), (103, True), (105, False)], [("down", 0), ("short", 0)]),
        ([(0, True), (3, False)], []),
        ([(0, True), (14, False), (28, True), (42, False)], []),
        ([(0, True)], [("down", 0), ("long", 0)]),
        ([(0, False), (5, False)], []),
        ([(0, True), (60, True), (100, False)], [("down", 0), ("short", 0)]),
        (
            [(t, t % 400 == 0) for t in range(0, 1600, 200)],
            [
                ("down", 0),
                ("down", 400),
                ("double", 0),
                ("down", 800),
                ("down", 1200),
                ("double", 800),
            ],
        ),
    ],
)
def test_presses(edges, presses):
    assert presses_of(*edges) == presses


def test_what_is_certain_is_told_as_soon_as_it_is():
    button = Presses("die")
    assert button.edge(True, 0) == []
    assert button.due_ms == BOUNCE_MS
    assert button.tick(BOUNCE_MS - 0.1) == []
    assert [press.kind for press in button.tick(BOUNCE_MS)] == ["down"]
    assert button.due_ms == LONG_MS
    assert [press.kind for press in button.tick(LONG_MS)] == ["long"]
    assert button.due_ms == math.inf


def test_a_short_press_waits_for_a_second_one():
    button = Presses("die")
    button.edge(True, 0)
    button.edge(False, 100)
    button.tick(100 + BOUNCE_MS)
    assert button.due_ms == 100 + DOUBLE_MS + BOUNCE_MS


gaps_ms = st.lists(st.floats(0.01, 1500), max_size=60)


@given(gaps_ms)
def test_it_is_all_the_same_when_it_is_looked_at(gaps):
    """Ticks between the edges change nothing but how soon things are told."""
    often, seldom = Presses("a"), Presses("a")
    one, other = [], []
    at_ms, down = 0.0, False
    for gap_ms in gaps:
        for _ in range(3):
            one += often.tick(at_ms + gap_ms * 0.33)
        at_ms, down = at_ms + gap_ms, not down
        one += often.edge(down, at_ms)
        other += seldom.edge(down, at_ms)
    assert one + often.tick(END_MS) == other + seldom.tick(END_MS)


@given(gaps_ms)
def test_every_press_is_told_once(gaps):
    """Each time a button is down for good is a `down`; short, long and half of a double are as
    many.
    """
    edges, at_ms, down = [], 0.0, False
    for gap_ms in gaps:
        at_ms, down = at_ms + gap_ms, not down
        edges.append((at_ms, down))
    kinds = [kind for kind, _ in presses_of(*edges, (at_ms + 2000, False))]
    assert kinds.count("down") == kinds.count("short") + kinds.count("long") + 2 * kinds.count(
        "double"
    )
    ends_ms = [at for at, _ in edges[1:]] + [at_ms + 2000]
    assert kinds.count("down") <= sum(
        down and end_ms - at >= BOUNCE_MS - 1e-6
        for (at, down), end_ms in zip(edges, ends_ms, strict=False)
    )


def test_fake_buttons_bounce_as_real_ones():
    buttons, heard = FakeButtons(), []
    buttons.listen(heard.append)
    buttons.press("die")
    buttons.press("next", held_ms=800)
    buttons.press("next", after_ms=150)
    buttons.press("next")
    assert [(press.button, press.kind) for press in heard if press.kind != "down"] == [
        ("die", "short"),
        ("next", "long"),
        ("next", "double"),
    ]
