"""Attack, kill, fill and confuse the referee, and write docs/CHAOS.md (`make bench-chaos`).

Everything runs on this machine and against it alone: sockets of the loopback interface, files in a
temporary folder. Each part is bounded in count and time, and is written down as a row: what was
done, how often, and what came of it.
"""

from __future__ import annotations

import datetime
import multiprocessing
import os
import platform
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random

import click
import cv2
import numpy as np

from benchmarks import hostile_files, hostile_requests
from benchmarks.accuracy import ROOT, commit
from benchmarks.full_disk import DISK_MB, can_mount, write_on_full_disk
from benchmarks.kill import MOMENT_S, live_and_die
from benchmarks.playing import GAMES, Eyes, Game, Seeing, play, seeing_faults
from referee.sessions.session import Session
from simulation.render.scene import Scene
from table.observation import Camera
from table.table_config import Setup
from vision.cameras.base import CameraPort
from vision.cameras.frame import Frame
from webui.server import listen, serving

PAGE = ROOT / "docs" / "CHAOS.md"
LIVES, REQUESTS, FILES, HALVES, PAGES, FULL = 200, 20_000, 5000, 300, 100, 200
SEED = 1
WIDTH_PX = 320
"""Of pictures that nobody reads: the games before clocks that jump are told what lies on the
table.
"""
CLOCK_ACTS = 40
"""So many acts of each game are played with a wall clock that is set before each picture."""
JUMPS_MS = (-86_400_000, -600_000, -2000, 0, 0, 2000, 600_000, 86_400_000)
MOST_MB = 600
"""Memory that no command may need, whatever file it is given."""
ANSWER_S = 30.0
"""A page that takes longer counts as not answered."""

TEXT = """# Chaos

Measured {date} ({commit}) on {machine}, Python {python}; `make bench-chaos` writes this page. What is promised, and
what is not, stands in [SECURITY.md](SECURITY.md). Everything was sent to this machine by this machine.

| what was done | how often | what came of it | must |
|---|---|---|---|
{rows}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the page; `failed` says in a line what broke a promise, empty if nothing did."""

    done: str
    count: str
    came: str
    must: str
    failed: str = ""

    def __str__(self) -> str:
        broken = f" **Broken: {self.failed}**" if self.failed else ""
        return f"| {self.done} | {self.count} | {self.came}{broken} | {self.must} |"


def kills() -> Row:
    """The referee is killed at random moments; everything that was shown must be on its log."""
    lives = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(LIVES):
            lives.append(live_and_die(Path(folder) / "log.sqlite", seed, MOMENT_S))
            progress("kills", seed + 1, LIVES)
    shown, slowest = sum(life.shown for life in lives), max(life.reopened_s for life in lives)
    came = (
        f"all of {shown:,} records that were shown are on the log; back in {slowest:.2f} s at most"
    )
    return Row(
        "killed with SIGKILL while it rules and opens its log",
        f"{LIVES} times",
        came,
        "nothing lost",
    )


def full_disk() -> Row:
    """A small file system is filled before each record, and has room again while the referee
    waits.
    """
    done = (
        f"disk filled to the last byte before a ruling, and room made while it waits ({DISK_MB} MB"
        " file system)"
    )
    must = "goes on by itself, nothing lost"
    with tempfile.TemporaryDirectory() as folder:
        if not can_mount(Path(folder)):
            return Row(
                done, "0 times", "not tried: this system lets nobody mount a file system", must
            )
        ended = write_on_full_disk(Path(folder), FULL, every=1)
    if ended.returncode:
        error = ended.stderr.strip().splitlines()[-1]
        return Row(done, f"{FULL} times", "it ended with an error", must, error)
    waits = int(ended.stdout.split()[-1])
    came = (
        f"looked {waits} times whether there was room, and went on each time; no record lost,"
        " doubled or shown too early"
    )
    return Row(done, f"{FULL} times", came, must)


class _JumpingClock:
    """A camera whose wall clock is set before each picture, by days at most."""

    def __init__(self, camera: CameraPort, seed: int) -> None:
        self._camera, self._chance = camera, Random(seed)
        self.name, self.simulated = camera.name, camera.simulated
        self.jumps = 0

    def read(self) -> Frame | None:
        if (frame := self._camera.read()) is None:
            return None
        jump_ms = self._chance.choice(JUMPS_MS)
        self.jumps += jump_ms != 0
        return replace(frame, utc_ms=1_795_000_000_000 + frame.at_ms + jump_ms)

    def close(self) -> None:
        self._camera.close()


def _before_jumping_clocks(seeing: Seeing, clocks: list[_JumpingClock]) -> Seeing:
    def see(
        setup: Setup, place: Camera, scene_at: Callable[[int], Scene], seed: int, session: Session
    ) -> Eyes:
        eyes = seeing(setup, place, scene_at, seed, session)
        clocks.append(_JumpingClock(eyes.camera, seed))
        return replace(eyes, camera=clocks[-1])

    return see


def clocks() -> Row:
    """The same games with and without a wall clock that jumps: every verdict must be the same."""
    jumping: list[_JumpingClock] = []
    differ = []
    acts = 0
    for number, game in enumerate(GAMES):
        true = seeing_faults((0,))
        played = [
            play(game, SEED, CLOCK_ACTS, WIDTH_PX, seeing=seeing)
            for seeing in (true, _before_jumping_clocks(true, jumping))
        ]
        acts += len(played[0].deeds)
        differ += [game] if _told(played[0]) != _told(played[1]) else []
        progress("clocks", number + 1, len(GAMES))
    jumps = sum(clock.jumps for clock in jumping)
    came = f"verdicts on {acts} acts of {len(GAMES)} games are the same with and without"
    failed = f"other verdicts in {', '.join(differ)}" if differ else ""
    return Row(
        "wall clock set by 2 s to a day, before three of four pictures",
        f"{jumps:,} times",
        came,
        "changes nothing",
        failed,
    )


def _told(game: Game) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(deed.name, deed.verdict, deed.said) for deed in game.deeds]


def requests() -> Row:
    """Hostile requests to all routes of all applications, over sockets."""
    outcome = hostile_requests.attack(REQUESTS, SEED)
    faults = [*outcome.mistakes, *outcome.logged]
    # The server refuses a malformed head and closes; who is still sending the body sees no answer.
    hung_up = outcome.statuses.pop(0, 0)
    answers = ", ".join(
        f"{count:,} x {status}" for status, count in sorted(outcome.statuses.items())
    )
    came = (
        f"{len(faults)} unexcused 5xx or tracebacks; answers: {answers}; {hung_up} hung up on while"
        " sending"
    )
    return Row(
        "hostile requests to every route, as every role",
        f"{REQUESTS:,}",
        came,
        "no 5xx, no traceback",
        faults[0] if faults else "",
    )


def half_sent() -> Row:
    """Connections that begin a request and never end it, while somebody asks for pages."""
    with ExitStack() as stack:
        apps = stack.enter_context(hostile_requests.applications())
        listening = stack.enter_context(closing(listen("127.0.0.1", 0)))
        address = listening.getsockname()[:2]
        stack.enter_context(serving(next(iter(apps.values())), listening))
        held = [stack.enter_context(closing(one)) for one in _half_requests(address)]
        times = [_page(address) for _ in range(PAGES)]
    unanswered = sum(took_s is None for took_s in times)
    took = np.array([took_s for took_s in times if took_s is not None])
    slowest = f"the slowest took {1000 * took.max():.0f} ms" if len(took) else "none was answered"
    came = f"{PAGES - unanswered} of {PAGES} pages answered meanwhile, {slowest}"
    failed = f"{unanswered} pages not answered" if unanswered else ""
    return Row(
        "requests sent by half and held open",
        f"{len(held)} at once",
        came,
        "pages are answered",
        failed,
    )


def _half_requests(address: tuple[str, int]) -> Iterator[socket.socket]:
    for _ in range(HALVES):
        connection = socket.create_connection(address, timeout=ANSWER_S)
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        yield connection


def _page(address: tuple[str, int]) -> float | None:
    """Seconds until a page was answered; None if it was not."""
    begun = time.perf_counter()
    connection = HTTPConnection(*address, timeout=ANSWER_S)
    try:
        connection.request("GET", "/", headers={"Host": "localhost", "Connection": "close"})
        answered = connection.getresponse().status == 200
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    return time.perf_counter() - begun if answered else None


def files() -> Row:
    """Files of all formats, changed at random, given to the commands that read them."""
    # In a process of its own: the attack copies the process that begins it, which must have no
    # threads.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        outcome = pool.apply(hostile_files.attack, (FILES, SEED))
    faults, peak_mb = outcome.faults, outcome.peak_bytes / 2**20
    came = (
        f"{len(faults)} tracebacks, hangs or broken messages; most memory of a process"
        f" {peak_mb:.0f} MB"
    )
    too_much = "" if peak_mb <= MOST_MB else f"{peak_mb:.0f} MB"
    return Row(
        "files of all formats, changed at random",
        f"{FILES:,}",
        came,
        "no traceback, no hang, under 600 MB",
        faults[0] if faults else too_much,
    )


PARTS: dict[str, Callable[[], Row]] = {
    "kills": kills,
    "full_disk": full_disk,
    "clocks": clocks,
    "requests": requests,
    "half_sent": half_sent,
    "files": files,
}


def progress(name: str, done: int, of: int) -> None:
    """A line that says how far a part is."""
    print(f"\r{name}: {done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)


@click.command()
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*PARTS]),
    help="Parts to run; then the page is not written.",
)
def main(only: tuple[str, ...]) -> None:
    """Run all parts and write the page; exit 1 where a promise was broken."""
    cv2.setNumThreads(1)
    rows = []
    for name in only or PARTS:
        begun = time.perf_counter()
        rows.append(PARTS[name]())
        print(f"{name}: {time.perf_counter() - begun:.0f} s. {rows[-1]}", file=sys.stderr)
    if not only:
        text = TEXT.format(
            date=datetime.date.today().isoformat(),
            commit=commit(),
            machine=f"{platform.machine()} with {os.cpu_count()} cores",
            python=platform.python_version(),
            rows="\n".join(map(str, rows)),
        )
        PAGE.write_text(text, encoding="utf-8")
        print(f"wrote {PAGE}", file=sys.stderr)
    sys.exit(any(row.failed for row in rows))


if __name__ == "__main__":
    main()
