"""Which readings are offered for a table that matches nothing, and how many."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engines.occlusion import NONE_OF_THESE
from engines.verdict import OutOfSync, Waiting
from referee.live.nearest_explanation import ask_as_start, ask_misreading, ask_swapped
from tests.support.setups import setup_of

VERDICT = {"code": "c", "message": "Something differs."}
WRONG = OutOfSync(**VERDICT, differences=("a piece",))
NOT_THE_START = Waiting(**VERDICT, differences=("a piece",))
AS_RECORDED = Waiting(**VERDICT, as_recorded=True)


def ledger_of(judge, *colours, begun=True):
    """A session of a game whose judge looks at tables only."""
    engine = SimpleNamespace(judge=lambda _state, table, before, _board: judge(table, before))
    return SimpleNamespace(engine=engine, state=None, colours=colours, begun=begun)


def colours_of(table):
    return [piece.colour for piece in table.pieces]


@pytest.mark.parametrize(("others", "offered"), [(0, 0), (1, 1), (4, 4), (6, 4)])
def test_the_likeliest_four_readings_are_offered(seen, red, others, offered):
    """No more fit on a page, and on buttons; a person who knows better corrects the pieces."""
    colours = ("blue", "green", "orange", "purple", "cyan", "pink")[:others]
    ledger = ledger_of(
        lambda table, _: AS_RECORDED if set(colours_of(table)) & set(colours) else WRONG,
        "red",
        *colours,
    )
    asked = ask_misreading(ledger, WRONG, seen(0, red), None, setup_of())
    assert (asked is not None) == bool(others)
    if asked:
        assert [next(iter(one)).true.colour for one in asked.misread.values()] == list(
            colours[:offered]
        )
        assert asked.question.choices[-1] == NONE_OF_THESE
        assert len(asked.question.choices) == offered + 1


@pytest.mark.parametrize(("away_mm", "asked"), [(0.0, True), (2.0, True), (2.1, False)])
def test_earlier_pieces_may_be_misread_where_new_ones_lie_in_their_places(
    seen, piece, away_mm, asked
):
    before = seen(0, piece("blue", 150, 50, sigma_mm=1.0))
    now = seen(1000, piece("red", 150 + away_mm, 50, sigma_mm=1.0))
    ledger = ledger_of(
        lambda table, _: AS_RECORDED if colours_of(table) == ["blue"] else WRONG, "red", "blue"
    )
    question = ask_swapped(ledger, WRONG, now, before, setup_of())
    assert (question is not None) == asked
    assert ask_swapped(ledger, WRONG, now, None, setup_of()) is None
    assert ask_swapped(ledger, WRONG, before, before, setup_of()) is None


@pytest.mark.parametrize(
    ("verdict", "begun", "goes_on", "asked"),
    [
        (NOT_THE_START, False, True, True),
        (NOT_THE_START, True, True, False),
        (NOT_THE_START, False, False, False),
        (AS_RECORDED, False, True, False),
        (WRONG, False, True, False),
    ],
)
def test_the_host_may_start_from_a_table_that_nothing_explains_if_play_could_go_on(
    seen, red, verdict, begun, goes_on, asked
):
    ledger = ledger_of(
        lambda _table, before: AS_RECORDED if before and goes_on else NOT_THE_START,
        "red",
        "blue",
        begun=begun,
    )
    question = ask_as_start(ledger, verdict, seen(0, red), setup_of())
    assert (question is not None) == asked
    assert ask_as_start(ledger, verdict, seen(0), setup_of()) is None
