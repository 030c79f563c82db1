"""Time lamps on a strip that is not there and write what came of it into docs/HARDWARE.md (`make bench-hardware`).

The loop that is timed does what the referee's does (reading a picture is stood in for by arithmetic): it looks, appends a ruling to
a log on disk, and waits for the next frame.  What is before the line of MARK in the page is written by hand and stays.
"""

from __future__ import annotations

import datetime
import os
import platform
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from benchmarks.accuracy import ROOT, commit
from engines import GAMES, ice_boule
from engines.players import RandomPlayer, playout
from hardware.fake_serial import Firmware, SerialDouble, WledFirmware
from hardware.power import limit
from hardware.rig import Rig
from hardware.scenes import Mark, Scene
from hardware.serial_port import open_port
from hardware.strip import Strip
from hardware.wled import WledStrip, adalight
from hardware.worker import Shown
from referee.companion import Companion
from referee.events import Record, Ruled, SessionStarted
from referee.lamps import scene_of
from referee.ledger import Ledger
from referee.log import Log
from referee.loop import Live
from referee.session import Session
from table.boards import Board, Chessboard, Coasters, Hex, Open, Tiles

MARK = "<!-- `make bench-hardware` writes what follows -->\n"
LEDS, BAUD = 300, 1_000_000
BOARD = Open(outline_mm=((0, 0), (900, 0), (900, 600), (0, 600)))
PLAYERS = ("blue", "yellow")
BOARDS: dict[str, tuple[Board, tuple[str, ...]]] = {
    "ice_boule": (BOARD, PLAYERS),
    "ice_storm": (Chessboard(square_mm=50), ("black", "white", "green", "pink", "cyan")),
    "icebreaker": (Hex(size=5, cell_mm=30), ("red", "black")),
    "zamboni_wars": (Coasters(cell_mm=33), ("yellow", "red", "blue", "green")),
    "icefloe": (Tiles(cell_mm=52), ("red", "black", "yellow", "blue")),
}
"""The board and the most players of every game."""
ROUNDS = 6
FRAME_S = 1 / 30
"""The referee's loop looks this often here."""


def frame_ms(repeats: int) -> np.ndarray:
    """Processor times (n,) to build a frame of LEDS lamps, from scene to bytes: whose turn it is, who leads, and six lines of fire."""
    strip = Strip(LEDS, BOARD.outline())
    lines = tuple(Mark("line", ((100, 50.0 * line), (800, 300))) for line in range(6))
    scene = Scene("turn", PLAYERS, of=PLAYERS[:1], leader="yellow", marks=lines)
    times = []
    for turn in range(repeats):
        begun = time.thread_time()
        adalight(limit(strip.frame(scene, 37.0 * turn), 0.5, 4000))
        times.append(1000 * (time.thread_time() - begun))
    return np.array(times)


class Unread:
    """A firmware that forgets what it reads: to follow WLED's, byte by byte, takes time of the very program that is timed."""

    def feed(self, _byte: int) -> bytes:
        return b""

    def restart(self) -> None:
        """It remembers nothing."""


class Strip1Mbaud:
    """A thread behind the port that reads as fast as the wire, and keeps how much was waiting."""

    def __init__(self, folder: Path, firmware: Firmware, reads: bool = True, floods: bool = False, goes: bool = False) -> None:
        self.double = SerialDouble(folder / "tty", firmware)
        self.waiting: list[int] = []
        self._reads, self._floods, self._goes = reads, floods, goes
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        tick_s, turn, owed = 0.01, 0, 0.0
        last = time.perf_counter()
        while not self._stopping.wait(tick_s):
            now = time.perf_counter()
            owed, last, turn = min(owed + (now - last) * BAUD / 10, 4 * tick_s * BAUD / 10), now, turn + 1
            self.waiting.append(self.double.waiting)
            if self._reads:
                owed -= self.double.pump(most=int(owed)) if owed >= 1 else 0
            if self._floods:
                self.double.say(b"\xff{Ada\r\n" * 150)
            if self._goes and turn % 20 == 0:
                self.double.unplug()
                self.double.plug()

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()
        self.double.unplug()


def opener(path: Path) -> Callable[[], WledStrip]:
    strip = Strip(LEDS, BOARD.outline())
    return lambda: WledStrip(open_port(str(path), BAUD, "hardware.lamps.device"), BAUD, strip, tuple, 0.5, 4000)


def stream(seconds: float) -> tuple[float, list[int]]:
    """Frames a second that arrived at 1 Mbaud, and how many bytes were waiting, all 10 ms."""
    firmware = WledFirmware(LEDS, BAUD)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Strip1Mbaud(Path(folder), firmware)) as wire,
        closing(Shown(opener(wire.double.path))) as shown,
    ):
        shown.show(Scene("turn", PLAYERS, of=("blue",), leader="yellow"))
        time.sleep(1)
        first, begun = firmware.shown, time.perf_counter()
        wire.waiting.clear()
        time.sleep(seconds)
        return (firmware.shown - first) / (time.perf_counter() - begun), wire.waiting.copy()


@contextmanager
def beside(session: Session, folder: Path, **device: bool) -> Iterator[None]:
    """A companion with a strip; without any words, none."""
    if not device:
        yield
        return
    with closing(Strip1Mbaud(folder, Unread(), **device)) as wire, closing(Shown(opener(wire.double.path))) as lamps:
        companion = Companion(Rig(lamps=lamps), session, SimpleNamespace(latest=Live("waiting", "")), BOARD)
        companion.start()
        try:
            yield
        finally:
            companion.stop()


def loop_ms(seconds: float, **device: bool) -> np.ndarray:
    """Times (n,) that the loop's turns took, waiting for the next frame left out."""
    picture = np.random.default_rng(3).integers(0, 255, (600, 800)).astype(np.float32)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = stack.enter_context(closing(Log(folder / "log.sqlite")))
        session = stack.enter_context(closing(Session.begin(log, SessionStarted(game=ice_boule.NAME, players=PLAYERS))))
        stack.enter_context(beside(session, folder, **device))
        times = []
        for turn in range(round(seconds / FRAME_S)):
            begun = time.perf_counter()
            float((picture * picture).mean())
            sum(number * number for number in range(20_000))
            if turn % 10 == 0:
                session.append(Ruled(verdict="refused", code="boule.throw.turn", said="", player=PLAYERS[turn // 10 % 2]))
            times.append(1000 * (time.perf_counter() - begun))
            time.sleep(max(0.0, FRAME_S - times[-1] / 1000))
    return np.array(times[30:])


def held_ms() -> np.ndarray:
    """Processor times (n,) of everything that runs beside the loop in one go: scenes of whole games, and frames of them.

    Python lets one thread run at a time: so long, at most, the loop may wait for one of them.
    """
    strip, times = Strip(LEDS, BOARD.outline()), []
    for name, engine in GAMES.items():
        board, players = BOARDS[name]
        for turn, (move, state) in enumerate(playout(engine, engine.start(players, {}), RandomPlayer(engine, Random(5)).choose)):
            ledger = Ledger(engine, SessionStarted(game=name, players=players), 1, 1, 1, players, {}, board, state)  # type: ignore[arg-type]
            news = Record(seq=turn + 2, session=1, at_ms=0, event=Ruled(verdict="accepted", code="any", said="", moves=(str(move),)))
            scene, scene_ms = timed(scene_of, ledger, "waiting", news, board)
            times += [scene_ms, timed(lambda now: adalight(strip.frame(now, 0.0)), scene)[1]]
            if turn == 200:
                break
    return np.array(times)


def timed(work: Callable[..., Any], *given: object) -> tuple[Any, float]:
    """What a function gives back, and its processor time in ms."""
    begun = time.thread_time()
    return work(*given), 1000 * (time.thread_time() - begun)


DEVICES: dict[str, dict[str, bool]] = {
    "no hardware": {},
    "a strip at 1 Mbaud": {"reads": True},
    "a strip that never reads": {"reads": False},
    "a strip that floods the port": {"floods": True},
    "a strip unplugged five times a second": {"goes": True},
}

TEXT = """## How fast it is

Measured {date} (commit {commit}) on {machine}, Python {python}, with a double of WLED's firmware on a pseudo-terminal that reads as fast as the
wire at 1 Mbaud; other programs were using the machine (load {load:.1f} on {cores} cores).

A frame of {leds} lamps with six lines of fire, from scene to bytes, takes the processor {frame[0]:.2f} ms in the median, {frame[1]:.2f} ms in 99 of
100 (aim: under 1 ms).  Frames that arrived: {fps:.1f} a second for {seconds:g} s.  Bytes waiting in the port: {first:.0f} at most in
the first half, {second:.0f} in the second, of {size} a frame: nothing piles up.

The referee's loop calls nothing of all this and waits for none of it; as Python runs one thread at a time, it may wait while
another thread computes.  Scenes and frames of whole games take the processor {held[0]:.2f} ms in the median, {held[1]:.2f} ms in 99
of 100 and {held[2]:.2f} ms at most: so long the loop may be delayed (aim: 5 ms at most).

Time of a turn of the loop, with a log on disk, by the clock: the quietest of {rounds} rounds of {turns} turns each, as other programs took their
share in all of them:

| beside the loop | median, ms | 99 of 100, ms | longest, ms |
|---|---|---|---|
{rows}
"""


@click.command()
@click.option("--seconds", default=20.0, show_default=True, help="How long each measurement takes.")
@click.option("--out", type=click.Path(path_type=Path), default=ROOT / "docs" / "HARDWARE.md", help="The page to write.")
def main(seconds: float, out: Path) -> None:
    """Time frames, the port and the loop, and write the end of the page."""
    frame = np.percentile(frame_ms(3000), (50, 99))
    fps, waiting = stream(seconds)
    # In turns, so that what else the machine does falls on all alike.
    turns: dict[str, list[np.ndarray]] = {name: [] for name in DEVICES}
    for _ in range(ROUNDS):
        for name, device in DEVICES.items():
            turns[name].append(loop_ms(seconds / 4 + 1, **device))
    rows = []
    for name, parts in turns.items():
        times = min(parts, key=lambda part: float(np.percentile(part, 99)))
        rows.append(f"| {name} | {np.median(times):.2f} | {np.percentile(times, 99):.2f} | {times.max():.2f} |")
    half = len(waiting) // 2
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=commit(),
        machine=platform.machine(),
        python=platform.python_version(),
        load=os.getloadavg()[0],
        cores=os.cpu_count(),
        leds=LEDS,
        frame=frame,
        rounds=ROUNDS,
        turns=len(turns["no hardware"][0]),
        held=np.percentile(held_ms(), (50, 99, 100)),
        fps=fps,
        seconds=seconds,
        first=max(waiting[:half]),
        second=max(waiting[half:]),
        size=len(adalight(np.zeros((LEDS, 3), np.uint8))),
        rows="\n".join(rows),
    )
    page = out.read_text(encoding="utf-8").partition(MARK)[0] if out.exists() else ""
    out.write_text(page + MARK + "\n" + text, encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
