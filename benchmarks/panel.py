"""Load the panel with many who listen, and write what came of it into docs/PANEL.md (`make bench-panel`).

A process of its own does what `rinkside play` does: it looks at a (simulated) camera as fast as it can, keeps records on disk, and
serves the panel.  Another one listens, as 200 pages and 10 pictures would.  Time with and without listeners alternates, so that
whatever else the machine does falls on both.  What is before the line of MARK in the page is written by hand and stays.
"""

from __future__ import annotations

import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.accuracy import ROOT
from referee.events import Noted, SessionStarted
from referee.log import Log
from referee.loop import Referee
from referee.session import Session
from referee.simulated_table import demo_place, demo_setup
from vision.cameras.simulated import PERIOD_MS
from vision.frame import Frame
from vision.render import Renderer
from vision.scene_cases import random_view
from vision.watch import Watch
from webui import create_app
from webui.serve import listen, serve

MARK = "<!-- `make bench-panel` writes what follows -->\n"
EVERY_S = 0.5
"""A record comes so often."""
TABLES = 6


class TableAgain:
    """A camera before which another table lies with every second picture: there is as much to look at at all times."""

    name, simulated = "simulated camera", True

    def __init__(self) -> None:
        setup = demo_setup()
        rng = np.random.default_rng(1)
        self._images = [Renderer(setup, demo_place()).picture(random_view(setup, seed)[1], rng) for seed in range(TABLES)]
        self._numbers = itertools.count()

    def read(self) -> Frame:
        number = next(self._numbers)
        return Frame(number, PERIOD_MS * number, self._images[number // 2 % TABLES])

    def close(self) -> None:
        """Nothing is held."""


def look_and_serve(folder: Path) -> None:
    """What is loaded; answers every line on stdin with pictures looked at, processor time, memory held, and when records were sent."""
    setup = demo_setup()
    with Log(folder / "rinkside.log") as log, listen(port=0) as listening:
        session = Session.begin(log, SessionStarted(game="ice_boule", players=("blue", "yellow"), simulated=True))
        referee = Referee(TableAgain(), setup, Watch(), session)
        stopping = threading.Event()
        sent: dict[int, float] = {}

        def tick() -> None:
            while not stopping.wait(EVERY_S):
                begun = time.monotonic()
                record = session.append(Noted(code="boule.tick", said="Tick.", evidence={"gaps": [{"gap_mm": 12.5}] * 20}))
                sent[record.seq] = begun

        def answer() -> None:
            for _ in sys.stdin:
                print(json.dumps({"looked": referee.latest.frame_seq, "cpu_s": time.process_time(), "mib": held_mib(), "sent": sent}), flush=True)
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
    """The process that is loaded: its port, and a question that it answers with pictures, s and MiB."""
    words = [sys.executable, "-c", f"from pathlib import Path; from benchmarks.panel import look_and_serve; look_and_serve(Path({str(folder)!r}))"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
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
    """Those who load: told port, number of the newest record and seconds, they join, and then can be waited for."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.listeners"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as child:

        def join(words: list[Any]) -> Callable[[], dict[str, Any]]:
            child.stdin.write(json.dumps(words) + "\n")
            child.stdin.flush()
            assert child.stdout.readline() == "joined\n"
            return lambda: dict(json.loads(child.stdout.readline()))

        yield join
        child.stdin.close()


def measure(seconds: float, pairs: int) -> list[dict[str, Any]]:
    """Times with listeners and without, in turn."""
    rounds: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, loaded(Path(folder)) as (port, question), listeners() as join:
        time.sleep(2)
        for _ in range(pairs):
            alone, _ = _while(question, lambda: time.sleep(seconds))
            heard_in_the_end = join([port, max(map(int, question()["sent"])), seconds])
            beside, heard = _while(question, heard_in_the_end)
            sent = question()["sent"]
            late_ms = [1000 * (last_s - sent[number]) for number, last_s in heard["last_s"].items() if sent[number] > heard["joined_s"]]
            rounds.append({"alone": alone, "beside": beside, "late_ms": late_ms, "heard": heard})
            click.echo(f"{alone} {beside} {max(late_ms):.0f} ms {heard['shown']}, {heard['refused']}, {heard['cpu']}", err=True)
    return rounds


def _while(question: Any, work: Any) -> tuple[dict[str, float], Any]:
    """Pictures a second, share of a processor, and memory held at the end, while something is done, and what that gave."""
    before, begun = question(), time.monotonic()
    given = work()
    after, passed_s = question(), time.monotonic() - begun
    rates = {name: (after[name] - before[name]) / passed_s for name in ("looked", "cpu_s")}
    return rates | {"mib": after["mib"]}, given


if __name__ == "__main__":
    rounds = measure(5, 6)
    print(
        statistics.median(one["beside"]["looked"] / one["alone"]["looked"] for one in rounds),
        np.percentile([late_ms for one in rounds for late_ms in one["late_ms"]], 95),
    )
