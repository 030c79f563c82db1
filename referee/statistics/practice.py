"""Statistics of play over games: refusals, distances of throws, and hits."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from engines.game import facts
from engines.statistics import Thrown
from referee.sessions.events import Corrected, GameStarted, Record, Undone, VerdictReached
from referee.sessions.state import SessionState
from referee.statistics.results import PlayedGame, games_in
from referee.statistics.steps import steps_of
from table.measured_text import Z_95


@dataclass(frozen=True, slots=True)
class GamePractice:
    """A game with its counts by colour.

    `ruled` are moves that the referee ruled on, `refused` those that it refused and people did not
    correct. `tries` are throws that could take a piece, `taken` the pieces.
    """

    played: PlayedGame
    ruled: Mapping[str, int]
    refused: Mapping[str, int]
    tries: Mapping[str, int]
    taken: Mapping[str, int]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Distances in mm: half of them lie between `low_mm` and `high_mm`.

    `margin_mm` is on either side of the median, with 95 %: that of the throws in the middle, as the
    camera measured them; None where people said how they lie.
    """

    throws: int
    low_mm: float
    median_mm: float
    high_mm: float
    margin_mm: float | None


class Practice(msgspec.Struct, frozen=True, kw_only=True):
    """What a player did in some games of one kind; `out` are throws that left the play area."""

    games: int
    ruled: int
    refused: int
    throws: int
    out: int
    gaps: Spread | None
    tries: int
    taken: int


def practices(ledger: SessionState, records: Sequence[Record]) -> list[GamePractice]:
    """Return the games of a folded session, oldest first."""
    by_seq = {record.seq: record for record in records}
    own = _by_game(records)
    ledgers: list[SessionState] = []
    each: SessionState | None = ledger
    while each is not None:
        ledgers.append(each)
        each = each.earlier
    return [
        _practice(one, played, by_seq, own.get(one.game_seq, []))
        for one, played in zip(reversed(ledgers), games_in(ledger, records), strict=True)
    ]


def _by_game(records: Sequence[Record]) -> dict[int, list[Record]]:
    """Group records by the one that their game began with; games that were undone are left out."""
    found: dict[int, list[Record]] = {records[0].seq: []}
    begun = [records[0].seq]
    for record in records:
        event = record.event
        if isinstance(event, GameStarted):
            begun.append(record.seq)
            found[record.seq] = []
        elif isinstance(event, Undone) and event.undoes == begun[-1] and begun[1:]:
            found.pop(begun.pop())
        found[begun[-1]].append(record)
    return found


def _practice(
    ledger: SessionState, played: PlayedGame, by_seq: Mapping[int, Record], own: Sequence[Record]
) -> GamePractice:
    ruled, refused = Counter[str](), Counter[str]()
    put_right = {one.event.corrects for one in own if isinstance(one.event, Corrected)}
    for record in own:
        event = record.event
        if not isinstance(event, VerdictReached) or event.player is None:
            continue
        if event.verdict in ("accepted", "refused"):
            ruled[event.player] += 1
            refused[event.player] += event.verdict == "refused" and record.seq not in put_right
    steps, counted = list(steps_of(ledger, by_seq)), facts(ledger.engine).statistics
    taken = Counter(hit.player for hit in counted.hits(steps))
    return GamePractice(played, ruled, refused, dict(counted.tries(steps)), taken)


def practice(games: Iterable[tuple[GamePractice, str]]) -> Practice:
    """Return what a player did in these games, each given with the player's colour in it."""
    sums: defaultdict[str, int] = defaultdict(int)
    throws: list[Thrown] = []
    for one, colour in games:
        sums["games"] += 1
        for name in ("ruled", "refused", "tries", "taken"):
            sums[name] += getattr(one, name).get(colour, 0)
        throws += [thrown for thrown in one.played.throws if thrown.player == colour]
    return Practice(
        games=sums["games"],
        ruled=sums["ruled"],
        refused=sums["refused"],
        throws=len(throws),
        out=sum(thrown.lie is None for thrown in throws),
        gaps=spread(throws),
        tries=sums["tries"],
        taken=sums["taken"],
    )


def spread(throws: Iterable[Thrown]) -> Spread | None:
    """Return the spread of the distances of throws in play; on the target counts as 0 mm."""
    lies = _distances(throws)
    if not lies:
        return None
    gaps = [gap_mm for gap_mm, _ in lies]
    low, median, high = statistics.quantiles(gaps, method="inclusive") if gaps[1:] else gaps * 3
    middle = [sigma_mm for _, sigma_mm in lies[(len(lies) - 1) // 2 : len(lies) // 2 + 1]]
    known = [sigma_mm for sigma_mm in middle if sigma_mm is not None]
    margin_mm = Z_95 * math.hypot(*known) / len(middle) if len(known) == len(middle) else None
    return Spread(throws=len(gaps), low_mm=low, median_mm=median, high_mm=high, margin_mm=margin_mm)


def _distances(throws: Iterable[Thrown]) -> list[tuple[float, float | None]]:
    """Distances in mm with their sigma, nearest first."""
    found = [
        (0.0 if thrown.lie.on_target else thrown.lie.gap_mm, thrown.sigma_mm)
        for thrown in throws
        if thrown.lie is not None and thrown.lie.measured
    ]
    return sorted(found, key=lambda one: one[0])
