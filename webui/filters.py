"""What a view says in words: lengths, evidence, who does what; a unit on every number, a ± where it
was measured, sensible digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from referee.presentation.session_view import Decision, SessionView
from referee.presentation.shown_games import verb
from referee.sessions.misreadings import KEY
from referee.sessions.verdict_events import LIKELIEST
from table.measured_text import shown_mm
from table.messages import Listing, Message
from table.observation_document import Gap

UNITS = {"_mm": "mm", "_mm2": "mm²", "_deg": "°", "_ms": "ms", "_px": "px"}


VERDICTS = {
    "accepted": "Ruled",
    "refused": "Refused",
    "cannot_see": "Cannot see",
    "out_of_sync": "Out of sync",
    "waiting": "Waiting",
    "noted": "Heard",
    "ambiguous": "Asked",
    "table": "The table",
    "by hand": "Decided by people",
}


def shown_verdict(verdict: Decision) -> str:
    """What kind of verdict it is, in a word or two."""
    return VERDICTS[verdict.verdict]


def shown_verb(view: SessionView) -> str:
    """What the player whose turn it is does now."""
    return verb(view.game, view.state.get("phase"))


def shown_gap(row: Gap) -> str:
    """A row of the ranking in words: standing on the target, touching it, or so far from it."""
    if row.on_target:
        return "on the target"
    if row.touching:
        return "touching"
    return f"{shown_mm(row.gap_mm, row.sigma_mm)} mm"


def unbroken(said: str) -> str:
    """A sentence in which no line ends between a number, its ± and its unit."""
    return said.replace(" ± ", "\u00a0±\u00a0").replace(" mm", "\u00a0mm")


def before_the_list(verdict: Decision) -> str:
    """What a verdict says, without the differences between table and record: a page lists those."""
    said, differences = verdict.said, verdict.evidence.get("differences", ())
    listed = " ".join(("", *differences))
    content = said.content
    if not (listed and said.endswith(listed)):
        return said
    if not isinstance(content, Listing):
        return said.removesuffix(listed)
    return Message(Listing(content.items[: -len(differences)], content.joint))


def evidence_rows(evidence: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Evidence as (name, value with its unit), nested names joined by a comma; without the gaps,
    which are rows of their own, and without what only programs read.
    """
    for key, value in evidence.items():
        if key in ("gaps", KEY, LIKELIEST):
            continue
        unit = next((unit for ending, unit in UNITS.items() if key.endswith(ending)), "")
        name = key[: key.rindex("_")] if unit else key
        words = f"{prefix}{name.replace('_', ' ').replace('sigma', 'standard deviation')}"
        if isinstance(value, Mapping):
            yield from evidence_rows(value, f"{words}, ")
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            for number, item in enumerate(value, 1):
                yield from evidence_rows(
                    item if isinstance(item, Mapping) else {"": item}, f"{words} {number}, "
                )
        else:
            yield words, f"{_value(value)} {unit}".replace(" °", "°").strip()


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, list | tuple):
        words = [*map(_value, value)]
        return ("; " if any(", " in word for word in words) else ", ").join(words)
    return "–" if value is None else str(value)
