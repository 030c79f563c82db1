"""Time lamps on a strip that is not there.

The loop that is timed is the referee's own, with a log on disk; only reading pictures is stood in
for, by arithmetic.  A film of a few throws is refereed without a device and with one, in turns, so
that every turn of the loop has a partner that did the same seconds apart.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Annotated, Any

import msgspec
import numpy as np

from benchmarks.harness import ROOT, Benchmark, Pairs
from engines import GAMES, ice_boule
from hardware.backends.led_power import limit
from hardware.backends.led_strip import Strip
from hardware.backends.serial_port import open_port
from hardware.backends.wled import WledStrip, adalight
from hardware.cues import Cue, Mark
from hardware.factory import Devices
from hardware.lamp_thread import LampThread
from hardware.testing.fake_serial import Firmware, SerialDouble, WledFirmware
from referee.devices.controller import Companion
from referee.live.referee import Referee
from referee.presentation.lamp_cues import cue_of
from referee.sessions.event_store import Log
from referee.sessions.events import Record, SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.sessions.state import SessionState
from simulation.players.ice_boule_table import demo_setup
from simulation.players.policies import RandomPlayer, playout
from table.boards import Board, Chessboard, Coasters, Hex, Open, Tiles
from table.errors import InputError
from table.observation import Camera, Observation, SeenPiece
from table.solids import Pose, Solid, lying, upright
from table.table_config import Setup
from vision.cameras.frame import Frame

LEDS, BAUD = 300, 1_000_000
BOARD = Open(outline_mm=((0, 0), (900, 0), (900, 600), (0, 600)))
PLAYERS = ("red", "blue")
BOARDS: dict[str, tuple[Board, tuple[str, ...]]] = {
    "ice_boule": (BOARD, PLAYERS),
    "ice_storm": (Chessboard(square_mm=50), ("black", "white", "green", "pink", "cyan")),
    "icebreaker": (Hex(size=5, cell_mm=30), ("red", "black")),
    "zamboni_wars": (Coasters(cell_mm=33), ("yellow", "red", "blue", "green")),
    "icefloe": (Tiles(cell_mm=52), ("red", "black", "yellow", "blue")),
}
"""The board and the most players of every game."""
FRAME_S = 1 / 60
"""The referee's loop looks this often here."""
SETUP = demo_setup()
LARGE = SETUP.pieces["large"]
EYE = Camera(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 700.0]), np.eye(6) * 1e-8, 0.12, (0,))
REST_FRAMES = 48
"""So many frames show each throw; after half a second on the film's clock it has come to rest."""
RESAMPLED = 2000
AIM_MS = 5.0
"""The loop is not to be delayed for longer by any device."""
SCHEDSTAT = Path("/proc/thread-self/schedstat")
"""What Linux counts for the thread that asks: ns at the processor, ns queued for it, and how
often.
"""


def _seen(colour: str, x_mm: float, solid: Callable[..., Solid], pose: Pose) -> SeenPiece:
    place = np.array([x_mm, 225.0])
    return SeenPiece(
        colour,
        "large",
        pose,
        place,
        0.0,
        solid(LARGE, x_mm, 225.0, 0.0),
        np.diag([0.1, 0.1, 0.3]) ** 2,
    )


_TARGET = _seen("yellow", 100.0, upright, "upright")
_THROWN = tuple(
    _seen(colour, x_mm, lying, "lying")
    for colour, x_mm in zip(("red", "blue") * 3, range(500, 200, -50), strict=True)
)
THROWS = ((), *((_TARGET, *_THROWN[:count]) for count in range(len(_THROWN) + 1)))
"""What lies on the table after each throw."""


def frame_ms(repeats: int) -> np.ndarray:
    """Processor times (n,) to build a frame of LEDS lamps, from scene to bytes.

    The scene shows whose turn it is, who leads, and six lines of fire.
    """
    strip = Strip(LEDS, BOARD.outline())
    lines = tuple(Mark("line", ((100, 50.0 * line), (800, 300))) for line in range(6))
    scene = Cue("turn", PLAYERS, of=PLAYERS[:1], leader="blue", marks=lines)
    times = []
    for turn in range(repeats):
        begun = time.thread_time()
        adalight(limit(strip.frame(scene, 37.0 * turn), 0.5, 4000))
        times.append(1000 * (time.thread_time() - begun))
    return np.array(times)


class Unread:
    """A firmware that forgets what it reads.

    Following WLED's protocol byte by byte would take time of the very program that is timed.
    """

    def feed(self, _byte: int) -> bytes:
        return b""

    def restart(self) -> None:
        """It remembers nothing."""


class Strip1Mbaud:
    """A thread behind the port that reads as fast as the wire, and keeps how much was waiting."""

    def __init__(
        self,
        folder: Path,
        firmware: Firmware,
        reads: bool = True,
        floods: bool = False,
        goes: bool = False,
    ) -> None:
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
            owed, last, turn = (
                min(owed + (now - last) * BAUD / 10, 4 * tick_s * BAUD / 10),
                now,
                turn + 1,
            )
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
    return lambda: WledStrip(
        open_port(str(path), BAUD, "hardware.lamps.device"), BAUD, strip, tuple, 0.5, 4000
    )


def stream(seconds: float) -> tuple[float, list[int]]:
    """Frames a second that arrived at 1 Mbaud, and how many bytes were waiting, all 10 ms."""
    firmware = WledFirmware(LEDS, BAUD)
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Strip1Mbaud(Path(folder), firmware)) as wire,
        closing(LampThread(opener(wire.double.path))) as shown,
    ):
        shown.show(Cue("turn", PLAYERS, of=("blue",), leader="red"))
        time.sleep(1)
        first, begun = firmware.shown, time.perf_counter()
        wire.waiting.clear()
        time.sleep(seconds)
        return (firmware.shown - first) / (time.perf_counter() - begun), wire.waiting.copy()


@contextmanager
def running_companion(
    session: Session, referee: Referee, folder: Path, **device: bool
) -> Iterator[None]:
    """A companion with a strip; without any words, none."""
    if not device:
        yield
        return
    with (
        closing(Strip1Mbaud(folder, Unread(), **device)) as wire,
        closing(LampThread(opener(wire.double.path))) as lamps,
    ):
        companion = Companion(Devices(lamps=lamps), session, referee, BOARD)
        companion.start()
        try:
            yield
        finally:
            companion.stop()


def now_ms() -> np.ndarray:
    """Clock time, and the time this thread ran or was queued for a processor, (2,) in ms.

    Without Linux, the queue is left out.
    """
    queued_ns = int(SCHEDSTAT.read_text().split()[1]) if SCHEDSTAT.exists() else 0
    return np.array([1000 * time.perf_counter(), 1000 * time.thread_time() + queued_ns / 1e6])


class Film:
    """A camera of throws that come to rest; it times the loop's work for each frame.

    `turns` (n, 2), ms: how long it took by the clock until the loop asked for the next frame, and
    how long it slept meanwhile, for a lock or another thread's turn. What other programs take of
    the processor is not in that. A turn with a ruling sleeps for the disk, and is NaN.
    """

    name, simulated = "film", True

    def __init__(self, session: Session) -> None:
        self._session, self._seq = session, session.ledger.seq
        self.picture = np.random.default_rng(3).integers(0, 255, (600, 800, 3)).astype(np.uint8)
        self.turns: list[np.ndarray] = []
        self._given = now_ms()

    def read(self) -> Frame | None:
        """The next frame, when it is due."""
        seq, (took_ms, worked_ms) = len(self.turns), now_ms() - self._given
        if seq:
            ruled, self._seq = self._session.ledger.seq != self._seq, self._session.ledger.seq
            self.turns[-1] = np.array([took_ms, np.nan if ruled else max(0.0, took_ms - worked_ms)])
        if seq == len(THROWS) * REST_FRAMES:
            return None
        time.sleep(max(0.0, FRAME_S - took_ms / 1000))
        self.turns.append(np.zeros(2))
        self._given = now_ms()
        return Frame(seq, round(1000 * seq * FRAME_S), self.picture)

    def close(self) -> None:
        """There is nothing to let go."""

    def observe(self, frame: Frame, _setup: Setup, _reference: Frame | None = None) -> Observation:
        """What lies there by then; the arithmetic takes about as long as a small picture."""
        float((self.picture[..., 0].astype(np.float32) ** 2).mean())
        sum(number * number for number in range(20_000))
        return Observation(frame.seq, frame.at_ms, EYE, THROWS[frame.seq // REST_FRAMES])


def loop_ms(**device: bool) -> np.ndarray:
    """Times of the referee's loop over the film, without the wait for the next frame.

    (n, 2), as `Film.turns`.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        log = stack.enter_context(closing(Log(folder / "log.sqlite")))
        session = stack.enter_context(
            closing(Session.begin(log, SessionStarted(game=ice_boule.NAME, players=PLAYERS)))
        )
        film = Film(session)
        referee = Referee(film, SETUP, film.observe, session)
        stack.enter_context(running_companion(session, referee, folder, **device))
        referee.run()
        assert len(session.records()) == len(THROWS), (
            "the start of the session, and every throw ruled"
        )
    return np.array(film.turns)


def blocking_ms() -> np.ndarray:
    """Processor times (n,) of single runs of everything beside the loop.

    Scenes of whole games, frames of them, and looking for a port. Python lets one thread run at a
    time: so long, at most, the loop may wait for one of them. A state's document is not among it: a
    record brings it along from the thread that wrote it.
    """
    strip, times = Strip(LEDS, BOARD.outline()), []
    for name, engine in GAMES.items():
        board, players = BOARDS[name]
        for turn, (move, state) in enumerate(
            playout(engine, engine.start(players, {}), RandomPlayer(engine, Random(5)).choose)
        ):
            ledger = SessionState(
                engine,
                SessionStarted(game=name, players=players),
                1,
                1,
                1,
                players,
                {},
                board,
                state,
            )  # type: ignore[arg-type]
            news = Record(
                seq=turn + 2,
                session=1,
                at_ms=0,
                event=VerdictReached(
                    verdict="accepted", code="any", message="", moves=(str(move),)
                ),
            )
            scene, scene_ms = measure_ms(
                cue_of, ledger, "waiting", news, board, engine.state_document(state)
            )
            times += [scene_ms, measure_ms(lambda now: adalight(strip.frame(now, 0.0)), scene)[1]]
            if turn == 200:
                break
    return np.array([*times, *(measure_ms(_look_for_port)[1] for _ in range(50))])


def _look_for_port() -> None:
    """What is done every second while a device is away."""
    with suppress(InputError):
        open_port(str(ROOT / "not-there"), BAUD, "hardware.lamps.device")


def measure_ms(work: Callable[..., Any], *given: object) -> tuple[Any, float]:
    """What a function gives back, and its processor time in ms."""
    begun = time.thread_time()
    return work(*given), 1000 * (time.thread_time() - begun)


DEVICES: dict[str, dict[str, bool]] = {
    "none again": {},
    "a strip at 1 Mbaud": {"reads": True},
    "a strip that never reads": {"reads": False},
    "a strip that floods the port": {"floods": True},
    "a strip unplugged five times a second": {"goes": True},
}


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[float, "How long frames are counted."] = 20.0
    pairs: Annotated[int, "How often the loop is timed without and with each device."] = 10


class Frames(msgspec.Struct, frozen=True, tag=True):
    """Building frames, and what runs beside the loop in one go."""

    repeats: int


class Wire(msgspec.Struct, frozen=True, tag=True):
    """Frames that arrive through the port."""

    seconds: float


class Pair(msgspec.Struct, frozen=True, tag=True):
    """The loop without a device and with one."""

    number: int
    device: str


class Built(msgspec.Struct, frozen=True, tag=True):
    frame_ms: tuple[float, float]
    """Median and 99th percentile."""
    held_ms: tuple[float, float, float]
    """Median, 99th percentile and longest."""


class Arrived(msgspec.Struct, frozen=True, tag=True):
    frames_per_s: float
    waiting: tuple[int, int]
    """Most bytes in the port in the first half of the time, and in the second."""


class Turns(msgspec.Struct, frozen=True, tag=True):
    """Times of the loop, first without a device and then with it.

    ms that each turn took, and ms that it slept, None where there was a ruling.
    """

    took_ms: tuple[tuple[float, ...], tuple[float, ...]]
    asleep_ms: tuple[tuple[float | None, ...], tuple[float | None, ...]]


Both = tuple[float, float]
"""A figure without a device, and with it."""


class Row(msgspec.Struct, frozen=True):
    device: str
    later_ms: tuple[float, float, float]
    """By how much longer a turn takes in the median; and the range of 95 of 100 medians of turns
    drawn again from all.
    """
    median_ms: Both
    took_99_ms: Both
    asleep_99_ms: Both
    asleep_most_ms: Both
    over_aim: Both
    """Share of the turns that slept for longer than the aim."""


class Summary(msgspec.Struct, frozen=True):
    leds: int
    aim_ms: float
    frame_bytes: int
    built: Built | None
    arrived: Arrived | None
    turns: int
    rows: tuple[Row, ...]


def cases(options: Options) -> Iterator[Frames | Wire | Pair]:
    yield Frames(3000)
    yield Wire(options.seconds)
    yield from (Pair(number, device) for number in range(options.pairs) for device in DEVICES)


def run(case: Frames | Wire | Pair) -> Built | Arrived | Turns:
    if isinstance(case, Frames):
        held = np.percentile(np.min([blocking_ms() for _ in range(3)], axis=0), (50, 99, 100))
        frame = np.percentile(frame_ms(case.repeats), (50, 99))
        return Built(tuple(frame.tolist()), tuple(held.tolist()))
    if isinstance(case, Wire):
        fps, waiting = stream(case.seconds)
        half = len(waiting) // 2
        return Arrived(fps, (max(waiting[:half]), max(waiting[half:])))
    first = case.number % 2  # who is first changes
    both = [loop_ms(**chosen) for chosen in ((DEVICES[case.device], {})[:: 1 if first else -1])]
    alone, beside = both[::-1] if first else both
    return Turns(
        (tuple(alone[:, 0].tolist()), tuple(beside[:, 0].tolist())),
        tuple(
            tuple(None if np.isnan(ms) else ms for ms in turns[:, 1].tolist())
            for turns in (alone, beside)
        ),
    )


def summarise(_options: Options, pairs: Pairs) -> Summary:
    by_device: dict[str, list[Turns]] = {}
    for case, one in pairs:
        if isinstance(one, Turns):
            by_device.setdefault(case.device, []).append(one)
    return Summary(
        LEDS,
        AIM_MS,
        len(adalight(np.zeros((LEDS, 3), np.uint8))),
        next((one for _, one in pairs if isinstance(one, Built)), None),
        next((one for _, one in pairs if isinstance(one, Arrived)), None),
        len(THROWS) * REST_FRAMES,
        tuple(row(device, found) for device, found in by_device.items()),
    )


def row(device: str, found: list[Turns]) -> Row:
    took = np.array([one.took_ms for one in found])
    asleep = np.array([one.asleep_ms for one in found], float)
    later = (took[:, 1] - took[:, 0]).ravel()
    drawn = np.median(np.random.default_rng(5).choice(later, (RESAMPLED, len(later))), axis=1)

    def both(figure: Callable[[np.ndarray], Any], times: np.ndarray) -> Both:
        return float(figure(times[:, 0])), float(figure(times[:, 1]))

    return Row(
        device,
        (float(np.median(later)), *np.percentile(drawn, (2.5, 97.5)).tolist()),
        both(np.median, took),
        both(lambda times: np.percentile(times, 99), took),
        both(lambda times: np.nanpercentile(times, 99), asleep),
        both(np.nanmax, asleep),
        both(lambda times: np.nanmean(times > AIM_MS), asleep),
    )


BENCHMARK = Benchmark("HARDWARE.md", cases, run, summarise, Options, section=True)
