"""Describe corrected or declared moves in words; the log stores their notation as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engines import Game
from engines.first_player import BeginRoll, BeginWith
from engines.game import facts
from table.messages import Message, msg, sentences


def moves_in_words(engine: Game, state: Any, moves: Sequence[str]) -> str:
    """Describe moves from a state on, in sentences.

    Notation is used if the game has no words for a move, or if the moves are illegal.
    """
    notation = f"{', '.join(moves)}."
    said: list[str] = []
    try:
        for text in moves:
            move = engine.parse_move(text)
            said.append(_move_text(engine, state, move))
            state = engine.play(state, move)
    except ValueError:
        return notation
    return sentences(*map(_with_full_stop, said)) if all(said) else notation


def _with_full_stop(said: str) -> str:
    return said if str(said).endswith(".") else msg("{text}.", text=said)


def _move_text(engine: Game, state: Any, move: Any) -> Message | str:
    match move:
        case BeginWith(player):
            return msg("{player} begins", player=player)
        case BeginRoll():
            return msg("{player}: {n}", player=move.player, n=move.pips)
        case _:
            return facts(engine).in_words(state, move)
