"""Whoever listens to a session hears each record once and in order, and only what is on disk."""

from __future__ import annotations

import threading

import pytest

from referee.sessions.event_store import LogFailed, LogReader
from referee.sessions.events import VerdictReached


def put(session, colour, **more):
    return session.append(
        VerdictReached(
            verdict="accepted", code="pegs.put", message="", moves=(colour,), player=colour, **more
        )
    )


def test_what_is_heard_is_on_disk(session, log):
    with LogReader(log.path) as reader:
        heard = session.subscribe()
        for colour in ("red", "blue", "red"):
            put(session, colour)
            assert reader.records()[-1].event.player == colour
        for record in reader.records():
            assert next(heard) == record


def test_a_ruling_that_cannot_be_kept_is_shown_to_nobody(session, disk):
    put(session, "red")
    before = session.view()
    disk.leave_pages(0)
    with pytest.raises(LogFailed, match="the disk is full"):
        put(session, "blue", evidence={"long": "x" * 100_000})
    assert session.view() == before
    assert session.wait(before.seq, timeout_s=0) == ()
    disk.leave_pages(1000)
    put(session, "blue")
    assert session.view().scores == {"red": 1, "blue": 1}


def test_every_listener_hears_every_record_once_and_in_order(session):
    heard: list[list[int]] = [[] for _ in range(4)]
    begun = threading.Barrier(5)

    def listen(mine, after):
        begun.wait()
        mine.extend(record.seq for record in session.subscribe(after))

    def play(colour):
        for _ in range(25):
            session.append(VerdictReached(verdict="refused", code=colour, message=""))

    listeners = [
        threading.Thread(target=listen, args=(mine, after)) for after, mine in enumerate(heard)
    ]
    writers = [threading.Thread(target=play, args=(colour,)) for colour in ("red", "blue")]
    for thread in listeners:
        thread.start()
    begun.wait()
    for thread in writers:
        thread.start()
    for thread in writers:
        thread.join()
    session.close()
    for thread in listeners:
        thread.join()
    assert heard == [list(range(after + 1, 52)) for after in range(4)]


def test_waiting_ends_with_the_time_or_the_session(session):
    assert session.wait(after=1, timeout_s=0) == ()
    session.close()
    assert session.wait(after=1) == ()
    assert session.closed
    with pytest.raises(ValueError, match="closed"):
        put(session, "red")


def test_frames_are_found_by_the_number_of_their_record(session):
    ruled = session.append(
        VerdictReached(verdict="refused", code="a", message=""), b"\xff\xd8\xff..."
    )
    assert session.frame(ruled.seq) == b"\xff\xd8\xff..."
    assert session.view().verdicts[0].frame == ruled.seq
    assert session.frame(1) is None
    assert session.frame(99) is None
