"""First estimates of lenses by the camera's name."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.lens.presets import known_lens, known_lenses, lens_for
from cli.main import main
from table.errors import InputError
from table.table_config import load_table, save_table
from tests.support.paths import ROOT
from vision.geometry.camera_model import refocused, undistort

PUBLISHED_DEG = {
    "camera-module-v2": (62.2, 48.8),
    "camera-module-3": (66.0, 41.0),
    "camera-module-3-wide": (102.0, 67.0),
}
"""Angles across and down in the maker's table, which pixel size and focal length beside them do not
give exactly.
"""


@pytest.mark.parametrize("name", PUBLISHED_DEG)
def test_an_estimate_agrees_with_the_published_angles_within_its_sigma(name: str) -> None:
    known = known_lenses()[name]
    lens = known.lens(known.size_px)
    across = undistort(np.array([[-0.5, lens.matrix[1][2]], [lens.matrix[0][2], -0.5]]), lens)
    for ray, published in zip(np.abs(across).max(axis=1), PUBLISHED_DEG[name], strict=True):
        half = math.radians(published / 2)
        assert ray == pytest.approx(math.tan(half), rel=2.5 * known.focal_sigma_share)


@pytest.mark.parametrize("name", known_lenses())
def test_every_mode_has_a_lens_that_a_table_can_hold(name: str, tmp_path: Path) -> None:
    known = known_lenses()[name]
    table = load_table(ROOT / "tests" / "table" / "table.json")
    full = known.lens(known.size_px)
    for mode, pixels in known.modes.items():
        lens = lens_for(name, mode)
        assert mode == f"{lens.width}x{lens.height}"
        assert lens.matrix[0][0] == pytest.approx(full.matrix[0][0] / pixels)
        assert lens.first_estimate
        assert math.sqrt(lens.covariance[0][0]) == pytest.approx(
            known.focal_sigma_share * lens.matrix[0][0], rel=0.01
        )
        save_table(msgspec.structs.replace(table, camera=lens), tmp_path / "table.json")
        assert load_table(tmp_path / "table.json").camera == lens


def test_the_whole_picture_made_smaller_is_known_too() -> None:
    lens = known_lens("camera-module-3", (1152, 648))
    assert lens.matrix[0][0] == pytest.approx(4740 / 1.4 / 4)


@pytest.mark.parametrize(
    ("message", "size", "expected"),
    [
        (
            "camera-module-9",
            None,
            "--lens: expected a lens.json, or one of camera-module-v2, camera-module-3, ",
        ),
        (
            "camera-module-3",
            None,
            "--size: expected the size of the camera's pictures, such as 2304x1296, got none",
        ),
        ("camera-module-3", "big", "such as 2304x1296, got big"),
        (
            "camera-module-3",
            "1000x1000",
            (
                "4608x2592 or smaller in the same proportions, 2304x1296, 1536x864), got"
                " 1000x1000; calibrate the lens for that size"
            ),
        ),
        (
            "lens.json",
            "2304x1296",
            "--size: expected only with the name of a camera; lens.json has its own size",
        ),
    ],
)
def test_what_is_not_known_is_said(message: str, size: str | None, expected: str) -> None:
    with pytest.raises(InputError) as error:
        lens_for(message, size)
    assert expected in str(error.value)


def test_a_command_that_wants_a_lens_takes_a_name(tmp_path: Path) -> None:
    words = [
        "calibrate",
        "table",
        "--lens",
        "camera-module-3",
        "--from",
        str(tmp_path),
        "--out",
        str(tmp_path / "table.json"),
    ]
    assert "--size: expected the size" in CliRunner().invoke(main, words).stderr
    assert "photo" in CliRunner().invoke(main, [*words, "--size", "2304x1296"]).stderr


def test_a_camera_that_is_focused_elsewhere_is_told() -> None:
    lens = known_lens("camera-module-3", (2304, 1296))
    calibrated = msgspec.structs.replace(lens, focus_dpt=0.9)
    assert refocused(1.2, calibrated).startswith(
        "the camera is focused at 1.20 dioptres, but the lens was calibrated at 0.90; lock the"
        " focus there"
    )
    assert refocused(0.95, calibrated) == refocused(None, calibrated) == refocused(1.2, lens) == ""
