"""Standings of an event, with named tie-breaks, and its cross-table.

Everything is computed from the current results. A bye counts as a win against an opponent with
equal points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec

from hub.matches import DRAWN, LOST, WON, Format, Settled
from hub.places import Line, placed

TIE_BREAKS: dict[Format, tuple[str, ...]] = {
    "round_robin": ("points", "direct", "sonneborn_berger", "won", "difference"),
    "swiss": ("points", "direct", "buchholz", "sonneborn_berger", "difference"),
    "knock_out": ("round",),
    "free": ("points", "won", "difference"),
}
"""Tie-breaks by format, in order of precedence; higher is better.

`points` count 1 for a win and 0.5 for a draw. `direct` is the points against players with equal
points, if all of them have met. `buchholz` is the sum of all opponents' points. `sonneborn_berger`
sums the points of beaten opponents and half those of drawn ones. `difference` is points scored
minus conceded in the games. `round` is the last round reached.
"""


class EventLine(Line, frozen=True, kw_only=True):
    """A player's row, placed by the format's tie-breaks."""

    number: int
    player: str
    played: int
    won: int
    drawn: int
    lost: int
    points: float
    direct: float
    buchholz: float
    sonneborn_berger: float
    scored: float
    against: float
    difference: float
    round: int


@dataclass(slots=True)
class _Player:
    """Accumulator for a player; `games` are (opponents, share) in order."""

    id: int
    number: int
    name: str
    games: list[tuple[tuple[int, ...], float]] = field(default_factory=list)
    scored: float = 0
    against: float = 0
    round: int = 0

    @property
    def points(self) -> float:
        return sum(share for _, share in self.games)

    def count(self, share: float) -> int:
        return sum(1 for others, one in self.games if others and one == share)


@dataclass(frozen=True, slots=True)
class Participant:
    """A player of an event: starting number, from 1, and name."""

    id: int
    number: int
    name: str
    withdrawn: bool = False
    code: str = ""


def event_standings(
    format_: Format, players: Iterable[Participant], settled: Iterable[Settled]
) -> list[EventLine]:
    """Rows of an event's standings, best first."""
    known = {one.id: _Player(one.id, one.number, one.name) for one in players}
    for one in settled:
        _count(known, one)
    lines = {player.id: _line(player, known) for player in known.values()}
    in_order = sorted(lines.values(), key=lambda line: line.number)
    return placed(in_order, TIE_BREAKS[format_])


def _count(known: Mapping[int, _Player], one: Settled) -> None:
    """Add a match to its players' totals."""
    seats, result = one.match.seats, one.counts
    last = one.match.round
    for number, seat in enumerate(seats):
        player = known[seat.player_id]
        won = result is not None and result.shares[number] == WON
        player.round = max(player.round, last + won)
        if result is None:
            continue
        others = tuple(other.player_id for other in seats if other is not seat)
        player.games.append((others, result.shares[number]))
        if result.scores:
            player.scored += result.scores[number]
            player.against += sum(result.scores) - result.scores[number]


def _line(player: _Player, known: Mapping[int, _Player]) -> EventLine:
    own = player.points
    buchholz = berger = 0.0
    for others, share in player.games:
        worth = sum(known[one].points for one in others) if others else own
        buchholz += worth
        berger += share * worth
    return EventLine(
        place=0,
        number=player.number,
        player=player.name,
        played=sum(1 for others, _ in player.games if others),
        won=player.count(WON),
        drawn=player.count(DRAWN),
        lost=player.count(LOST),
        points=own,
        direct=_direct(player, known),
        buchholz=buchholz,
        sonneborn_berger=berger,
        scored=player.scored,
        against=player.against,
        difference=player.scored - player.against,
        round=player.round,
    )


def _direct(player: _Player, known: Mapping[int, _Player]) -> float:
    """Points against players with equal points; 0 unless all of them have met one another."""
    equal = {one.id for one in known.values() if one.points == player.points}
    for one in equal:
        met = {other for others, _ in known[one].games for other in others}
        if not equal - {one} <= met:
            return 0.0
    return sum(share for others, share in player.games if set(others) & equal)


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """A match in a player's row: opponents' numbers (none for a bye), and share, if any."""

    round: int
    opponents: tuple[int, ...]
    share: float | None
    began: bool


def meetings(
    players: Iterable[Participant], settled: Iterable[Settled]
) -> dict[int, list[Meeting]]:
    """The matches of each player by number, in order: the rows of a cross-table."""
    numbers = {one.id: one.number for one in players}
    rows: defaultdict[int, list[Meeting]] = defaultdict(list)
    for one in settled:
        for place, seat in enumerate(one.match.seats):
            others = (numbers[other.player_id] for other in one.match.seats if other is not seat)
            rows[numbers[seat.player_id]].append(
                Meeting(
                    round=one.match.round,
                    opponents=tuple(others),
                    share=one.counts.shares[place] if one.counts else None,
                    began=place == 0,
                )
            )
    return dict(rows)
