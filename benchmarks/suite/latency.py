"""From the last movement on the table to the verdict on the panel, and what waiting costs.

Simulated players are filmed first, ten pictures a second.  Then the film runs in real time before
the referee as a camera's would: JPEGs that are decoded as they come, eyes, judge, session with its
log on disk, the panel behind its web server, and a page that listens to its events and fetches
pictures.  In the end the table lies still, and what that costs is measured.
"""

from __future__ import annotations

import datetime
import http.client
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import cv2
import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs, percentiles
from referee.live.referee import Referee
from referee.live.stability import HOLD_MS
from referee.presentation.session_view import SessionView
from referee.sessions.commands import Command
from referee.sessions.event_store import Log
from referee.sessions.events import Record
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.sessions.state import SessionState
from simulation.generate.cases import resized
from simulation.players.ice_boule import Players as BoulePlayers
from simulation.players.ice_boule_table import demo_place, demo_setup
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene
from simulation.tables import game_table, seat
from table.errors import InputError
from table.table_config import Setup
from vision.cameras.frame import Frame, Image
from vision.cameras.image_files import decode_image, encode_jpeg
from vision.cameras.live import LiveCamera, Picture, epoch_ms
from vision.change_gate import Watch
from webui import create_app
from webui.server import listen, serving

WIDTH_PX, PERIOD_MS, CORES = 1640, 100, 2
SEEDS = {"ice_boule": 1, "ice_storm": 2, "zamboni_wars": 4, "icebreaker": 2, "icefloe": 11}
"""Tables before a camera of 1640 x 1232 pixels."""
QUALITY = 90
"""Of the camera's JPEGs."""
PAGE_MS = 400
"""A page fetches the camera's picture so often."""
GRAINS = 3
"""A table that lies still is drawn with the camera's noise so often, and these pictures shown in
turn.
"""
SMALL, CHANGED_LEVELS = 8, 6
"""Two pictures show a change where they differ by more levels of grey, so many times smaller; noise
is not seen there.
"""
IDLE_WARM_S = 3.0
MOST_MS = HOLD_MS + 300
"""The aim, at the 95th percentile."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture as the camera sends it.

    `moved`: something in it is not where it was in the one before.
    """

    jpeg: bytes
    moved: bool


@dataclass(frozen=True, slots=True)
class Film:
    """A film of players, one shot every PERIOD_MS.

    `message` are commands, each with the number of the shot before which it was given.
    """

    game: str
    setup: Setup
    empty: Frame | None
    shots: tuple[Shot, ...]
    heard: tuple[tuple[int, Command], ...]


class _ObservedSession:
    """The session as the players know it; what they tell it is noted with the time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.shot = 0
        self.message: list[tuple[int, Command]] = []

    @property
    def ledger(self) -> SessionState:
        return self._session.ledger

    def records(self, after: int = 0) -> tuple[Record, ...]:
        return self._session.records(after)

    def view(self) -> SessionView:
        return self._session.view()

    def command(self, command: Command) -> Record:
        record = self._session.command(command)
        self.message.append((self.shot, command))
        return record


class _Filming:
    """A camera over simulated players that keeps what it shows."""

    name, simulated = "simulated camera", True

    def __init__(
        self, renderer: Renderer, players: Any, heard: _ObservedSession, count: int
    ) -> None:
        self._renderer, self._players, self._heard, self._count = renderer, players, heard, count
        self._rng = np.random.default_rng(1)
        self._scene: Scene | None = None
        self._small: Image | None = None
        self._grains: list[tuple[bytes, Image]] = []
        self.shots: list[Shot] = []

    def read(self) -> Frame | None:
        number = len(self.shots)
        if number == self._count:
            return None
        self._heard.shot = number
        scene = self._players.scene_at(number * PERIOD_MS)
        if self._scene is None or not _same(scene, self._scene):
            self._scene, self._grains = scene, []
        if len(self._grains) < GRAINS:
            jpeg = encode_jpeg(self._renderer.picture(scene, self._rng), QUALITY)
            self._grains.append((jpeg, decode_image(jpeg, "frame")))
        jpeg, image = self._grains[number % len(self._grains)]
        self.shots.append(Shot(jpeg, self._shows_a_change(image)))
        return Frame(number, number * PERIOD_MS, image)

    def _shows_a_change(self, image: Image) -> bool:
        """An arm that is out of sight moves too, and nobody waits for it."""
        small, before = (
            cv2.resize(image, None, fx=1 / SMALL, fy=1 / SMALL, interpolation=cv2.INTER_AREA),
            self._small,
        )
        self._small = np.asarray(small, np.uint8)
        return before is not None and bool(cv2.absdiff(before, self._small).max() > CHANGED_LEVELS)

    def close(self) -> None:
        """There is nothing to let go of."""


def _same(a: Scene, b: Scene) -> bool:
    """Does everything lie where it lay?  What was not touched is the same object."""
    pairs = [(a.pieces, b.pieces), (a.slabs, b.slabs), (a.limbs, b.limbs)]
    return all(
        len(now) == len(then) and all(x is y for x, y in zip(now, then, strict=True))
        for now, then in pairs
    )


def shoot(game: str, film_ms: int) -> Film:
    """Film the beginning of a game without mistakes."""
    seed = SEEDS[game]
    table = None if game == "ice_boule" else game_table(game, seed, WIDTH_PX)
    setup = resized(demo_setup(), WIDTH_PX) if table is None else table.setup
    empty = table.empty if table else None
    with _session(game, setup) as session:
        heard = _ObservedSession(session)
        players = (
            BoulePlayers(heard, setup, seed) if table is None else seat(heard, table, mistakes=0.0)
        )
        renderer = Renderer(setup, demo_place() if table is None else table.place)
        camera = _Filming(renderer, players, heard, film_ms // PERIOD_MS)
        Referee(camera, setup, Watch(), session, empty).run()
    return Film(game, setup, empty, tuple(camera.shots), tuple(heard.message))


@contextmanager
def _session(game: str, setup: Setup) -> Iterator[Session]:
    started = opening(
        game,
        setup.game.colours,
        {},
        setup,
        "simulated",
        datetime.datetime.now(datetime.UTC),
        simulated=True,
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        Log(Path(folder) / "log.sqlite") as log,
        closing(Session.begin(log, started)) as session,
    ):
        yield session


class Projector:
    """A camera feed that shows a film in real time, and its last picture ever after.

    Each picture is decoded when it comes; `taken_ms` are the times of the shots.
    """

    def __init__(self, film: Film, session: Session) -> None:
        self._film, self._session = film, session
        self._said = list(film.message)
        self._began = time.monotonic() + 1.0
        self.taken_ms: list[int] = []

    @property
    def over(self) -> bool:
        """Does the table lie still for good?"""
        return len(self.taken_ms) >= len(self._film.shots)

    def picture(self) -> Picture:
        number = len(self.taken_ms)
        time.sleep(max(0.0, self._began + number * PERIOD_MS / 1000 - time.monotonic()))
        while self._said and self._said[0][0] <= number:
            _, command = self._said.pop(0)
            with suppress(
                InputError
            ):  # a verdict that came otherwise than when it was filmed asks for something else
                self._session.command(command)
        self.taken_ms.append(epoch_ms())
        return Picture(
            decode_image(self._film.shots[min(number, len(self._film.shots) - 1)].jpeg, "frame")
        )

    def close(self) -> None:
        """There is nothing to let go of."""


class Page:
    """A page in a browser: it follows the panel's events and fetches the camera's picture.

    `came_ms` says when each record arrived.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._closing = threading.Event()
        self.came_ms: dict[int, int] = {}
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._follow, self._look)
        ]
        for thread in self._threads:
            thread.start()

    def _follow(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port)) as connection:
            connection.request("GET", "/api/v1/stream")
            response = connection.getresponse()
            while (line := response.readline()) and not self._closing.is_set():
                if line.startswith(b"id: "):
                    self.came_ms[int(line[4:])] = epoch_ms()

    def _look(self) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port)) as connection:
            while not self._closing.wait(PAGE_MS / 1000):
                connection.request("GET", "/api/v1/camera.jpg")
                connection.getresponse().read()

    def close(self) -> None:
        self._closing.set()
        for thread in self._threads:
            thread.join()


class LatencyResult(msgspec.Struct, frozen=True):
    """Latency and cost of one game.

    `waits_ms`: from the last movement to each verdict on the page. While the table lay still, with
    the page open: `frames_per_s` that the referee looked at, and `core`, the share of one core that
    the process took.
    """

    game: str
    waits_ms: tuple[int, ...]
    frames_per_s: float
    core: float


def measure(film: Film, idle_s: float) -> LatencyResult:
    """Show a film to the referee, and then the table as it lies in the end."""
    with _session(film.game, film.setup) as session, closing(listen("127.0.0.1", 0)) as listening:
        projector = Projector(film, session)
        referee = Referee(
            LiveCamera("projector", lambda: projector, film.setup),
            film.setup,
            Watch(),
            session,
            film.empty,
        )
        port = listening.getsockname()[1]
        with serving(create_app(session, referee), listening), closing(Page(port)) as page:
            worker = threading.Thread(target=referee.run, daemon=True)
            worker.start()
            while not projector.over:
                time.sleep(0.2)
            time.sleep(IDLE_WARM_S)
            before, began, used = referee.latest.frame_seq, time.perf_counter(), time.process_time()
            time.sleep(idle_s)
            wall = time.perf_counter() - began
            core, frames = (
                (time.process_time() - used) / wall,
                (referee.latest.frame_seq - before) / wall,
            )
            referee.stop()
            worker.join()
            session.close()
        waits = tuple(_waits_ms(film, projector.taken_ms, session.records(), page.came_ms))
    return LatencyResult(film.game, waits, frames, core)


def _waits_ms(
    film: Film, taken_ms: Sequence[int], records: Sequence[Record], came_ms: dict[int, int]
) -> Iterator[int]:
    """Times from the last movement, or the last word before a ruling, to the page.

    The movement ended at some time between the last shot that shows another table than the one that
    was ruled on and the next: this is the longest that it can have been.
    """
    moved = [k for k, shot in enumerate(film.shots) if shot.moved]
    for record in records:
        if getattr(record.event, "observation", None) is None or record.seq not in came_ms:
            continue
        last = max(
            (taken_ms[k - 1] for k in moved if k and taken_ms[k] <= record.at_ms), default=None
        )
        heard = [
            other.at_ms
            for other in records
            if other.seq < record.seq and getattr(other.event, "observation", None) is None
        ]
        if last is not None and not any(at_ms > last for at_ms in heard):
            yield came_ms[record.seq] - last


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[int, "How long each game is filmed."] = 120
    idle: Annotated[float, "Seconds that the table lies still."] = 20.0


class Row(msgspec.Struct, frozen=True):
    """Latency of some verdicts, and the cost of a table that lies still.

    Median, 95th percentile and slowest; pictures a second, and the share of one core.
    """

    game: str
    verdicts: int
    waits_ms: tuple[float, ...] | None
    frames_per_s: float | None = None
    core: float | None = None


class Summary(msgspec.Struct, frozen=True):
    cores: int
    """That the referee may use."""
    width_px: int
    film_s: int
    period_ms: int
    page_ms: int
    aim_ms: int
    hold_ms: int
    rows: tuple[Row, ...]


def cases(options: Options) -> Iterator[tuple[str, int, float]]:
    """Games, seconds that they are filmed, and that the table lies still."""
    return ((game, options.seconds, options.idle) for game in SEEDS)


def run(case: tuple[str, int, float]) -> LatencyResult:
    game, film_s, idle_s = case
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:CORES])
    cv2.setNumThreads(CORES)
    try:
        return measure(shoot(game, 1000 * film_s), idle_s)
    finally:
        os.sched_setaffinity(0, allowed)


def summarise(options: Options, pairs: Pairs) -> Summary:
    rows = [_row(one.game, one.waits_ms, one.frames_per_s, one.core) for _, one in pairs]
    every = [wait for _, one in pairs for wait in one.waits_ms]
    sizes = (CORES, WIDTH_PX, options.seconds, PERIOD_MS, PAGE_MS, MOST_MS, HOLD_MS)
    return Summary(*sizes, (*rows, _row("all", every)))


def _row(game: str, waits_ms: Sequence[int], *rest: float) -> Row:
    return Row(game, len(waits_ms), percentiles(waits_ms, 50, 95, 100), *rest)


BENCHMARK = Benchmark("LATENCY.md", cases, run, summarise, Options)
