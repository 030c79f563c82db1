"""Seats that a computer plays: what it wants is on record and on the panel, people make it, and the
referee rules on that by the rules alone.
"""

from dataclasses import replace
from itertools import count

import pytest

from engines import GAMES
from engines.game import facts
from referee.live import computer_seats
from referee.live.computer_seats import ComputerSeats
from referee.sessions.commands import Declare, Hear, Pause, Resume, Undo
from referee.sessions.event_store import Log, LogFailed
from referee.sessions.events import (
    ComputerChose,
    InputRecorded,
    SeatTaken,
    SessionStarted,
    VerdictReached,
)
from referee.sessions.session import Session
from table.messages import msg
from tests.support.disks import Disk

WAITING = VerdictReached(verdict="waiting", code="test.waits", message=msg("It waits."))


def fill(session):
    """Write short records until the log takes no more."""
    for _ in range(1000):
        session.seat(SeatTaken(player="red"))


class Table:
    """A session with computer seats, and what people were told of failures."""

    def __init__(self, path, game, players, computers, **more):
        self.log, self.failures, ticks = Log(path / "log.sqlite"), [], count()
        started = SessionStarted(game=game, players=players, computers=computers, **more)
        self.session = Session.begin(self.log, started)
        self.seats = ComputerSeats(self.session, self.failures.append, lambda: next(ticks) / 1000)

    def think(self):
        """Let all computers act until nothing is due; the records that came of it."""
        before = self.session.seq
        while self.seats.act():
            pass
        return [record.event for record in self.session.records(before)]

    def close(self):
        self.session.close()
        self.log.close()


@pytest.fixture
def table(tmp_path):
    made = []

    def make(*given, **more):
        made.append(Table(tmp_path, *given, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_computer_wants_a_legal_move_and_counts_for_nothing_by_itself(table):
    at = table("icebreaker", ("red", "black"), {"red": "club"})
    before = at.session.ledger.state
    (wish,) = at.think()
    assert isinstance(wish, ComputerChose)
    assert (wish.player, wish.strength) == ("red", "club")
    game = GAMES["icebreaker"]
    assert game.violation(before, game.parse_move(wish.move)) is None
    here, there = wish.move.split("-")
    assert wish.message == f"Red moves the ship on {here} to {there}."
    assert at.session.ledger.state == before
    assert at.think() == [], "it says it once"
    view = at.session.view()
    assert view.wish == view.options[0]
    assert len(view.options) == 1
    assert (here, there) in [mark.cells for mark in view.wish.marks]


def test_another_legal_move_counts_as_well_and_the_wish_is_gone(table):
    at = table("icebreaker", ("red", "black"), {"red": "beginner"})
    (wish,) = at.think()
    other = next(
        str(move)
        for move in GAMES["icebreaker"].legal_moves(at.session.ledger.state)
        if str(move) != wish.move
    )
    at.session.command(Declare(moves=(other,)))
    view = at.session.view()
    assert view.wish is None
    assert view.next == "black"
    assert len(view.options) > 1
    assert at.think() == [], "it is a person's turn"


def test_a_computer_may_think_for_four_seconds_and_no_longer(table, monkeypatch):
    game, asked = GAMES["icebreaker"], []
    clock = iter([0.0, 0.1, 3.9, 4.1, 9.0, 9.0])

    def choose(state, _player, _strength, _chance, out_of_time):
        asked.extend(out_of_time() for _ in range(4))
        return next(iter(game.legal_moves(state)))

    game_facts = facts(game)
    computer = replace(game_facts.computer_player, choose=choose)
    monkeypatch.setattr(
        computer_seats, "facts", lambda _game: replace(game_facts, computer_player=computer)
    )
    at = table("icebreaker", ("red", "black"), {"red": "club"})
    assert ComputerSeats(at.session, at.failures.append, lambda: next(clock)).act()
    assert asked == [False, False, True, True]


def test_a_computer_looks_again_within_two_seconds_though_nothing_happens(table, monkeypatch):
    at = table("icebreaker", ("red", "black"), {"red": "club"})
    waited = []

    def wait(_after, timeout_s):
        waited.append(timeout_s)
        at.session.close()
        return ()

    monkeypatch.setattr(at.session, "wait", wait)
    at.seats.run()
    assert len(waited) == 1
    assert 0.5 <= waited[0] <= 2


def test_after_an_undo_it_wants_a_move_again(table):
    at = table("icebreaker", ("red", "black"), {"red": "club"})
    (first,) = at.think()
    at.session.command(Declare(moves=(first.move,)))
    at.session.command(Undo())
    (again,) = at.think()
    assert again.player == "red"
    assert at.session.view().wish is not None


def test_it_is_silent_while_the_referee_looks_away(table):
    at = table("icebreaker", ("red", "black"), {"red": "club"})
    at.session.command(Pause())
    assert at.think() == []
    at.session.command(Resume())
    assert len(at.think()) == 1


def test_dice_are_rolled_by_people_and_the_drive_is_wished_for(table):
    at = table("zamboni_wars", ("yellow", "blue"), {"yellow": "strong", "blue": "strong"})
    assert at.think() == []
    at.session.command(Hear(heard={"player": "yellow", "die": 4}))
    (wish,) = at.think()
    assert isinstance(wish, ComputerChose)
    assert wish.message.startswith("Yellow drives to ")


def vote(session, player):
    session.command(Hear(heard={"player": player, "vote_value": "2"}))


def test_votes_are_cast_in_secret_by_the_computer_itself(table):
    at = table("icefloe", ("red", "blue", "yellow"), {"red": "club", "yellow": "beginner"})
    game = GAMES["icefloe"]
    while at.session.ledger.state.phase != "vote":
        at.think()
        state, wish = at.session.ledger.state, at.session.ledger.wish
        move = wish.move if wish else str(next(iter(game.legal_moves(state))))
        at.session.command(Declare(moves=(move,)))
    cast = at.think()
    assert [event.player for event in cast] == ["red", "yellow"]
    for event in cast:
        assert isinstance(event, InputRecorded)
        assert event.secret
        assert event.evidence["computer"]["strength"] in ("club", "beginner")
    assert {*at.session.view().hidden} == {"red", "yellow"}
    vote(at.session, "blue")
    said = at.think()
    assert {event.player for event in said} == {"red", "yellow"}, "they say that they are done"
    assert at.failures == []


def test_it_goes_on_after_the_session_is_opened_again(table):
    at = table("icebreaker", ("red", "black"), {"black": "strong"})
    at.session.command(Declare(moves=("A1-B2",)))
    again = Session.reopen(at.log, at.session.id)
    failures = []
    assert ComputerSeats(again, failures.append, lambda: 0.0).act()
    assert again.ledger.wish.player == "black"
    assert failures == []


def test_it_moves_at_once_when_the_time_is_over(tmp_path):
    """The clock is past the end of the time at every look."""
    log, ticks = Log(tmp_path / "log.sqlite"), count()
    started = SessionStarted(
        game="icebreaker", players=("red", "black"), computers={"red": "strong"}
    )
    session = Session.begin(log, started)
    seats = ComputerSeats(session, print, lambda: 100.0 * next(ticks))
    assert seats.act()
    assert session.ledger.wish is not None
    session.close()
    log.close()


def test_what_comes_while_it_thinks_has_it_think_again(tmp_path):
    """A ruling that changes nothing comes during its first thought."""
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(
            game="icebreaker", players=("red", "black"), computers={"red": "club"}
        )
        session, looks = Session.begin(log, started), count()

        def clock_s():
            if next(looks) == 1:
                session.append(WAITING)
            return 0.0

        seats = ComputerSeats(session, print, clock_s)
        assert not seats.act()
        assert session.ledger.wish is None
        assert seats.act()
        assert session.ledger.wish.player == "red"
        session.close()


def test_what_a_full_disk_does_not_take_is_tried_again(tmp_path):
    disk, failures = Disk(), []
    with Log(tmp_path / "log.sqlite", connect=disk.connect) as log:
        started = SessionStarted(
            game="icebreaker", players=("red", "black"), computers={"red": "club"}
        )
        session = Session.begin(log, started)
        seats = ComputerSeats(session, failures.append, lambda: 0.0)
        disk.leave_pages(0)
        with pytest.raises(LogFailed):
            fill(session)
        assert not seats.act()
        assert session.ledger.wish is None
        disk.leave_pages(100)
        assert seats.act()
        assert failures == []
        session.close()


def test_a_thread_thinks_until_the_session_is_closed(table):
    at = table("icebreaker", ("red", "black"), {"red": "beginner"})
    at.seats.start()
    (record,) = at.session.wait(at.session.seq, timeout_s=20)
    assert isinstance(record.event, ComputerChose)
