"""A referee that fails begins again from the log, and is halted where that does not help."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from referee.live.patient_session import PatientSession
from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.live.supervisor import RefereeHalted, Supervisor
from referee.sessions.commands import Pause, Roll, Undo
from referee.sessions.event_store import Log, LogFailed
from referee.sessions.events import Reopened, SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.start import reopening
from referee.sessions.status import LiveState
from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from vision.cameras.reconnect import CannotGoOn

SETUP = demo_setup()
NOW = datetime(2026, 11, 27, tzinfo=UTC)


class Stage:
    """A session with a supervised referee over a film; shots may be functions, which the camera
    calls, and `Fail`, which the eyes raise.
    """

    def __init__(self, session, film):
        self.session, self.film = session, film
        self.live, self.stopping = LiveState(), threading.Event()
        self.message, self.seen, self.now_s, self.made = [], [], 0.0, 0
        self.keeps = session
        self.supervisor = None

    def observe(self, frame, *_):
        seen = self.film.shown[frame.seq]
        if isinstance(seen, Fail):
            raise seen.error
        return seen

    def referee(self, inputs=()):
        self.made += 1
        pause = {"pause": lambda _: None}
        return Referee(
            self.film,
            SETUP,
            self.observe,
            self.keeps,
            inputs=inputs,
            live=self.live,
            stopping=self.stopping,
            **pause,
        )

    def renew(self, before, message):
        self.session.append(reopening(SETUP, "film", NOW, message))
        return self.referee(before.inputs)

    def run(self, inputs=()):
        supervisor = Supervisor(
            self.referee(inputs),
            self.renew,
            self.session,
            self.live,
            self.stopping,
            self.message.append,
            lambda: self.now_s,
        )
        self.supervisor = supervisor
        supervisor.run()

    def look(self):
        latest = self.live.latest
        self.seen.append((latest.status, latest.error))


class Fail:
    """Eyes that fail, `error` at a time."""

    def __init__(self, at_ms, error=None):
        self.at_ms, self.error = at_ms, error or KeyError("a mistake")


@pytest.fixture
def stage(session, film_of):
    return lambda *shots: Stage(session, film_of(*shots))


def rulings(session):
    return [
        (record.at_ms, record.event.player)
        for record in session.records()
        if isinstance(record.event, VerdictReached)
    ]


def test_a_referee_that_fails_begins_again_from_the_log_and_says_so(
    stage, session, hold, red, blue
):
    table = stage(
        *hold(0, red),
        Fail(1000),
        lambda: table.look(),
        *hold(2000, red, blue),
        lambda: table.look(),
    )
    table.run()
    assert rulings(session) == [(500, "red"), (2500, "blue")]
    (line,) = table.message
    assert line.startswith("the referee failed (KeyError: 'a mistake', test_supervisor.py:")
    assert line.endswith(") and restarts from the log")
    (again,) = (record.event for record in session.records() if isinstance(record.event, Reopened))
    assert (
        again.message
        == "The referee failed (KeyError: 'a mistake') and restarted from the log. Check"
        " that the table matches the record."
    )
    assert table.seen == [("stopped", again.message), ("waiting", "")], (
        "it is told until the next ruling"
    )
    assert table.film.closed == 1


def test_the_record_folds_to_what_was_shown_after_a_failure(
    stage, session, log, games, hold, red, blue
):
    stage(*hold(0, red), Fail(1000), *hold(2000, red, blue)).run()
    assert Session.reopen(log, session.id, games).view().state == session.view().state


def test_one_that_fails_at_once_again_and_again_is_halted_with_the_reason(
    stage, session, log, hold, red, blue
):
    table = stage(
        *hold(0, red),
        *(Fail(1000 + k, ValueError(f"mistake {k}\nof mine")) for k in range(9)),
        *hold(3000, red, blue),
    )
    with pytest.raises(
        RefereeHalted,
        match=(
            r"failed 3 times within a minute \(ValueError: mistake 2 of mine\) and has stopped.*"
            r" --resume 1$"
        ),
    ) as error:
        table.run()
    assert "\n" not in str(error.value)
    assert table.live.latest.status == "ended"
    assert "ValueError: mistake 2 of mine" in table.live.latest.message
    assert len(table.message) == 2
    assert rulings(session) == [(500, "red")]
    session.command(Pause())
    assert session.ledger.paused, "people go on"
    assert log.records(session.id) == session.records()


def test_failures_that_are_far_apart_halt_nobody(stage, session, hold, red, blue):
    def later():
        table.now_s += 30.0

    table = stage(*hold(0, red), *([Fail(1000), later] * 8), *hold(2000, red, blue))
    table.run()
    assert rulings(session) == [(500, "red"), (2500, "blue")]


def test_three_failures_within_a_minute_halt_it(stage, hold, red):
    def later():
        table.now_s += 29.0

    table = stage(*hold(0, red), *([Fail(1000), later] * 8))
    with pytest.raises(RefereeHalted):
        table.run()
    assert table.now_s == 58.0


def test_a_referee_that_cannot_be_made_anew_has_failed_too(stage, hold, red):
    table = stage(*hold(0, red), Fail(1000))

    def renew(*_):
        raise InputError("the log cannot be read")

    table.renew = renew
    with pytest.raises(RefereeHalted, match="InputError: the log cannot be read"):
        table.run()


def test_what_came_to_disk_and_was_not_shown_is_shown_and_not_ruled_twice(
    stage, session, log, hold, red, blue, monkeypatch
):
    append = log.append

    def failing(event, *more, **named):
        record = append(event, *more, **named)
        if isinstance(event, VerdictReached) and len(rulings(session)) == 0 and not table.message:
            raise RuntimeError("lost on the way back")
        return record

    monkeypatch.setattr(log, "append", failing)
    table = stage(*hold(0, red), *hold(1000, red), *hold(2000, red, blue))
    table.run()
    assert len(table.message) == 1
    assert rulings(session) == [(500, "red"), (2500, "blue")]
    assert log.records(session.id) == session.records()


def test_a_picture_that_cannot_be_used_is_no_failure_that_is_tried_again(stage):
    table = stage(InputError("000250.jpg: expected a whole picture"))
    with pytest.raises(CannotGoOn, match=r"^000250.jpg: expected a whole picture$"):
        table.run()
    assert (table.made, table.message, table.film.closed) == (1, [], 1)


def test_what_was_not_heard_yet_is_heard_after_a_failure_and_nothing_twice(stage, session, seen):
    message = [
        Input(100, {"player": "red", "put": "blindly"}, "1"),
        Input(2000, {"player": "blue", "put": "blindly"}, "2"),
    ]
    stage(seen(500), Fail(1000), seen(2500)).run(message)
    assert rulings(session) == [(100, "red"), (2000, "blue")]


def test_after_a_stop_nobody_begins_again(stage, seen):
    table = stage(seen(0), lambda: table.supervisor.stop(), seen(250), seen(500))
    table.run()
    assert table.live.latest.message == "The referee was stopped."
    assert table.made == 1


def test_what_failed_while_people_had_ended_the_session_does_not_open_it(stage, session, hold, red):
    stage(*hold(0, red), session.end, Fail(1000)).run()
    assert session.ledger.ended


# --- a full disk ---


class Limited(Log):
    """A log on a disk that can be full."""

    full = False

    def append(self, *words, **named):
        if self.full:
            raise LogFailed(
                f"{self.path}: the disk is full; nothing new was written, nothing is lost: free"
                " some space"
            )
        return super().append(*words, **named)


@pytest.fixture
def limited(tmp_path, games):
    with Limited(tmp_path / "rinkside.log") as log:
        session = Session.begin(
            log, SessionStarted(game="pegs", players=("red", "blue")), games=games
        )
        yield log, session
        session.close()


def waiting(limited, film, rounds):
    """A table whose referee finds the disk full, `rounds` times; people look and try to undo each
    time.
    """
    log, session = limited
    table, refused = Stage(session, film), []

    def pause(seconds):
        assert 0.5 <= seconds <= 2
        table.look()
        with pytest.raises(LogFailed):
            session.command(Roll(dice=1))
        refused.append((rulings(session), session.view().scores))
        log.full = len(refused) < rounds

    table.keeps = PatientSession(session, table.live, table.stopping, table.message.append, pause)
    log.full = True
    return table, refused


def test_a_full_disk_makes_the_game_wait_and_it_goes_on_by_itself(
    limited, film_of, hold, red, blue, games
):
    log, session = limited
    table, refused = waiting(limited, film_of(*hold(0, red), *hold(1000, red, blue)), rounds=5)
    table.run()
    assert table.seen == [("stopped", "")] * 5
    assert refused == [([], {"red": 0, "blue": 0})] * 5, "nothing was shown that is not on disk"
    assert [line.partition(": ")[2] or line for line in table.message] == [
        (
            "the disk is full; nothing new was written, nothing is lost: free some space;"
            " the game waits until the log can be written"
        ),
        "the log can be written again; the game continues",
    ]
    assert rulings(session) == [(500, "red"), (1500, "blue")]
    assert (
        Session.reopen(log, session.id, games).view().scores
        == session.view().scores
        == {"red": 1, "blue": 1}
    )
    assert session.command(Undo()).event.undoes == session.records()[-2].seq, (
        "and people may do things again"
    )
    assert table.made == 1


def test_a_ruling_that_waited_gives_way_to_what_people_said_meanwhile(limited, film_of, hold, red):
    """There was room for a moment, and people used it."""
    log, session = limited
    film = film_of(*hold(0, red), *hold(1000, red))
    table = Stage(session, film)

    def pause(_):
        log.full = False
        session.command(Pause())

    table.keeps = PatientSession(session, table.live, table.stopping, pause=pause)
    log.full = True
    table.run()
    assert rulings(session) == [], "the referee was told to look away"


def test_who_waits_for_the_disk_can_be_stopped(limited, film_of, hold, red):
    _, session = limited
    table = Stage(session, film_of(*hold(0, red)))
    full = threading.Event()

    def say(_):
        full.set()

    table.keeps = PatientSession(session, table.live, table.stopping, say)
    limited[0].full = True
    worker = threading.Thread(target=table.run)
    worker.start()
    assert full.wait(20)
    table.supervisor.stop()
    worker.join(20)
    assert not worker.is_alive()
    assert rulings(session) == []


def test_a_recording_ends_in_one_line_where_its_log_cannot_be_written(limited, film_of, hold, red):
    log, session = limited
    table = Stage(session, film_of(*hold(0, red)))
    log.full = True
    with pytest.raises(LogFailed, match="the disk is full"):
        table.run()
    assert (table.made, table.live.latest.status) == (1, "ended")


def test_pictures_go_on_after_a_failure(stage, seen, red):
    """Pages that wait for something new are not left behind: stamps go on, and the newest picture
    is another one.
    """
    stamps, pictures = [], []

    def look():
        stamps.append(table.supervisor.latest.stamp)
        pictures.append(table.supervisor.jpeg())

    table = stage(seen(0, red), look, Fail(1000), look, seen(2000, red), look)
    table.run()
    assert stamps == sorted(set(stamps))
    assert pictures[0] != pictures[2]
