"""A recorded session judged again: by the same code nothing changes, by other eyes and other judges
what changes is told.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from cli.main import main
from engines import GAMES
from engines.verdict import Waiting
from referee.live.referee import Referee
from referee.live.replay import GONE, HEARD, PEOPLE, rejudge
from referee.sessions.commands import Answer, Correct, NextGame, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import Reopened, SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.start import opening, reopened
from simulation.players.ice_boule import simulated_table
from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from table.observation import Observation, Unusable
from table.table_config import LearnedColour, table_document
from tests.support.disks import change
from tests.support.observed_boule import FILM, SETUP, observe, thrown
from vision.cameras.frame import Frame
from vision.cameras.image_files import encode_jpeg
from vision.cameras.reconnect import RULING_QUALITY
from vision.change_gate import Watch

BEGUN = datetime(2026, 11, 21, tzinfo=UTC)
ICE_BOULE = opening("ice_boule", ("red", "green"), {}, SETUP, "a film", BEGUN)
PEGS = SessionStarted(game="pegs", players=("red", "blue"), table=table_document(SETUP))


class Film:
    """A grey picture all 250 ms; then there are no more."""

    name, simulated = "a film", False

    def __init__(self, *spans):
        self.times = [
            at_ms for start_ms, stop_ms in spans for at_ms in range(start_ms, stop_ms, 250)
        ]

    def read(self):
        return (
            Frame(0, self.times.pop(0), np.full((64, 64, 3), 100, np.uint8)) if self.times else None
        )

    def close(self):
        pass


def watch(session, *spans, eyes=observe):
    Referee(Film(*spans), SETUP, eyes, session).run()


@pytest.fixture
def recorded(log):
    """A game with a question and its answer, something heard, and a restart in the middle of it."""
    session = Session.begin(log, ICE_BOULE)
    watch(session, (0, 4000))
    session.hear({"player": "green", "stop": True})
    session = reopened(log, session.id, SETUP, "a film", BEGUN)
    watch(session, (4000, 5000))
    question = session.ledger.question
    session.command(Answer(question=question.seq, label=question.event.choices[0].label))
    session.end()
    return session.id


def test_the_same_code_gives_the_same_verdicts(log, recorded):
    again = list(rejudge(log, recorded, GAMES, observe))
    assert [(one.record.seq, one.not_judged, one.changes) for one in again] == [
        (2, "", ()),
        (3, "", ()),
        (4, "", ()),
        (5, HEARD, ()),
        (7, "", ()),
        (8, PEOPLE, ()),
    ]
    for one in again:
        if not one.not_judged:
            assert one.now.evidence == one.record.event.evidence
            assert one.message == one.record.event.message


@pytest.mark.slow
def test_a_film_of_real_pictures_is_judged_as_it_was(tmp_path):
    """The simulated table through the camera's eyes: what was read from pictures is read again from
    the JPEGs that were kept.
    """
    setup = demo_setup()
    with closing(Log(tmp_path / "log.sqlite")) as log:
        session = Session.begin(
            log,
            opening("ice_boule", setup.game.colours, {}, setup, "simulated", BEGUN, simulated=True),
        )
        camera = simulated_table(session, seed=3)

        class Short:
            name, simulated, close = camera.name, True, camera.close

            def read(self):
                return None if len(session.records()) > 4 else camera.read()

        Referee(Short(), setup, Watch(), session).run()
        again = list(rejudge(log, session.id, GAMES))
    assert [one.changes for one in again] == [()] * 4
    assert [one.not_judged for one in again] == [""] * 4
    assert any("gap_mm" in one.now.evidence for one in again)


PUT = {
    1: "r",
    2: "rb",
    3: "r",
    4: "rb",
    5: "rbb",
    6: "rbbr",
    7: "rbbrR",
    8: "rbbrRb",
    9: "r",
    10: "rb",
}
"""Pegs on the table in every second, red and blue; one written large leans."""
WHAT_PEOPLE_SAY = {
    2750: lambda _: Undo(),
    5750: lambda session: Correct(record=session.ledger.seq, moves=("red",)),
    7750: lambda session: Answer(question=session.ledger.question.seq, label="it counts"),
    8750: lambda session: Answer(question=session.ledger.question.seq, label="it does not"),
    8900: lambda _: NextGame(),
}
BEFORE = [None, 1, 1, 2, 3, 4, 5, None, None]
"""How many pegs there were when the last ruling that stands was made, by ruling."""


def test_the_judge_is_given_the_same_table_before_as_by_the_loop(log, games, seen, piece):
    """Whatever people took back, corrected, answered or began anew: the pegs tell in their evidence
    how many they were before.
    """
    colours = {"r": "red", "b": "blue"}
    due = dict(WHAT_PEOPLE_SAY)

    def look(frame):
        pegs = enumerate(PUT.get(frame.at_ms // 1000, ""))
        return seen(
            frame.at_ms,
            *(
                piece(
                    colours[peg.lower()],
                    50 + 30 * k,
                    50,
                    pose="leaning" if peg.isupper() else "lying",
                )
                for k, peg in pegs
            ),
        )

    def eyes(frame, *_args, **_named):
        for at_ms in [at_ms for at_ms in due if at_ms <= frame.at_ms]:
            session.command(due.pop(at_ms)(session))
        return look(frame)

    session = Session.begin(log, PEGS, games=games)
    watch(session, (0, 10_000), eyes=eyes)
    session = Session.reopen(log, session.id, games)
    session.append(Reopened(table=PEGS.table))
    watch(session, (10_000, 11_000), eyes=eyes)
    assert not due
    judged = [
        one
        for one in rejudge(log, session.id, games, lambda frame, *_: look(frame))
        if not one.not_judged
    ]
    assert [one.changes for one in judged] == [()] * len(BEFORE)
    assert [one.record.event.evidence["before"] for one in judged] == BEFORE
    assert [one.now.evidence["before"] for one in judged] == BEFORE


def other_eyes(pieces):
    def look(frame, *_args, **_named):
        return Observation(
            frame.seq,
            frame.at_ms,
            observe(frame, SETUP).camera,
            pieces(FILM[frame.at_ms // 1000 * 1000]),
        )

    return look


def test_a_distance_that_is_read_otherwise_changes_the_verdict(log, recorded):
    green = thrown("green", 80, 160)
    eyes = other_eyes(
        lambda pieces: tuple(green if piece.colour == "green" else piece for piece in pieces)
    )
    changed = {
        one.record.seq: {what: now for what, _, now in one.changes}
        for one in rejudge(log, recorded, GAMES, eyes)
        if one.changes
    }
    assert changed[4]["moves"].startswith("throw green large 8")
    assert changed[4].keys() == {"moves"}
    assert (changed[7]["verdict"], changed[7]["code"]) == ("accepted", "boule.throw")


def test_a_little_less_than_a_millimetre_changes_nothing(log, recorded):
    near = thrown("red", 60.4, 150)
    eyes = other_eyes(
        lambda pieces: tuple(near if piece is FILM[2000][1] else piece for piece in pieces)
    )
    assert not [one for one in rejudge(log, recorded, GAMES, eyes) if one.changes]


@pytest.mark.parametrize(
    ("blind", "message"),
    [
        (
            lambda frame: Unusable(frame.seq, frame.at_ms, "fiducials are covered"),
            "fiducials are covered",
        ),
        (lambda frame: replace(observe(frame, SETUP), hand=True), "a hand is seen over the board"),
    ],
)
def test_a_picture_that_would_not_be_judged_today_is_a_change(log, recorded, blind, message):
    again = list(
        rejudge(
            log,
            recorded,
            GAMES,
            lambda frame, *_: blind(frame) if frame.seq == 3 else observe(frame, SETUP),
        )
    )
    assert [(one.record.seq, one.message) for one in again if one.changes] == [(3, message)]
    assert [one.not_judged for one in again if one.record.seq == 4] == [
        "the table before it is not read any more"
    ]


def test_a_judge_that_has_changed_is_told(log, recorded):
    class Patient:
        def __getattr__(self, name):
            return getattr(GAMES["ice_boule"], name)

        def judge(self, *_args):
            return Waiting(code="boule.throw", message="Let us wait.")

    again = [
        one
        for one in rejudge(log, recorded, {"ice_boule": Patient()}, observe)
        if not one.not_judged
    ]
    assert all(
        ("verdict", one.record.event.verdict, "none") in one.changes
        for one in again
        if isinstance(one.record.event, VerdictReached)
    )
    assert {one.message for one in again} == {"Let us wait."}


def test_pictures_that_are_gone_are_counted(tmp_path):
    with Log(
        tmp_path / "log.sqlite",
        frames_bytes=2 * len(encode_jpeg(np.full((64, 64, 3), 100, np.uint8), RULING_QUALITY)),
    ) as log:
        session = Session.begin(log, ICE_BOULE)
        watch(session, (0, 5000))
        again = {one.record.seq: one.not_judged for one in rejudge(log, session.id, GAMES, observe)}
    assert again == {
        2: GONE,
        3: GONE,
        4: "the picture of the table before it is no longer kept",
        5: "",
    }


def test_a_damaged_picture_stops_nothing(log, recorded):
    change(log.path, "UPDATE frames SET jpeg = x'ffd8' WHERE seq = 4")
    again = {one.record.seq: one.not_judged for one in rejudge(log, recorded, GAMES, observe)}
    assert "it was changed or damaged" in again[4]
    assert (again[3], again[7]) == ("", "")


def test_the_empty_table_is_shown_to_the_eyes(log):
    empty = encode_jpeg(np.full((64, 64, 3), 200, np.uint8), RULING_QUALITY)
    session = Session.begin(log, ICE_BOULE, empty_jpeg=empty)
    watch(session, (1000, 2000))
    shown = []
    list(
        rejudge(
            log,
            session.id,
            GAMES,
            lambda frame, _setup, reference: shown.append(reference) or observe(frame, SETUP),
        )
    )
    assert [int(frame.image.mean()) for frame in shown] == [200]


def test_the_table_is_kept_with_all_that_was_learned_of_it(log):
    learned = (LearnedColour(colour="red", light=(0.5, 0.1, 0.1)),)
    setup = msgspec.structs.replace(SETUP, learned_colours=learned)
    session = Session.begin(log, opening("ice_boule", ("red", "green"), {}, setup, "a film", BEGUN))
    watch(session, (1000, 2000))
    setups = []
    list(
        rejudge(
            log,
            session.id,
            GAMES,
            lambda frame, setup, _reference: setups.append(setup) or observe(frame, SETUP),
        )
    )
    assert setups == [setup]


def test_a_session_that_does_not_know_its_table_is_one_line(log):
    log.append(SessionStarted(game="ice_boule", players=("red", "green")), 0)
    with pytest.raises(InputError, match=r"record 1: table: .*expected"):
        list(rejudge(log, 1, GAMES, observe))


def rinkside(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_command_lists_what_changes(log, recorded, monkeypatch):
    green = thrown("green", 80, 160)
    eyes = other_eyes(
        lambda pieces: tuple(green if piece.colour == "green" else piece for piece in pieces)
    )
    monkeypatch.setattr(
        "vision.observe.observe",
        lambda frame, setup, reference=None, reader=None: eyes(frame),  # noqa: ARG005
    )
    result = rinkside("replay", recorded, "--log", log.path)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "record 4 at 3.50 s, boule.throw\n  moves: was throw green large 30." in result.stdout
    assert result.stdout.endswith(
        "session 1: 4 rulings judged again, 2 changed; 2 could not be judged\n"
        "     1 heard, not seen\n     1 decided by people\n"
    )
    document = json.loads(rinkside("replay", "--log", log.path, "--json").stdout)
    assert (document["judged"], len(document["changed"]), document["not_judged"]) == (
        4,
        2,
        {HEARD: 1, PEOPLE: 1},
    )
    assert document["changed"][0]["changes"][0]["what"] == "moves"


def test_the_command_says_that_nothing_changed_and_writes_nothing(log, recorded, monkeypatch):
    monkeypatch.setattr(
        "vision.observe.observe",
        lambda frame, setup, reference=None, reader=None: observe(frame, setup),  # noqa: ARG005
    )
    before = log.records()
    result = rinkside("replay", recorded, "--log", log.path)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "session 1: 4 rulings judged again, 0 changed; 2 could not be judged",
    )
    assert log.records() == before
