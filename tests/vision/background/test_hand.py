"""Hands over the board, out of what the network takes for arms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.observed_boule import SETUP
from vision.background.residuals import hand_is_over
from vision.geometry.rectified_view import SUB_BITS

CELL_MM = 4.0


def detections(*patches):
    """What the network makes of a table: arms in these patches (x, y, width, height) mm."""
    arms = np.zeros((200, 200), bool)
    for patch in patches:
        x, y, width, height = (round(mm / CELL_MM) for mm in patch)
        arms[y : y + height, x : x + width] = True
    return SimpleNamespace(
        arms=arms,
        view=SimpleNamespace(step_mm=CELL_MM / 4),
        polygon=lambda outline_mm: np.rint(outline_mm / CELL_MM * (1 << SUB_BITS)).astype(int)[
            :, None
        ],
    )


@pytest.mark.parametrize(
    ("patches", "over"),
    [
        ([], False),
        ([(100, 100, 200, 60)], True),
        ([(100, 100, 12, 12)], False),
        ([(x, y, 12, 12) for x in range(40, 400, 60) for y in range(40, 280, 60)], False),
        ([(40, 40, 12, 12), (100, 100, 80, 40)], True),
    ],
    ids=["nothing", "arm", "speck", "specks all over", "speck and hand"],
)
def test_a_hand_is_one_patch_and_many_specks_are_none(patches, over):
    assert hand_is_over(detections(*patches), SETUP) is over
