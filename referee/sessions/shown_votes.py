"""Secret votes in public records, put back where the game has shown them since.

A public record has no moves of what was told in secret. Once all votes are in, the states of the
game show them; a vote that was taken back or lost before is never shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engines.game import Game, facts
from referee.sessions.events import GameStarted, InputRecorded, Record, VerdictReached


def with_shown_votes(records: Sequence[Record], game: Game) -> list[Record]:
    """The records of a session of this game, so that they can be folded by its rules.

    What was told in secret has its move again where a later state shows it. Otherwise it counts
    without a move, so that it can be taken back as it was.
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
    """The vote that a record cast, as the first state says that shows it; None for none."""
    for record in records[place:]:
        if isinstance(record.event, GameStarted):
            return None
        if state := getattr(record.event, "state", None):
            move = facts(game).cast_vote(state, player)
            if move != HIDDEN:
                return move
    return None


HIDDEN = ""
"""What `cast_vote` says of a vote that is not shown yet."""
