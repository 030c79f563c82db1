"""Verdicts as the facts that the log keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import msgspec

from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Refused, Verdict, Waiting
from engines.verdict import Noted as Heard
from referee.sessions.events import Asked, Choice, Noted, Ruled
from referee.sessions.misreadings import KEY, Misread, plain
from referee.sessions.state import Ledger
from table.observation import Observation, observation_document

LIKELIEST = "likeliest"
"""In a question's evidence: its first answer is the only thing that explains the table."""
HOST_DECIDES = "host_decides"
"""In a question's evidence: the host answers it, and neither phones nor buttons do."""


def told(verdict: Verdict) -> str:
    """What people are told: the sentence of a verdict, and where table and record differ, piece by
    piece.
    """
    return (
        " ".join((verdict.said, *verdict.differences))
        if isinstance(verdict, OutOfSync)
        else verdict.said
    )


def fact_of(
    verdict: Verdict, observation: dict[str, Any] | None = None
) -> Ruled | Asked | Noted | None:
    """The fact that a verdict becomes; None where there is nothing to tell.  `observation` is what
    it rests on, None for what was heard.
    """
    common: dict[str, Any] = {
        name: getattr(verdict, name) for name in ("code", "rests_on", "player", "evidence")
    } | {"said": told(verdict)}
    match verdict:
        case Accepted():
            return Ruled(verdict="accepted", moves=verdict.moves, observation=observation, **common)
        case Refused():
            return Ruled(
                verdict="refused",
                moves=verdict.tried,
                stands=verdict.stands,
                observation=observation,
                **common,
            )
        case CannotSee():
            return Ruled(verdict="cannot_see", observation=observation, **common)
        case OutOfSync():
            common["evidence"] = verdict.evidence | {"differences": list(verdict.differences)}
            return Ruled(verdict="out_of_sync", observation=observation, **common)
        case Ambiguous():
            choices = tuple(
                Choice(label=label, moves=moves, holds=holds)
                for label, moves, holds in verdict.choices
            )
            return Asked(
                choices=choices, until_moved=verdict.until_moved, observation=observation, **common
            )
        case Heard():
            return Noted(moves=verdict.moves, secret=verdict.secret, **common)
        case Waiting():
            return None
        case _:
            assert_never(verdict)


def noticed(verdict: Waiting, observation: dict[str, Any] | None = None) -> Ruled:
    """The fact that something lies there that the game does not wait for."""
    evidence = verdict.evidence | {"differences": list(verdict.differences)}
    common: dict[str, Any] = {
        name: getattr(verdict, name) for name in ("code", "said", "rests_on", "player")
    }
    return Ruled(verdict="waiting", evidence=evidence, observation=observation, **common)


def with_misread(
    event: Ruled | Asked,
    misread: tuple[Misread, ...],
    answers: Mapping[str, tuple[Misread, ...]] | None,
) -> Ruled | Asked:
    """The fact with the pieces that are read wrongly on its table; `answers` are those that more is
    misread after, by their labels.
    """
    if isinstance(event, Ruled):
        told: Any = plain(misread)
    else:
        told = {
            choice.label: plain((*misread, *(answers or {}).get(choice.label, ())))
            for choice in event.choices
        }
    return msgspec.structs.replace(event, evidence=event.evidence | {KEY: told})


def document(seen: Observation, ledger: Ledger) -> dict[str, Any]:
    """`rinkside-observation/1` with what the game measures in it."""
    return observation_document(seen) | ledger.engine.measurement(ledger.state, seen)


def recorded_already(verdict: Verdict, ledger: Ledger) -> bool:
    """Is it accepted that the table is as the record has it?  A set-up looks new to a program that
    was just started again.
    """
    return isinstance(verdict, Accepted) and not verdict.moves and ledger.begun
