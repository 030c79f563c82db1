"""Secret votes in a session: which are hidden now, and which a command would affect or reveal.

The game defines what is secret (`hidden_voters`, `secret_voter`); nothing here depends on a game's
phases or notation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from engines import Game
from referee.sessions.commands import Answer, Command, Correct, Declare, Hear, Undo
from referee.sessions.events import QuestionAsked
from referee.sessions.state import SessionState


@dataclass(frozen=True, slots=True)
class AffectedVotes:
    """Effect of a command on hidden votes.

    It casts, changes or takes back those of `voters`. It is `aloud` if it would write a hidden vote
    into the log in clear. It is also `aloud` if it continues after a vote that it reveals, as a
    refusal would then tell the result.
    """

    voters: frozenset[str] = frozenset()
    aloud: bool = False


def hidden_votes(ledger: SessionState) -> dict[str, int]:
    """Record of each hidden vote, by player."""
    voters = set(ledger.engine.hidden_voters(ledger.state))
    found: dict[str, int] = {}
    for entry in reversed(ledger.standing):
        if not voters - found.keys():
            break
        for player in _voters(ledger.engine, entry.moves):
            found.setdefault(player, entry.seq)
    return {
        player: found[player] for player in ledger.players if player in voters and player in found
    }


def affected_votes(ledger: SessionState, command: Command) -> AffectedVotes:
    """Return the effect of a command on hidden votes, if it were executed now."""
    hidden = hidden_votes(ledger)
    match command:
        case Hear():
            voter = ledger.engine.secret_voter(command.heard)
            return AffectedVotes(frozenset([voter] if voter is not None else []))
        case Declare():
            cast = _voters(ledger.engine, command.moves)
            return AffectedVotes(
                frozenset(cast), bool(cast) or _has_later_moves(hidden, command.moves)
            )
        case Correct():
            cast = _voters(ledger.engine, command.moves)
            # A revealed vote may be corrected; any other one is cast by this command.
            stood = next(
                (entry.moves for entry in ledger.standing if entry.seq == command.record), ()
            )
            new = (
                cast - _voters(ledger.engine, stood)
                if command.record not in hidden.values()
                else cast
            )
            voters = {*new, *_cast_in(hidden, command.record)}
            return AffectedVotes(
                frozenset(voters), bool(new) or _has_later_moves(hidden, command.moves)
            )
        case Undo():
            question = ledger.question
            if command.record is not None:
                record = command.record
            elif question is not None or not ledger.standing:
                return AffectedVotes()
            else:
                record = ledger.standing[-1].seq
            return AffectedVotes(frozenset(_cast_in(hidden, record)))
        case Answer():
            return AffectedVotes(frozenset(_voters(ledger.engine, _answers(ledger))))
        case _:
            return AffectedVotes()


def _has_later_moves(hidden: dict[str, int], moves: tuple[str, ...]) -> bool:
    return bool(hidden) and len(moves) > 1


def _cast_in(hidden: dict[str, int], record: int) -> list[str]:
    return [player for player, seq in hidden.items() if seq == record]


def _answers(ledger: SessionState) -> Iterable[str]:
    """Moves of all answers to the open question."""
    asked = ledger.question.event if ledger.question else None
    return (
        [move for choice in asked.choices for move in choice.moves]
        if isinstance(asked, QuestionAsked)
        else []
    )


def _voters(engine: Game, moves: Iterable[str]) -> Counter[str]:
    """Count the secret votes in some moves by voter; texts that are no moves count none."""
    voters: Counter[str] = Counter()
    for text in moves:
        try:
            voter = engine.secret_voter(engine.parse_move(text))
        except ValueError:
            continue
        if voter is not None:
            voters[voter] += 1
    return voters
