"""Whether cards, board and camera are where table.json says: looked at when the first table is at rest, and again when asked."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from referee.loop import Referee
from vision.frame import Frame

MOVED = "card 2 lies 4.1 mm from where it was"


def test_it_is_looked_at_once_on_a_table_at_rest_and_again_when_asked(session, seen, piece):
    shown = [seen(0, hand=True), *(seen(at_ms, piece("red", 50, 50)) for at_ms in range(250, 4000, 250))]
    looked, told = [], []

    def read():
        told.append(referee.latest.moved)
        seq = len(told) - 1
        if seq == 10:
            referee.check_again()
        return Frame(seq, shown[seq].at_ms, np.full((24, 32, 3), seq, np.uint8)) if seq < len(shown) else None

    def recheck(image, _):
        looked.append(int(image[0, 0, 0]))
        return (MOVED,) if len(looked) == 1 else ()

    camera = SimpleNamespace(read=read, close=lambda: None)
    referee = Referee(camera, SimpleNamespace(board=None), lambda frame, *_: shown[frame.seq], session, recheck=recheck)
    referee.run()
    at_rest, asked = looked
    assert at_rest > 2
    assert asked == 10
    assert told[: at_rest + 1] == [()] * (at_rest + 1)
    assert told[at_rest + 1 : 11] == [(MOVED,)] * (10 - at_rest)
    assert told[11] == ()
