"""The spoken announcement of a verdict, short enough to carry across a table, and its sound."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from engines import facts_of
from engines.game import Sound
from referee.presentation.session_view import Decision
from table.languages import translated, translation
from table.messages import msg

LONGEST = 110
"""Longest announcement in characters; it takes about 6 s to speak."""
CUT = 45
"""A longer first sentence, in characters, is cut where its explanation begins."""
SAID_BY_HAND = {
    "corrected": msg("The ruling was corrected."),
    "undone": msg("That was undone."),
    "declared": msg("Noted."),
}
BY_VERDICT: dict[str, Sound] = {
    "refused": "refused",
    "ambiguous": "ask",
    "cannot_see": "doubt",
    "out_of_sync": "doubt",
}


def announcement(kind: str, message: str, mm: str = "millimetres", to: str = "to") -> str:
    """Return the announcement of a verdict's sentences.

    `kind` as in a view's verdicts (`ruled`, `asked`, `corrected` ...). The announcement is the
    first sentence without its explanation, and always the last one: whose turn it is. Sentences
    between them are added while they fit. `mm` and `to` are the words for millimetres and between
    the ends of a line, in the same language.
    """
    if kind in SAID_BY_HAND:
        return SAID_BY_HAND[kind]
    first, *rest = [
        _speech_text(sentence, mm, to) for sentence in re.split(r"(?<=[.!?]) ", message)
    ]
    if len(first) > CUT:
        short = re.split(r"[:;] |, which |, its ", first)[0].rstrip(".!?")
        first = re.sub(r" \([^()]*\)$", "", short) + ("?" if first.endswith("?") else ".")
    if kind == "noted" or not rest:
        return first
    *middle, last = rest
    words = first
    for sentence in middle:
        if len(words) + len(sentence) + len(last) + 2 > LONGEST:
            break
        words += f" {sentence}"
    return f"{words} {last}" if len(words) + len(last) < 2 * LONGEST else words


def announcement_in(decision: Decision, code: str) -> tuple[str, str]:
    """Return the announcement of a decision in a language, and that language's code.

    Both are English without a translation.
    """
    by_hand = SAID_BY_HAND.get(decision.kind)
    found = translated(by_hand or decision.message, code)
    if code == "en" or found is None:
        return decision.call, "en"
    if by_hand:
        return found, code
    mm, to = (translation(word, code) for word in ("millimetres", "to"))
    return announcement(decision.kind, found, mm, to), code


def sound(game: str, verdict: str, code: str, state: Mapping[str, Any]) -> Sound:
    """The sound of a verdict in a game.

    `verdict` as in a view's verdicts; `state` is the document of the state after it.
    """
    if verdict in BY_VERDICT:
        return BY_VERDICT[verdict]
    if state.get("outcome"):
        return "over"
    own = facts_of(game).presentation.sound(code, state)
    return own or ("turn" if verdict == "accepted" else "")


def _speech_text(sentence: str, mm: str, to: str) -> str:
    """A sentence for speech: without ±, units and lines in full, `red2` as two words."""
    words = re.sub(r" \(± [^)]*\)| ± \d+(?:[.,]\d+)?", "", sentence)
    words = re.sub(r"(\d) mm\b", rf"\1 {mm}", words)
    words = re.sub(r"\b([a-h][1-8])-([a-h][1-8])\b", rf"\1 {to} \2", words)
    return re.sub(r"\b([a-z]{3,})(\d)\b", r"\1 \2", words)
