"""Lenses from simulated corners: as exact as the noise allows, and honest about it.  `make
bench-calibration` runs many more.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import msgspec
import numpy as np
import pytest

from calibration.lens.file import advice
from calibration.lens.fit import LensCalibration, calibrate_lens
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

pytestmark = pytest.mark.slow

NOISE_PX = 0.1


def size(lens: Lens) -> tuple[int, int]:
    return lens.width, lens.height


def scores(found: LensCalibration, true: Lens) -> list[float]:
    """How many sigmas each free parameter is off."""
    got, expected = parameters_of(found.lens), parameters_of(true)
    return [(got[name] - expected[name]) / sigma for name, sigma in found.sigma.items()]


def test_parameters_are_in_their_intervals_and_residuals_are_the_noise() -> None:
    off, focal_off, middle_off = [], [], []
    for seed in range(12):
        rng = np.random.default_rng([1, seed])
        lens = random_lens(rng)
        found = calibrate_lens(simulated_views(lens, 15, NOISE_PX, rng), size(lens))
        off += scores(found, lens)
        focal_off.append(abs(found.lens.matrix[0][0] / lens.matrix[0][0] - 1))
        middle_off.append(
            np.hypot(
                found.lens.matrix[0][2] - lens.matrix[0][2],
                found.lens.matrix[1][2] - lens.matrix[1][2],
            )
        )
        assert found.rms_px == pytest.approx(NOISE_PX * np.sqrt(2), rel=0.1)
        assert found.held_out_px[found.model] == pytest.approx(found.rms_px, rel=0.1)
        assert not found.left_out
    assert max(focal_off) < 0.0015
    assert max(middle_off) < 2
    assert 0.85 < np.mean(np.abs(off) < 1.96) <= 1
    assert 0.6 < np.std(off) < 1.5


@pytest.mark.parametrize(("noise_px", "warned"), [(0.1, False), (0.65, True)])
def test_a_lens_that_fits_poorly_is_called_that(noise_px: float, warned: bool) -> None:
    """An RMS of 0.9 px says that a target was bent or a focus moved."""
    rng = np.random.default_rng(3)
    lens = random_lens(rng)
    found = calibrate_lens(simulated_views(lens, 15, noise_px, rng), size(lens))
    said = [one for one in advice(found, np.ones((4, 6), bool)) if "fits poorly" in one]
    assert len(said) == warned
    if warned:
        assert said[0].startswith(f"This lens fits poorly: RMS {found.rms_px:.2f} px, under 0.5 px")


def test_uncertainties_agree_with_opencvs_where_views_are_good() -> None:
    rng = np.random.default_rng(6)
    lens = random_lens(rng)
    found = calibrate_lens(simulated_views(lens, 12, NOISE_PX, rng), size(lens))
    assert found.model == "k1 k2 p1 p2"
    views = [judged.view for judged in found.views]
    points = [
        np.column_stack([view.target_mm, np.zeros(len(view.target_mm))]).astype(np.float32)
        for view in views
    ]
    pixels = [view.pixels.astype(np.float32) for view in views]
    _, _, _, _, _, sigma, _, _ = cv2.calibrateCameraExtended(
        points, pixels, size(lens), np.eye(3), np.zeros(5), flags=cv2.CALIB_FIX_K3
    )
    assert list(found.sigma.values()) == pytest.approx(np.asarray(sigma).reshape(-1)[:8], rel=1e-3)


@pytest.fixture(scope="module")
def case() -> tuple[Lens, tuple[View, ...]]:
    rng = np.random.default_rng(11)
    lens = random_lens(rng)
    return lens, simulated_views(lens, 15, NOISE_PX, rng)


def test_a_bent_target_and_stray_corners_are_left_out(case: tuple[Lens, tuple[View, ...]]) -> None:
    lens, views = case
    x = views[3].target_mm[:, 0]
    bent = replace(
        views[3], pixels=views[3].pixels + np.column_stack([np.zeros(len(x)), 2 * np.sin(x / 40)])
    )
    stray = views[7].pixels.copy()
    stray[[5, 40]] += (3.0, -2.0)
    found = calibrate_lens(
        (*views[:3], bent, *views[4:7], replace(views[7], pixels=stray), *views[8:]), size(lens)
    )
    assert [out.name for out in found.left_out] == ["03.jpg"]
    assert "does not fit the others: its corners are 0." in found.left_out[0].message
    assert {judged.view.name: len(judged.residual_px) for judged in found.views}["07.jpg"] == len(
        views[7].pixels
    ) - 2
    assert found.rms_px == pytest.approx(NOISE_PX * np.sqrt(2), rel=0.1)
    assert max(np.abs(scores(found, lens))) < 4


def test_a_lens_that_needs_more_gets_a_richer_model(case: tuple[Lens, tuple[View, ...]]) -> None:
    lens, _ = case
    bulging = msgspec.structs.replace(lens, distortion=(-0.35, 0.25, 0.0004, -0.0003, -0.25))
    found = calibrate_lens(simulated_views(bulging, 20, 0.05, np.random.default_rng(2)), size(lens))
    assert found.model in ("k1 k2 p1 p2 k3", "rational")
    assert found.held_out_px[found.model] < 0.97 * found.held_out_px["k1 k2 p1 p2"]
    rows = np.column_stack(
        [np.random.default_rng(3).uniform(-0.4, 0.4, (200, 2)), np.ones(200)]
    ).reshape(-1, 1, 3)
    there, ours = (
        cv2.projectPoints(
            rows, np.zeros(3), np.zeros(3), np.array(each.matrix), np.array(each.distortion)
        )[0]
        for each in (bulging, found.lens)
    )
    shift = np.asarray(there - ours).reshape(-1, 2)
    assert np.abs(shift - np.median(shift, axis=0)).max() < 0.5


def test_too_few_views_that_agree_are_refused(case: tuple[Lens, tuple[View, ...]]) -> None:
    lens, views = case
    rng = np.random.default_rng(4)
    spoilt = [
        replace(view, pixels=view.pixels + np.cumsum(rng.normal(0, 1, view.pixels.shape), axis=0))
        for view in views[:4]
    ]
    with pytest.raises(
        InputError,
        match=r"expected at least 12 views that fit one lens, got 11; .*00\.jpg.* do not fit",
    ):
        calibrate_lens((*spoilt, *views[4:]), size(lens))


def test_views_that_do_not_tell_the_focal_length_are_refused(
    case: tuple[Lens, tuple[View, ...]],
) -> None:
    lens, _ = case
    rng = np.random.default_rng(5)
    flat = tuple(
        simulated_view(f"{k}.jpg", lens, random_pose(lens, rng, most_tilt_deg=1.0), 0.4, rng)
        for k in range(12)
    )
    with pytest.raises(
        InputError,
        match=(
            r"expected views that give the focal length to 1 % \(1 sigma\), they give it to [\d.]+"
            r" %; tilt the target more"
        ),
    ):
        calibrate_lens(flat, size(lens))
