"""A whole end of Ice Boule through the loop, with eyes that do as they are told, and with the
program killed in between.
"""

from __future__ import annotations

import numpy as np
import pytest

from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import QuestionAsked, SessionStarted, VerdictReached
from referee.sessions.session import Session
from tests.support.setups import setup_of
from vision.cameras.frame import Frame

THROWS = [
    ("blue", 90),
    ("yellow", 170),
    ("yellow", 60),
    ("blue", 130),
    ("blue", 75),
    ("blue", 200),
    ("yellow", 45),
    ("yellow", 30),
]
"""Who throws, and how far from the target's middle the piece's base comes to lie, mm."""


def tables(piece, seen):
    """What is on the table after each throw, each with the hand that comes before it."""
    lying = [piece("green", 300, 300, 0, "upright")]
    yield [seen(0), seen(500), seen(750, hand=True)]
    for number in range(len(THROWS) + 1):
        if number:
            colour, away_mm = THROWS[number - 1]
            turn = np.radians(45 * number)
            lying.append(
                piece(
                    colour,
                    300 + away_mm * np.cos(turn),
                    300 + away_mm * np.sin(turn),
                    45.0 * number,
                )
            )
        at_ms = 1000 + 1250 * number
        yield [
            *(seen(at_ms + step, *lying) for step in (0, 250, 500, 750)),
            seen(at_ms + 1000, *lying, hand=True),
        ]


def watch(session, shots):
    """Let a referee look at all of `shots` in turn."""

    class Film:
        name, simulated = "film", True

        def __init__(self):
            self.left = list(shots)

        def read(self):
            return (
                Frame(0, self.left[0].at_ms, np.zeros((8, 8, 3), np.uint8)) if self.left else None
            )

        def close(self):
            pass

    film = Film()
    Referee(film, setup_of(), lambda *_, **__: film.left.pop(0), session).run()


def rulings(session):
    """(time, verdict, code, who leads, who is next) of everything that was ruled or asked."""
    ruled = [
        record
        for record in session.records()
        if isinstance(record.event, VerdictReached | QuestionAsked)
    ]
    return [
        (
            record.at_ms,
            getattr(record.event, "verdict", "ambiguous"),
            record.event.code,
            record.event.state["leading"],
            record.event.state["next"],
        )
        for record in ruled
    ]


@pytest.fixture
def began():
    return SessionStarted(game="ice_boule", players=("blue", "yellow"))


EXPECTED = [
    (1500, "accepted", "boule.target", None, "blue"),
    (2750, "accepted", "boule.throw", "blue", "yellow"),
    (4000, "accepted", "boule.throw", "blue", "yellow"),
    (5250, "accepted", "boule.throw", "yellow", "blue"),
    (6500, "accepted", "boule.throw", "yellow", "blue"),
    (7750, "accepted", "boule.throw", "yellow", "blue"),
    (9000, "accepted", "boule.throw", "yellow", "yellow"),
    (10250, "accepted", "boule.throw", "yellow", "yellow"),
    (11500, "accepted", "boule.throw", "yellow", None),
]


def test_an_end_is_ruled_throw_by_throw(log, began, piece, seen):
    session = Session.begin(log, began)
    watch(session, [shot for table in tables(piece, seen) for shot in table])
    assert rulings(session) == EXPECTED
    view = session.view()
    assert view.ends == ({"kind": "won", "winner": "yellow", "points": 3},)
    assert view.scores == {"blue": 0, "yellow": 3}
    assert [(row.place, row.colour) for row in view.ranking][:3] == [
        (1, "yellow"),
        (2, "yellow"),
        (3, "yellow"),
    ]
    assert all(row.sigma_mm > 0 for row in view.ranking)


@pytest.mark.parametrize("killed_after", range(len(THROWS) + 1))
def test_an_end_goes_on_after_the_program_was_killed(tmp_path, began, piece, seen, killed_after):
    shots = list(tables(piece, seen))
    with Log(tmp_path / "log") as log:
        watch(
            Session.begin(log, began),
            [shot for table in shots[: killed_after + 2] for shot in table],
        )
    with Log(tmp_path / "log") as log:
        session = Session.reopen(log, 1)
        watch(session, [shot for table in shots[killed_after + 1 :] for shot in table])
        assert rulings(session) == EXPECTED
        assert session.view().ends == ({"kind": "won", "winner": "yellow", "points": 3},)
