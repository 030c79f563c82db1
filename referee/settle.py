"""When has the table come to rest?  Counted on the frames' own clock."""

from __future__ import annotations

from table.observation import Observation

HOLD_MS = 500
STILL_MM = 1.0


def agree(a: Observation, b: Observation) -> bool:
    """Do two observations show the same pieces in the same places, within 1 mm or what their covariances can doubt?"""
    raise NotImplementedError


class Settle:
    """Feed it every frame's observation; it answers with one when nothing has moved for `hold_ms`."""

    def __init__(self, hold_ms: int = HOLD_MS) -> None:
        raise NotImplementedError
