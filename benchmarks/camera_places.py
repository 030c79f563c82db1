"""Where the camera is said to be in pictures made worse, and where it truly was: a table for
docs/ROBUSTNESS.md.

Photographs with exact truth and drawn tables, each made worse in every way of
`benchmarks.bad_pictures`; no network is asked.  Half of the photographs were looked at when the
limits were chosen, and are left out.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from benchmarks.accuracy import BENCH
from benchmarks.bad_pictures import KINDS, Taken, off_mm
from simulation.generate.cases import random_case
from simulation.generate.tables import KINDS as GAMES
from simulation.render.renderer import Renderer
from table.observation import Camera
from table.table_config import load_table
from vision.cameras.image_files import read_image
from vision.geometry.camera_model import on_plane, place_covariances, project
from vision.localization.fiducials import SURE_MM, locate

DRAWN_SEED, EVERY = 420000, 2
"""Drawn tables begin here; of the photographs left for this every second one is taken."""
INSIDE_95 = 5.991
"""Squared distance in sigmas that 95 of 100 points of a plane are within."""
WORKERS = 2


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of one picture: how far the camera's place is off and how well it is said to be
    known, mm; None where it was refused.

    `inside`: of how many corners of the play area, of `corners`, the truth is within the 95 %
    ellipse.
    """

    off_mm: float | None = None
    sigma_mm: float = 0.0
    inside: int = 0
    corners: int = 0

    @property
    def sure(self) -> bool:
        return self.off_mm is not None and self.sigma_mm <= SURE_MM


def photograph(folder: Path) -> Taken:
    """A photograph with the place of its camera, from its truth."""
    setup = load_table(folder / "table.json")
    pose = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["camera_pose"]
    rotation, eye = np.array(pose["R"]), np.array(pose["eye_mm"])
    return Taken(
        read_image(folder / "image.jpg", setup).image,
        setup,
        Camera(rotation, -rotation @ eye, np.zeros((6, 6)), 0.0, ()),
    )


def drawn(index: int) -> Taken:
    """A drawn table."""
    case = random_case(GAMES[index % len(GAMES)], DRAWN_SEED + index)
    return Taken(
        Renderer(case.setup, case.camera).picture(case.scene(), np.random.default_rng(index)),
        case.setup,
        case.camera,
    )


def told(taken: Taken) -> Told:
    """What is said of a picture, held against the truth."""
    camera = locate(taken.image, taken.setup)
    if not isinstance(camera, Camera):
        return Told()
    outline = taken.setup.outline_mm()
    places = np.column_stack([outline, np.zeros(len(outline))])
    there = project(places, taken.camera, taken.setup.camera)
    away = on_plane(there, camera, taken.setup.camera) - outline
    covariances = place_covariances(places, camera, taken.setup.camera)
    squares = np.einsum("ni,nij,nj->n", away, np.linalg.inv(covariances), away)
    return Told(
        off_mm(camera, taken), camera.sigma_mm, int((squares < INSIDE_95).sum()), len(outline)
    )


def of_table(source: Path | int) -> dict[str, list[Told]]:
    """What is said of one table, made worse in all ways, by kind."""
    cv2.setNumThreads(1)
    taken, name = (
        (photograph(source), source.name)
        if isinstance(source, Path)
        else (drawn(source), str(source))
    )
    by_kind: dict[str, list[Told]] = {}
    for kind, strengths in KINDS.items():
        for strength, change in strengths.items():
            rng = np.random.default_rng(zlib.crc32(f"{name} {kind} {strength}".encode()))
            by_kind.setdefault(kind, []).append(told(change(taken, rng)))
    return by_kind


def sources() -> list[Path | int]:
    """Photographs that no limit was chosen on, and drawn tables, one of each game."""
    folders = [
        *sorted((BENCH / "cases").iterdir()),
        *sorted(folder for folder in (BENCH / "hard").iterdir() if folder.is_dir()),
    ]
    return [*folders[1::2][::EVERY], *range(len(GAMES))]


def rows() -> tuple[int, list[str]]:
    """How many tables, and a line for each kind and for all: places sure, widened and refused, how
    far off, and how honest.
    """
    every: dict[str, list[Told]] = {}
    tables = sources()
    with ProcessPoolExecutor(WORKERS) as pool:
        for by_kind in pool.map(of_table, tables):
            for kind, said in by_kind.items():
                every.setdefault(kind, []).extend(said)
    lines = [
        row(
            f"{kind} ({', '.join(filter(None, KINDS[kind]))})" if len(KINDS[kind]) > 1 else kind,
            said,
        )
        for kind, said in every.items()
    ]
    return len(tables), [*lines, row("**all**", [one for said in every.values() for one in said])]


def row(name: str, said: Iterable[Told]) -> str:
    """A line of the table."""
    said = list(said)
    sure = [one for one in said if one.sure]
    wide = [one for one in said if one.off_mm is not None and not one.sure]
    corners = sum(one.corners for one in said)
    inside = f"{100 * sum(one.inside for one in said) / corners:.1f} %" if corners else "-"
    counts = f"{len(said)} | {len(sure)} | {len(wide)} | {len(said) - len(sure) - len(wide)}"
    return f"| {name} | {counts} | {_median(sure)} | {_worst(sure)} | {_worst(wide)} | {inside} |"


def _median(said: list[Told]) -> str:
    return (
        f"{np.median([one.off_mm for one in said if one.off_mm is not None]):.2f} mm"
        if said
        else "-"
    )


def _worst(said: list[Told]) -> str:
    return f"{max(one.off_mm for one in said if one.off_mm is not None):.2f} mm" if said else "-"
