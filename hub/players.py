"""Statistics of a club's players: standings, ratings over time, and event matches.

Everything is computed from the current games, so erasing a name removes it here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from hub.events import Event
from hub.matches import Settled
from hub.names import name_key
from hub.played import PlayedGames
from hub.ratings import RatedPlayer, RatedWeek, rating_histories, ratings
from hub.standings import HubGame, Standing, standings
from referee.statistics.csv_export import Cell, csv_bytes
from referee.statistics.practice import GamePractice, Practice, practice


@dataclass(frozen=True, slots=True)
class PlayerGame:
    """A player's statistics in one kind of game.

    `line` is the row of the club's standings; `weeks` are ratings after each week, oldest first;
    `practice` describes the style of play in the requested number of newest games.
    """

    game: str
    line: Standing
    rating: RatedPlayer | None
    weeks: Sequence[RatedWeek]
    practice: Practice


@dataclass(frozen=True, slots=True)
class PlayerPage:
    """A player with their games, and their matches by event, the newest event first."""

    name: str
    games: Sequence[PlayerGame]
    events: Sequence[tuple[Event, Sequence[Settled]]]


class GameFigures:
    """Standings and ratings of all players in one game of a club."""

    def __init__(
        self, game: str, games: Sequence[HubGame], now_ms: int, played: PlayedGames
    ) -> None:
        self.game = game
        self._games, self._played = [one for one in games if one.result.over], played
        self.standings = standings(games)
        self.ratings = ratings(games, now_ms)
        self._weeks = rating_histories(games, now_ms)

    def of(self, name: str, newest: int | None = None) -> PlayerGame | None:
        """Statistics of a player; None if they finished no game.

        Style of play is counted over the `newest` games, or over all for None.
        """
        key = name_key(name)
        line = next((one for one in self.standings if name_key(one.player) == key), None)
        rating = next((one for one in self.ratings if name_key(one.player) == key), None)
        if line is None:
            return None
        weeks = self._weeks.get(key, ())
        return PlayerGame(
            self.game, line, rating, weeks, practice(self._recent_practices(key, newest))
        )

    def _recent_practices(self, key: str, newest: int | None) -> Iterator[tuple[GamePractice, str]]:
        """The player's newest games, each with the player's colour."""
        own = [
            (one, colour)
            for one in reversed(self._games)
            for colour, name in one.result.names.items()
            if name_key(name) == key and colour in one.result.players
        ]
        for one, colour in own[:newest]:
            if again := self._played.of(one):
                yield again.practice, colour


class ClubFigures:
    """Standings and ratings for all games of a club; `simulated` includes simulated ones."""

    def __init__(
        self, games: Iterable[HubGame], now_ms: int, again: PlayedGames, simulated: bool = False
    ) -> None:
        self.played = [one for one in games if simulated or not one.result.simulated]
        self._now_ms, self._again = now_ms, again

    @cached_property
    def standings(self) -> list[Standing]:
        """Standings over all kinds of games."""
        return standings(self.played)

    @cached_property
    def games(self) -> list[GameFigures]:
        """Names of the kinds of games with a named player's finished game, sorted."""
        names = sorted({one.result.game for one in self.played})
        each = (
            GameFigures(
                name,
                [one for one in self.played if one.result.game == name],
                self._now_ms,
                self._again,
            )
            for name in names
        )
        return [one for one in each if one.standings]

    def page(self, name: str, events: Iterable[Event], newest: int | None = None) -> PlayerPage:
        """A player's page, with their matches in `events`.

        `newest` is as in `GameFigures.of`.
        """
        games = [found for one in self.games if (found := one.of(name, newest))]
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


class PlayerLine(msgspec.Struct, frozen=True, kw_only=True):
    """A player's statistics in one game for other programs; lengths are in mm.

    `rating` and `rating_margin` are None before a game is rated. `read` are games in which it was
    counted how they play.
    """

    player: str
    game: str
    place: int
    games: int
    won: int
    drawn: int
    lost: int
    points: float
    against: float
    rating: float | None
    rating_margin: float | None
    read: int
    ruled: int
    refused: int
    throws: int
    out: int
    measured: int
    gap_low_mm: float | None
    gap_median_mm: float | None
    gap_median_margin_mm: float | None
    gap_high_mm: float | None
    tries: int
    taken: int


def player_line(name: str, one: PlayerGame) -> PlayerLine:
    """The CSV row of a player's statistics in one game."""
    line, rating, how = one.line, one.rating, one.practice
    gaps = how.gaps
    return PlayerLine(
        player=name,
        game=one.game,
        place=line.place,
        games=line.games,
        won=line.won,
        drawn=line.drawn,
        lost=line.lost,
        points=line.points,
        against=line.against,
        rating=rating.rating if rating else None,
        rating_margin=rating.margin if rating else None,
        read=how.games,
        ruled=how.ruled,
        refused=how.refused,
        throws=how.throws,
        out=how.out,
        measured=gaps.throws if gaps else 0,
        gap_low_mm=gaps.low_mm if gaps else None,
        gap_median_mm=gaps.median_mm if gaps else None,
        gap_median_margin_mm=gaps.margin_mm if gaps else None,
        gap_high_mm=gaps.high_mm if gaps else None,
        tries=how.tries,
        taken=how.taken,
    )


def players_csv(lines: Iterable[PlayerLine]) -> bytes:
    """Statistics as CSV, one row per player and game."""
    columns = PlayerLine.__struct_fields__
    return csv_bytes(columns, ([_cell(getattr(line, name)) for name in columns] for line in lines))


def _cell(value: Cell) -> Cell:
    return round(value, 2) if isinstance(value, float) else value


class PlayerDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A player as JSON: a line a game, and ratings after each week by game."""

    player: str
    games: Sequence[PlayerLine]
    ratings: dict[str, Sequence[RatedWeek]]


def player_document(page: PlayerPage) -> PlayerDocument:
    """A player's page as `PlayerDocument`."""
    return PlayerDocument(
        player=page.name,
        games=[player_line(page.name, one) for one in page.games],
        ratings={one.game: one.weeks for one in page.games},
    )
