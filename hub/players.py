"""What a club knows of its players: standings, ratings over time, and matches of events.

All of it is computed from the games as they stand, and is gone with a name that is erased.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from hub.events import Event
from hub.matches import Settled
from hub.names import name_key
from hub.ratings import RatedPlayer, RatedWeek, rating_histories, ratings
from hub.standings import HubGame, Standing, standings


@dataclass(frozen=True, slots=True)
class PlayerGame:
    """A player's finished games of one game.

    `line` is that of the club's standings; `weeks` are ratings after each week, the oldest first.
    """

    game: str
    line: Standing
    rating: RatedPlayer | None
    weeks: Sequence[RatedWeek]


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """A player with their games, and their matches by event, the newest event first."""

    name: str
    games: Sequence[PlayerGame]
    events: Sequence[tuple[Event, Sequence[Settled]]]


class GameFigures:
    """Standings and ratings of all players in one game of a club."""

    def __init__(self, game: str, games: Sequence[HubGame], now_ms: int) -> None:
        self.game = game
        self.standings = standings(games)
        self.ratings = ratings(games, now_ms)
        self._weeks = rating_histories(games, now_ms)

    def of(self, name: str) -> PlayerGame | None:
        """What a player has done; None where they finished no game."""
        key = name_key(name)
        line = next((one for one in self.standings if name_key(one.player) == key), None)
        rating = next((one for one in self.ratings if name_key(one.player) == key), None)
        if line is None:
            return None
        return PlayerGame(self.game, line, rating, self._weeks.get(key, ()))


class ClubFigures:
    """The same for all games of a club; simulated ones count where `simulated` is set."""

    def __init__(self, games: Iterable[HubGame], now_ms: int, simulated: bool = False) -> None:
        self.played = [one for one in games if simulated or not one.result.simulated]
        self._now_ms = now_ms

    @cached_property
    def standings(self) -> list[Standing]:
        """All games together."""
        return standings(self.played)

    @cached_property
    def games(self) -> list[GameFigures]:
        """The games that somebody with a name has finished, by their names."""
        names = sorted({one.result.game for one in self.played})
        each = (
            GameFigures(name, [one for one in self.played if one.result.game == name], self._now_ms)
            for name in names
        )
        return [one for one in each if one.standings]

    def page(self, name: str, events: Iterable[Event]) -> PlayerPage:
        """A player's page, with the matches of these events that they are in."""
        games = [found for one in self.games if (found := one.of(name))]
        matches = matches_of(name, events)
        known = [one.line.player for one in games] or [
            seat.name
            for _, found in matches
            for seat in found[0].match.seats
            if name_key(seat.name) == name_key(name)
        ]
        return PlayerPage(known[0] if known else name, games, matches)


def matches_of(name: str, events: Iterable[Event]) -> list[tuple[Event, Sequence[Settled]]]:
    """A player's matches, by event."""
    key = name_key(name)
    found: list[tuple[Event, Sequence[Settled]]] = []
    for event in events:
        mine = [
            one
            for one in event.matches
            if any(name_key(seat.name) == key for seat in one.match.seats)
        ]
        if mine:
            found.append((event, mine))
    return found
