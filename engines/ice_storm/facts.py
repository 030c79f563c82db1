"""What the house knows of Ice Storm beside its rules."""

from __future__ import annotations

import re

from engines.board_marks import Mark, mark
from engines.game import Document, GameFacts, NamedPiece, OnBoard, Presentation, Sound


def _marks(document: Document) -> tuple[Mark, ...]:
    """The lines of fire."""
    lines = (shot["squares"] for shot in document.get("shots", ()))
    return tuple(one for squares in lines if len(squares) > 1 for one in mark("ray", squares))


def _sound(code: str, _document: Document) -> Sound:
    return "hit" if code == "storm.attack" else ""


def _on_board(document: Document) -> OnBoard:
    """Pieces by the numbers of their throws."""
    pieces = []
    for name, place in document.get("pieces", {}).items():
        colour = name.rstrip("0123456789")
        squares = tuple(re.findall("[a-h][1-8]", place))
        pieces.append(NamedPiece(colour, name[len(colour) :], squares))
    return OnBoard(tuple(pieces))


FACTS = GameFacts(
    title="Ice Storm",
    presentation=Presentation(
        verbs={"throw": "throws", "attack": "fires"},
        marks=_marks,
        sound=_sound,
        on_board=_on_board,
        options_in_order=True,
    ),
)
