"""The rule engines, one folder a game: pure rules and a judge. No clock, no chance, no I/O.

`GAMES` holds every installed game by name; `engines.game` defines what a game is.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from engines.game import Game, GameFacts, Rules, check_game, facts, plain_facts
from table.games import found_games, log_broken, package_of

__all__ = ["GAMES", "Game", "Rules", "facts_of"]

GAMES: dict[str, Game]
"""All installed games, by name. Looked up on first access, since a game imports modules of this
package itself.
"""


@cache
def _games() -> dict[str, Game]:
    games = {}
    for name, game in found_games().games.items():
        try:
            check_game(game)
        except Exception as error:
            log_broken("the game", name, package_of(game), error)
        else:
            games[name] = game
    return games


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "GAMES":
            return _games()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def facts_of(name: str) -> GameFacts:
    """What the game of a name states beside its rules; defaults for one that is not installed."""
    game = _games().get(name)
    return plain_facts(name) if game is None else facts(game)
