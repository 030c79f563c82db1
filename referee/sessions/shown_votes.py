"""Restore secret votes in public records once the game has revealed them.

A public record has no secret moves. Once all votes are cast, the game's states show them. A vote
that was taken back or lost before is never shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engines.game import Game, facts
from referee.sessions.events import GameStarted, InputRecorded, Record, VerdictReached


def with_shown_votes(records: Sequence[Record], game: Game) -> list[Record]:
    """Return a session's records with revealed votes, so that they can be folded.

    A secret record gets its move if a later state shows it. Otherwise it counts without a move, so
    that an undo of it still works.
    """
    return [_with_vote(records, place, game) for place in range(len(records))]


def _with_vote(records: Sequence[Record], place: int, game: Game) -> Record:
    record, event = records[place], records[place].event
    if not isinstance(event, InputRecorded) or not event.secret or event.moves:
        return record
    if move := _shown_vote(records, place, event.player or "", game):
        return msgspec.structs.replace(record, event=msgspec.structs.replace(event, moves=(move,)))
    nothing = VerdictReached(verdict="accepted", code=event.code, message=event.message)
    return msgspec.structs.replace(record, event=nothing)


def _shown_vote(records: Sequence[Record], place: int, player: str, game: Game) -> str | None:
    """The vote that a record cast, from the first state that shows it; None without one."""
    for record in records[place:]:
        if isinstance(record.event, GameStarted):
            return None
        if state := getattr(record.event, "state", None):
            move = facts(game).cast_vote(state, player)
            if move != HIDDEN:
                return move
    return None


HIDDEN = ""
"""Value of `cast_vote` for a hidden vote."""
