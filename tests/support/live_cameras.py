"""A live camera whose feed is a script."""

from __future__ import annotations

import threading

import numpy as np

from table.table_config import parse_table
from tests.support.pictures import HEIGHT, TABLE, WIDTH
from vision.cameras.base import CameraLost
from vision.cameras.live import LiveCamera, Picture

SETUP = parse_table(TABLE)


def bright(level):
    return np.full((HEIGHT, WIDTH, 3), level, np.uint8)


class Scripted:
    """A feed that gives what it is handed: pictures, or errors; after the last it waits until it is
    let go of.
    """

    def __init__(self, *script):
        self.script, self.closed, self.empty, self.go = (
            list(script),
            threading.Event(),
            threading.Event(),
            threading.Event(),
        )

    def picture(self):
        if not self.script:
            self.empty.set()
            self.go.wait(5)
            raise CameraLost("script over")
        given_ = self.script.pop(0)
        if isinstance(given_, Exception):
            raise given_
        return Picture(given_)

    def close(self):
        self.closed.set()


def live(*feeds, patience_s=5.0):
    feeds, ticks = list(feeds), iter(range(1000, 9000, 100))
    return LiveCamera(
        "test camera", lambda: feeds.pop(0), SETUP, clock=lambda: next(ticks), patience_s=patience_s
    )
