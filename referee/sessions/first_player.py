"""Decide who begins a game: by hand, by lot, or by a roll before the first move.

The lot is drawn here, outside the engines. People may override it by hand before the first move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import SystemRandom
from typing import Any, NamedTuple

import msgspec

from engines.announcements import read_heard
from engines.first_player import BeginWith, printed
from engines.game import How
from engines.verdict import Accepted, Verdict, Waiting
from referee.sessions.state import SessionState
from table.errors import InputError
from table.messages import msg, sentences

Lot = Callable[[Sequence[str]], str]
"""Chooses one of several players with equal probability."""

_system = SystemRandom()


class FirstPlayerDecision(NamedTuple):
    """The fields of that name of `SessionStarted` and `GameStarted`."""

    begins: How = "hand"
    first: str = ""
    message: str = ""
    rests_on: str = ""


def draw_lot(players: Sequence[str]) -> str:
    """Choose a player by the operating system's random generator; it has no seed."""
    return _system.choice(players)


def first_player_decision(
    begins: str, game: str, players: Sequence[str], lot: Lot = draw_lot
) -> FirstPlayerDecision:
    """Return how the first player is determined, and who that is.

    `begins` is `lot`, `roll`, a player, or empty for the first of `players`. `first` of the result
    is empty for the first of `players`, and for a roll. Raises InputError for any other value, and
    for a way that the rules of the game exclude.
    """
    if begins in ("lot", "roll") and begins not in printed(game).ways:
        raise InputError(
            msg(
                "--begins: expected the colour of the starting player (the rules of {game}"
                " say who that is), got {raw}",
                game=game,
                raw=repr(begins),
            )
        )
    match begins:
        case "":
            return FirstPlayerDecision()
        case "roll":
            return FirstPlayerDecision("roll")
        case "lot":
            if not players:
                raise InputError(
                    msg("players: expected at least one player to pick from, got none")
                )
            first = lot(players)
            message = sentences(
                msg("Picked at random among {players}.", players=players),
                msg("{player} begins.", player=first),
            )
            return FirstPlayerDecision("lot", first, message, printed(game).rests_on("lot"))
        case _ if begins in players:
            return FirstPlayerDecision(
                "hand", begins, msg("{player} begins: set by hand.", player=begins)
            )
        case _:
            raise InputError(
                msg(
                    "--begins: expected lot, roll or a player ({raw}), got {raw2}",
                    raw=", ".join(players),
                    raw2=repr(begins),
                )
            )


class BeginsSaid(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who begins, by hand."""

    begins: str


def hear(ledger: SessionState, heard: Mapping[str, Any]) -> Verdict:
    """Judge an input to any game.

    `{"begins": "blue"}` sets the first player before anything has happened; the game judges all
    others. Raises InputError for an input that neither understands.
    """
    if "begins" not in heard:
        return ledger.engine.hear(ledger.state, heard, ledger.in_doubt)
    first = read_heard(heard, BeginsSaid).begins
    if first not in ledger.players:
        raise InputError(
            msg(
                "input: begins: expected {raw}, got {raw2}",
                raw=", ".join(ledger.players),
                raw2=repr(first),
            )
        )
    if first not in ledger.may_begin:
        may_begin = ledger.may_set_first and first in ledger.remaining_players
        refusal = msg(
            "{player} is already set to begin." if may_begin else "{player} cannot begin any more.",
            player=first,
        )
        return Waiting(code="begins.hand", message=refusal, player=first)
    return Accepted(
        code="begins.hand",
        message=msg("{player} begins: set by hand.", player=first),
        player=first,
        moves=(str(BeginWith(first)),),
    )
