"""Load the panel with many who listen.

A process of its own does what `rinkside play` does: it looks at a (simulated) camera as fast as it
can, keeps records on disk, and serves the panel.  Another one listens, as 200 pages and 10 pictures
would.  Time with and without listeners alternates, so that whatever else the machine does falls on
both.
"""

from __future__ import annotations

import itertools
import json
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from benchmarks.harness import ROOT, Benchmark, Pairs, median, percentiles
from benchmarks.listeners import PICTURES, STREAMS
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import InputRecorded, SessionStarted
from referee.sessions.session import Session
from simulation.camera import PERIOD_MS
from simulation.generate.cases import random_view
from simulation.players.ice_boule_table import demo_place, demo_setup
from simulation.render.renderer import Renderer
from vision.cameras.frame import Frame
from vision.change_gate import Watch
from webui import create_app
from webui.api.fanout import STALLED_S
from webui.server import listen, serve

EVERY_S = 0.5
"""A record comes so often."""
TABLES = 6
DEAF = 50


class TableAgain:
    """A camera with another table in every second picture, so that the load is even."""

    name, simulated = "simulated camera", True

    def __init__(self) -> None:
        setup = demo_setup()
        rng = np.random.default_rng(1)
        self._images = [
            Renderer(setup, demo_place()).picture(random_view(setup, seed)[1], rng)
            for seed in range(TABLES)
        ]
        self._numbers = itertools.count()

    def read(self) -> Frame:
        number = next(self._numbers)
        return Frame(number, PERIOD_MS * number, self._images[number // 2 % TABLES])

    def close(self) -> None:
        """Nothing is held."""


def look_and_serve(folder: Path) -> None:
    """The process under load.

    It answers every line on stdin with the number of pictures looked at, processor time, memory
    held, and when records were sent.
    """
    setup = demo_setup()
    with Log(folder / "rinkside.log") as log, listen(port=0) as listening:
        session = Session.begin(
            log, SessionStarted(game="ice_boule", players=("blue", "yellow"), simulated=True)
        )
        referee = Referee(TableAgain(), setup, Watch(), session)
        stopping = threading.Event()
        sent: dict[int, float] = {}

        def tick() -> None:
            while not stopping.wait(EVERY_S):
                begun = time.monotonic()
                record = session.append(
                    InputRecorded(
                        code="boule.tick",
                        message="Tick.",
                        evidence={"gaps": [{"gap_mm": 12.5}] * 20},
                    )
                )
                sent[record.seq] = begun

        def answer() -> None:
            for _ in sys.stdin:
                print(
                    json.dumps(
                        {
                            "looked": referee.latest.frame_seq,
                            "cpu_s": time.process_time(),
                            "mib": held_mib(),
                            "sent": sent,
                        }
                    ),
                    flush=True,
                )
            stopping.set()

        threads = [threading.Thread(target=work) for work in (referee.run, tick, answer)]
        for thread in threads:
            thread.start()
        print(listening.getsockname()[1], flush=True)
        serve(create_app(session, referee), listening, stopping=stopping)
        referee.stop()
        for thread in threads:
            thread.join()


def held_mib() -> float:
    """Memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


@contextmanager
def loaded(folder: Path) -> Iterator[tuple[int, Any]]:
    """Start the process under load: yields its port, and a function that asks for its figures.

    The figures are pictures, s and MiB.
    """
    words = [
        sys.executable,
        "-c",
        (
            "from pathlib import Path; from benchmarks.suite.panel import look_and_serve;"
            f" look_and_serve(Path({str(folder)!r}))"
        ),
    ]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def question() -> dict[str, Any]:
            child.stdin.write("\n")
            child.stdin.flush()
            return dict(json.loads(child.stdout.readline()))

        yield int(child.stdout.readline()), question
        child.stdin.close()


@contextmanager
def listeners() -> Iterator[Callable[[list[Any]], Callable[[], dict[str, Any]]]]:
    """Start the listeners.

    Given a port, the number of the newest record and seconds, they join, and can then be waited
    for.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.listeners"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as child:

        def join(words: list[Any]) -> Callable[[], dict[str, Any]]:
            child.stdin.write(json.dumps(words) + "\n")
            child.stdin.flush()
            assert child.stdout.readline() == "joined\n"
            return lambda: dict(json.loads(child.stdout.readline()))

        yield join
        child.stdin.close()


class Load(msgspec.Struct, frozen=True):
    """Times with listeners and without, in turn, and memory.

    Memory is that before, with listeners, and when there were unresponsive ones too.
    """

    looked: tuple[float, ...]
    cpu: tuple[float, ...]
    late_ms: tuple[float, ...]
    pictures_s: float
    mib: tuple[float, float, float]


def load(seconds: float, pairs: int) -> Load:
    """Measure the load of listeners in pairs of runs, without and with them.

    `looked` is the ratio of pictures looked at, `cpu` the share of a processor that the listeners
    take, for each pair.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        loaded(Path(folder)) as (port, question),
        listeners() as join,
    ):
        time.sleep(2)
        looked, cpu, late_ms, shown = [], [], [], 0
        mib = [question()["mib"]]
        for _ in range(pairs):
            alone, _ = _while(question, lambda: time.sleep(seconds))
            beside, heard = _while(question, join([port, _newest(question), seconds]))
            sent = question()["sent"]
            late_ms += [
                1000 * (last_s - sent[number])
                for number, last_s in heard["last_s"].items()
                if sent[number] > heard["joined_s"]
            ]
            looked.append(beside["looked"] / alone["looked"])
            cpu.append(beside["cpu_s"] - alone["cpu_s"] * looked[-1])
            shown += heard["shown"]
        mib.append(question()["mib"])
        deaf = [_deaf(port) for _ in range(DEAF)]
        join([port, _newest(question), STALLED_S])()
        mib.append(question()["mib"])
        for connection in deaf:
            connection.close()
        return Load(
            tuple(looked),
            tuple(cpu),
            tuple(late_ms),
            shown / pairs / seconds,
            (mib[0], mib[1], mib[2]),
        )


def _newest(question: Any) -> int:
    return max(map(int, question()["sent"]))


def _deaf(port: int) -> socket.socket:
    """One who asks for everything that ever happened and never reads it."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


def _while(question: Any, work: Any) -> tuple[dict[str, float], Any]:
    """Pictures looked at and processor time, per second, while `work` runs, and its result."""
    before, begun = question(), time.monotonic()
    given = work()
    after, passed_s = question(), time.monotonic() - begun
    return {name: (after[name] - before[name]) / passed_s for name in ("looked", "cpu_s")}, given


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[float, "Length of each time, with listeners or without."] = 6.0
    pairs: Annotated[int, "How many pairs of them."] = 10


class Summary(msgspec.Struct, frozen=True):
    streams: int
    """Pages that listen."""
    pictures: int
    """Pages that show the camera's picture."""
    deaf: int
    every_s: float
    pairs: int
    records: int
    late_ms: tuple[float, ...] | None
    """Median, 95th percentile and worst."""
    fewer: tuple[float, float, float]
    """Share of pictures that are not looked at: median, and the middle half of the pairs."""
    cpu: float | None
    pictures_per_s: float
    mib: tuple[float, float, float]


def cases(options: Options) -> tuple[tuple[float, int]]:
    return ((options.seconds, options.pairs),)


def run(case: tuple[float, int]) -> Load:
    return load(*case)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    ((_, load),) = pairs
    looked = percentiles(load.looked, 50, 75, 25)
    assert looked is not None, "there is a pair"
    return Summary(
        STREAMS,
        PICTURES,
        DEAF,
        EVERY_S,
        len(load.looked),
        len(load.late_ms),
        percentiles(load.late_ms, 50, 95, 100),
        (1 - looked[0], 1 - looked[1], 1 - looked[2]),
        median(load.cpu),
        load.pictures_s,
        load.mib,
    )


BENCHMARK = Benchmark("PANEL.md", cases, run, summarise, Options, section=True)
