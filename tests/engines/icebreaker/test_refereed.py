"""A stretch of Icebreaker through the whole referee: settling, judge, log, and the program begun
again in the middle.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from engines import icebreaker as game
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from tests.support.setups import setup_of
from vision.cameras.frame import Frame


class Film:
    """Eyes that see a table for a second, then a hand."""

    def __init__(self, board):
        self.board, self.at_ms, self.left, self.shown = board, 0, [], []

    def show(self, table):
        seen = table.seen()
        for hand in (False, False, False, False, True):
            self.left.append(dataclasses.replace(seen, at_ms=self.at_ms, hand=hand))
            self.at_ms += 250

    def referee(self, session):
        self.shown = []

        def read():
            if not self.left:
                return None
            self.shown.append(self.left.pop(0))
            return Frame(len(self.shown) - 1, self.shown[-1].at_ms, np.zeros((24, 32, 3), np.uint8))

        camera = SimpleNamespace(read=read, close=lambda: None)
        Referee(
            camera,
            setup_of(self.board, session.ledger.players),
            lambda frame, *_: self.shown[frame.seq],
            session,
        ).run()


@pytest.fixture
def film(tables):
    state = game.start(("red", "black"), {})
    table = tables.Table(state, np.random.default_rng(5))
    return Film(table.board), table


def lines(session):
    return [
        (record.event.verdict, record.event.code, record.event.moves)
        for record in session.records()
        if hasattr(record.event, "verdict")
    ]


def test_set_up_moves_refusal_and_put_back(tmp_path, film):
    film, table = film
    log = Log(tmp_path / "log.sqlite")
    started = SessionStarted(
        game="icebreaker",
        players=("red", "black"),
        table={"board": msgspec.to_builtins(table.board)},
    )
    session = Session.begin(log, started)
    film.show(table)
    wrong = table.copy()
    wrong.move("A1", "A3")
    film.show(wrong)
    film.show(wrong)
    film.show(table)
    table.move("A1", "A2")
    film.show(table)
    film.referee(session)
    assert lines(session) == [
        ("accepted", "icebreaker.start", ()),
        ("refused", "icebreaker.move", ("A1-A3",)),
        ("accepted", "icebreaker.move", ("A1-A2",)),
    ]
    session.close()

    again = Session.reopen(log, session.id)
    film.show(table)
    stolen = table.copy()
    del stolen.ice["E5"], stolen.ice["E6"]
    film.show(stolen)
    del stolen.ice["D5"]
    film.show(stolen)
    film.show(table)
    table.move("E1", "E2")
    film.show(table)
    film.referee(again)
    assert lines(again)[3:] == [
        ("out_of_sync", "icebreaker.out_of_sync", ()),
        ("accepted", "icebreaker.move", ("E1-E2",)),
    ]
    state = again.view().state
    assert (state["to_move"], state["score"]) == ("red", {"red": 1, "black": 1})
    log.close()
