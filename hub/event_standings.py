"""Standings of an event, with tie-breaks that have names, and its cross-table.

All of it is computed from results as they stand. A bye counts as a win against somebody who has as
many points as oneself.
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
"""What decides between two players of an event, one after another: more of it is better.

`points` are 1 for a win and 0.5 for a draw. `direct` are points against those with equally many, if
all of them have met. `buchholz` are the points of all opponents; `sonneborn_berger` those of
opponents who were beaten and half of those with a draw. `difference` is that of points in the
games. `round` is how far somebody came.
"""


class EventLine(Line, frozen=True, kw_only=True):
    """A player's line, placed by the tie-breaks of the format."""

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
    """What a player has done: games as (opponents, share), in order."""

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
    """A player of an event: the number there, from 1, and the name."""

    id: int
    number: int
    name: str
    withdrawn: bool = False
    code: str = ""


def event_standings(
    format_: Format, players: Iterable[Participant], settled: Iterable[Settled]
) -> list[EventLine]:
    """The lines of an event, the best first."""
    known = {one.id: _Player(one.id, one.number, one.name) for one in players}
    for one in settled:
        _count(known, one)
    lines = {player.id: _line(player, known) for player in known.values()}
    in_order = sorted(lines.values(), key=lambda line: line.number)
    return placed(in_order, TIE_BREAKS[format_])


def _count(known: Mapping[int, _Player], one: Settled) -> None:
    """Add a match to the lines of its players."""
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
    """Points against those with equally many, 0 unless all of these have met one another."""
    equal = {one.id for one in known.values() if one.points == player.points}
    for one in equal:
        met = {other for others, _ in known[one].games for other in others}
        if not equal - {one} <= met:
            return 0.0
    return sum(share for others, share in player.games if set(others) & equal)


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """A match in a player's row: the opponents' numbers (none: a bye), and the share, if any."""

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
