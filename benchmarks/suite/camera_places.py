"""Where the camera is said to be in pictures made worse, and where it truly was.

Photographs with exact truth and drawn tables, each made worse in every way of
`benchmarks.bad_pictures`; no network is asked.  Half of the photographs were looked at when the
limits were chosen, and are left out.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.bad_pictures import KINDS, TakenPicture, off_mm
from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs, median, needs
from simulation.generate.cases import random_case
from simulation.generate.tables import KINDS as GAMES
from simulation.render.renderer import Renderer
from table.observation import Camera
from table.table_config import load_table
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import on_plane, place_covariances, project
from vision.localization.fiducials import MOST_MM, SURE_MM, locate

DRAWN_SEED, EVERY = 420000, 2
"""Drawn tables begin here; of the photographs left for this every second one is taken."""
INSIDE_95 = 5.991
"""Squared distance in sigmas that 95 of 100 points of a plane are within."""


class PictureResult(msgspec.Struct, frozen=True):
    """Result for one picture.

    How far the camera's place is off, and its reported standard deviation, mm; None where it was
    refused. `inside`: for how many of the play area's `corners` the truth is within the 95 %
    ellipse.
    """

    off_mm: float | None = None
    sigma_mm: float = 0.0
    inside: int = 0
    corners: int = 0

    @property
    def sure(self) -> bool:
        return self.off_mm is not None and self.sigma_mm <= SURE_MM


def photograph(folder: Path) -> TakenPicture:
    """A photograph with the place of its camera, from its truth."""
    setup = load_table(folder / "table.json")
    pose = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["camera_pose"]
    rotation, eye = np.array(pose["R"]), np.array(pose["eye_mm"])
    return TakenPicture(
        read_image(folder / "image.jpg", setup).image,
        setup,
        Camera(rotation, -rotation @ eye, np.zeros((6, 6)), 0.0, ()),
    )


def drawn_table(index: int) -> TakenPicture:
    """A drawn table."""
    case = random_case(GAMES[index % len(GAMES)], DRAWN_SEED + index)
    return TakenPicture(
        Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(index)),
        case.setup,
        case.camera,
    )


def locate_picture(taken: TakenPicture) -> PictureResult:
    """What is said of a picture, held against the truth."""
    camera = locate(taken.image, taken.setup)
    if not isinstance(camera, Camera):
        return PictureResult()
    outline = taken.setup.outline_mm()
    places = np.column_stack([outline, np.zeros(len(outline))])
    there = project(places, taken.camera, taken.setup.camera)
    away = on_plane(there, camera, taken.setup.camera) - outline
    covariances = place_covariances(places, camera, taken.setup.camera)
    squares = np.einsum("ni,nij,nj->n", away, np.linalg.inv(covariances), away)
    return PictureResult(
        off_mm(camera, taken), camera.sigma_mm, int((squares < INSIDE_95).sum()), len(outline)
    )


class Row(msgspec.Struct, frozen=True):
    """Pictures degraded in one way.

    Places that are sure, widened and refused, their errors (mm), and how honest their sigmas are.
    """

    kind: str
    strengths: tuple[str, ...]
    pictures: int
    sure: int
    widened: int
    sure_median_mm: float | None
    sure_worst_mm: float | None
    widened_worst_mm: float | None
    inside_95: float | None


class Summary(msgspec.Struct, frozen=True):
    tables: int
    drawn_seed: int
    changes: int
    sure_mm: float
    most_mm: float
    rows: tuple[Row, ...]


def cases(_options: NoOptions) -> Iterator[str]:
    """Photographs that no limit was chosen on, and drawn tables, one of each game."""
    folders = [
        *sorted(needs(BENCH / "cases").iterdir()),
        *sorted(folder for folder in needs(BENCH / "hard").iterdir() if folder.is_dir()),
    ]
    yield from (str(folder.relative_to(BENCH)) for folder in folders[1::2][::EVERY])
    yield from map(str, range(len(GAMES)))


def run(source: str) -> dict[str, list[PictureResult]]:
    """What is said of one table, made worse in all ways, by kind."""
    taken = drawn_table(int(source)) if source.isdigit() else photograph(BENCH / source)
    name = source.rpartition("/")[2]
    by_kind: dict[str, list[PictureResult]] = {}
    for kind, strengths in KINDS.items():
        for strength, change in strengths.items():
            rng = np.random.default_rng(zlib.crc32(f"{name} {kind} {strength}".encode()))
            by_kind.setdefault(kind, []).append(locate_picture(change(taken, rng)))
    return by_kind


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    found = {kind: [one for _, results in pairs for one in results[kind]] for kind in KINDS}
    rows = [row(kind, tuple(filter(None, KINDS[kind])), results) for kind, results in found.items()]
    every = row("**all**", (), [one for results in found.values() for one in results])
    changes = sum(map(len, KINDS.values()))
    return Summary(len(pairs), DRAWN_SEED, changes, SURE_MM, MOST_MM, (*rows, every))


def row(kind: str, strengths: tuple[str, ...], readings: Sequence[PictureResult]) -> Row:
    sure = [one.off_mm for one in readings if one.sure and one.off_mm is not None]
    wide = [one.off_mm for one in readings if one.off_mm is not None and not one.sure]
    corners = sum(one.corners for one in readings)
    return Row(
        kind,
        strengths,
        len(readings),
        len(sure),
        len(wide),
        median(sure),
        max(sure, default=None),
        max(wide, default=None),
        sum(one.inside for one in readings) / corners if corners else None,
    )


BENCHMARK = Benchmark("ROBUSTNESS.md", cases, run, summarise, section=True, processes=2)
