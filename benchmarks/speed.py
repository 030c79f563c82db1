"""Time reading a photograph against finding its fiducials, in one run, and write docs/SPEED.md (`make bench-speed`).

Machines differ and are shared, so the figure is a ratio: `observe` on a decoded frame over OpenCV's `detectMarkers` on the same
frame in grey, one right after the other.
"""

from __future__ import annotations

import datetime
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import cv2
import numpy as np

from benchmarks.accuracy import BENCH, KINDS, ROOT, commit, load_scoring
from table.setup import load_table
from vision.cameras.files import read_image
from vision.watch import Watch

TIMES = 15
"""What takes milliseconds is timed so often, and the median counts; a photograph is read once."""


def seconds(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def ratios(case: Path) -> tuple[float, float, float]:
    """Milliseconds of the detector, and how many times that reading takes: at first sight, and when nothing moved."""
    setup = load_table(case / "table.json")
    frame = read_image(case / "image.jpg", setup)
    grey = np.asarray(cv2.cvtColor(frame.image, cv2.COLOR_RGB2GRAY))
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, setup.fiducials.dictionary)))
    detector.detectMarkers(grey)
    detect = seconds(lambda: detector.detectMarkers(grey), TIMES)
    watch = Watch()
    first = seconds(lambda: watch(frame, setup), 1)
    again = seconds(lambda: watch(frame, setup), TIMES)
    return 1000 * detect, first / detect, again / detect


TEXT = """# How fast Rinkside sees

Measured {date} (commit {commit}) on {cores} cores {machine}, Python {python}, OpenCV {opencv}; `make bench-speed` writes this page.
Times are multiples of what OpenCV's marker detector takes on the same frame in the same run ({detect:.0f} ms in the median here).

| | a table seen for the first time | the same frame again |
|---|---|---|
{rows}

The process held {memory:.0f} MB at most, reading one photograph after the other.

The aim is 12 and 3. What is slow is open ground and chessboards, where every rival is fitted before the ground that shines through it;
boards with print on them are read from the network's finds and the edges alone.
"""


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=ROOT / "docs" / "SPEED.md", help="The page to write.")
def main(out: Path) -> None:
    """Time every photograph and write the page."""
    load_scoring()
    ratios(BENCH / "cases" / "icefloe-0001")  # what is loaded at the first reading is not timed
    by_kind = {kind: [ratios(case) for case in sorted((BENCH / "cases").glob(f"{kind}-*"))] for kind in KINDS}
    every = [row for rows in by_kind.values() for row in rows]
    lines = [
        f"| {title} | {statistics.median(row[1] for row in rows):.0f} | {statistics.median(row[2] for row in rows):.1f} |"
        for title, rows in (*((KINDS[kind], rows) for kind, rows in by_kind.items()), ("all", every))
    ]
    page = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=commit(),
        cores=os.cpu_count(),
        machine=platform.machine(),
        python=platform.python_version(),
        opencv=cv2.__version__,
        detect=statistics.median(row[0] for row in every),
        rows="\n".join(lines),
        memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    out.write_text(page, encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
