"""Statistics of players over games: won, drawn, points, and distances of throws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from engines.statistics import Thrown
from referee.statistics.results import PlayedGame


@dataclass(frozen=True, slots=True)
class Tally:
    """A player of a game, by name, or by colour where no name was told.

    `games`, `won`, `drawn` (shared) and points are of games that came to their end; points
    `against` are those of all others together.  Throws are those of all games.
    """

    game: str
    player: str
    games: int
    won: int
    drawn: int
    points_for: float
    points_against: float
    throws: tuple[Thrown, ...]

    @property
    def median_gap_mm(self) -> float | None:
        """Median distance of the measured throws that stayed in play.

        On the target counts as 0 mm. None without throws.
        """
        gaps = [thrown.lie.gap_mm for thrown in self.throws if thrown.lie and thrown.lie.measured]
        return median(gaps) if gaps else None

    @property
    def best(self) -> Thrown | None:
        """The nearest throw."""
        known = (thrown for thrown in self.throws if thrown.lie and thrown.lie.measured)
        return min(known, key=lambda thrown: thrown.lie.rank if thrown.lie else (), default=None)


def tallies(games: Iterable[PlayedGame]) -> tuple[Tally, ...]:
    """One per player and game, sorted by game, then by wins."""
    seats: dict[tuple[str, str], list[tuple[str, PlayedGame]]] = defaultdict(list)
    for played in games:
        for colour in played.players:
            seats[played.game, played.names.get(colour, colour)].append((colour, played))
    rows = (_tally(game, player, sat) for (game, player), sat in seats.items())
    return tuple(sorted(rows, key=lambda row: (row.game, -row.won, -row.drawn, row.player)))


def _tally(game: str, player: str, sat: list[tuple[str, PlayedGame]]) -> Tally:
    over = [(colour, played) for colour, played in sat if played.over]
    scored = sum(played.scores[colour] for colour, played in over)
    return Tally(
        game=game,
        player=player,
        games=len(over),
        won=sum(played.winners == (colour,) for colour, played in over),
        drawn=sum(colour in played.winners and len(played.winners) > 1 for colour, played in over),
        points_for=scored,
        points_against=sum(sum(played.scores.values()) for _, played in over) - scored,
        throws=tuple(
            thrown for colour, played in sat for thrown in played.throws if thrown.player == colour
        ),
    )
