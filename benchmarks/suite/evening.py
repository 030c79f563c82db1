"""Eight hours of play by a simulated clock: memory and disk, hour by hour.

Red and blue play Ice Boule, the same two ends again and again: each table is drawn a few times
before they begin, and lies before the camera for as long as people take.  Eyes, settling, judge,
session, log and a page's events are the real ones; nobody waits.
"""

from __future__ import annotations

import datetime
import resource
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs
from referee.live.referee import Referee
from referee.sessions.commands import Declare, NextGame
from referee.sessions.event_store import Log
from referee.sessions.session import Session
from referee.sessions.start import opening
from simulation.generate.cases import resized
from simulation.players.ice_boule_table import Tabletop, demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene
from table.solids import lying, upright
from table.table_config import Setup
from vision.cameras.frame import Frame, Image
from vision.change_gate import Watch
from webui.api.events import EventFeed, Streams, Subscriber, follow

WIDTH_PX, PERIOD_MS = 1640, 2000
TABLE_MS = 30_000
"""How long people take for a throw."""
TARGETS_MM = (270.0, 320.0)
"""Where the target stands, in one end and in the next: the last end's own is known by its place."""
GRAINS = 2
"""Every table is drawn with the camera's noise so often."""
FRAMES_BYTES = 100_000_000
"""Room for pictures: small enough to be filled in the first hours."""
HOUR_MS = 3_600_000
AT_ONCE = 50
"""So many records are read at once to measure what there is."""


def tables(setup: Setup, x_mm: float) -> Iterator[Tabletop]:
    """An end that red wins with one piece.

    The tables: nothing, the target, red near it, and blue four times farther away.
    """
    size = setup.sizes[-1]
    table = Tabletop(setup)
    yield table
    table = table.with_target(upright(size, x_mm, 280.0, 20.0))
    yield table
    for number, (colour, away_mm) in enumerate(
        (("red", 70.0), ("blue", 120.0), ("blue", 140.0), ("blue", 170.0), ("blue", 200.0))
    ):
        turn = np.radians(200 + 40 * number)
        solid = lying(
            size, x_mm + away_mm * np.cos(turn), 280.0 + away_mm * np.sin(turn), 50.0 * number
        )
        table = Tabletop(setup, (*table.pieces, table.piece(colour, solid)))
        yield table


class Evening:
    """A camera before which the tables follow one another.

    When the last table of an end has lain its time, the leader stops. `held` is measured at the end
    of every hour.
    """

    name, simulated = "simulated camera", True

    def __init__(self, setup: Setup, session: Session, path: Path, until_ms: int) -> None:
        renderer, rng, stage = (
            Renderer(setup, demo_place()),
            np.random.default_rng(1),
            demo_stage(1),
        )
        scenes = [
            Scene(stage, table.pieces) for x_mm in TARGETS_MM for table in tables(setup, x_mm)
        ]
        self._pictures: list[list[Image]] = [
            [renderer.picture(scene, rng) for _ in range(GRAINS)] for scene in scenes
        ]
        self._session, self._path, self._until_ms = session, path, until_ms
        self._seq = 0
        self.held: list[MemoryUse] = []

    def read(self) -> Frame | None:
        at_ms = self._seq * PERIOD_MS
        if at_ms and at_ms % HOUR_MS == 0:
            self.held.append(MemoryUse.now(self._path, self._session))
        if at_ms >= self._until_ms:
            return None
        number, since_ms = divmod(at_ms, TABLE_MS)
        if number and since_ms == 0 and number % (len(self._pictures) // len(TARGETS_MM)) == 0:
            self._end()
        frame = Frame(
            self._seq, at_ms, self._pictures[number % len(self._pictures)][self._seq % GRAINS]
        )
        self._seq += 1
        return frame

    @property
    def drawn(self) -> int:
        """Bytes of its pictures."""
        return sum(picture.nbytes for pictures in self._pictures for picture in pictures)

    def _end(self) -> None:
        """The leader throws no more; after thirteen points another game begins."""
        self._session.command(Declare(moves=("stop red",), decided_by="red"))
        if self._session.ledger.winners:
            self._session.command(NextGame())

    def close(self) -> None:
        """There is nothing to let go of."""


class MemoryUse(msgspec.Struct, frozen=True):
    """Bytes that the process holds in memory and on disk, and the number of its records.

    `disk` is the log's file with what SQLite keeps beside it, `pictures` the pictures in it.
    """

    memory: int
    disk: int
    pictures: int
    records: int

    @classmethod
    def now(cls, path: Path, session: Session) -> MemoryUse:
        memory = (
            int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            * resource.getpagesize()
        )
        disk = sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))
        count = pictures = seq = 0
        while records := session.records(
            seq, AT_ONCE
        ):  # all at once would be most of what is measured
            pictures += sum(
                len(session.frame(record.seq) or b"") for record in records if record.frame
            )
            count, seq = count + len(records), records[-1].seq
        return cls(memory, disk, pictures, count)


def play(
    path: Path, until_ms: int, width_px: int = WIDTH_PX, frames_bytes: int = FRAMES_BYTES
) -> tuple[Evening, Session]:
    """An evening until a time, on a log of its own; the session is closed, and as it was left."""
    setup = resized(demo_setup(), width_px)
    started = opening(
        "ice_boule",
        ("red", "blue"),
        {},
        setup,
        "simulated",
        datetime.datetime.now(datetime.UTC),
        simulated=True,
    )
    with Log(path, frames_bytes) as log, closing(Session.begin(log, started)) as session:
        camera = Evening(setup, session, path, until_ms)
        referee = Referee(camera, setup, Watch(), session)
        page = threading.Thread(target=_watch, args=(session, referee))
        page.start()
        referee.run()
        session.close()
        page.join()
    return camera, session


def _watch(session: Session, referee: Referee) -> None:
    """A page: it follows the events and asks for the state with each."""
    bulletin = EventFeed(session, referee, "page")
    for _ in follow(Subscriber(bulletin, 0), Streams(bulletin)):
        session.view()


class Options(msgspec.Struct, frozen=True):
    hours: Annotated[int, "How long they play, by their clock; 3 or more."] = 8


class Result(msgspec.Struct, frozen=True):
    """What was held at the end of every hour, and the bytes of the drawn pictures."""

    held: tuple[MemoryUse, ...]
    drawn: int


class Summary(msgspec.Struct, frozen=True):
    hours: int
    throw_s: int
    width_px: int
    records_an_hour: float
    room_mb: int
    """For pictures in the log."""
    drawn_mb: int
    held: tuple[MemoryUse, ...]
    """After each hour, in bytes."""
    record_kb: float
    """Of the log, beside pictures."""
    settled: int
    """Hours after which memory should grow no more."""
    grew_mb: float


SETTLED = 2


def cases(options: Options) -> tuple[int]:
    return (options.hours,)


def run(hours: int) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        camera, _ = play(Path(folder) / "log.sqlite", hours * HOUR_MS)
    return Result(tuple(camera.held), camera.drawn)


def summarise(options: Options, pairs: Pairs) -> Summary:
    ((_, result),) = pairs
    first, last = result.held[SETTLED - 1], result.held[-1]
    return Summary(
        hours=options.hours,
        throw_s=TABLE_MS // 1000,
        width_px=WIDTH_PX,
        records_an_hour=last.records / options.hours,
        room_mb=FRAMES_BYTES // 10**6,
        drawn_mb=result.drawn // 10**6,
        held=result.held,
        record_kb=(last.disk - first.disk) / (last.records - first.records) / 1000,
        settled=SETTLED,
        grew_mb=(last.memory - first.memory) / 1e6,
    )


BENCHMARK = Benchmark("LOG.md", cases, run, summarise, Options, section=True)
