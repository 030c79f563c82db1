"""The photographs that calibration is tested by."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.lens.synthetic_views import random_pose
from tests.support import target_photographs


@pytest.fixture(scope="session")
def photographs():
    """tests/support/target_photographs.py."""
    return target_photographs


@pytest.fixture(scope="session")
def taken(photographs, tmp_path_factory):
    """15 good photographs in a folder, and where each corner in them truly is."""
    folder, rng = tmp_path_factory.mktemp("good"), np.random.default_rng(3)
    poses = {f"{index:02d}.jpg": random_pose(photographs.LENS, rng) for index in range(15)}
    for name, pose in poses.items():
        photographs.save(photographs.photograph(pose, rng), folder / name)
    return folder, poses
