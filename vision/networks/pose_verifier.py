"""Is there such a piece?  Guesses of size and pose, each on its edges, are told apart by the whole
picture of them.

A small network of its own (`data/verification.onnx`, taught like the others, see `training.rivals`)
is shown what a close look is shown: the photograph around a guess, and the outline and the edges
that it would have there.  It answers how likely a piece of this size and pose is there, rather than
another; bare ground it was hardly shown.  Source of the idea: the scoring network of Labbe et al.,
MegaPose, CoRL 2022.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from table.solids import Array
from vision.geometry.piece_pose import Hypothesis
from vision.geometry.rectified_view import Photo
from vision.networks.pose_refiner import ANSWERS, crops
from vision.networks.runtime import answers

ODDS = ANSWERS
"""Where they are in an answer, behind all that a close look answers: the network was taught that
too, as it tells sizes and poses better so.
"""
VERIFIED, MOST_VERIFIED = 1.5, 8.0
"""What the verification says for one rival against another counts so much, and is these log odds at
most.  Fitted to made-up tables that the networks were not taught on.
"""


def evidence(rivals: Sequence[Hypothesis], photo: Photo) -> Array:
    """What the verification says for each of rivals (n,), as the logarithm that is added to what
    else speaks for it.
    """
    return VERIFIED * np.clip(log_odds(rivals, photo), -MOST_VERIFIED, MOST_VERIFIED)


def log_odds(guesses: Sequence[Hypothesis], photo: Photo) -> Array:
    """That there are pieces like these (n,), each against all else."""
    if not guesses:
        return np.zeros(0)
    return answers("verification", crops(guesses, photo)[1])[:, ODDS].astype(float)
