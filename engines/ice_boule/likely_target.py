"""Find the likely target if nobody has named its colour."""

from __future__ import annotations

from collections import Counter

from table.observation import SURE, Observation

LIKELY = 0.5
"""Least probability of a colour for its only piece."""


def likely_targets(seen: Observation) -> tuple[str, ...]:
    """Colours whose only piece may be the target: it is upright, on the ground.

    No player has the target's colour. The colour may be doubtful, the pose may not.
    """
    counts = Counter(piece.colour for piece in seen.pieces)
    return tuple(
        piece.colour
        for piece in seen.pieces
        if counts[piece.colour] == 1
        and piece.pose == "upright"
        and piece.on is None
        and piece.pose_probability >= SURE
        and piece.colour_probability >= LIKELY
    )
