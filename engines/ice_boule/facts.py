"""Facts of Ice Boule beside its rules, for the other packages."""

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
from engines.ice_boule.alternatives import in_words
from engines.ice_boule.default_table import TABLE
from engines.ice_boule.gap_summary import sentence
from engines.ice_boule.lessons import lessons
from engines.ice_boule.likely_target import likely_targets
from engines.ice_boule.measure import (
    Z95,
    Measurement,
    difference_sigma_mm,
    measure,
    measurement_document,
)
from engines.ice_boule.serialization import IceBouleDocument
from engines.ice_boule.statistics import throws
from engines.verdict import CannotSee
from table.game_facts import Measuring, TableFacts
from table.messages import Message, msg
from table.observation import Observation
from table.observation_document import MeasurementDocument


def _on_board(document: Document) -> OnBoard:
    """Return the starting line."""
    return OnBoard(line=document.get("line"))


def _declarations(document: Document) -> tuple[Declaration, ...]:
    """Return the moves that people can report while an end runs."""
    return (
        (Declaration("void", msg("The target left the play area")),) if document.get("next") else ()
    )


def _headline(_player: str | None, code: str, document: Document) -> Message | None:
    """Headline: the points of an end just over, or who leads after a throw."""
    end = document.get("end")
    if end and end["kind"] == "won":
        return msg("{player} +{n}", player=end["winner"], n=end["points"])
    if document.get("leading") and code != "boule.target":
        return msg("{player} leads", player=document["leading"])
    return None


def _next_button(document: Document) -> Mapping[str, Any] | None:
    """Return the leader's stop, if it is allowed."""
    return {"player": document["next"], "stop": True} if document.get("may_stop") else None


def comparable(move: str) -> str:
    """A move in a form that compares equal whatever the order of pieces too close to call.

    A layout lists such pieces (`~`) by best estimate, so their order carries no information.
    """
    head, colon, layout = move.partition(": ")
    blocks = (" ~ ".join(sorted(block.split(" ~ "))) for block in layout.split(" < "))
    return f"{head}{colon}{' < '.join(blocks)}"


def _measure(seen: Observation, target: str) -> Measurement | str:
    measured = measure(seen, target)
    return measured.message if isinstance(measured, CannotSee) else measured


def _document(measured: Measurement | str) -> MeasurementDocument:
    """Convert the measurement to plain data.

    For an unseen target it has no call, and the reason is a doubt.
    """
    if isinstance(measured, str):
        return measurement_document(CannotSee(code="boule.target.unseen", message=measured))
    return measurement_document(measured)


def _difference_sigma_mm(measured: Measurement, i: int, j: int) -> float:
    return difference_sigma_mm(measured.gaps[i], measured.gaps[j], measured.target)


FACTS = GameFacts(
    title="Ice Boule",
    document=IceBouleDocument,
    table=TableFacts(
        default=TABLE,
        measuring=Measuring(
            _measure, sentence, _document, _difference_sigma_mm, Z95, likely_targets
        ),
    ),
    first_player=Printed("lot", "Setup", rests_on_it=("lot", "roll")),
    in_words=in_words,
    lessons=lessons,
    presentation=Presentation(
        verbs={"target": msg("throws the target"), "throw": msg("throws")},
        on_board=_on_board,
        headline=_headline,
        declarations=_declarations,
        options_in_order=True,
    ),
    statistics=Statistics(throws=throws),
    next_button=_next_button,
    comparable=comparable,
)
