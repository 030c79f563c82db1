"""Calibrate many lenses from simulated corners and write what came of it into docs/CALIBRATION.md
(`make bench-calibration`).

A run: a random lens, 15 views of the target from random poses, Gaussian noise on every coordinate
of every corner, and in every second run two views of a bent target among them.  Then the
photographs of the benchmark are read with lenses of their own. What is before the line of MARK in
the page is written by hand and stays.
"""

from __future__ import annotations

import datetime
import platform
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import click
import cv2
import numpy as np

from benchmarks.accuracy import ROOT, commit
from benchmarks.first_lens import first_lens_text
from calibration.lens.fit import Calibrated, calibrate_lens
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

MARK = "<!-- `make bench-calibration` writes what follows -->\n"
NOISE_PX = (0.05, 0.2)
VIEWS, BENT = 15, 2


def bent_view(name: str, lens: Lens, rng: np.random.Generator) -> View:
    """A view of a target that is bent by a few millimetres, as its picture shows it."""
    view = simulated_view(name, lens, random_pose(lens, rng), 0.1, rng)
    along = view.target_mm @ np.array([np.cos(turn := rng.uniform(0, np.pi)), np.sin(turn)])
    return replace(view, pixels=view.pixels + np.outer(np.sin(along / 50), rng.normal(0, 3, 2)))


def run(seed: int, bent: int) -> tuple[Lens, float, Calibrated]:
    """The true lens, the noise (1 sigma a coordinate, px), and what was found."""
    rng = np.random.default_rng([17, seed])
    lens, noise = random_lens(rng), float(rng.uniform(*NOISE_PX))
    spoilt = tuple(bent_view(f"bent-{index}.jpg", lens, rng) for index in range(bent))
    return (
        lens,
        noise,
        calibrate_lens(
            (*spoilt, *simulated_views(lens, VIEWS, noise, rng)), (lens.width, lens.height)
        ),
    )


TEXT = """## How exact a lens is

Measured {date} (commit {commit}), Python {python}, OpenCV {opencv}: {count} runs, each a random lens (1640 x 1232 to
2304 x 1296 px, 55 to 75 degrees wide), {views} simulated views of the target, noise of {low:g} to {high:g} px (1 sigma) on every coordinate of every
corner, and in every second run {bent} more views of a bent target, which should be left out. {refused} runs were refused.

| | median | 95 % of runs | worst |
|---|---|---|---|
| focal length is off by, % | {focal[0]:.3f} | {focal[1]:.3f} | {focal[2]:.3f} |
| principal point is off by, px | {middle[0]:.2f} | {middle[1]:.2f} | {middle[2]:.2f} |
| RMS over the noise put in, % off | {rms[0]:.1f} | {rms[1]:.1f} | {rms[2]:.1f} |

Of {parameters} parameters {inside:.1f} % are in their stated 95 % intervals ({by_name}).
{bent_found} of {bent_all} bent views were left out, and {good_lost} of {good_all} good ones.
Models chosen: {models}.
"""


@click.command()
@click.option("--runs", default=100, show_default=True, help="How many lenses.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "CALIBRATION.md",
    help="The page to write.",
)
def main(runs: int, out: Path) -> None:
    """Calibrate lenses and write the end of the page."""
    focal, middle, rms, refused = [], [], [], 0
    inside: dict[str, list[bool]] = {}
    models: Counter[str] = Counter()
    bent_found = good_lost = bent_all = good_all = 0
    for seed in range(runs):
        bent = BENT * (seed % 2)
        try:
            lens, noise, found = run(seed, bent)
        except InputError as error:
            print(f"run {seed}: {error}", file=sys.stderr)
            refused += 1
            continue
        true, got = parameters_of(lens), parameters_of(found.lens)
        focal.append(100 * abs(got["fx"] / true["fx"] - 1))
        middle.append(np.hypot(got["cx"] - true["cx"], got["cy"] - true["cy"]))
        rms.append(100 * abs(found.rms_px / (noise * np.sqrt(2)) - 1))
        models[found.model] += 1
        for name, sigma in found.sigma.items() if found.model != "rational" else ():
            inside.setdefault(name, []).append(abs(got[name] - true[name]) < 1.96 * sigma)
        bent_found += sum(view.name.startswith("bent") for view in found.left_out)
        good_lost += sum(not view.name.startswith("bent") for view in found.left_out)
        bent_all, good_all = bent_all + bent, good_all + VIEWS
    every = [hit for hits in inside.values() for hit in hits]
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=commit(),
        python=platform.python_version(),
        opencv=cv2.__version__,
        count=runs,
        views=VIEWS,
        bent=BENT,
        low=NOISE_PX[0],
        high=NOISE_PX[1],
        refused=refused,
        focal=np.percentile(focal, (50, 95, 100)),
        middle=np.percentile(middle, (50, 95, 100)),
        rms=np.percentile(rms, (50, 95, 100)),
        parameters=len(every),
        inside=100 * np.mean(every),
        by_name=", ".join(
            f"{name} {100 * np.mean(hits):.0f} %"
            for name, hits in inside.items()
            if len(hits) >= runs / 2
        ),
        bent_found=bent_found,
        bent_all=bent_all,
        good_lost=good_lost,
        good_all=good_all,
        models=", ".join(f"{model} {count}" for model, count in models.most_common()),
    )
    page = out.read_text(encoding="utf-8").partition(MARK)[0] if out.exists() else ""
    out.write_text(page + MARK + "\n" + text + first_lens_text(), encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
