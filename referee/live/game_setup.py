"""A session that people set up on a page before it begins: which game, who plays, under which names
and options.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engines import GAMES, Game
from engines.first_player import printed
from engines.game import Printed
from engines.house_rules import Ruling
from referee.sessions.events import Record, SessionStarted
from referee.sessions.piece_fit import check_pieces
from referee.sessions.state import begin
from table.errors import InputError
from table.table_config import Setup

LOOKS = 2
"""A page that has looked so often after the beginning has been shown it: it asks again only once
the first answer has come.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """What people chose: `players` are colours in turn order, `rulings` values by option, `names`
    people's by colour.
    """

    game: str
    players: tuple[str, ...]
    rulings: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    begins: str = ""
    """How it is decided who begins, as in `referee.sessions.first_player.decided`."""


class SettingUp:
    """Waits in one thread for what people choose in others."""

    def __init__(self, opening: Callable[[Choice], SessionStarted]) -> None:
        """`opening` makes the first fact of the session from a choice; it raises InputError for one
        that will not do.
        """
        self._opening = opening
        self._changed = threading.Condition()
        self._started: SessionStarted | None = None
        self._looks = 0

    def look(self) -> bool:
        """Does the game begin?  For a page that shows it now."""
        with self._changed:
            self._looks += self._started is not None
            self._changed.notify_all()
            return self._started is not None

    def begin(self, choice: Choice) -> None:
        """Begin with this; raises InputError where the game does not allow it, or it was begun
        already.
        """
        started = self._opening(choice)
        try:
            begin(Record(seq=0, session=0, at_ms=0, event=started), GAMES)
        except ValueError as error:
            raise InputError(str(error)) from error
        with self._changed:
            if self._started is not None:
                raise InputError("the game was begun already, from another page")
            self._started = started
            self._changed.notify_all()

    def wait(self, shown_s: float) -> SessionStarted:
        """What was begun, once people began it and a page has shown that it does, or `shown_s`
        after.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._started is not None)
            self._changed.wait_for(lambda: self._looks >= LOOKS, shown_s)
            assert self._started is not None
            return self._started


def playable(setup: Setup) -> dict[str, str]:
    """Why each game cannot be played on this table, by its name; empty for those that can, which
    come first, before all others the one that the table was made for.
    """
    reasons = {name: _why_not(game, setup) for name, game in GAMES.items()}
    return dict(
        sorted(reasons.items(), key=lambda named: (named[1] != "", named[0] != setup.game.name))
    )


def options(game: str) -> tuple[Ruling, ...]:
    """Where tables differ in this game; raises KeyError for none of ours."""
    return GAMES[game].RULINGS


def beginnings(game: str) -> Printed:
    """What the rules of a game say of who begins, and what may be chosen."""
    return printed(game)


def _why_not(game: Game, setup: Setup) -> str:
    why = ""
    for count in range(len(setup.game.colours), 0, -1):
        try:
            game.set_up(setup.game.colours[:count], {}, setup.board)
            check_pieces(game.NAME, {}, setup)
        except ValueError as error:
            why = why or str(error)
        else:
            return ""
    return why
