"""What Zamboni Wars states beside its rules, for the other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from engines.board_marks import Mark, mark
from engines.game import Document, GameFacts, OnBoard, Presentation, Sound
from engines.zamboni_wars.alternatives import in_words
from engines.zamboni_wars.computer_player import COMPUTER
from engines.zamboni_wars.default_table import TABLE
from engines.zamboni_wars.lessons import lessons
from engines.zamboni_wars.serialization import ZamboniWarsDocument
from table.game_facts import PiecePrior, TableFacts
from table.messages import phrase
from table.table_config import CoverDice, Setup

PIECES = PiecePrior(np.array([0.03, 0.96, 0.01]), 1)
"""Prior probabilities of POSES, and the most pieces of a colour on the board."""


def _marks(document: Document) -> tuple[Mark, ...]:
    """The space that a Zamboni is to leave."""
    mover = document.get("zambonis", {}).get(document.get("to_move"))
    moving = mover and document.get("phase") == "move"
    return mark("here", (mover["space"],)) if moving else ()


def _sound(code: str, _document: Document) -> Sound:
    return "hit" if code == "zamboni.hit" else ""


def _on_board(document: Document) -> OnBoard:
    """The cover dice."""
    return OnBoard(dice=tuple(document.get("dice", ())))


def _played_setup(setup: Setup, rulings: Mapping[str, str]) -> Setup:
    """The setup as it is played: `cover=on` adds cover dice.

    They are of the usual size if `table.json` has none.
    """
    wanting = rulings.get("cover") == "on" and setup.cover_dice is None
    return msgspec.structs.replace(setup, cover_dice=CoverDice()) if wanting else setup


def _next_button(document: Document) -> Mapping[str, Any] | None:
    """Who might fire does not."""
    sayings = (one["said"] for one in document.get("may_say", ()))
    return next((heard for heard in sayings if heard.get("hold")), None)


FACTS = GameFacts(
    title="Zamboni Wars",
    document=ZamboniWarsDocument,
    table=TableFacts(pieces=PIECES, default=TABLE),
    in_words=in_words,
    lessons=lessons,
    presentation=Presentation(
        verbs={
            "roll-off": phrase("rolls"),
            "roll": phrase("rolls"),
            "fire": phrase("may fire"),
            "shot": phrase("rolls for the shot"),
            "hit": phrase("hits"),
        },
        marks=_marks,
        sound=_sound,
        on_board=_on_board,
    ),
    computer_player=COMPUTER,
    as_played=_played_setup,
    next_button=_next_button,
)
