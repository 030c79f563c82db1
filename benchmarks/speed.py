"""Time reading a photograph against finding its fiducials, in one run, and write docs/SPEED.md
(`make bench-speed`).

Machines differ and are shared, so the figure is a ratio: `observe` on a decoded frame over OpenCV's
`detectMarkers` on the same frame in grey, one right after the other.
"""

from __future__ import annotations

import datetime
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import click
import cv2
import numpy as np

from benchmarks.accuracy import BENCH, KINDS, ROOT, commit, load_scoring
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


@dataclass(frozen=True, slots=True)
class Ratios:
    """Milliseconds of the detector on a photograph, and how many times that reading takes: at first
    sight, when a piece was taken away, if there is a picture of what is under it, and when nothing
    changed.
    """

    detector_ms: float
    first: float
    moved: float | None
    again: float


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
    return Ratios(1000 * detect, first / detect, moved, again / detect)


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
    """By how much memory grows from frame 200 to frame FRAMES of a camera before which a piece is
    taken away and put back.
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


def _line(title: str, rows: list[Ratios]) -> str:
    medians = (
        _median((row.first for row in rows), 0),
        _median((row.moved for row in rows), 1),
        _median((row.again for row in rows), 1),
    )
    return f"| {title} | {' | '.join(medians)} |"


def _median(values: Iterable[float | None], digits: int) -> str:
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.{digits}f}" if known else "–"


TEXT = """# How fast Rinkside sees

Measured {date} (commit {commit}) on {cores} cores {machine}, Python {python}, OpenCV {opencv}; `make bench-speed` writes this page.
Times are multiples of what OpenCV's marker detector takes on the same frame in the same run ({detect:.0f} ms in the median here).

| | a table seen for the first time | one piece taken away | the same frame again |
|---|---|---|---|
{rows}

The process held {memory:.0f} MB at most, reading one photograph after the other; over {frames:,} frames in which a piece came and went it grew by
{growth:+.1f} MB.

The aims are 12, 5 and 3, and 350 MB. Tiles have no picture of the empty table to take a piece away with.
"""


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "SPEED.md",
    help="The page to write.",
)
def main(out: Path) -> None:
    """Time every photograph and write the page."""
    load_scoring()
    ratios(BENCH / "cases" / "icefloe-0001")  # what is loaded at the first reading is not timed
    by_kind = {
        kind: [ratios(case) for case in sorted((BENCH / "cases").glob(f"{kind}-*"))]
        for kind in KINDS
    }
    every = [row for rows in by_kind.values() for row in rows]
    titled = [*((KINDS[kind], rows) for kind, rows in by_kind.items()), ("all", every)]
    lines = [_line(title, rows) for title, rows in titled]
    page = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=commit(),
        cores=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        opencv=cv2.__version__,
        detect=statistics.median(row.detector_ms for row in every),
        rows="\n".join(lines),
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        frames=FRAMES,
        growth=growth_mb(BENCH / "cases" / "icebreaker-0001"),
    )
    out.write_text(page, encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
