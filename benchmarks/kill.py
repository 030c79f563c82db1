"""Kill the referee at random moments and see what is left; writes the end of docs/LOG.md (`make
bench-kill`).

A process of its own plays Ice Boule on a log on disk, with pictures, and prints every record as a
page would show it.  It is killed with SIGKILL, mostly while it plays, now and then while it opens
the log.  Then the log is opened, and everything that was shown must be on it, with the state that
was shown.  What is before the line of MARK in the page is written by hand and stays.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click
import numpy as np

from benchmarks.accuracy import ROOT, commit
from engines import GAMES
from referee.sessions.commands import NextGame, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import Record, Ruled, SessionStarted
from referee.sessions.session import Session
from referee.sessions.state import apply, begin
from simulation.players.policies import RandomPlayer

MARK = "<!-- `make bench-kill` writes what follows -->\n"
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
    """What is killed: goes on with the last session of a log, rules as fast as the disk lets it,
    and takes back now and then.
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
            ruled = Ruled(
                verdict="accepted", code="boule.throw", said="", moves=(str(player.choose(state)),)
            )
            session.append(ruled, chance.randbytes(chance.randrange(PICTURE_BYTES)))


def _show(session: Session) -> None:
    for record in session.subscribe(session.ledger.seq):
        print(json.dumps([record.seq, getattr(record.event, "state", None)]), flush=True)


@dataclass(frozen=True, slots=True)
class Life:
    """One process that was killed: how many records it had shown, and how long it took to open its
    session again, s.
    """

    shown: int
    reopened_s: float


def live_and_die(path: Path, seed: int, moment_s: float) -> Life:
    """Let a process play on a log, kill it, and compare; AssertionError where something that was
    shown is not on the log.
    """
    chance = Random(1000 + seed)
    words = [
        sys.executable,
        "-c",
        (
            "from pathlib import Path; from benchmarks.kill import play_and_show;"
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
    return Life(len(shown), reopened_s)


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


TEXT = """## What a power cut leaves

Measured {date} (commit {commit}) on {machine}, Python {python}; other programs were using the machine (load {load:.0f}).  A referee
that ruled as fast as the disk let it, with pictures of up to {kb} kB, was killed with SIGKILL {lives} times, at random moments
of its play or, one time in {opening:.0f}, while it opened the log.  It had shown {shown} records.  Lost: none; each was on the log with
the state that was shown, in order, and every picture was whole.

Opening the log and coming back to the same state took {median:.2f} s in the median, {most_often:.2f} s in 95 of 100 and {longest:.2f} s at
most (aim: 5 s), with sessions of up to {most} records; Python's start comes on top.  This kills the process, not the machine:
that a commit survives a power cut rests on SQLite's full sync and on a disk that does what it says.
"""


@click.command()
@click.option("--lives", default=200, show_default=True, help="How often to kill.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "LOG.md",
    help="The page to write.",
)
def main(lives: int, out: Path) -> None:
    """Kill the referee at random moments and write what is left into the page."""
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(lives):
            done.append(live_and_die(Path(folder) / "log.sqlite", seed, MOMENT_S))
            print(f"\r{seed + 1} of {lives}", end="", file=sys.stderr)
        with Log(Path(folder) / "log.sqlite") as log:
            most = max(summary.records for summary in log.sessions())
    times = np.array([life.reopened_s for life in done])
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=commit(),
        machine=f"{platform.machine()} with {os.cpu_count()} cores",
        python=platform.python_version(),
        load=os.getloadavg()[0],
        kb=PICTURE_BYTES // 1000,
        lives=lives,
        opening=1 / OPENING,
        shown=sum(life.shown for life in done),
        median=np.median(times),
        most_often=np.percentile(times, 95),
        longest=times.max(),
        most=most,
    )
    page = out.read_text(encoding="utf-8").partition(MARK)[0]
    out.write_text(page + MARK + "\n" + text, encoding="utf-8")
    print(f"\nwrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
