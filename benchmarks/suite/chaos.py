"""Attack, kill, fill and confuse the referee.

Everything runs on this machine and against it alone: sockets of the loopback interface, files in a
temporary folder. Each part is bounded in count and time, and is written down as a row: what was
done, how often, and what came of it.
"""

from __future__ import annotations

import multiprocessing
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Annotated

import cv2
import msgspec
import numpy as np

from benchmarks.attacks import hostile_files, hostile_requests
from benchmarks.attacks.full_disk import DISK_MB, can_mount, write_on_full_disk
from benchmarks.attacks.kills import MOMENT_S, live_and_die
from benchmarks.games.playing import GAMES, Eyes, Game, Seeing, play, seeing_faults
from benchmarks.harness import Benchmark, Pairs
from referee.sessions.session import Session
from simulation.render.scene import Scene
from table.observation import Camera
from table.table_config import Setup
from vision.cameras.base import CameraPort
from vision.cameras.frame import Frame
from webui.server import listen, serving

PAGES = 100
SEED = 1
WIDTH_PX = 320
"""Of pictures that nobody reads: the games before clocks that jump are told what lies on the
table.
"""
JUMPS_MS = (-86_400_000, -600_000, -2000, 0, 0, 2000, 600_000, 86_400_000)
MOST_MB = 600
"""Memory that no command may need, whatever file it is given."""
ANSWER_S = 30.0
"""A page that takes longer counts as not answered."""


class Options(msgspec.Struct, frozen=True):
    kills: Annotated[int, "Lives of a referee."] = 200
    full_disk: Annotated[int, "Records before which the disk is filled."] = 200
    clocks: Annotated[int, "Acts of each game before a clock that jumps."] = 40
    requests: Annotated[int, "Hostile requests."] = 20_000
    half_sent: Annotated[int, "Connections that are held open."] = 300
    files: Annotated[int, "Changed files."] = 5000


class Row(msgspec.Struct, frozen=True):
    """One line of the page; `failed` says in a line what broke a promise, empty if nothing did."""

    done: str
    count: str
    came: str
    must: str
    failed: str = ""


def kills(count: int) -> Row:
    """The referee is killed at random moments; everything that was shown must be on its log."""
    lives = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            lives.append(live_and_die(Path(folder) / "log.sqlite", seed, MOMENT_S))
    shown, slowest = sum(life.shown for life in lives), max(life.reopened_s for life in lives)
    came = (
        f"all of {shown:,} records that were shown are on the log; back in {slowest:.2f} s at most"
    )
    return Row(
        "killed with SIGKILL while it rules and opens its log",
        f"{count} times",
        came,
        "nothing lost",
    )


def full_disk(count: int) -> Row:
    """A small file system is filled before each record, and freed while the referee waits."""
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
        ended = write_on_full_disk(Path(folder), count, every=1)
    if ended.returncode:
        error = ended.stderr.strip().splitlines()[-1]
        return Row(done, f"{count} times", "it ended with an error", must, error)
    waits = int(ended.stdout.split()[-1])
    came = (
        f"looked {waits} times whether there was room, and went on each time; no record lost,"
        " doubled or shown too early"
    )
    return Row(done, f"{count} times", came, must)


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


def clocks(count: int) -> Row:
    """The same games with and without a wall clock that jumps: every verdict must be the same."""
    jumping: list[_JumpingClock] = []
    differ = []
    acts = 0
    for game in GAMES:
        true = seeing_faults((0,))
        played = [
            play(game, SEED, count, WIDTH_PX, seeing=seeing)
            for seeing in (true, _before_jumping_clocks(true, jumping))
        ]
        acts += len(played[0].deeds)
        differ += [game] if _rulings(played[0]) != _rulings(played[1]) else []
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


def _rulings(game: Game) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(deed.name, deed.verdict, deed.message) for deed in game.deeds]


def requests(count: int) -> Row:
    """Hostile requests to all routes of all applications, over sockets."""
    outcome = hostile_requests.attack(count, SEED)
    faults = [*outcome.mistakes, *outcome.logged]
    # The server refuses a malformed head and closes; who is still sending the body sees no answer.
    hung_up = outcome.statuses.pop(0, 0)
    answers = ", ".join(
        f"{times:,} x {status}" for status, times in sorted(outcome.statuses.items())
    )
    came = (
        f"{len(faults)} unexcused 5xx or tracebacks; answers: {answers}; {hung_up} hung up on while"
        " sending"
    )
    return Row(
        "hostile requests to every route, as every role",
        f"{count:,}",
        came,
        "no 5xx, no traceback",
        faults[0] if faults else "",
    )


def half_sent(count: int) -> Row:
    """Connections that begin a request and never end it, while somebody asks for pages."""
    with ExitStack() as stack:
        apps = stack.enter_context(hostile_requests.applications())
        listening = stack.enter_context(closing(listen("127.0.0.1", 0)))
        address = listening.getsockname()[:2]
        stack.enter_context(serving(next(iter(apps.values())), listening))
        held = [stack.enter_context(closing(one)) for one in _half_requests(address, count)]
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


def _half_requests(address: tuple[str, int], count: int) -> Iterator[socket.socket]:
    for _ in range(count):
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


def files(count: int) -> Row:
    """Files of all formats, changed at random, given to the commands that read them."""
    # In a process of its own: the attack copies the process that begins it, which must have no
    # threads.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        outcome = pool.apply(hostile_files.attack, (count, SEED))
    faults, peak_mb = outcome.faults, outcome.peak_bytes / 2**20
    came = (
        f"{len(faults)} tracebacks, hangs or broken messages; most memory of a process"
        f" {peak_mb:.0f} MB"
    )
    too_much = "" if peak_mb <= MOST_MB else f"{peak_mb:.0f} MB"
    return Row(
        "files of all formats, changed at random",
        f"{count:,}",
        came,
        "no traceback, no hang, under 600 MB",
        faults[0] if faults else too_much,
    )


PARTS: dict[str, Callable[[int], Row]] = {
    "kills": kills,
    "full_disk": full_disk,
    "clocks": clocks,
    "requests": requests,
    "half_sent": half_sent,
    "files": files,
}


def cases(options: Options) -> Iterator[tuple[str, int]]:
    return ((part, getattr(options, part)) for part in PARTS)


def run(case: tuple[str, int]) -> Row:
    part, count = case
    cv2.setNumThreads(1)
    return PARTS[part](count)


def summarise(_options: Options, pairs: Pairs) -> tuple[Row, ...]:
    return tuple(row for _, row in pairs)


def broken(rows: tuple[Row, ...]) -> Iterator[str]:
    return (f"{row.done}: {row.failed}" for row in rows if row.failed)


BENCHMARK = Benchmark("CHAOS.md", cases, run, summarise, Options, broken=broken)
