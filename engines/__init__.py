"""The rule engines, one folder a game: pure rules and a judge. No clock, no chance, no I/O.

`GAMES` holds every installed game by name; `engines.game` defines what a game is.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

from engines.game import Game, GameFacts, Rules, check_game, facts, plain_facts
from table.games import FoundGames, found_games
from table.plugins import LOAD_S, Broken, log_line, short_error, within

__all__ = ["GAMES", "Game", "Rules", "facts_of", "unusable_games", "usable_games"]

GAMES: dict[str, Game]
"""All installed games, by name. Looked up on first access, since a game imports modules of this
package itself.
"""


def usable_games(found: FoundGames) -> tuple[dict[str, Game], tuple[Broken, ...]]:
    """Split found games into usable ones and broken ones; games of other packages are contained.

    A game that lacks the interface, or is made for another version, is broken.
    """
    from engines.contained import contained  # imports the games' own modules

    games, broken = dict[str, Game](), list[Broken]()
    for name, game in found.games.items():
        plugin = found.plugins[name]
        try:
            within(LOAD_S, partial(check_game, game))
            games[name] = contained(game, plugin)
        except Exception as error:
            broken.append(Broken(plugin, short_error(error)))
    return games, tuple(broken)


@cache
def _usable() -> tuple[dict[str, Game], tuple[Broken, ...]]:
    games, broken = usable_games(found_games())
    for one in broken:
        log_line(one.line("the game"))
    return games, broken


def unusable_games() -> tuple[Broken, ...]:
    """Installed games that cannot be used, with reasons."""
    return (*found_games().broken, *_usable()[1])


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "GAMES":
            return _usable()[0]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def facts_of(name: str) -> GameFacts:
    """Facts of a game beside its rules; defaults if it is not installed."""
    game = _usable()[0].get(name)
    return plain_facts(name) if game is None else facts(game)
