"""What the house knows of Ice Boule beside its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engines.game import (
    Declaration,
    Document,
    GameFacts,
    OnBoard,
    Presentation,
    Printed,
    Statistics,
)
from engines.ice_boule.statistics import throws


def _on_board(document: Document) -> OnBoard:
    """The starting line."""
    return OnBoard(line=document.get("line"))


def _declarations(document: Document) -> tuple[Declaration, ...]:
    """While an end runs."""
    return (Declaration("void", "The target left the play area"),) if document.get("next") else ()


def _next_button(document: Document) -> Mapping[str, Any] | None:
    """The leader stops, where that is allowed."""
    return {"player": document["next"], "stop": True} if document.get("may_stop") else None


def comparable(move: str) -> str:
    """A layout lists pieces that are too close to call (`~`) by best estimate: their order says
    nothing, so it is made the same.
    """
    head, colon, layout = move.partition(": ")
    blocks = (" ~ ".join(sorted(block.split(" ~ "))) for block in layout.split(" < "))
    return f"{head}{colon}{' < '.join(blocks)}"


FACTS = GameFacts(
    title="Ice Boule",
    first_player=Printed("lot", "Setup", rests_on_it=("lot", "roll")),
    presentation=Presentation(
        verbs={"target": "throws the target", "throw": "throws"},
        on_board=_on_board,
        declarations=_declarations,
        options_in_order=True,
    ),
    statistics=Statistics(throws=throws),
    next_button=_next_button,
    comparable=comparable,
)
