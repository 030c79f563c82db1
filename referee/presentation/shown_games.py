"""What pages show of games beside their states; hides the engines from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engines import GAMES, facts_of
from engines.game import Declaration, NamedPiece, OnBoard, Rules, SimultaneousTexts, facts
from engines.game_document import GameDocument
from table.json_data import JsonObject
from table.messages import Message, phrase

__all__ = [
    "NamedPiece",
    "OnBoard",
    "declarations",
    "document_types",
    "headline",
    "next_button_command",
    "on_board",
    "options_in_order",
    "simultaneous_texts",
    "title",
    "verb",
]

MOVES = phrase("to move")
BEGINS = {"begins": phrase("rolls")}
"""What players do while it is rolled for who begins, in every game."""


def title(game: str) -> str:
    """A game's name as people write it."""
    return facts_of(game).title


def document_types() -> tuple[type[GameDocument], ...]:
    """The types of the documents that games have of their states, each once."""
    return tuple(dict.fromkeys(facts(game).document for game in GAMES.values()))


def verb(game: str, phase: str | None) -> str:
    """What the player whose turn it is does, by the phase of a state.

    In games without phases players are to move.
    """
    return (BEGINS | dict(facts_of(game).presentation.verbs)).get(phase or "", MOVES)


def headline(game: str, player: str | None, code: str, state: Mapping[str, Any]) -> Message | None:
    """What something accepted comes to, in a few words, by the document of the state after it."""
    return facts_of(game).presentation.headline(player, code, state)


def simultaneous_texts(game: str, phase: str | None) -> SimultaneousTexts | None:
    """What is said where everybody acts at once; None in other phases."""
    return facts_of(game).presentation.together.get(phase or "")


def on_board(game: str, state: Mapping[str, Any]) -> OnBoard:
    """What the record says lies where, by the document of a state."""
    return facts_of(game).presentation.on_board(state)


def declarations(game: str, state: Mapping[str, Any]) -> tuple[Declaration, ...]:
    """What only people may have seen, by the document of a state."""
    return facts_of(game).presentation.declarations(state)


def options_in_order(game: str) -> bool:
    """True if the options of several players follow one another."""
    return facts_of(game).presentation.options_in_order


def next_button_command(engine: Rules, state: Any) -> JsonObject | None:
    """What is said to a game by the button `next`, in a state that is not its last."""
    heard = facts(engine).next_button(engine.state_document(state))
    return None if heard is None else dict(heard)
