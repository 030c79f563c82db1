"""Split a verdict into a headline to be read from afar, and a line with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from referee.presentation.session_view import Decision, SessionView
from referee.presentation.shown_games import headline
from table.messages import SENTENCES, Listing, Message, as_message, phrase, split_first

NAMED_FIRST = {"refused": phrase("Not allowed"), "out_of_sync": phrase("The table does not match")}
"""Headlines of verdicts by kind, for kinds without a headline of their own."""


class Shown(Protocol):
    """The state of a game, as far as headlines need it."""

    @property
    def game(self) -> str:
        """Name of the game."""

    @property
    def state(self) -> Mapping[str, Any]:
        """Document of its state."""


def layers(verdict: Decision, view: Shown) -> tuple[str, str]:
    """Return a verdict's headline, and a line with the reason, which may be empty.

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
    """Player whose chip precedes the headline: the one that it names, else the one who acted."""
    text = str(layers(verdict, view)[0]).casefold()
    return next((one for one in view.players if text.startswith(f"{one} ")), verdict.player)


def headline_sentence(verdict: Decision) -> str:
    """A verdict's sentence without its differences from the record: a page lists those."""
    message, content = verdict.message, verdict.message.content
    listed = [*map(str, verdict.evidence.get("differences", ()))]
    if listed and isinstance(content, Listing) and content.joint == SENTENCES:
        first, rest = content.items[: -len(listed)], content.items[-len(listed) :]
        if [str(Message(one)) for one in rest] == listed:
            return Message(Listing(first, SENTENCES))
    return message.removesuffix(" ".join(("", *listed))) if listed else message
