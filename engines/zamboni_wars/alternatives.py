"""Alternatives to a move that was ruled on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from engines.alternatives import instead
from engines.verdict import Choice
from engines.zamboni_wars import rules
from engines.zamboni_wars.board import FACINGS
from engines.zamboni_wars.moves import Die, Drive, EarlyRoll, Fire, Hold, Move, Roll
from engines.zamboni_wars.phases import Aiming
from engines.zamboni_wars.rules import ended_on
from engines.zamboni_wars.state import State
from table.messages import Message, msg


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Other facings on the same space, then the spaces beside it; other dice; fired or not."""
    return instead(rules, _near, state, moves)


def _near(state: State, ruled: Move) -> Iterator[tuple[Message, Move]]:
    match ruled:
        case Drive():
            legal = [
                move
                for move in rules.legal_moves(state)
                if isinstance(move, Drive) and _apart(move, ruled) <= (1, len(FACINGS))
            ]
            for move in sorted(legal, key=lambda move: _apart(move, ruled)):
                yield ended_on(state.to_move, move), move
        case Roll() | Die() | EarlyRoll():
            for pips in sorted(rules.PIPS, key=lambda pips: abs(pips - ruled.pips)):
                yield msg("The die showed {n}", n=pips), replace(ruled, pips=pips)
        case Hold() if isinstance(state.phase, Aiming):
            yield (
                msg(
                    "{player} fired at {player2}", player=state.to_move, player2=state.phase.target
                ),
                Fire(state.phase.target),
            )
        case Fire():
            yield msg("{player} did not fire", player=state.to_move), Hold()
        case _:
            return


def _apart(a: Drive, b: Drive) -> tuple[int, int]:
    """The distance between the ends of two drives, in spaces and in eighths of a turn."""
    turn = abs(FACINGS.index(a.facing) - FACINGS.index(b.facing))
    return max(abs(a.space.file - b.space.file), abs(a.space.row - b.space.row)), min(
        turn, len(FACINGS) - turn
    )
