"""Template filters that render a view as text: lengths, evidence, actions.

Every number has its unit, a ± if it was measured, and significant digits only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from referee.presentation.session_view import Decision, SessionView
from referee.presentation.shown_games import verb
from referee.sessions.misreadings import KEY
from referee.sessions.verdict_events import LIKELIEST
from table.measured_text import shown_mm, shown_time
from table.messages import Joint, Message, Number, as_message, phrase, phrases
from table.observation_document import Gap

UNITS = {"_mm": "mm", "_mm2": "mm²", "_deg": "°", "_ms": "ms", "_px": "px"}


VERDICTS = {
    "accepted": phrase("Ruled"),
    "refused": phrase("Refused"),
    "cannot_see": phrase("Cannot see"),
    "out_of_sync": phrase("Out of sync"),
    "waiting": phrase("Waiting"),
    "noted": phrase("Noted"),
    "ambiguous": phrase("Asked"),
    "table": phrase("The table"),
    "by hand": phrase("Decided by hand"),
}


def shown_verdict(verdict: Decision) -> Message:
    """The kind of a verdict, in one or two words."""
    return VERDICTS[verdict.verdict]


def shown_verb(view: SessionView) -> str:
    """The verb for the action of the player whose turn it is."""
    return verb(view.game, view.state.get("phase"))


def shown_gap(row: Gap | Mapping[str, Any]) -> Message:
    """A ranking row as text: on the target, touching it, or its gap.

    Rows of a verdict's evidence are plain data.
    """
    fields = row if isinstance(row, Mapping) else asdict(row)
    if fields.get("on_target"):
        return phrase("on the target")
    if fields.get("touching"):
        return phrase("touching")
    return Message(Number(f"{shown_mm(fields['gap_mm'], fields['sigma_mm'])} mm"))


def shown_at(at_ms: int) -> Message:
    """A camera's time as text."""
    return Message(Number(shown_time(at_ms)))


def shown_points(points: float) -> Message:
    """Points as text, with a decimal only if needed."""
    return Message(Number(f"{points:g}"))


def clauses_in_words(rests_on: str) -> Message:
    """A verdict's rules as text; sections keep the names of the printed rules."""
    return phrases(*map(_clause, rests_on.split("; ")))


def _clause(clause: str) -> Message:
    found = re.fullmatch(r"rulings? (\S+)(?: (to|and) (\S+))?", clause)
    if found is None:
        return Message(clause)
    one, joint, other = found.groups()
    if joint is None:
        return phrase("house rule {rule}", rule=one)
    several = joint == "to"
    return phrase(
        "house rules {rule} to {rule2}" if several else "house rules {rule} and {rule2}",
        rule=one,
        rule2=other,
    )


def lengthy(message: str, long: int, longer: int) -> str:
    """CSS class for a long sentence, set smaller: ` is-long`, ` is-longer`, or none."""
    size = len(message)
    return " is-longer" if size > longer else " is-long" if size > long else ""


def unbroken(message: str) -> str:
    """A sentence with no line break between a number, its ± and its unit."""
    return message.replace(" ± ", "\u00a0±\u00a0").replace(" mm", "\u00a0mm")


def evidence_rows(
    evidence: Mapping[str, Any], *above: str | Message
) -> Iterator[tuple[Message, Message]]:
    """Evidence as (name, value with its unit), nested names (`above`) joined by a comma.

    Gaps are left out, since they are separate rows, and so are values for programs only.
    """
    for key, value in evidence.items():
        if key in ("gaps", KEY, LIKELIEST):
            continue
        unit = next((unit for ending, unit in UNITS.items() if key.endswith(ending)), "")
        name = key[: key.rindex("_")] if unit else key
        name = name.replace("_", " ").replace("sigma", "standard deviation")
        if isinstance(value, Mapping):
            yield from evidence_rows(value, *above, name)
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            for number, item in enumerate(value, 1):
                if isinstance(item, Mapping) and {"said", "move"} == item.keys():
                    yield phrases(*above, name, item["said"], joint=","), Message(str(item["move"]))
                    continue
                # Not `{text} {n}`: it is translated as a count.
                numbered = phrase("{text2} {n}", text2=as_message(name), n=number)
                yield from evidence_rows(
                    item if isinstance(item, Mapping) else {"": item}, *above, numbered
                )
        else:
            yield phrases(*above, name, joint=","), _value(value, unit)


def _value(value: Any, unit: str = "") -> Message:
    if isinstance(value, bool):
        return phrase("yes") if value else phrase("no")
    if isinstance(value, float | int):
        text = f"{value:.2f}" if isinstance(value, float) else str(value)
        return Message(Number(f"{text} {unit}".replace(" °", "°").strip()))
    if isinstance(value, list | tuple):
        words = [_value(one, unit if last else "") for last, one in _with_last_flag(value)]
        joint: Joint = ";" if any(", " in word for word in words) else ","
        return phrases(*words, joint=joint)
    return Message("–") if value is None else as_message(value)


def _with_last_flag(values: Sequence[Any]) -> Iterator[tuple[bool, Any]]:
    """Each value, and True for the last one."""
    return ((number == len(values), value) for number, value in enumerate(values, 1))
