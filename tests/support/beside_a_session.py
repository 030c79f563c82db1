"""Stand-ins for testing devices beside a session of Pegs."""

from __future__ import annotations

from hardware.cues import Cue
from referee.sessions.events import VerdictReached
from table.boards import Open

BOARD = Open(outline_mm=((0, 0), (600, 0), (600, 400), (0, 400)))


PATIENCE_S = 20.0


PLAYERS = ("red", "blue")


def turn(player):
    return Cue("turn", PLAYERS, of=(player,))


def put(session, colour, verdict="accepted"):
    moves = (colour,) if verdict == "accepted" else ()
    return session.append(
        VerdictReached(verdict=verdict, code="pegs.put", message="", moves=moves, player=colour)
    )
