"""The photographs that calibration is tested by."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from calibration.lens.synthetic_views import random_pose


@pytest.fixture(scope="session")
def photographs():
    """tests/calibration/photographs.py."""
    spec = importlib.util.spec_from_file_location(
        "photographs", Path(__file__).with_name("photographs.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def taken(photographs, tmp_path_factory):
    """15 good photographs in a folder, and where each corner in them truly is."""
    folder, rng = tmp_path_factory.mktemp("good"), np.random.default_rng(3)
    poses = {f"{index:02d}.jpg": random_pose(photographs.LENS, rng) for index in range(15)}
    for name, pose in poses.items():
        photographs.save(photographs.photograph(pose, rng), folder / name)
    return folder, poses
