"""A virtual table on which nobody rules, as its players have set it up."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np

from engines import GAMES
from referee.sessions.events import Record
from simulation.tables import demo_table
from simulation.virtual_table import VirtualTable

FRAME_MS, SET_UP_MS = 400, 40_000
"""Frame period, and the players' timeout for a ruling on their set-up, in ms."""


class Session:
    """A session before its first ruling, in which nobody has said anything."""

    def __init__(self, table):
        state = GAMES[table.setup.game.name].set_up(
            table.setup.game.colours, table.rulings, table.setup.board
        )
        self.ledger = SimpleNamespace(
            state=state,
            seq=1,
            game_seq=1,
            question=None,
            paused=False,
            players=state.players,
            standing=(),
        )
        self.written = []

    def view(self):
        """The view that Ice Boule's players read."""
        return SimpleNamespace(phase="paused", question=None, state={}, seq=1, game_number=1)

    def command(self, _command):
        """Ignore a command."""

    def records(self, after=0):
        return tuple(record for record in self.written if record.seq > after)

    def come_to(self, state, event):
        """Set the recorded state."""
        self.ledger.seq += 1
        self.ledger.state = state
        self.ledger.standing += (
            SimpleNamespace(
                seq=self.ledger.seq,
                by=self.ledger.seq,
                state=state,
                moves=getattr(event, "moves", ()),
            ),
        )
        self.written.append(Record(seq=self.ledger.seq, session=1, at_ms=0, event=event))


@cache
def table_of(game, seed):
    """The table of a game and seed, made once."""
    return demo_table(game, seed)


def laid_out(game, seed=3):
    """A virtual table that its players have set up, with a person in the first seat."""
    virtual, players, _ = laid_out_in_session(game, seed)
    return virtual, players, table_of(game, seed).setup


def laid_out_in_session(game, seed=3):
    """As `laid_out`, with the session in place of the set-up."""
    table = table_of(game, seed)
    session = Session(table)
    players = table.seated(session, table.setup)
    virtual = VirtualTable(players, session, table.setup, np.random.default_rng(seed))
    for colour in table.setup.game.colours:
        virtual.sit(colour)
    for at_ms in range(0, SET_UP_MS, FRAME_MS):
        virtual.scene_at(at_ms)
    assert not players.busy
    session.ledger.paused = True
    for colour in table.setup.game.colours[1:]:
        virtual.sit(colour, here=False)
    virtual.scene_at(SET_UP_MS)
    return virtual, players, session
