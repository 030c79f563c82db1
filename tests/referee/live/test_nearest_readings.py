"""Which readings are offered for a table that matches nothing, and how many."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import pytest

from engines.occlusion import NONE_OF_THESE
from engines.verdict import Accepted, Ambiguous, Choice, OutOfSync, Waiting
from referee.live.nearest_explanation import ask_if_start, ask_misreading, ask_swapped
from referee.sessions.events import QuestionAsked
from referee.sessions.session import Session
from tests.support.scripted_eyes import referee
from tests.support.setups import setup_of
from tests.support.variants import Variant

VERDICT = {"code": "c", "message": "Something differs."}
WRONG = OutOfSync(**VERDICT, differences=("a piece",))
NOT_THE_START = Waiting(**VERDICT, differences=("a piece",))
AS_RECORDED = Waiting(**VERDICT, as_recorded=True)


def ledger_of(judge, *colours, begun=True):
    """A session of a game whose judge looks at tables only."""
    engine = SimpleNamespace(judge=lambda _state, table, before, _board: judge(table, before))
    return SimpleNamespace(engine=engine, state=None, colours=colours, has_begun=begun)


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
    question = ask_if_start(ledger, verdict, seen(0, red), setup_of())
    assert (question is not None) == asked
    assert ask_if_start(ledger, verdict, seen(0), setup_of()) is None


def kinds_of(table):
    return [
        (piece.colour, piece.size, piece.pose, piece.heading_deg % 360) for piece in table.pieces
    ]


LIES, STANDS = ("red", "medium", "lying", 0.0), ("red", "medium", "upright", 0.0)


@pytest.mark.parametrize(
    ("read", "true", "label"),
    [
        ("lying", ("blue", "medium", "lying", 0.0), "the red piece at (50, 50) mm is blue"),
        ("lying", ("red", "large", "lying", 0.0), "the red piece at (50, 50) mm is large"),
        (
            "lying",
            ("red", "medium", "lying", 180.0),
            "the red piece at (50, 50) mm points the other way",
        ),
        ("lying", STANDS, "the red piece at (50, 50) mm stands upright"),
        ("upright", LIES, "the red piece at (50, 50) mm lies on its side"),
        ("upright", None, "there is no red piece at (50, 50) mm"),
    ],
)
def test_an_answer_says_what_the_piece_is(seen, piece, read, true, label):
    ledger = ledger_of(
        lambda table, _: AS_RECORDED if kinds_of(table) == [true] * bool(true) else WRONG,
        "red",
        "blue",
    )
    asked = ask_misreading(
        ledger, WRONG, seen(0, piece("red", 50, 50, pose=read)), None, setup_of()
    )
    assert list(asked.misread) == [f"Nothing happened: {label}"]
    assert asked.question.evidence == {"likeliest": True}


@pytest.mark.parametrize(
    ("true", "label"),
    [
        (("blue", "medium", "lying", 0.0), "the red pieces {} are blue"),
        (("red", "large", "lying", 0.0), "the red pieces {} are large"),
        (STANDS, "the red pieces {} stand upright"),
    ],
)
def test_pieces_that_are_misread_alike_are_told_of_together(seen, piece, true, label):
    def judge(table, _before):
        wrong = sum(kind != true for kind in kinds_of(table)) + 2 - len(table.pieces)
        return OutOfSync(**VERDICT, differences=("a piece",) * wrong) if wrong else AS_RECORDED

    table = seen(0, piece("red", 50, 50), piece("red", 150, 50))
    ledger = ledger_of(judge, "red", "blue")
    asked = ask_misreading(ledger, judge(table, None), table, None, setup_of())
    places = "at (50, 50) mm and at (150, 50) mm"
    assert list(asked.misread) == [f"Nothing happened: {label.format(places)}"]


def test_another_pose_is_not_offered_where_another_colour_would_do(seen, red):
    ledger = ledger_of(
        lambda table, _: (
            AS_RECORDED
            if kinds_of(table) in ([STANDS], [("blue", "medium", "lying", 0.0)])
            else WRONG
        ),
        "red",
        "blue",
    )
    asked = ask_misreading(ledger, WRONG, seen(0, red), None, setup_of())
    assert [next(iter(one)).true.colour for one in asked.misread.values()] == ["blue"]


def test_the_games_own_answers_are_offered_too_but_not_twice(seen, red):
    own = Choice("It is hidden", ("red",))
    confirms = Choice("All is as recorded", (), confirms_record=True)
    ambiguous = Ambiguous(**VERDICT, choices=(own, confirms, NONE_OF_THESE))
    ledger = ledger_of(
        lambda table, _: AS_RECORDED if colours_of(table) == ["blue"] else WRONG, "red", "blue"
    )
    for verdict in (ambiguous, OutOfSync(**VERDICT, differences=("x",), asks=ambiguous)):
        asked = ask_misreading(ledger, verdict, seen(0, red), None, setup_of())
        assert [choice.label for choice in asked.question.choices] == [
            "Nothing happened: the red piece at (50, 50) mm is blue",
            own.label,
            NONE_OF_THESE.label,
        ]
        assert "likeliest" not in asked.question.evidence


class Placed(Variant):
    """Pegs: red lies left of blue, or people are asked what happened."""

    def judge(self, state, table, *_):
        left_first = sorted(table.pieces, key=lambda piece: piece.base_mm[0])
        if [piece.colour for piece in left_first] != ["red", "blue"]:
            choices = (Choice("red moved", ("red",)), Choice("blue moved", ("red", "blue")))
            return Ambiguous(**VERDICT, choices=choices)
        if not state.pegs:
            return Accepted(**VERDICT, rests_on="", player="red", moves=("red",))
        return AS_RECORDED


def test_people_are_asked_whether_what_lies_in_the_place_of_another_piece_is_that_one(
    log, started, games, hold, piece, red, blue
):
    with closing(Session.begin(log, started, games={"pegs": Placed(games["pegs"])})) as session:
        referee(session, *hold(0, red, blue), *hold(1000, red, piece("red", 150, 50))).run()
        [asked] = [one.event for one in session.records() if isinstance(one.event, QuestionAsked)]
    assert [choice.label for choice in asked.choices] == [
        "Nothing happened: the red piece at (150, 50) mm is blue",
        "red moved",
        "blue moved",
        NONE_OF_THESE.label,
    ]
