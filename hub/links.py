"""Links between pages: on the hub itself, or in an exported folder."""

from __future__ import annotations

from typing import Protocol

from flask import url_for

from hub.people import SOMEBODY


class Links(Protocol):
    """Addresses relative to the current page; empty if there is no page."""

    def player(self, name: str) -> str:
        """The page of a player; nobody has one whose name was erased."""

    def event(self, event_id: int) -> str:
        """The page of an event."""

    def match(self, event_id: int, match_id: int) -> str:
        """The page of a match of an event."""


class HubLinks:
    """Links between a club's pages on the hub."""

    def __init__(self, club_id: int) -> None:
        self._club_id = club_id

    def player(self, name: str) -> str:
        """The page of a player; nobody has one whose name was erased."""
        if name == SOMEBODY:
            return ""
        return url_for("players.page", club_id=self._club_id, name=name)

    def event(self, event_id: int) -> str:
        """The page of an event."""
        return url_for("events.page", club_id=self._club_id, event_id=event_id)

    def match(self, event_id: int, match_id: int) -> str:
        """The page of a match of an event."""
        return url_for("events.match", club_id=self._club_id, event_id=event_id, match_id=match_id)
