"""What pages show of games beside their states; hides the engines from pages."""

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
"""Verb of the roll for the first player, in every game."""


def title(game: str) -> str:
    """Title of a game."""
    return facts_of(game).title


def document_types() -> tuple[type[GameDocument], ...]:
    """Types of the games' state documents, each once."""
    return tuple(dict.fromkeys(facts(game).document for game in GAMES.values()))


def verb(game: str, phase: str | None) -> str:
    """Verb for the player whose turn it is, by the phase of a state.

    In games without phases, players are to move.
    """
    return (BEGINS | dict(facts_of(game).presentation.verbs)).get(phase or "", MOVES)


def headline(game: str, player: str | None, code: str, state: Mapping[str, Any]) -> Message | None:
    """Headline of an accepted act, from the document of the state after it."""
    return facts_of(game).presentation.headline(player, code, state)


def simultaneous_texts(game: str, phase: str | None) -> SimultaneousTexts | None:
    """Texts of a phase in which all players act at once; None in other phases."""
    return facts_of(game).presentation.together.get(phase or "")


def on_board(game: str, state: Mapping[str, Any]) -> OnBoard:
    """Recorded positions of things, from the document of a state."""
    return facts_of(game).presentation.on_board(state)


def declarations(game: str, state: Mapping[str, Any]) -> tuple[Declaration, ...]:
    """Statements that only people can make, from the document of a state."""
    return facts_of(game).presentation.declarations(state)


def options_in_order(game: str) -> bool:
    """True if the options of several players are in order."""
    return facts_of(game).presentation.options_in_order


def next_button_command(engine: Rules, state: Any) -> JsonObject | None:
    """Input of the button `next` to a game, in a state before its end."""
    heard = facts(engine).next_button(engine.state_document(state))
    return None if heard is None else dict(heard)
