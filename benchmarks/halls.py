"""A hub under test: a database, the hub and forwarders as processes, and tables that play."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random

import msgspec
from sqlalchemy import select

from benchmarks.harness import ROOT
from engines import GAMES
from hub.accounts import Accounts
from hub.app import wall_ms
from hub.audit import Actor
from hub.sessions import fold
from hub.store import LOGS, RECORDS, Store
from hub.tables import Tables
from referee.sessions.commands import NextGame, Undo
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import (
    SessionStarted,
    VerdictReached,
    public_document,
    read_public_document,
)
from referee.sessions.session import Session
from referee.statistics.results import games_of
from simulation.players.policies import RandomPlayer
from table.errors import InputError
from table.messages import msg

GAME, PLAYERS = GAMES["ice_boule"], ("blue", "yellow", "red")
PATIENCE_S = 120.0
SENT_S = 900.0
"""Timeout for the last records; forwarders wait up to a minute after each failure."""


class PlayedTable:
    """A log written by random players; not thread-safe.

    Its clock is wrong on purpose: it goes back as often as forward.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self.path, self._chance = path, Random(seed)
        self._log = Log(path)
        self._player = RandomPlayer(GAME, self._chance)
        names = {"blue": "Anna", "yellow": f"Ben {seed}"}
        started = SessionStarted(game=GAME.NAME, players=PLAYERS, names=names, simulated=True)
        self._session = Session.begin(self._log, started)

    def act(self) -> None:
        """The next record."""
        self._session.tick(self._chance.randrange(10**12))
        state = self._session.ledger.state
        if self._session.ledger.outcome is not None:
            self._session.command(NextGame())
        elif self._session.ledger.standing and self._chance.random() < 0.1:
            with suppress(InputError):
                self._session.command(Undo())
        else:
            move = str(self._player.choose(state))
            self._session.append(
                VerdictReached(
                    verdict="accepted", code="boule.throw", message=msg("Ok."), moves=(move,)
                )
            )

    @property
    def newest(self) -> int:
        """The number of the last record."""
        return self._session.ledger.seq

    def close(self) -> None:
        """Close the log."""
        self._session.close()
        self._log.close()


@contextmanager
def playing(tables: Sequence[PlayedTable]) -> Iterator[None]:
    """Let tables play at ten records per second each."""
    over = threading.Event()

    def play(table: PlayedTable) -> None:
        while not over.wait(0.1):
            table.act()

    threads = [threading.Thread(target=play, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def enrolled(
    url: str, names: Sequence[str], upgrade: Callable[[Store], None] = Store.upgrade
) -> tuple[int, list[str]]:
    """Create a club with tables of these names in an empty database; returns its id and the tokens.

    `upgrade` creates the database's tables.
    """
    store = Store(url)
    upgrade(store)
    accounts, tables = Accounts(store, wall_ms), Tables(store, wall_ms)
    accounts.add("Hall", "bench", "bench bench", "admin")
    organiser = accounts.logged_in(accounts.log_in("bench", "bench bench", "bench"))
    assert organiser is not None
    tokens = []
    for name in names:
        asked = tables.ask(name)
        tables.enrol(Actor("bench", organiser.club_id, "bench"), asked.code, name)
        tokens.append(tables.claim(asked.secret).token)
    store.close()
    return organiser.club_id, tokens


class Command:
    """A restartable process with a Rinkside command.

    Its output is in `said`.
    """

    def __init__(self, said: Path, *words: str, token: str = "") -> None:
        self.said, self._words = said, words
        self._more = {"RINKSIDE_HUB_TOKEN": token} if token else {}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        with self.said.open("ab") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from cli.main import run; run()", *self._words],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)} | self._more,
                stdout=said,
                stderr=said,
            )

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        """Kill it with a signal; returns the exit code."""
        assert self._process is not None
        self._process.send_signal(how)
        return self._process.wait(30)

    def end(self) -> None:
        """End it, if it runs."""
        if self.running:
            self.kill()

    @property
    def pid(self) -> int:
        """Process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """True if it has not ended."""
        return self._process is not None and self._process.poll() is None

    def keep_running(self) -> None:
        """Restart it if it has exited, as a service manager does."""
        if self._process is not None and self._process.poll() is not None:
            self.start()

    def wait(self) -> int:
        """Wait until it exits; returns the exit code."""
        assert self._process is not None
        return self._process.wait(PATIENCE_S)


def processor_s(pid: int) -> float:
    """Processor time of a process and its children, in seconds; 0 if it has ended."""
    try:
        spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own_s = sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")
    return own_s + sum(processor_s(int(child)) for child in children)


def until(wanted: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Wait until `wanted()`."""
    end_s = time.monotonic() + patience_s
    while not wanted():
        assert time.monotonic() < end_s, what
        time.sleep(0.05)


def listening(port: int) -> bool:
    """True if a local port accepts connections."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextmanager
def lossy(port: int, seed: int, share: float) -> Iterator[tuple[int, list[int]]]:
    """A proxy to a port that drops a share of the answers, with their connections.

    Yields the proxy's port, and a list whose first item counts lost answers.
    """
    chance, lost, ended = Random(seed), [0], threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)

        def accept() -> None:
            while not ended.is_set():
                with suppress(OSError):
                    client, _ = server.accept()
                    threading.Thread(target=carry, args=(client,), daemon=True).start()

        def carry(client: socket.socket) -> None:
            with client, suppress(OSError), socket.create_connection(("127.0.0.1", port), 5) as hub:
                for one in (client, hub):
                    one.settimeout(30)
                threading.Thread(target=pass_on, args=(client, hub), daemon=True).start()
                while answer := hub.recv(1 << 16):
                    if chance.random() < share:
                        lost[0] += 1
                        client.shutdown(socket.SHUT_RDWR)
                        return
                    client.sendall(answer)

        def pass_on(client: socket.socket, hub: socket.socket) -> None:
            with suppress(OSError):
                while asked := client.recv(1 << 16):
                    hub.sendall(asked)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield server.getsockname()[1], lost
        finally:
            ended.set()
            thread.join()


def compare(url: str, paths: list[Path]) -> tuple[int, int]:
    """Numbers of records and games at the hub; raises AssertionError if the logs differ."""
    with closing(Store(url)) as store:
        found = [_compare_log(store, path) for path in paths]
    return sum(records for records, _ in found), sum(games for _, games in found)


def _compare_log(store: Store, path: Path) -> tuple[int, int]:
    with LogReader(path) as log:
        identity, prints, records = log.identity(), log.fingerprints(), log.records()
        expected = games_of(log, 1, GAMES)
    assert identity is not None
    log_id, last = identity.log_id, records[-1].seq
    until(lambda: _cursor(store, log_id) == last, f"{path} is not sent", SENT_S)
    with store.reading() as db:
        rows = db.execute(
            select(RECORDS).where(RECORDS.c.log_id == log_id).order_by(RECORDS.c.seq)
        ).all()
    assert {row.seq: row.fingerprint for row in rows} == prints
    documents = [msgspec.json.decode(row.document) for row in rows]
    own = [public_document(record) for record in records]
    assert documents == msgspec.json.decode(msgspec.json.encode(own))
    games = fold([read_public_document(one, "hub") for one in documents]).games
    assert [(one.over, one.winners, dict(one.scores)) for one in games] == [
        (one.over, one.winners, dict(one.scores)) for one in expected
    ]
    return len(rows), len(games)


def _cursor(store: Store, log_id: str) -> int:
    with store.reading() as db:
        return int(db.execute(select(LOGS.c.seq).where(LOGS.c.log_id == log_id)).scalar() or 0)
