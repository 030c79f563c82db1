"""The n-th call to the database or the file system fails, for every n, while a short game of each
kind is refereed.

After each fault what was shown is what the log folds to, and the next ruling works; as SQLite's own
tests of a failing disk do it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engines import GAMES
from referee.sessions.commands import Undo
from referee.sessions.event_store import Log, LogFailed, LogReader
from referee.sessions.events import Record, SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.state import fold
from simulation.players.policies import RandomPlayer
from table.errors import InputError

pytestmark = pytest.mark.slow

JPEG = b"\xff\xd8\xff" + bytes(range(256)) * 20 + b"\xff\xd9"
PLAYERS = {"icebreaker": ("blue", "red")}
RULINGS = 2


def sqlite_error(code: int, text: str) -> sqlite3.Error:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


@dataclass(frozen=True)
class Fault:
    """What goes wrong, whether the call does its work before, and for how many calls it lasts."""

    make: Callable[[], BaseException]
    after: bool = False
    calls: int = 1

    @property
    def known_at_once(self) -> bool:
        """Can the log find out at once what is on disk?  Not while the disk is gone, or when the
        program was interrupted.
        """
        return self.calls == 1 and not isinstance(self.make(), KeyboardInterrupt)


FAULTS = {
    "read or write": Fault(lambda: sqlite_error(sqlite3.SQLITE_IOERR_WRITE, "disk I/O error")),
    "sync": Fault(lambda: sqlite_error(sqlite3.SQLITE_IOERR_FSYNC, "disk I/O error"), after=True),
    "full disk": Fault(lambda: sqlite_error(sqlite3.SQLITE_FULL, "database or disk is full")),
    "locked": Fault(lambda: sqlite_error(sqlite3.SQLITE_BUSY, "database is locked")),
    "damage": Fault(
        lambda: sqlite_error(sqlite3.SQLITE_CORRUPT, "database disk image is malformed")
    ),
    "journal cannot be opened": Fault(
        lambda: sqlite_error(sqlite3.SQLITE_CANTOPEN, "unable to open database file")
    ),
    "a disk that is gone for a while": Fault(
        lambda: sqlite_error(sqlite3.SQLITE_IOERR, "disk I/O error"), calls=6
    ),
    "a disk that is gone after it wrote": Fault(
        lambda: sqlite_error(sqlite3.SQLITE_IOERR, "disk I/O error"), after=True, calls=6
    ),
    "a disk that is full for a while": Fault(
        lambda: sqlite_error(sqlite3.SQLITE_FULL, "database or disk is full"), calls=6
    ),
    "text": Fault(lambda: UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed")),
    "memory": Fault(MemoryError),
    "interrupt": Fault(KeyboardInterrupt),
    "interrupt after it": Fault(KeyboardInterrupt, after=True),
}


class Disk:
    """Connections to it fail at the n-th call, counted over all of them."""

    def __init__(self, fault: Fault, at: int) -> None:
        self.fault, self.at, self.calls, self.failures = fault, at, 0, 0

    def call(self, do: Callable[[], Any]) -> Any:
        self.calls += 1
        if not self.at <= self.calls < self.at + self.fault.calls:
            return do()
        self.failures += 1
        if self.fault.after and isinstance(done := do(), sqlite3.Connection):
            done.close()  # nobody else can: Python 3.13 warns of connections that are left open
        raise self.fault.make()

    def connect(self, *words: Any, **options: Any) -> sqlite3.Connection:
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                if (
                    sql == "PRAGMA synchronous = FULL"
                ):  # a test of its own says that it is asked for
                    sql = "PRAGMA synchronous = OFF"
                return disk.call(lambda: super(Connection, self).execute(sql, *values))

            def rollback(self) -> None:
                disk.call(super().rollback)

        return disk.call(lambda: sqlite3.connect(*words, factory=Connection, **options))


@pytest.fixture(scope="module", params=sorted(GAMES))
def game(request):
    """A game: its name, and the rulings of a few legal moves."""
    engine, players = GAMES[request.param], PLAYERS.get(request.param, ("blue", "yellow", "red"))
    player, state, rulings = RandomPlayer(engine, Random(7)), engine.set_up(players, {}, None), []
    for _ in range(RULINGS):
        move = player.choose(state)
        rulings.append(VerdictReached(verdict="accepted", code="c", message="", moves=(str(move),)))
        state = engine.play(state, move)
    return SessionStarted(game=request.param, players=players), rulings


class Play:
    """A game on a disk that fails; what cannot be kept is tried again, as people would."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self.path, self.disk = path, disk
        self.shown: list[Record] = []

    def all_of(self, started: SessionStarted, rulings: list[VerdictReached]) -> None:
        log = self.attempt(lambda: Log(self.path, connect=self.disk.connect))
        session = self.attempt(lambda: Session.begin(log, started))
        self.look(session)
        for number, ruled in enumerate(rulings):
            self.attempt(
                lambda ruled=ruled, jpeg=JPEG if number else None: session.append(ruled, jpeg),
                session,
            )
        self.attempt(lambda: session.command(Undo()), session)
        self.attempt(lambda: session.append(rulings[-1]), session)
        try:
            log.close()
        finally:
            log.close()

    def attempt(self, do: Callable[[], Any], session: Session | None = None) -> Any:
        """Do it; after a fault compare, and do it again."""
        for _ in range(1 + self.disk.fault.calls):
            failures = self.disk.failures
            try:
                done = do()
            except (Exception, KeyboardInterrupt):
                if self.disk.failures == failures:
                    raise  # the disk did not fail
                if session is not None:
                    assert session.ledger.seq == self.shown[-1].seq, "what failed is not shown"
                    if self.disk.fault.known_at_once:
                        self.compare(session)
                continue
            if session is not None:
                self.look(session)
            return done
        raise AssertionError("it still fails after the fault is over")

    def look(self, session: Session) -> None:
        """What a subscriber is shown now is what the log folds to."""
        self.shown += session.wait(self.shown[-1].seq if self.shown else 0, 0)
        self.compare(session)

    def compare(self, session: Session) -> None:
        with LogReader(self.path) as reader:
            assert list(reader.records()) == self.shown
            assert all(reader.frame(record.seq) == JPEG for record in self.shown if record.frame)
        assert fold(self.shown, GAMES, "shown").state == session.ledger.state
        assert session.ledger.seq == len(self.shown), "nothing is written twice"


def play_with_every_fault(
    folder: Path, game: tuple[SessionStarted, list[VerdictReached]], fault: Fault
) -> int:
    """How many calls a game takes; each of them failed once."""
    at = 0
    while True:
        at += 1
        disk = Disk(fault, at)
        path = folder / f"{at}.sqlite"
        play = Play(path, disk)
        try:
            play.all_of(*game)
        except (MemoryError, KeyboardInterrupt, UnicodeEncodeError):
            assert disk.calls >= at  # as the log was closed, with everything shown
        assert len(play.shown) == len(game[1]) + 3
        with Log(path) as again:
            assert list(again.records()) == play.shown
        if not disk.failures:
            return at - 1


@pytest.mark.parametrize("fault", ["read or write", "sync"])
def test_any_call_may_fail_in_a_game_of_every_kind(game, fault, tmp_path):
    assert play_with_every_fault(tmp_path, game, FAULTS[fault]) > 40


@pytest.mark.parametrize("fault", FAULTS)
def test_any_call_may_fail_in_any_way(games, fault, tmp_path, monkeypatch):
    monkeypatch.setitem(GAMES, "pegs", games["pegs"])
    rulings = [
        VerdictReached(
            verdict="accepted", code="pegs.put", message="", player=player, moves=(player,)
        )
        for player in ("red", "blue", "red")
    ]
    assert (
        play_with_every_fault(
            tmp_path, (SessionStarted(game="pegs", players=("red", "blue")), rulings), FAULTS[fault]
        )
        > 40
    )


@pytest.mark.parametrize("at", range(1, 8))
def test_a_full_disk_is_called_full_as_long_as_it_is(at, tmp_path):
    disk = Disk(
        Fault(lambda: sqlite_error(sqlite3.SQLITE_FULL, "database or disk is full"), calls=20),
        10**6,
    )
    with Log(tmp_path / "log.sqlite", connect=disk.connect) as log:
        start = log.append(SessionStarted(game="pegs", players=("red", "blue")), 0)
        disk.at = disk.calls + at
        while disk.calls < disk.at + disk.fault.calls - 1:
            try:
                log.append(SessionStarted(game="pegs", players=("red", "blue")), 0, frame_jpeg=JPEG)
            except LogFailed as error:
                assert (  # noqa: PT017
                    str(error)
                    == f"{log.path}: the disk is full; nothing new was written, nothing is lost:"
                    " free some space"
                )
        assert log.append(SessionStarted(game="pegs", players=("red", "blue")), 0).seq == 2
        assert log.records()[0] == start


@pytest.mark.parametrize("at", [1, 2, 3])
def test_reading_goes_on_after_a_fault(at, tmp_path):
    disk = Disk(FAULTS["read or write"], 10**6)
    with Log(tmp_path / "log.sqlite", connect=disk.connect) as log:
        start = log.append(SessionStarted(game="pegs", players=("red", "blue")), 0, frame_jpeg=JPEG)
        for read in (log.records, log.sessions, lambda: log.frame(1)):
            before = read()
            disk.at = disk.calls + 1
            with pytest.raises(InputError, match="cannot be used"):
                read()
            disk.at = disk.calls + at  # and as the log is opened again
            with pytest.raises(LogFailed, match="cannot be reopened"):
                read()
            assert read() == before
        assert log.records() == (start,)


@pytest.mark.parametrize(("module", "name"), [(os, "open"), (fcntl, "flock"), (os, "chmod")])
def test_a_log_can_be_opened_after_the_file_system_failed(module, name, tmp_path, monkeypatch):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        start = log.append(SessionStarted(game="pegs", players=("red", "blue")), 0)
    path.chmod(0o644)
    real, fails = getattr(module, name), True

    def failing(*words: Any, **options: Any) -> Any:
        if fails:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(*words, **options)

    monkeypatch.setattr(module, name, failing)
    with suppress(InputError) if name == "chmod" else pytest.raises(InputError), Log(path) as log:
        assert log.records() == (start,)
    fails = False
    with Log(path) as log:
        assert log.records() == (start,)
    assert path.stat().st_mode & 0o777 == 0o600
