"""Verify hypotheses of size and pose, each on its edges, by the whole image around them.

A small network of its own (`data/pose_verifier.onnx`, trained like the others, see
`training.verifier_examples`) has the same input as refinement: the photograph around a hypothesis,
and its outline and edges. It estimates the probability that a piece of this size and pose is there,
rather than another. Its training set contains hardly any bare ground. Source of the idea: the
scoring network of Labbe et al., MegaPose, CoRL 2022.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from table.solids import Array
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.networks.pose_refiner import ANSWERS, crops
from vision.networks.runtime import run_network

ODDS = ANSWERS
"""Index of the log odds in the output, after all outputs of refinement. The network was trained on
those too, because it then distinguishes sizes and poses better.
"""
VERIFIED, MOST_VERIFIED = 1.5, 8.0
"""Weight of the verification's log odds in the evidence, and clip of the log odds."""


def evidence(rivals: Sequence[Hypothesis], photo: Photo) -> Array:
    """Weighted and clipped log odds (n,) of the verification, to be added to other evidence."""
    return VERIFIED * np.clip(log_odds(rivals, photo), -MOST_VERIFIED, MOST_VERIFIED)


def log_odds(guesses: Sequence[Hypothesis], photo: Photo) -> Array:
    """Log odds (n,) that each hypothesis is right, against everything else."""
    if not guesses:
        return np.zeros(0)
    return run_network("pose_verifier", crops(guesses, photo)[1])[:, ODDS].astype(float)
