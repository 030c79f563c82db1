"""Alternatives to a move that was ruled on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from engines.alternatives import choices_near
from engines.verdict import Choice
from engines.zamboni_wars import rules
from engines.zamboni_wars.board import FACINGS
from engines.zamboni_wars.moves import Die, Drive, EarlyRoll, Fire, Hold, Move, Roll, Take
from engines.zamboni_wars.phases import Aiming
from engines.zamboni_wars.rules import drive_end_text
from engines.zamboni_wars.state import State
from table.messages import Message, msg


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Other facings on the same space, then the spaces beside it; other dice; fired or not."""
    return choices_near(rules, _nearby_moves, state, moves)


def in_words(state: State, move: Move) -> Message:
    """Describe a move."""
    match move:
        case Drive():
            return drive_end_text(state.to_move, move)
        case Fire(target):
            return msg("{player} fired at {player2}", player=state.to_move, player2=target)
        case Hold():
            return msg("{player} did not fire", player=state.to_move)
        case Take(target):
            return msg("{player}'s outermost piece is off", player=target)
        case Roll() | Die() | EarlyRoll():
            return msg("The die showed {n}", n=move.pips)
        case _:
            assert_never(move)


def _nearby_moves(state: State, ruled: Move) -> Iterator[tuple[Message, Move]]:
    match ruled:
        case Drive():
            legal = [
                move
                for move in rules.legal_moves(state)
                if isinstance(move, Drive) and _distance(move, ruled) <= (1, len(FACINGS))
            ]
            for move in sorted(legal, key=lambda move: _distance(move, ruled)):
                yield drive_end_text(state.to_move, move), move
        case Roll() | Die() | EarlyRoll():
            for pips in sorted(rules.PIPS, key=lambda pips: abs(pips - ruled.pips)):
                die = replace(ruled, pips=pips)
                yield in_words(state, die), die
        case Hold() if isinstance(state.phase, Aiming):
            fired = Fire(state.phase.target)
            yield in_words(state, fired), fired
        case Fire():
            yield in_words(state, Hold()), Hold()
        case _:
            return


def _distance(a: Drive, b: Drive) -> tuple[int, int]:
    """Distance between the ends of two drives, in spaces and in eighths of a turn."""
    turn = abs(FACINGS.index(a.facing) - FACINGS.index(b.facing))
    return max(abs(a.space.file - b.space.file), abs(a.space.row - b.space.row)), min(
        turn, len(FACINGS) - turn
    )
