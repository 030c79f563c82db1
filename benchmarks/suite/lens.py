"""Calibrate many lenses from simulated corners.

A case: a random lens, 15 views of the target from random poses, Gaussian noise on every coordinate
of every corner, and in every second case two views of a bent target among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

import msgspec
import numpy as np

from benchmarks.harness import Benchmark, Pairs, percentiles
from calibration.lens.fit import calibrate_lens
from calibration.lens.models import parameters_of
from calibration.lens.synthetic_views import (
    random_lens,
    random_pose,
    simulated_view,
    simulated_views,
)
from calibration.lens.views import View
from table.errors import InputError
from table.table_config import Lens

NOISE_PX = (0.05, 0.2)
VIEWS, BENT = 15, 2


class Options(msgspec.Struct, frozen=True):
    runs: Annotated[int, "How many lenses."] = 100


class LensErrors(msgspec.Struct, frozen=True):
    """How far off a lens was found; all but `refused` is empty where it was refused."""

    refused: str = ""
    model: str = ""
    focal_percent: float = 0.0
    middle_px: float = 0.0
    rms_percent: float = 0.0
    """By how much RMS differs from the noise that was put in."""
    inside: dict[str, bool] = {}
    """By parameter: is the true one in the stated 95 % interval?"""
    bent_left_out: int = 0
    good_left_out: int = 0


class Summary(msgspec.Struct, frozen=True):
    runs: int
    refused: int
    views: int
    bent: int
    """In every second run."""
    noise_px: tuple[float, float]
    focal_percent: tuple[float, ...] | None
    """Median, 95th percentile and worst, as of the next two."""
    middle_px: tuple[float, ...] | None
    rms_percent: tuple[float, ...] | None
    parameters: int
    inside: float | None
    inside_by_name: dict[str, float]
    bent_left_out: int
    bent_views: int
    good_left_out: int
    good_views: int
    models: dict[str, int]


def bent_view(name: str, lens: Lens, rng: np.random.Generator) -> View:
    """A view of a target that is bent by a few millimetres, as its picture shows it."""
    view = simulated_view(name, lens, random_pose(lens, rng), 0.1, rng)
    along = view.target_mm @ np.array([np.cos(turn := rng.uniform(0, np.pi)), np.sin(turn)])
    return replace(view, pixels=view.pixels + np.outer(np.sin(along / 50), rng.normal(0, 3, 2)))


def cases(options: Options) -> Iterator[tuple[int, int]]:
    """Seeds, and how many views are of a bent target."""
    return ((seed, BENT * (seed % 2)) for seed in range(options.runs))


def run(case: tuple[int, int]) -> LensErrors:
    seed, bent = case
    rng = np.random.default_rng([17, seed])
    lens, noise = random_lens(rng), float(rng.uniform(*NOISE_PX))
    spoilt = tuple(bent_view(f"bent-{index}.jpg", lens, rng) for index in range(bent))
    views = (*spoilt, *simulated_views(lens, VIEWS, noise, rng))
    try:
        found = calibrate_lens(views, (lens.width, lens.height))
    except InputError as error:
        return LensErrors(str(error))
    true, got = parameters_of(lens), parameters_of(found.lens)
    sigmas = found.sigma.items() if found.model != "rational" else ()
    left_out = [view.name.startswith("bent") for view in found.left_out]
    return LensErrors(
        "",
        found.model,
        100 * abs(got["fx"] / true["fx"] - 1),
        float(np.hypot(got["cx"] - true["cx"], got["cy"] - true["cy"])),
        float(100 * abs(found.rms_px / (noise * np.sqrt(2)) - 1)),
        {name: bool(abs(got[name] - true[name]) < 1.96 * sigma) for name, sigma in sigmas},
        sum(left_out),
        len(left_out) - sum(left_out),
    )


def summarise(_options: Options, pairs: Pairs) -> Summary:
    good = [(case, one) for case, one in pairs if not one.refused]
    inside: dict[str, list[bool]] = {}
    for _, one in good:
        for name, hit in one.inside.items():
            inside.setdefault(name, []).append(hit)
    every = [hit for hits in inside.values() for hit in hits]
    models = Counter(one.model for _, one in good)
    return Summary(
        runs=len(pairs),
        refused=len(pairs) - len(good),
        views=VIEWS,
        bent=BENT,
        noise_px=NOISE_PX,
        focal_percent=percentiles((one.focal_percent for _, one in good), 50, 95, 100),
        middle_px=percentiles((one.middle_px for _, one in good), 50, 95, 100),
        rms_percent=percentiles((one.rms_percent for _, one in good), 50, 95, 100),
        parameters=len(every),
        inside=sum(every) / len(every) if every else None,
        inside_by_name={
            name: sum(hits) / len(hits)
            for name, hits in inside.items()
            if len(hits) >= len(pairs) / 2
        },
        bent_left_out=sum(one.bent_left_out for _, one in good),
        bent_views=sum(bent for (_, bent), _ in good),
        good_left_out=sum(one.good_left_out for _, one in good),
        good_views=VIEWS * len(good),
        models=dict(models.most_common()),
    )


BENCHMARK = Benchmark("CALIBRATION.md", cases, run, summarise, Options, section=True)
