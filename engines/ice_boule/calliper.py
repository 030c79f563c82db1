"""Judge people's answers to questions: the label of a choice, or a calliper's readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from engines.errors import AmbiguousMove, InvalidNotation, Violation
from engines.ice_boule.layout import Layout
from engines.ice_boule.moves import Stop, Throw, parse_move
from engines.verdict import (
    PLAYERS,
    Accepted,
    Ambiguous,
    Choice,
    answer_by_label,
    calliper_reading,
    decision,
)
from table.messages import Message, all_of, in_a_row, msg, phrase, phrases, quoted


def judge_answer(
    asked: Ambiguous, answer: str | Mapping[str, float], decided_by: str = PLAYERS
) -> Accepted:
    """Judge people's answer to a question (ruling ice_boule.2).

    `answer` is the label of a choice, or a calliper's readings in mm by piece: `blue` for blue's
    nearest, `blue 2` for its second. Raises InvalidNotation if no choice agrees with it,
    AmbiguousMove if several do.
    """
    if isinstance(answer, str):
        return answer_by_label(asked, answer, decided_by)
    fitting = [choice for choice in asked.choices if _agrees_with_readings(choice, answer)]
    readings = [calliper_reading(*one) for one in answer.items()]
    measured = ", ".join(readings)
    if not fitting:
        raise InvalidNotation(
            msg(
                "expected one of {text}, got {text2}, which fits none of them",
                text=in_a_row(_in_quotes(choice.label) for choice in asked.choices),
                text2=phrases(*readings, joint=","),
            )
        )
    if len(fitting) > 1:
        message = msg(
            "This fits {text}: pick one, or measure more pieces.",
            text=all_of(_in_quotes(choice.label) for choice in fitting),
        )
        which = tuple(move for choice in fitting for move in choice.moves[-1:])
        raise AmbiguousMove(
            Violation("boule.answer.which", "ruling ice_boule.2", message, which), measured
        )
    (choice,) = fitting
    message = decision(choice.label, decided_by, answer)
    return replace(answer_by_label(asked, choice.label, decided_by), message=message)


def _in_quotes(label: str) -> Message:
    """Format a label for a message, with a capital letter."""
    return phrase("'{text}'", text=quoted(label))


def _agrees_with_readings(choice: Choice, readings_mm: Mapping[str, float]) -> bool:
    """True if a calliper's readings agree with the order of pieces of a choice."""
    move = parse_move(choice.moves[-1]) if choice.moves else None
    if not isinstance(move, Throw | Stop) or not move.layout:
        return False
    layout = move.layout
    places = {name: _place(layout, name) for name in readings_mm}
    return all(
        _order_agrees(layout, (places[a], readings_mm[a]), (places[b], readings_mm[b]))
        for a, b in combinations(readings_mm, 2)
    )


def _place(layout: Layout, name: str) -> int:
    """Index in a layout of `blue`, its nearest blue piece, or `blue 2`, the second."""
    colour, _, number = name.partition(" ")
    own = [place for place, lie in enumerate(layout.lies) if lie.colour == colour]
    if number not in ("", *map(str, range(1, len(own) + 1))) or not own:
        raise InvalidNotation(
            msg(
                "expected a piece such as 'blue' or 'blue 2' among '{raw}', got {raw2}",
                raw=layout,
                raw2=repr(name),
            )
        )
    return own[int(number or 1) - 1]


def _order_agrees(layout: Layout, a: tuple[int, float], b: tuple[int, float]) -> bool:
    """True if readings (place, mm) of two pieces agree with the layout's order.

    With equal readings the leader's piece does not count as nearer.
    """
    (near, near_mm), (far, far_mm) = sorted([a, b])
    colours = layout.lies[near].colour, layout.lies[far].colour
    relation = layout.relation(near, far)
    if relation == "~" or colours[0] == colours[1]:
        return True
    if near_mm == far_mm:
        return relation == "=" or layout.lies[0].colour == colours[1]
    return relation == "<" and near_mm < far_mm
