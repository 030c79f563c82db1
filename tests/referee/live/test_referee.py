"""The loop: from frames to rulings, with a camera and eyes that do as they are told."""

from __future__ import annotations

import dataclasses
import threading
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from referee.live.referee import STILL_HAND, UNDONE, Referee
from referee.sessions.commands import Answer, Correct, Declare, NextGame, Pause, Resume, Roll, Undo
from referee.sessions.event_store import LogFailed
from referee.sessions.events import QuestionAsked, VerdictReached
from referee.sessions.session import Session
from table.errors import InputError
from table.observation import Unusable
from tests.support.setups import setup_of
from vision.cameras.base import CameraLost
from vision.cameras.frame import Frame
from vision.cameras.image_files import decode_image
from vision.cameras.reconnect import RETRY_S


def rulings(session):
    """(time, verdict, player) of everything that was ruled or asked."""
    ruled = [
        record
        for record in session.records()
        if isinstance(record.event, VerdictReached | QuestionAsked)
    ]
    return [
        (record.at_ms, getattr(record.event, "verdict", "ambiguous"), record.event.player)
        for record in ruled
    ]


def test_every_throw_is_ruled_once_and_with_its_frame(referee, session, seen, hold, red, blue):
    hand = seen(1000, red, hand=True)
    referee(*hold(0), *hold(1000, red), hand, *hold(2250, red), *hold(3250, red, blue)).run()
    assert rulings(session) == [(1500, "accepted", "red"), (3750, "accepted", "blue")]
    ruled = session.records()[1]
    assert ruled.event.moves == ("red",)
    assert ruled.event.observation["gaps"][0]["gap_mm"] == 10.0
    assert ruled.event.observation["pieces"][0]["colour"] == "red"
    assert decode_image(session.frame(ruled.seq), "frame")[0, 0, 0] == pytest.approx(42, abs=2)
    assert session.view().ranking[0].place == 1


def test_the_judge_is_given_the_table_of_the_last_ruling(referee, session, hold, red, blue):
    referee(*hold(0, red), *hold(1000, red, blue)).run()
    assert [record.event.evidence["before"] for record in session.records()[1:]] == [None, 1]


def test_nothing_is_ruled_while_pieces_move_or_a_hand_is_there(referee, session, seen, piece, red):
    moving = [seen(250 * step, piece("red", 20 * step, 0)) for step in range(20)]
    under_a_hand = [seen(5000 + 250 * step, red, hand=True) for step in range(20)]
    in_a_changing_picture = [
        dataclasses.replace(seen(10_000 + 250 * step, red), moving=True) for step in range(20)
    ]
    referee(*moving, *under_a_hand, *in_a_changing_picture).run()
    assert rulings(session) == []


def test_what_looks_like_a_hand_and_never_moves_keeps_no_move_from_being_ruled(
    referee, session, seen, red
):
    """A print, or a shadow: what explains the whole table counts, and nobody is refused anything
    that may be hidden.
    """

    def under_it(since_ms, *pieces, steps=24):
        first = seen(since_ms, *pieces, hand=True)
        return [dataclasses.replace(first, at_ms=since_ms + 250 * step) for step in range(steps)]

    eyes = referee(*under_it(0, red), *under_it(6000, red, red), *under_it(12_000, red, steps=16))
    eyes.run()
    assert rulings(session) == [(4500, "accepted", "red")]


def test_what_never_moves_and_looks_like_a_hand_is_told(referee, session, seen, blue):
    first, message = seen(0, blue, hand=True), []
    shots = [dataclasses.replace(first, at_ms=250 * step) for step in range(24)]
    eyes = referee(*shots, lambda: message.append((eyes.latest.status, eyes.latest.message)))
    eyes.run()
    assert rulings(session) == []
    assert message == [("cannot see", STILL_HAND)]


def test_a_refusal_is_said_once_until_something_changes(referee, session, seen, hold, red, blue):
    hands = [seen(at_ms, hand=True) for at_ms in (1000, 2250)]
    referee(*hold(0, blue), hands[0], *hold(1250, blue), hands[1], *hold(2500, red)).run()
    assert rulings(session) == [(500, "refused", "red"), (3000, "accepted", "red")]
    assert session.view().scores == {"red": 1, "blue": 0}


def test_what_cannot_be_seen_is_said_once_and_tried_again(referee, session, hold, red):
    unsure = dataclasses.replace(red, colour_probability=0.6)
    referee(*hold(0, unsure), hold(1000, unsure)[0], *hold(1250, red)).run()
    assert rulings(session) == [(500, "cannot_see", "red"), (1250, "accepted", "red")]


def test_a_reading_that_cannot_be_judged_is_not_judged_in_every_picture(
    log, started, games, film_of, seen, piece
):
    judged = []

    def judge(*table):
        judged.append(table)
        return games["pegs"].judge(*table)

    unsure = seen(0, piece("red", 50, 50, colour_probability=0.6))
    again = seen(0, piece("red", 50, 50, colour_probability=0.6))
    film = film_of(
        *(
            dataclasses.replace(one, at_ms=700 * k + 100 * step)
            for k, one in enumerate((unsure, again))
            for step in range(7)
        )
    )
    session = Session.begin(
        log, started, games={"pegs": SimpleNamespace(**vars(games["pegs"]) | {"judge": judge})}
    )
    referee = Referee(film, setup_of(), film.observe, session)
    referee.run()
    assert len(judged) == 2, "once for each reading"
    assert rulings(session) == [(500, "cannot_see", "red")]


def test_a_question_stops_the_game_until_it_is_answered(referee, session, hold, piece, blue):
    leans = piece("red", 50, 50, pose="leaning")
    statuses = []

    def answer():
        statuses.append(eyes.latest.status)
        session.command(Answer(question=2, label="it counts", decided_by="blue"))

    eyes = referee(
        *hold(0, leans),
        *hold(1000, leans, blue),
        answer,
        *hold(2000, leans),
        *hold(3000, piece("red", 50, 50), blue),
    )
    eyes.run()
    assert statuses == ["asking"]
    assert rulings(session) == [(500, "ambiguous", "red"), (3500, "accepted", "blue")]
    assert session.records()[-1].event.evidence["before"] == 1


@pytest.mark.parametrize(("label", "asked"), [("it counts", 1), ("it does not", 2)])
def test_what_does_not_count_is_asked_again_when_somebody_was_at_the_table_and_left_it_there(
    referee, session, seen, hold, piece, label, asked
):
    leans = piece("red", 50, 50, pose="leaning")
    answer = partial(session.command, Answer(question=2, label=label))
    eyes = referee(
        *hold(0, leans),
        answer,
        *hold(1000, leans),
        seen(2000, leans, hand=True),
        *hold(2250, leans),
    )
    eyes.run()
    assert [verdict for _, verdict, _ in rulings(session)] == ["ambiguous"] * asked


def test_what_people_declared_leaves_the_table_as_it_was_seen(
    referee, session, hold, piece, red, blue
):
    declare = partial(session.command, Declare(moves=("blue",)))
    referee(
        *hold(0, red), declare, *hold(1000, red), *hold(2000, red, blue, piece("red", 250, 50))
    ).run()
    assert rulings(session) == [(500, "accepted", "red"), (2500, "accepted", "red")]
    assert session.records()[-1].event.evidence["before"] == 1


def test_what_was_taken_back_is_ruled_afresh_when_the_table_has_changed(
    referee, session, seen, hold, red
):
    undo = partial(session.command, Undo())
    referee(
        *hold(0, red),
        undo,
        *hold(1000, red),
        seen(2000, red, hand=True),
        *hold(2250),
        *hold(3250, red),
    ).run()
    assert rulings(session) == [(500, "accepted", "red"), (3750, "accepted", "red")]


@pytest.mark.parametrize("command", [Undo(), Correct(record=2, moves=())], ids=["undo", "correct"])
def test_people_outrank_the_camera(referee, session, seen, hold, red, command):
    overrule = partial(session.command, command)
    referee(
        *hold(0, red), overrule, seen(1000, red, hand=True), *hold(1250, red), *hold(2250, red)
    ).run()
    assert rulings(session) == [(500, "accepted", "red")]
    assert session.view().scores == {"red": 0, "blue": 0}


def test_a_correction_by_hand_counts_for_what_comes_next(referee, session, hold, red, blue):
    correct = partial(session.command, Correct(record=2, moves=("red",)))
    referee(*hold(0, blue), correct, *hold(1000, blue), *hold(2000, red, blue)).run()
    assert rulings(session) == [(500, "refused", "red"), (2500, "accepted", "blue")]


def test_a_paused_referee_rules_nothing_and_looks_afresh_afterwards(referee, session, hold, red):
    statuses = []

    def resume():
        statuses.append(eyes.latest.status)
        session.command(Resume())

    eyes = referee(lambda: session.command(Pause()), *hold(0, red), resume, *hold(1000, red))
    eyes.run()
    assert statuses == ["paused"]
    assert rulings(session) == [(1000, "accepted", "red")]


def test_the_next_game_begins_on_the_same_table(referee, session, seen, hold, red, blue):
    following = partial(session.command, NextGame(players=("blue", "red")))
    referee(
        *hold(0, red), following, *hold(1000, red), seen(2000, hand=True), *hold(2250, blue)
    ).run()
    assert rulings(session) == [(500, "accepted", "red"), (2750, "accepted", "blue")]


def test_a_command_that_comes_while_the_referee_judges_makes_it_judge_again(
    log, started, games, film_of, hold, red
):
    class Interrupted:
        """Pegs, but somebody pauses and resumes while the first throw is being judged."""

        def __getattr__(self, name):
            return getattr(games["pegs"], name)

        def judge(self, state, table, before, board):
            if len(session.records()) == 1 and table.pieces:
                session.command(Pause())
                session.command(Resume())
            return games["pegs"].judge(state, table, before, board)

    session = Session.begin(log, started, games={"pegs": Interrupted()})
    film = film_of(*hold(0, red))
    Referee(film, setup_of(), film.observe, session).run()
    assert rulings(session) == [(750, "accepted", "red")]


def test_looking_again_after_a_pause_judges_the_same_table_afresh(referee, session, hold, red):
    undo, pause, resume = (
        partial(session.command, command) for command in (Undo(), Pause(), Resume())
    )
    referee(*hold(0, red), undo, pause, *hold(1000, red), resume, *hold(2000, red)).run()
    assert rulings(session) == [(500, "accepted", "red"), (2000, "accepted", "red")]


# --- cameras that fail, tables that cannot be read ---


def test_a_lost_camera_is_tried_again_ever_more_slowly_and_loses_no_game(
    referee, session, hold, red, blue
):
    pauses, message = [], []

    def pause(seconds):
        pauses.append(seconds)
        message.append((eyes.latest.status, eyes.latest.message))

    lost = [CameraLost("the cable is out")] * 7
    eyes = referee(
        *hold(0, red),
        *lost,
        *hold(9000, red),
        CameraLost("again"),
        *hold(11_000, red, blue),
        pause=pause,
    )
    eyes.run()
    assert pauses == [*RETRY_S, RETRY_S[-1], RETRY_S[-1], RETRY_S[0]]
    assert message[0] == (
        "camera lost",
        "Camera lost (the cable is out). The game is waiting; trying again in 0.5 s.",
    )
    assert rulings(session) == [(500, "accepted", "red"), (11_500, "accepted", "blue")]


def test_a_table_that_cannot_be_read_is_said_with_the_reason_and_begins_the_hold_again(
    referee, session, seen, red
):
    covered = Unusable(2, 500, "fiducials 2 and 3 are covered")
    message = []

    def note():
        message.append((eyes.latest.status, eyes.latest.message))

    eyes = referee(
        seen(0, red),
        seen(250, red),
        covered,
        note,
        seen(750, red),
        note,
        seen(1000, red),
        seen(1250, red),
    )
    eyes.run()
    assert message[0] == ("cannot see", "The table cannot be read: fiducials 2 and 3 are covered.")
    assert message[1][0] == "settling"
    assert rulings(session) == [(1250, "accepted", "red")]


def test_pieces_that_are_never_read_the_same_way_twice_are_said(referee, seen, piece):
    message = []
    restless = [seen(250 * step, piece("red", 50 + 30 * (step % 2), 50)) for step in range(18)]
    eyes = referee(
        *restless[:16],
        lambda: message.append(eyes.latest.status),
        *restless[16:],
        lambda: message.append(eyes.latest.status),
    )
    eyes.run()
    assert message == ["settling", "cannot see"]


def test_a_camera_clock_that_jumps_back_begins_the_hold_again(referee, session, seen, red):
    referee(*(seen(at_ms, red) for at_ms in (10_000, 10_250, 50, 300, 550, 800))).run()
    assert rulings(session) == [(550, "accepted", "red")]


def test_a_full_disk_stops_the_referee_and_the_ruling_is_not_shown(
    session, disk, film_of, hold, red
):
    class Noisy(film_of):
        def read(self):
            noise = np.random.default_rng(1).integers(0, 255, (200, 200, 3), np.uint8)
            return dataclasses.replace(super().read(), image=noise)

    disk.leave_pages(2)
    film = Noisy(*hold(0, red))
    eyes = Referee(film, setup_of(), film.observe, session)
    with pytest.raises(LogFailed, match="the disk is full"):
        eyes.run()
    assert rulings(session) == []
    assert session.view().scores == {"red": 0, "blue": 0}
    assert eyes.latest.status == "ended"
    assert "the disk is full" in eyes.latest.message


def test_a_broken_picture_stops_the_referee_in_one_line(referee, made):
    eyes = referee(InputError("000250.jpg: expected a whole picture"))
    with pytest.raises(InputError, match="whole picture"):
        eyes.run()
    assert made[0].closed == 1
    assert eyes.latest.status == "ended"


# --- what is live ---


def test_the_eyes_are_given_the_empty_table(referee, made, seen, red):
    empty = Frame(0, 0, np.zeros((24, 32, 3), np.uint8))
    eyes = referee(seen(0, red), reference=empty)
    eyes.run()
    assert made[0].reference is empty


def test_what_it_says_is_not_what_people_have_overruled(referee, session, hold, red):
    message = []

    def note():
        message.append(eyes.latest.message)

    eyes = referee(*hold(0, red), note, partial(session.command, Undo()), *hold(1000, red), note)
    eyes.run()
    assert message == ["red put one down.", UNDONE]


def test_the_status_follows_the_table(referee, seen, red):
    statuses = []

    def note():
        statuses.append(eyes.latest.status)

    shots = [
        seen(0),
        note,
        seen(500),
        note,
        seen(750, hand=True),
        note,
        seen(1000, red),
        note,
        seen(1500, red),
        note,
    ]
    eyes = referee(note, *shots)
    assert eyes.jpeg() is None
    eyes.run()
    assert statuses == [
        "waiting",
        "settling",
        "waiting",
        "hand over the board",
        "settling",
        "waiting",
    ]
    assert eyes.latest.status == "ended"
    assert eyes.latest.message == "There are no more pictures."
    assert (eyes.latest.frame_seq, eyes.latest.at_ms) == (4, 1500)
    assert len(eyes.latest.observation.pieces) == 1


def test_the_live_picture_is_made_on_demand_and_not_more_often_than_needed(referee, seen):
    pictures = []

    def look():
        pictures.append(eyes.jpeg())

    eyes = referee(seen(0), look, look, seen(100), look, seen(200), look, seen(0), look)
    eyes.run()
    assert pictures[0] is pictures[1] is pictures[2]
    assert [decode_image(picture, "live")[0, 0, 0] for picture in pictures[2:]] == pytest.approx(
        [6, 18, 24], abs=2
    )


def test_waiting_for_what_is_new(referee, seen):
    eyes = referee(seen(0), seen(250))
    stamp = eyes.latest.stamp
    assert eyes.wait(stamp, timeout_s=0) == eyes.latest
    watcher = threading.Thread(target=eyes.run)
    watcher.start()
    while eyes.wait(stamp, timeout_s=60).status != "ended":
        assert eyes.latest.stamp > stamp
        stamp = eyes.latest.stamp
    watcher.join()


def test_stop_ends_the_thread_and_lets_the_camera_go(session, film_of, seen):
    began = threading.Event()

    class Endless(film_of):
        def read(self):
            began.set()
            self.shots = [seen(250 * len(self.shown))]
            return super().read()

    film = Endless()
    eyes = Referee(film, setup_of(), film.observe, session)
    watcher = threading.Thread(target=eyes.run)
    watcher.start()
    assert began.wait(60)
    eyes.stop()
    watcher.join(60)
    assert not watcher.is_alive()
    assert film.closed == 1
    assert (eyes.latest.status, eyes.latest.message) == ("ended", "The referee was stopped.")


def test_a_referee_that_waits_for_a_lost_camera_stops_at_once(session, film_of):
    class Gone(film_of):
        def read(self):
            lost.set()
            raise CameraLost("nobody there")

    lost = threading.Event()
    film = Gone()
    eyes = Referee(film, setup_of(), film.observe, session)
    watcher = threading.Thread(target=eyes.run)
    watcher.start()
    assert lost.wait(60)
    eyes.stop()
    watcher.join(60)
    assert not watcher.is_alive()


def test_a_session_that_ends_ends_the_referee(referee, session, hold, red):
    eyes = referee(*hold(0), session.end, *hold(1000, red))
    eyes.run()
    assert rulings(session) == []
    assert eyes.latest.message == "The session has ended."


def test_the_referee_looks_on_while_a_button_is_written_down(
    referee, session, log, seen, hold, red, blue, monkeypatch
):
    """A disk may take long; only who has something to write waits for it."""
    append, begun, may = log.append, threading.Event(), threading.Event()

    def slowly(*words, **more):
        begun.set()
        assert may.wait(20), "the referee waited for the disk"
        return append(*words, **more)

    def press():
        monkeypatch.setattr(log, "append", slowly)
        presser.start()
        assert begun.wait(20)

    presser = threading.Thread(target=session.command, args=(Roll(dice=1, decided_by="a button"),))
    under_a_hand = [seen(1000 + 250 * step, red, hand=True) for step in range(8)]
    referee(
        *hold(0, red),
        press,
        *hold(500, red),
        *under_a_hand,
        may.set,
        presser.join,
        *hold(4000, red, blue),
    ).run()
    assert [type(record.event).__name__ for record in session.records()[1:]] == [
        "VerdictReached",
        "InputRecorded",
        "VerdictReached",
    ]
