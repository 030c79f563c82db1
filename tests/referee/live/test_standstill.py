"""Why nothing was ruled on for some time: one record a spell, for whoever looks for it
afterwards.
"""

from __future__ import annotations

import dataclasses
import json
from contextlib import closing

import pytest

from cli.referee import verdict_document
from engines.verdict import OutOfSync
from referee.live.referee import RESTLESS, STILL_HAND
from referee.live.standstill import StallTimer
from referee.sessions.commands import Pause
from referee.sessions.events import InputRecorded, VerdictReached
from referee.sessions.session import Session
from table.observation import Unusable
from tests.support.scripted_eyes import referee as scripted
from tests.support.variants import Variant
from webui.i18n import LANGUAGES, translated

COVERED = "The table cannot be read: fiducials 2 and 3 are covered."


def stands(records):
    return [
        (record.event.code, record.event.message)
        for record in records
        if isinstance(record.event, InputRecorded)
    ]


@pytest.fixture
def frames(seen, piece):
    """Frames every 250 ms of tables that stand still, by why."""

    def restless(at_ms):
        return seen(at_ms, piece("red", 50 + 30 * (at_ms // 250 % 2), 50))

    def unread(at_ms):
        return Unusable(at_ms // 250, at_ms, "fiducials 2 and 3 are covered")

    still = seen(0, piece("blue", 50, 50), hand=True)
    kinds = {
        "restless": restless,
        "unread": unread,
        "still hand": lambda at_ms: dataclasses.replace(still, at_ms=at_ms),
        "hand": lambda at_ms: seen(at_ms, piece("red", 50 + at_ms / 100, 50), hand=True),
        "moving": lambda at_ms: dataclasses.replace(seen(at_ms, piece("red", 50, 50)), moving=True),
    }
    return lambda why, since_ms, until_ms: [
        kinds[why](at_ms) for at_ms in range(since_ms, until_ms, 250)
    ]


WHY = {
    "restless": ("table.restless", RESTLESS),
    "unread": ("table.unread", COVERED),
    "still hand": ("table.hand", STILL_HAND),
    "hand": ("table.hand", "A hand is over the board. The referee waits."),
    "moving": ("table.moving", "Something is moving. The referee waits."),
}


@pytest.mark.parametrize("why", WHY)
def test_a_table_that_cannot_be_judged_for_long_is_put_on_record_once(
    referee, session, frames, why
):
    referee(*frames(why, 0, 120_000)).run()
    records = session.records(1)
    assert stands(records) == [WHY[why]]
    assert records[0].frame, "with its picture"
    assert records[0].at_ms <= (30_000 if why in ("hand", "moving") else 14_000)
    assert session.ledger.standing == ()


@pytest.mark.parametrize("why", WHY)
def test_the_command_line_prints_it_and_it_is_read_in_every_language(referee, session, frames, why):
    referee(*frames(why, 0, 40_000)).run()
    (record,) = session.records(1)
    assert json.loads(json.dumps(verdict_document(record)))["said"] == WHY[why][1]
    for code in set(LANGUAGES) - {"en"}:
        assert translated(record.event.message, code) not in (None, record.event.message)


@pytest.mark.parametrize("why", ["restless", "unread"])
def test_a_short_spell_is_not_put_on_record(referee, session, frames, hold, red, why):
    referee(*frames(why, 0, 6000), *hold(6000, red), *frames(why, 8000, 14_000)).run()
    assert stands(session.records(1)) == []


def test_a_card_that_wears_out_does_not_get_a_record_for_every_spell(
    referee, session, frames, hold, red, blue
):
    """Again only after something else is on record."""
    spell = [
        *hold(0, red),
        *frames("unread", 2000, 12_000),
        *hold(12_000, red),
        *frames("unread", 14_000, 24_000),
    ]
    referee(*spell, *hold(24_000, red, blue), *frames("unread", 26_000, 36_000)).run()
    events = [record.event for record in session.records(1)]
    assert [type(event) for event in events] == [
        VerdictReached,
        InputRecorded,
        VerdictReached,
        InputRecorded,
    ]


def test_what_was_told_of_the_table_is_not_told_again_after_it(
    referee, session, frames, hold, blue
):
    """A refusal stands on record once."""
    referee(*hold(0, blue), *frames("unread", 2000, 12_000), *hold(12_000, blue)).run()
    assert [type(record.event) for record in session.records(1)] == [VerdictReached, InputRecorded]


class OutOfStep(Variant):
    """Pegs, but no table is that of the record."""

    def judge(self, _state, _table, _before, _board):
        return OutOfSync(code="pegs.more", message="Fix it.", differences=("One is missing.",))


def test_a_table_that_is_out_of_step_is_told_of_once_whatever_covers_it_meanwhile(
    log, started, games, seen, piece, frames
):
    def lies(since_ms, until_ms):
        return [seen(at_ms, piece("red", 50, 50)) for at_ms in range(since_ms, until_ms, 250)]

    with closing(Session.begin(log, started, games={"pegs": OutOfStep(games["pegs"])})) as session:
        spell = frames("unread", 4000, 14_000)
        scripted(session, *lies(0, 4000), *spell, *lies(14_000, 20_000)).run()
        event_types = [type(record.event) for record in session.records(1)]
    assert event_types == [VerdictReached, InputRecorded]


def test_nothing_is_put_on_record_while_the_referee_looks_away(referee, session, frames):
    session.command(Pause())
    after = session.ledger.seq
    referee(*frames("unread", 0, 60_000)).run()
    assert session.records(after) == ()


@pytest.mark.parametrize(("unread", "most_ms"), [(True, 8000), (False, 30_000)])
def test_the_stall_timer_is_due_once_a_spell(unread, most_ms):
    timer, due = StallTimer(), []
    for spell in range(2):
        for at_ms in range(spell * 100_000, spell * 100_000 + 60_000, 500):
            timer.next_frame()
            if timer.due(at_ms, unread):
                due.append(at_ms)
        timer.next_frame()
        timer.next_frame()
    assert due == [most_ms, 100_000 + most_ms]


@pytest.mark.parametrize(
    ("unread", "due"),
    [
        ([(0, True), (7999, True), (8000, True)], [8000]),
        ([(0, False), (29_999, False), (30_000, False)], [30_000]),
        ([(0, False), (6000, True), (13_999, True), (14_000, True)], [14_000]),
        ([(0, True), (7000, False), (7250, True), (15_000, True), (15_250, True)], [15_250]),
    ],
    ids=["unread", "busy", "a hand, then unread", "read for a moment"],
)
def test_a_table_that_cannot_be_read_is_told_of_sooner_than_a_hand(unread, due):
    timer, reported_ms = StallTimer(), []
    for at_ms, cannot_read in unread:
        timer.next_frame()
        if timer.due(at_ms, cannot_read):
            reported_ms.append(at_ms)
    assert reported_ms == due
