"""Questions that nobody answered are not answered one after the other by the referee itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.ice_storm import judge
from engines.verdict import Ambiguous, OutOfSync
from referee.live.retrospective import Retrospective
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.verdict_events import document, event_from_verdict
from table.boards import Chessboard
from tests.support.ice_storm import Table, Thrown

BOARD = Chessboard(square_mm=50.0)
PLAYERS = ("black", "cyan", "purple")


@pytest.fixture
def table():
    return Table(np.random.default_rng(5))


@pytest.fixture
def session(table, tmp_path):
    """Black, cyan and purple have each thrown a piece; it is black's throw."""
    with Log(tmp_path / "log.sqlite") as log:
        session = Session.begin(log, SessionStarted(game="ice_storm", players=PLAYERS))
        before = table.seen()
        for player, x_mm, y_mm in (("black", 325, 60), ("cyan", 125, 120), ("purple", 225, 225)):
            table.pieces[f"{player}1"] = Thrown(player, x_mm, y_mm, 90.0, "upright")
            seen = table.seen()
            verdict = judge(session.ledger.state, seen, before, BOARD)
            session.append(event_from_verdict(verdict, document(seen, session.ledger)))
            before = seen
        yield session
        session.close()


def test_people_are_asked_whose_piece_it_is_though_two_throws_out_of_sight_would_explain_it(
    table, session
):
    """Cyan's piece was carried and put back; then black throws, and the piece looks purple."""
    ledger, before = session.ledger, table.seen()
    kept = Retrospective()
    for y_mm in (180, 122):
        table.pieces["cyan1"] = Thrown("cyan", 125, y_mm, 90.0, "upright")
        seen = table.seen()
        if y_mm == 180:
            assert isinstance(judge(ledger.state, seen, before, BOARD), OutOfSync)
        kept.keep(seen, b"", session)
    table.pieces["new"] = Thrown("purple", 250, 375, 90.0, "upright")
    now = table.seen()
    now = replace(
        now,
        pieces=tuple(
            replace(piece, colour_probability=0.994) if piece.base_mm[1] > 300 else piece
            for piece in now.pieces
        ),
    )
    alone = judge(ledger.state, now, before, BOARD)
    assert isinstance(alone, Ambiguous), alone
    assert kept.infer(ledger, before, now, BOARD) == ()
