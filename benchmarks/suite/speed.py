"""Time reading a photograph against finding its fiducials, in one run.

Machines differ and are shared, so the figure is a ratio: `observe` on a decoded frame over OpenCV's
`detectMarkers` on the same frame in grey, one right after the other.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import cv2
import msgspec
import numpy as np

from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs, median
from benchmarks.photographs import KINDS, folders
from table.observation import Observation
from table.table_config import Setup, load_table
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.change_gate import Watch
from vision.geometry.camera_model import project

TIMES, READS = 15, 3
"""What takes milliseconds is timed so often, and a photograph is read so often; the median
counts.
"""
FRAMES = 2000
AROUND_PX = 40
"""So much around a piece is replaced where it is taken away: its shadow too."""


def seconds(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def ratios(case: Path) -> Ratios:
    """What reading a photograph takes."""
    setup = load_table(case / "table.json")
    frame = read_image(case / "image.jpg", setup)
    grey = np.asarray(cv2.cvtColor(frame.image, cv2.COLOR_RGB2GRAY))
    detector = cv2.aruco.ArucoDetector(
        cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, setup.fiducials.dictionary))
    )
    detector.detectMarkers(grey)
    detect = seconds(lambda: detector.detectMarkers(grey), TIMES)
    first = seconds(lambda: Watch()(frame, setup), READS)
    watch = Watch()
    seen = watch(frame, setup)
    again = seconds(lambda: watch(frame, setup), TIMES)
    moved = None
    if isinstance(seen, Observation) and seen.pieces and (case / "empty.jpg").exists():
        fewer = without(frame, seen, read_image(case / "empty.jpg", setup), setup)
        moved = statistics.median(_moved(frame, fewer, setup) for _ in range(READS)) / detect
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Ratios(1000 * detect, first / detect, moved, again / detect, peak_mb)


def without(frame: Frame, seen: Observation, empty: Frame, setup: Setup) -> Frame:
    """The frame with the empty table where one of the pieces is."""
    corners = project(seen.pieces[0].solid.vertices_mm, seen.camera, setup.camera)
    (left, top), (right, bottom) = (
        (corners.min(axis=0) - AROUND_PX).astype(int).clip(0),
        (corners.max(axis=0) + AROUND_PX).astype(int),
    )
    image = frame.image.copy()
    image[top:bottom, left:right] = empty.image[top:bottom, left:right]
    return Frame(frame.seq, frame.at_ms, image)


def _moved(frame: Frame, fewer: Frame, setup: Setup) -> float:
    """Seconds for reading a table that has come to rest after a change."""
    watch = Watch()
    watch(frame, setup)
    watch(fewer, setup)  # a change: nothing is read before it rests
    return seconds(lambda: watch(fewer, setup), 1)


def growth_mb(case: Path) -> float:
    """Memory growth in MB from frame 200 to frame FRAMES.

    A piece is taken away and put back before the camera.
    """
    setup = load_table(case / "table.json")
    frame = read_image(case / "image.jpg", setup)
    watch = Watch()
    seen = watch(frame, setup)
    assert isinstance(seen, Observation)
    fewer = without(frame, seen, read_image(case / "empty.jpg", setup), setup)
    held = [_held_mb() for k in range(FRAMES) if watch((frame, frame, fewer, fewer)[k % 4], setup)]
    return held[-1] - held[200]


def _held_mb() -> float:
    """Memory of the process now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


class Ratios(msgspec.Struct, frozen=True, tag=True):
    """Milliseconds of the detector on a photograph, and times of a reading in multiples of it.

    At first sight; when a piece was taken away, if there is a picture of what is under it; and when
    nothing changed.
    """

    detector_ms: float
    first: float
    moved: float | None
    again: float
    peak_mb: float
    """The most memory that the process has held so far."""


class Grew(msgspec.Struct, frozen=True, tag=True):
    mb: float


class Row(msgspec.Struct, frozen=True):
    title: str
    first: float | None
    moved: float | None
    again: float | None


class Summary(msgspec.Struct, frozen=True):
    detector_ms: float | None
    rows: tuple[Row, ...]
    peak_mb: float | None
    frames: int
    """Over which memory was watched."""
    growth_mb: float | None


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    for kind in KINDS:
        yield from (("times", folder.name) for folder in folders(kind))
    yield "growth", "icebreaker-0001"


@cache
def _loaded() -> None:
    """What is loaded at the first reading is not timed."""
    ratios(BENCH / "cases" / "icefloe-0001")


def run(case: tuple[str, str]) -> Ratios | Grew:
    what, name = case
    folder = BENCH / "cases" / name
    if what == "growth":
        return Grew(growth_mb(folder))
    _loaded()
    return ratios(folder)


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    found = [(case, one) for case, one in pairs if isinstance(one, Ratios)]
    rows = [
        _row(title, [one for case, one in found if case[1].startswith(kind)])
        for kind, title in KINDS.items()
    ]
    every = [one for _, one in found]
    return Summary(
        median(one.detector_ms for one in every),
        (*rows, _row("all", every)),
        max((one.peak_mb for one in every), default=None),
        FRAMES,
        next((one.mb for _, one in pairs if isinstance(one, Grew)), None),
    )


def _row(title: str, found: list[Ratios]) -> Row:
    names = ("first", "moved", "again")
    return Row(title, *(median(getattr(one, name) for one in found) for name in names))


BENCHMARK = Benchmark("SPEED.md", cases, run, summarise)
