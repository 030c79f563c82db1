"""What the house knows of Ice Boule beside its rules."""

from __future__ import annotations

from engines.game import Declaration, Document, GameFacts, OnBoard, Presentation, Printed


def _on_board(document: Document) -> OnBoard:
    """The starting line."""
    return OnBoard(line=document.get("line"))


def _declarations(document: Document) -> tuple[Declaration, ...]:
    """While an end runs."""
    return (Declaration("void", "The target left the play area"),) if document.get("next") else ()


FACTS = GameFacts(
    title="Ice Boule",
    first_player=Printed("lot", "Setup", rests_on_it=("lot", "roll")),
    presentation=Presentation(
        verbs={"target": "throws the target", "throw": "throws"},
        on_board=_on_board,
        declarations=_declarations,
        options_in_order=True,
    ),
)
