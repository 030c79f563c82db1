"""A verdict as a headline that is read from afar, and a line that says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from referee.presentation.session_view import Decision, SessionView
from referee.presentation.shown_games import headline
from table.messages import SENTENCES, Listing, Message, as_message, phrase, split_first

NAMED_FIRST = {"refused": phrase("Not allowed"), "out_of_sync": phrase("The table does not match")}
"""Kinds of verdicts that are their own headline."""


class Shown(Protocol):
    """A game as it stands, as far as headlines need it."""

    @property
    def game(self) -> str:
        """Its name."""

    @property
    def state(self) -> Mapping[str, Any]:
        """The document of its state."""


def layers(verdict: Decision, view: Shown) -> tuple[str, str]:
    """A verdict as a headline, read from afar, and a line that says why; the latter may be empty.

    `view` is of the state after the verdict, the newest one.
    """
    text = as_message(headline_sentence(verdict))
    if verdict.verdict in NAMED_FIRST:
        return NAMED_FIRST[verdict.verdict], text
    if verdict.kind == "undone":
        return phrase("Undone"), text
    if verdict.verdict == "accepted":
        short = headline(view.game, verdict.player, verdict.code, view.state)
        if short is not None:
            return short, text
    return split_first(text)


def chip_player(verdict: Decision, view: SessionView) -> str | None:
    """The player whose chip stands before the headline: the one that it names, else who acted."""
    text = str(layers(verdict, view)[0]).casefold()
    return next((one for one in view.players if text.startswith(f"{one} ")), verdict.player)


def headline_sentence(verdict: Decision) -> str:
    """What a verdict says, without the differences between table and record: a page lists those."""
    message, content = verdict.message, verdict.message.content
    listed = [*map(str, verdict.evidence.get("differences", ()))]
    if listed and isinstance(content, Listing) and content.joint == SENTENCES:
        first, rest = content.items[: -len(listed)], content.items[-len(listed) :]
        if [str(Message(one)) for one in rest] == listed:
            return Message(Listing(first, SENTENCES))
    return message.removesuffix(" ".join(("", *listed))) if listed else message
