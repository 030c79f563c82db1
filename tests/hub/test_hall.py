"""The wall: what every table shows, told as it happens, to the club whose tables they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import msgspec
import pytest
from sqlalchemy import event

from hub.app import create_hub_app
from hub.forwarder import Forwarder
from hub.hall import Hall, HallFeed
from referee.sessions.commands import Pause, Resign, Resume
from referee.sessions.event_store import Log
from referee.sessions.events import (
    SCHEMA,
    Choice,
    QuestionAsked,
    Reopened,
    SessionEnded,
    SessionStarted,
    VerdictReached,
)
from referee.sessions.session import Session
from table.messages import msg
from tests.support.hubs import Club, DirectHub
from tests.support.panel_standins import FakeLive, keep_sessions


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


@pytest.fixture
def hall(club: Club) -> Hall:
    return Hall(club.store, club.news, club.now_ms)


@pytest.fixture
def log(tmp_path):
    with Log(tmp_path / "log.sqlite") as opened:
        yield opened


def send(club: Club, log: Log, token: str) -> None:
    with closing(Forwarder(log.path, DirectHub(club, token), print)) as forwarder:
        while forwarder.round().more:
            pass


def begin(log: Log) -> Session:
    names = {"red": "Anna", "blue": "Ben <b>"}
    return Session.begin(
        log, SessionStarted(game="icebreaker", players=("red", "blue"), names=names)
    )


def ruled(text: str, **more) -> VerdictReached:
    return VerdictReached(verdict="accepted", code="test", message=msg(text), **more)


def only(hall: Hall, club: Club, language: str = "en"):
    hall.refresh()
    (table,) = hall.tables(club.actor.club_id, language)
    return table


def test_a_table_without_a_game_is_idle(hall, club):
    club.enrol()
    table = only(hall, club)
    assert (table.name, table.phase, table.game, table.players) == ("Table 1", "idle", "", ())


def test_many_tables_with_more_records_than_are_read_at_a_time_are_shown_as_they_are(
    hall, club, tmp_path, monkeypatch
):
    monkeypatch.setattr("hub.hall.AT_ONCE", 5)
    monkeypatch.setattr("hub.hall.TABLES_AT_ONCE", 3)
    with ExitStack() as stack:
        logs = [stack.enter_context(Log(tmp_path / f"{k}.sqlite")) for k in range(7)]
        tokens = [club.enrol(f"Table {k}") for k in range(7)]
        sessions = [begin(log) for log in logs]
        for records in (0, 2, 9):
            for k, (log, token, session) in enumerate(zip(logs, tokens, sessions, strict=True)):
                for number in range(records + k % 3):
                    session.append(ruled(f"Ruling {number} of {records} at {k}."))
                send(club, log, token)
            hall.refresh()
            shown = hall.tables(club.actor.club_id, "en")
            assert [one.headline for one in shown] == [
                f"Ruling {records + k % 3 - 1} of {records} at {k}." if records + k % 3 else ""
                for k in range(7)
            ]


@contextmanager
def asked(club: Club) -> Iterator[list[str]]:
    """What the database is asked meanwhile."""
    statements: list[str] = []

    def note(_db, _cursor, statement, *_):
        statements.append(statement)

    event.listen(club.store.engine, "before_cursor_execute", note)
    yield statements
    event.remove(club.store.engine, "before_cursor_execute", note)


def hear(hall: Hall, club: Club) -> list[str]:
    """Tell the hall what was just taken in; returns what it asked the database."""
    with asked(club) as statements:
        hall.hear(club.news.wait(0))
    return statements


def test_what_was_just_taken_in_is_shown_without_asking_the_database(hall, club, log):
    token, session = club.enrol(), begin(log)
    hall.refresh()
    send(club, log, token)
    hear(hall, club)
    for text in ("The set-up is right.", "Blue is out."):
        session.append(ruled(text))
        send(club, log, token)
        assert hear(hall, club) == []
        assert hall.tables(club.actor.club_id, "en")[0].headline == text
    before = hall.newest
    session.append(SessionEnded())
    begin(log).append(ruled("Another evening."))
    send(club, log, token)
    assert hear(hall, club) == []
    assert hall.newest == before + 1
    shown = hall.tables(club.actor.club_id, "en")
    assert (shown[0].headline, shown[0].seq) == ("Another evening.", 6)
    hall.refresh()
    assert hall.newest == before + 1
    assert hall.tables(club.actor.club_id, "en") == shown


@pytest.mark.parametrize("missed", ["table", "records", "card", "session", "nothing"])
def test_what_was_not_heard_of_before_is_read_from_the_database(hall, club, log, tmp_path, missed):
    token = club.enrol()
    if missed != "table":
        hall.refresh()
    first = begin(log)
    first.append(SessionEnded())
    begin(log).append(ruled("The set-up is right."))
    send(club, log, token)
    if missed == "records":
        club.news.wait(0)
    hear(hall, club)
    if missed == "session":
        again = Session.reopen(log, first.id)
        again.append(Reopened())
        again.append(ruled("It goes on."))
    if missed == "card":
        club.at_ms += 1000
        with Log(tmp_path / "new.sqlite") as new:
            begin(new).append(ruled("A new card."))
            send(club, new, club.enrol())
    else:
        log_of_all = Session.reopen(log, log.records()[-1].session)
        log_of_all.append(ruled("The last one."))
        send(club, log, token)
    hear(hall, club)
    (shown,) = hall.tables(club.actor.club_id, "en")
    assert shown == only(Hall(club.store, club.news, club.now_ms), club)
    assert shown.headline == ("A new card." if missed == "card" else "The last one.")


def test_what_was_heard_twice_changes_nothing(hall, club, log):
    token, session = club.enrol(), begin(log)
    session.append(ruled("The set-up is right."))
    send(club, log, token)
    news = club.news.wait(0)
    hall.refresh()
    before = hall.newest
    hall.hear(news)
    assert hall.newest == before
    session.append(ruled("Blue is out."))
    send(club, log, token)
    (last,) = club.news.wait(0)
    hall.hear([*news, last, last])
    assert hall.newest == before + 1
    assert hall.tables(club.actor.club_id, "en")[0].headline == "Blue is out."


def test_a_table_that_has_only_asked_costs_no_look_at_its_log(hall, club, log):
    token = club.enrol()
    club.intake.take(token, b'{"log": "01234567-89ab-4def-8123-456789abcdef"}')
    begin(log)
    hall.refresh()
    with asked(club) as statements:
        hall.refresh()
    assert not any("FROM records" in one for one in statements)


def test_a_table_shows_its_game_as_it_goes_on(hall, club, log):
    token, session = club.enrol(), begin(log)
    send(club, log, token)
    table = only(hall, club)
    assert (table.game, table.phase) == ("Icebreaker", "playing")
    assert [(one.colour, one.name) for one in table.players] == [
        ("red", "Anna"),
        ("blue", "Ben <b>"),
    ]
    session.append(ruled("The set-up is right."))
    session.append(
        QuestionAsked(code="test", message=msg("Is it there?"), choices=(Choice(label=msg("Yes")),))
    )
    send(club, log, token)
    assert (only(hall, club).phase, only(hall, club).headline) == ("asking", "Is it there?")


@pytest.mark.parametrize("after", ["pause", "resume", "resign", "end"])
def test_a_table_says_how_its_game_stands(hall, club, log, after):
    token, session = club.enrol(), begin(log)
    session.append(ruled("The set-up is right."))
    if after in ("pause", "resume"):
        session.command(Pause())
    if after == "resume":
        session.command(Resume())
    if after == "resign":
        session.command(Resign(player="red"))
    if after == "end":
        session.append(SessionEnded())
    send(club, log, token)
    table = only(hall, club)
    phases = {"pause": "paused", "resume": "playing", "resign": "over", "end": "ended"}
    assert table.phase == phases[after]
    if after == "resign":
        assert "blue" in table.outcome
        assert "gewinnt" in only(hall, club, "de").outcome


def test_a_hall_that_begins_later_shows_the_same(hall, club, log):
    token, session = club.enrol(), begin(log)
    session.append(SessionEnded())
    session = begin(log)
    session.append(ruled("The set-up is right."))
    hall.refresh()
    send(club, log, token)
    fresh = Hall(club.store, club.news, club.now_ms)
    assert only(hall, club) == only(fresh, club)
    assert only(fresh, club).phase == "playing"


def test_an_older_session_that_goes_on_is_the_one_that_is_shown(hall, club, log):
    token = club.enrol()
    first = begin(log)
    first.append(SessionEnded())
    second = begin(log)
    second.append(SessionEnded())
    send(club, log, token)
    assert only(hall, club).phase == "ended"
    again = Session.reopen(log, first.id)
    again.append(Reopened())
    again.append(ruled("The set-up is right."))
    send(club, log, token)
    for one in (hall, Hall(club.store, club.news, club.now_ms)):
        assert (only(one, club).phase, only(one, club).headline) == (
            "playing",
            "The set-up is right.",
        )


def test_a_table_that_was_silent_for_a_day_shows_no_game(club, log):
    begin(log)
    send(club, log, club.enrol())
    club.at_ms += 25 * 3600 * 1000
    assert only(Hall(club.store, club.news, club.now_ms), club).phase == "idle"


def test_a_new_card_replaces_the_old_one(hall, club, log, tmp_path):
    begin(log)
    send(club, log, club.enrol())
    hall.refresh()
    club.at_ms += 1000
    with Log(tmp_path / "new.sqlite") as new:
        session = begin(new)
        session.append(SessionEnded())
        send(club, new, club.enrol())
    assert only(hall, club).phase == "ended"


def test_listeners_are_told_what_changed_once_and_only_of_their_club(hall, club, log):
    other = Club(club.store, "Elsewhere")
    token, _ = club.enrol(), other.enrol("Not ours")
    club.enrol("Table 2")
    hall.refresh()
    feed = HallFeed(hall, club.actor.club_id, "en")
    first = feed.since(0)
    names = [json.loads(text.split(b"data: ")[1])["name"] for _, text in first if text]
    assert sorted(names) == ["Table 1", "Table 2"]
    assert first[-1] == (hall.newest, b"")
    assert feed.since(hall.newest) == [(hall.newest, b"")]
    before, session = hall.newest, begin(log)
    session.append(ruled("The set-up is right."))
    send(club, log, token)
    hall.refresh()
    ((number, text), last) = feed.since(before)
    assert b'"name":"Table 1"' in text
    assert text.startswith(b"id: %d\nevent: table\n" % number)
    assert last == (hall.newest, b"")


def test_a_record_of_a_newer_table_is_left_out_and_the_next_ones_count(hall, club, log):
    begin(log)
    send(club, log, club.enrol())
    with club.store.writing() as db:
        newer = f"replace(document, ':{SCHEMA}', ':{SCHEMA}9')"
        db.exec_driver_sql(f"UPDATE records SET document = {newer}")
    assert only(hall, club).phase == "idle"


# ---- pages


@pytest.fixture
def app(club):
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    yield app
    app.extensions["streams"].close()


def test_the_wall_is_open_to_everybody_and_escapes_names(app, club, log):
    begin(log)
    send(club, log, club.enrol("Table <1>"))
    app.extensions["hall"].refresh()
    browser = app.test_client()
    assert browser.get("/").location == f"/halls/{club.actor.club_id}"
    page = browser.get(f"/halls/{club.actor.club_id}").get_data(as_text=True)
    assert "Table &lt;1&gt;" in page
    assert "Ben &lt;b&gt;" in page
    assert "<b>Anna" not in page
    assert browser.get("/halls/77").status_code == 404


def test_several_clubs_are_listed(app, club):
    Club(club.store, "Elsewhere")
    page = app.test_client().get("/").get_data(as_text=True)
    assert "Elsewhere" in page


def test_events_begin_with_hello_and_tell_what_was_missed(app, club):
    club.enrol()
    app.extensions["hall"].refresh()
    answer = app.test_client().get(f"/halls/{club.actor.club_id}/events?after=0")
    assert answer.mimetype == "text/event-stream"
    stream = iter(answer.response)
    assert b"event: hello" in next(stream)
    assert b'"name":"Table 1"' in next(stream)
    answer.close()


def test_a_board_is_drawn_from_what_was_seen(app, club, log):
    """The stand-in sessions: the first has a table and pieces on it."""
    keep_sessions(log, FakeLive())
    send(club, log, club.enrol())
    hall = app.extensions["hall"]
    hall.refresh()
    club_id = club.actor.club_id
    (table,) = hall.tables(club_id, "en")
    answer = app.test_client().get(f"/halls/{club_id}/board/{table.id}")
    assert answer.status_code == 204  # the newest session has none
    with Log(log.path.with_name("boule.sqlite")) as other:
        started, seen = log.records()[0].event, log.records()[2].event
        session = Session.begin(other, started)
        session.append(msgspec.structs.replace(seen, moves=(), state={}))
        send(club, other, club.enrol("Table 2"))
    hall.refresh()
    number = next(one.id for one in hall.tables(club_id, "en") if one.name == "Table 2")
    answer = app.test_client().get(f"/halls/{club_id}/board/{number}?seq=2")
    assert answer.mimetype == "image/svg+xml"
    lying = seen.observation["pieces"] + seen.observation["off_board"]
    assert answer.get_data(as_text=True).count('class="piece') == len(lying)
    assert app.test_client().get(f"/halls/{club_id + 1}/board/{number}").status_code == 204
