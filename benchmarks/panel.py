"""Load the panel with many who listen, and write what came of it into docs/PANEL.md (`make bench-panel`).

A process of its own does what `rinkside play` does: it looks at a (simulated) camera as fast as it can, keeps records on disk, and
serves the panel.  Another one listens, as 200 pages and 10 pictures would.  Time with and without listeners alternates, so that
whatever else the machine does falls on both.  What is before the line of MARK in the page is written by hand and stays.
"""

from __future__ import annotations

import datetime
import itertools
import json
import os
import platform
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.accuracy import ROOT, commit
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
STREAMS, PICTURES, DEAF = 200, 10, 20
"""Pages that listen, pages that show the camera's picture, and streams that are opened and never read."""
EVERY_S, PICTURE_S = 0.5, 0.4
"""A record comes, and a page asks for a new picture, so often."""
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
    """What is loaded; answers every line on stdin with pictures looked at, processor time, s, and memory held, MiB."""
    setup = demo_setup()
    with Log(folder / "rinkside.log") as log, listen(port=0) as listening:
        session = Session.begin(log, SessionStarted(game="ice_boule", players=("blue", "yellow"), simulated=True))
        referee = Referee(TableAgain(), setup, Watch(), session)
        stopping = threading.Event()

        def tick() -> None:
            while not stopping.wait(EVERY_S):
                said = json.dumps(time.monotonic())
                session.append(Noted(code="boule.tick", said=said, evidence={"gaps": [{"gap_mm": 12.5}] * 20}))

        def answer() -> None:
            for _ in sys.stdin:
                print(json.dumps([referee.latest.frame_seq, time.process_time(), held_mib()]), flush=True)
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


@dataclass
class Heard:
    """What one connection has heard; pictures are asked for again and again."""

    path: str
    text: bytes = b""
    records: dict[int, float] = field(default_factory=dict)
    newest: bytes = b""
    pictures: int = 0
    refused: int = 0
    bytes_read: int = 0
    wanted: int = 0
    due_s: float = 0.0

    def read(self, data: bytes) -> None:
        self.bytes_read += len(data)
        if "stream" in self.path:
            self._stream(data)
        else:
            self._picture(data)

    def _stream(self, data: bytes) -> None:
        *events, self.text = (self.text + data).split(b"\n\n")
        for event in events:
            if b"event: record" in event:
                number = int(event[event.index(b"id: ") + 4 :].split(b"\n")[0])
                assert not self.records or number == max(self.records) + 1, f"record {number} came after {max(self.records)}"
                self.records[number] = time.monotonic()
                self.newest = event

    def _picture(self, data: bytes) -> None:
        self.text += data
        if not self.wanted and b"\r\n\r\n" in self.text:
            head = self.text.split(b"\r\n\r\n")[0]
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            self.wanted = len(head) + 4 + length
        if self.wanted and len(self.text) >= self.wanted:
            self.pictures += b" 200 " in self.text[:20]
            self.refused += b" 503 " in self.text[:20]
            self.text, self.wanted = b"", 0


def connect(port: int, heard: Heard) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    ask(connection, heard.path)
    return connection


def ask(connection: socket.socket, path: str) -> None:
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


def listen_for(port: int, seconds: float) -> None:
    """What loads: prints what was heard in `seconds`, as JSON."""
    after = 10**9  # a number that the log has not reached begins from the start: everybody catches up first
    all_heard = [Heard(f"/api/v1/stream?after={after}") for _ in range(STREAMS)] + [Heard("/api/v1/camera.jpg") for _ in range(PICTURES)]
    selector = selectors.DefaultSelector()
    begun = time.monotonic()
    for heard in all_heard:
        connection = connect(port, heard)
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ, heard)
        heard.due_s = begun
    joined = time.monotonic()
    while (now := time.monotonic()) < joined + seconds:
        for key, _ in selector.select(0.02):
            data = key.fileobj.recv(2**18)
            assert data, f"{key.data.path} was hung up"
            key.data.read(data)
        for key in list(selector.get_map().values()):
            one = key.data
            if "camera" in one.path and not one.text and now > one.due_s + PICTURE_S:
                one.due_s = now
                ask(key.fileobj, one.path)
    streams = all_heard[:STREAMS]
    complete = set.intersection(*(set(one.records) for one in streams))
    live = [number for number in complete if streams[0].records[number][0] > joined]
    late_s = [max(one.records[number][1] for one in streams) - streams[0].records[number][0] for number in live]
    print(
        json.dumps(
            {
                "late_s": late_s,
                "caught_up": len(complete) - len(live),
                "pictures": sum(one.pictures for one in all_heard),
                "refused": sum(one.refused for one in all_heard),
                "mb": sum(one.bytes_read for one in all_heard) / 1e6,
                "joining_s": joined - begun,
                "cpu_s": time.process_time(),
            }
        )
    )


@contextmanager
def loaded(folder: Path) -> Iterator[tuple[int, Any]]:
    """The process that is loaded: its port, and a question that it answers with pictures, s and MiB."""
    words = [sys.executable, "-c", f"from pathlib import Path; from benchmarks.panel import look_and_serve; look_and_serve(Path({str(folder)!r}))"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        assert child.stdin is not None
        assert child.stdout is not None

        def question() -> np.ndarray:
            child.stdin.write("\n")
            child.stdin.flush()
            return np.array(json.loads(child.stdout.readline()), float)

        yield int(child.stdout.readline()), question
        child.stdin.close()


def measure(seconds: float, pairs: int) -> dict[str, Any]:
    """Times with listeners and without, in turn."""
    rounds: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, loaded(Path(folder)) as (port, question):
        time.sleep(3)
        for _ in range(pairs):
            alone = _while(question, lambda: time.sleep(seconds))
            heard: dict[str, Any] = {}
            words = [sys.executable, "-c", f"from benchmarks.panel import listen_for; listen_for({port}, {seconds})"]
            beside = _while(question, lambda words=words, heard=heard: heard.update(json.loads(subprocess.check_output(words, cwd=ROOT))))
            rounds.append({"alone": alone, "beside": beside, **heard})
            click.echo(f"{alone} {beside} { {k: v for k, v in heard.items() if k != 'late_s'} } p95 {np.percentile(heard['late_s'], 95):.3f}", err=True)
    return {"rounds": rounds}


def _while(question: Any, work: Any) -> dict[str, float]:
    """Pictures a second, share of a processor, and memory held at the end, while something is done."""
    before, begun = question(), time.monotonic()
    work()
    after, passed = question(), time.monotonic() - begun
    return {"pictures_s": (after[0] - before[0]) / passed, "cpu": (after[1] - before[1]) / passed, "mib": after[2]}


if __name__ == "__main__":
    measure(5, 8)
