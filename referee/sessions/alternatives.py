"""Alternatives to a ruling, offered on an appeal, so that one tap records one."""

from __future__ import annotations

from itertools import islice
from typing import Any

from engines.first_player import BeginWith, named_first_player
from engines.verdict import Choice as Offered
from referee.sessions.events import Choice, Corrected, InputRecorded, Record, VerdictReached
from referee.sessions.state import SessionState, may_follow, state_before
from table.messages import as_message, msg

ALTERNATIVES = 12
"""Most neighbours offered."""


def alternatives(ledger: SessionState, record: Record) -> tuple[Choice, ...]:
    """Return the alternatives to a ruling of this game.

    First the neighbours of its moves, nearest first, then nothing. Each agrees with all later
    rulings. Secret votes have none.
    """
    event, seq = record.event, record.seq
    if isinstance(event, InputRecorded) and event.secret:
        return ()
    ruled: tuple[str, ...] = getattr(event, "moves", ())
    stood = next((entry.moves for entry in ledger.standing if entry.seq == seq), ())
    near = _others(ledger, stood or ruled) or ledger.engine.alternatives(
        state_before(ledger, seq), stood or ruled
    )
    offered = (
        [Choice(label=msg("As ruled before"), moves=ruled)] if ruled and ruled != stood else []
    )
    offered += [Choice(label=as_message(choice.label), moves=choice.moves) for choice in near]
    if isinstance(event, VerdictReached):
        offered += [
            Choice(label=as_message(message), moves=(move,))
            for message, move in _other_acts(event.evidence.get("may_be", []))
        ]
    nothing = [Choice(label=msg("Nothing that counts happened"))] if stood else []
    offered = [
        choice
        for choice in offered
        if ledger.has_sizes(word for move in choice.moves for word in move.split())
    ]
    legal = islice(
        (choice for choice in offered if _keeps_later_rulings(ledger, seq, choice)), ALTERNATIVES
    )
    return (*legal, *(choice for choice in nothing if _keeps_later_rulings(ledger, seq, choice)))


def _other_acts(recorded: Any) -> list[tuple[str, str]]:
    """Other possible acts, from evidence: words and notation.

    Until schema 5, evidence had moves without words; until schema 8, moves keyed by their words.
    """
    if isinstance(recorded, dict):
        return [*recorded.items()]
    return [(one["said"], one["move"]) if isinstance(one, dict) else (one, one) for one in recorded]


def _others(ledger: SessionState, moves: tuple[str, ...]) -> tuple[Offered, ...]:
    """Other players who may begin; none for a move of the game."""
    if not moves or named_first_player(moves[0]) is None:
        return ()
    every = ((player, str(BeginWith(player))) for player in ledger.remaining_players)
    return tuple(
        Offered(msg("{player} begins", player=player), (move,))
        for player, move in every
        if move not in moves
    )


def _keeps_later_rulings(ledger: SessionState, seq: int, choice: Choice) -> bool:
    """True if all later rulings would still be legal."""
    return may_follow(ledger, Corrected(corrects=seq, moves=choice.moves, decided_by=""))
