"""Films of tables made by hand: what a camera would have read, without a camera, through the whole
referee.
"""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from tests.support.setups import setup_of
from vision.cameras.frame import Frame

PERIOD_MS = 250


class Film:
    """A session of a game on a board, and eyes that see each table for a second and then a hand
    over it.
    """

    def __init__(self, path, game, players, board, rulings, pieces):
        self.board, self.at_ms, self.left, self.inputs = board, 0, [], []
        self.log = Log(path / "log.sqlite")
        table = {"game": pieces} | (
            {"board": msgspec.to_builtins(board)} if board is not None else {}
        )
        started = SessionStarted(game=game, players=players, rulings=rulings, table=table)
        self.session = Session.begin(self.log, started)

    def show(self, seen):
        """A table comes to rest, and then a hand reaches over it."""
        for hand in (False, False, False, False, True):
            self.left.append(dataclasses.replace(seen, at_ms=self.at_ms, hand=hand))
            self.at_ms += PERIOD_MS

    def say(self, **message):
        """Something is heard."""
        self.inputs.append(Input(self.at_ms, message, "input"))

    def referee(self):
        """Referee what was shown and said; the verdicts that came of it: kind, code, player and
        moves.
        """
        shown = []

        def read():
            if not self.left:
                return None
            shown.append(self.left.pop(0))
            return Frame(len(shown) - 1, shown[-1].at_ms, np.zeros((24, 32, 3), np.uint8))

        camera = SimpleNamespace(read=read, close=lambda: None)
        after = self.session.ledger.seq
        inputs, self.inputs = tuple(self.inputs), []
        Referee(
            camera,
            setup_of(self.board, self.session.ledger.players),
            lambda frame, *_: shown[frame.seq],
            self.session,
            inputs=inputs,
        ).run()
        events = [record.event for record in self.session.records(after)]
        return [
            (event.verdict, event.code, event.player, event.moves)
            for event in events
            if hasattr(event, "verdict")
        ]


@pytest.fixture
def film(tmp_path):
    """`film(game, players, board, ruling="value")`: a film of a session; `pieces` is `game` of
    table.json.
    """
    films = []

    def begin(game, players, board, pieces=None, **rulings):
        films.append(Film(tmp_path, game, players, board, rulings, pieces or {}))
        return films[-1]

    yield begin
    for each in films:
        each.session.close()
        each.log.close()
