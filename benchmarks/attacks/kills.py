"""Kills the referee at a random moment and sees what is left.

A process of its own plays Ice Boule on a log on disk, with pictures, and prints every record as a
page would show it.  It is killed with SIGKILL, mostly while it plays, now and then while it opens
the log.  Then the log is opened, and everything that was shown must be on it, with the state that
was shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from benchmarks.harness import ROOT
from engines import GAMES
from referee.sessions.commands import NextGame, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import Record, SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.state import apply, begin
from simulation.players.policies import RandomPlayer

GAME, PLAYERS = GAMES["ice_boule"], ("blue", "yellow", "red")
RECORDS_MOST = 400
"""A session with more is left, and another one begun; an evening has about as many."""
PICTURE_BYTES = 300_000
OPENING = 0.1
"""Share of the kills that come while the log is opened."""
LINES, MOMENT_S = 12, 0.06
"""A kill comes when up to so many records were shown, or the log is about to be opened, and up to
this time later.
"""


def play_and_show(path: Path, seed: int) -> None:
    """The process that is killed.

    It goes on with the last session of a log, rules as fast as the disk lets it, and sometimes
    takes back.
    """
    chance = Random(seed)
    player = RandomPlayer(GAME, chance)
    print("opening", flush=True)
    log = Log(path)
    sessions = log.sessions()
    if sessions and sessions[-1].records < RECORDS_MOST:
        session = Session.reopen(log, sessions[-1].session)
    else:
        session = Session.begin(log, SessionStarted(game=GAME.NAME, players=PLAYERS))
    threading.Thread(target=_show, args=(session,), daemon=True).start()
    for at_ms in range(1_000_000):
        session.tick(at_ms)
        state = session.ledger.state
        if GAME.outcome(state) is not None:
            session.command(NextGame())
        elif session.ledger.standing and chance.random() < 0.15:
            session.command(Undo())
        else:
            ruled = VerdictReached(
                verdict="accepted",
                code="boule.throw",
                message="",
                moves=(str(player.choose(state)),),
            )
            session.append(ruled, chance.randbytes(chance.randrange(PICTURE_BYTES)))


def _show(session: Session) -> None:
    for record in session.subscribe(session.ledger.seq):
        print(json.dumps([record.seq, getattr(record.event, "state", None)]), flush=True)


class KilledProcess(msgspec.Struct, frozen=True):
    """One process that was killed.

    How many records it had shown, and the seconds it took to open its session again.
    """

    shown: int
    reopened_s: float


def live_and_die(path: Path, seed: int, moment_s: float) -> KilledProcess:
    """Let a process play on a log, kill it, and compare.

    Raises AssertionError where something that was shown is not on the log.
    """
    chance = Random(1000 + seed)
    words = [
        sys.executable,
        "-c",
        (
            "from pathlib import Path; from benchmarks.attacks.kills import play_and_show;"
            f" play_and_show(Path({str(path)!r}), {seed})"
        ),
    ]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    opening = path.exists() and chance.random() < OPENING
    lines = [child.stdout.readline() for _ in range(1 if opening else chance.randint(2, LINES))]
    time.sleep(chance.uniform(0, moment_s))
    child.kill()
    rest, _ = child.communicate()
    lines += rest.splitlines(keepends=True)
    shown = dict(json.loads(line) for line in lines[1:] if line.endswith("\n"))
    begun = time.perf_counter()
    with Log(path) as log:
        session = Session.reopen(log, log.sessions()[-1].session)
        reopened_s = time.perf_counter() - begun
        compare(log, session, shown)
    return KilledProcess(len(shown), reopened_s)


def compare(log: Log, session: Session, shown: dict[int, dict[str, Any] | None]) -> None:
    """Is all that was shown on the log, as it was shown, in order, and with its pictures whole?"""
    assert [record.seq for record in log.records()] == list(range(1, len(log.records()) + 1))
    states = dict(_states(session.records()))
    for seq, state in shown.items():
        assert seq in states, f"record {seq} was shown and is not on the log"
        assert state is None or state == json.loads(json.dumps(states[seq])), (
            f"record {seq} was shown with another state"
        )
    assert all(log.frame(record.seq) for record in session.records() if record.frame)


def _states(records: tuple[Record, ...]) -> Iterable[tuple[int, dict[str, Any]]]:
    """The state after every record, played again from the start."""
    ledger = begin(records[0], GAMES)
    yield records[0].seq, GAME.state_document(ledger.state)
    for record in records[1:]:
        ledger = apply(ledger, record)
        yield record.seq, GAME.state_document(ledger.state)
