"""Set up a session on a page: the game, its players, their names, and house rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engines import GAMES, Game, facts_of
from engines.computer_player import STRENGTHS, Strength
from engines.first_player import printed
from engines.game import Printed
from engines.house_rules import HouseRule
from referee.sessions.events import Record, SessionStarted
from referee.sessions.piece_fit import check_pieces
from referee.sessions.state import begin
from table.errors import InputError, message_of
from table.messages import msg
from table.table_config import Setup

LOOKS = 2
"""Requests of a page after which it has shown the start: it sends the second one only after the
answer to the first.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """A game's setup, as chosen by people.

    `players` are colours in turn order, `rulings` values by option, `names` people's names by
    colour.
    """

    game: str
    players: tuple[str, ...]
    rulings: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    begins: str = ""
    """How the first player is found, as in
    `referee.sessions.first_player.first_player_decision`.
    """
    computers: Mapping[str, Strength] = field(default_factory=dict)
    """Strengths of computer players, by colour."""


class SettingUp:
    """A game being set up: one thread waits for the choice of others."""

    def __init__(self, opening: Callable[[Choice], SessionStarted]) -> None:
        """`opening` creates the first event of the session from a choice.

        It raises InputError for a choice that cannot be played.
        """
        self._opening = opening
        self._changed = threading.Condition()
        self._started: SessionStarted | None = None
        self._looks = 0

    def look(self) -> bool:
        """True if the game has begun; the page that shows it calls this."""
        with self._changed:
            self._looks += self._started is not None
            self._changed.notify_all()
            return self._started is not None

    def begin(self, choice: Choice) -> None:
        """Begin with this choice.

        Raises InputError where the game does not allow it, or has begun already.
        """
        started = self._opening(choice)
        try:
            begin(Record(seq=0, session=0, at_ms=0, event=started), GAMES)
        except ValueError as error:
            raise InputError(message_of(error)) from error
        with self._changed:
            if self._started is not None:
                raise InputError(msg("the game has already been started from another page"))
            self._started = started
            self._changed.notify_all()

    def wait(self, shown_s: float) -> SessionStarted:
        """Wait for the choice; returns the first event.

        Waits up to `shown_s` seconds more for a page to show the start.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._started is not None)
            self._changed.wait_for(lambda: self._looks >= LOOKS, shown_s)
            assert self._started is not None
            return self._started


def playable(setup: Setup) -> dict[str, str]:
    """Return why each game cannot be played on this table; empty if it can.

    Playable games come first; among equals, the one that the table was made for.
    """
    reasons = {name: _unusable_reason(game, setup) for name, game in GAMES.items()}
    return dict(
        sorted(reasons.items(), key=lambda named: (named[1] != "", named[0] != setup.game.name))
    )


def options(game: str) -> tuple[HouseRule, ...]:
    """House rules of a game; raises KeyError for an unknown one."""
    return GAMES[game].RULINGS


def beginnings(game: str) -> Printed:
    """What the printed rules say about who begins, and the options."""
    return printed(game)


def strengths(game: str) -> tuple[Strength, ...]:
    """Strengths of a game's computer player; none without one, and for an unknown game."""
    return () if facts_of(game).computer_player is None else STRENGTHS


def _unusable_reason(game: Game, setup: Setup) -> str:
    why = ""
    for count in range(len(setup.game.colours), 0, -1):
        try:
            game.set_up(setup.game.colours[:count], {}, setup.board)
            check_pieces(game.NAME, {}, setup)
        except ValueError as error:
            why = why or message_of(error)
        else:
            return ""
    return why
