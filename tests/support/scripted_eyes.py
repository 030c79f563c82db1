"""A referee whose eyes see what they are told."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from referee.live.referee import Referee
from tests.support.setups import setup_of
from vision.cameras.frame import Frame


def referee(session, *seen, inputs=(), meanwhile=lambda _: None):
    """Eyes that see these tables, a frame each; `meanwhile(at_ms)` is called with every one."""
    left = list(seen)
    shown = []

    def read():
        if not left:
            return None
        shown.append(left.pop(0))
        return Frame(len(shown) - 1, shown[-1].at_ms, np.zeros((24, 32, 3), np.uint8))

    def observe(frame, *_):
        meanwhile(frame.at_ms)
        return shown[frame.seq]

    camera = SimpleNamespace(read=read, close=lambda: None)
    return Referee(camera, setup_of(), observe, session, inputs=inputs)
