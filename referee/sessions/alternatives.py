"""What people who appeal against a ruling are offered: what else may have happened there, so that
one tap puts it on record.
"""

from __future__ import annotations

from itertools import islice

from referee.sessions.events import Choice, Corrected, Noted, Record, Ruled
from referee.sessions.state import Ledger, may_follow, state_before

ALTERNATIVES = 12
"""So many neighbours are offered at most."""


def alternatives(ledger: Ledger, record: Record) -> tuple[Choice, ...]:
    """What may stand in the place of a ruling of this game: the neighbours of what was ruled,
    nearest first, then nothing.

    Each agrees with all that was ruled since.  There are none for what was told in secret.
    """
    event, seq = record.event, record.seq
    if isinstance(event, Noted) and event.secret:
        return ()
    ruled: tuple[str, ...] = getattr(event, "moves", ())
    stood = next((entry.moves for entry in ledger.standing if entry.seq == seq), ())
    near = ledger.engine.alternatives(state_before(ledger, seq), stood or ruled)
    offered = (
        [Choice(label="As it was ruled before", moves=ruled)] if ruled and ruled != stood else []
    )
    offered += [Choice(label=choice.label, moves=choice.moves) for choice in near]
    if isinstance(event, Ruled):
        may_be = event.evidence.get("may_be", {})
        # Until schema 5 they were moves without words.
        offered += [
            Choice(label=said, moves=(move,))
            for said, move in (
                may_be.items() if isinstance(may_be, dict) else zip(may_be, may_be, strict=True)
            )
        ]
    nothing = [Choice(label="Nothing happened that counts")] if stood else []
    legal = islice((choice for choice in offered if _follows(ledger, seq, choice)), ALTERNATIVES)
    return (*legal, *(choice for choice in nothing if _follows(ledger, seq, choice)))


def _follows(ledger: Ledger, seq: int, choice: Choice) -> bool:
    """Would all that was ruled since still be legal?"""
    return may_follow(ledger, Corrected(corrects=seq, moves=choice.moves, decided_by=""))
