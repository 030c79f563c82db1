"""An event as tables for its page, and as CSV, JSON and TRF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from hub.event_standings import (
    TIE_BREAKS,
    EventLine,
    Meeting,
    Participant,
    event_standings,
    meetings,
)
from hub.events import Event
from hub.matches import DRAWN, LOST, WON, Settled, Status
from hub.trf import Outcome, TrfPlayer, TrfRound, trf
from referee.statistics.csv_export import csv_bytes
from table.measured_text import time_utc

SIGNS = {WON: "1", DRAWN: "½", LOST: "0"}
TRF_SIGNS: dict[float, Outcome] = {WON: "1", DRAWN: "=", LOST: "0"}


@dataclass(frozen=True, slots=True)
class Shown:
    """An event for its page; `cross` are its cross-table's rows, `heads` the column headings."""

    event: Event
    lines: Sequence[EventLine]
    heads: Sequence[str]
    cross: Sequence[Sequence[str]]


def shown(event: Event) -> Shown:
    """An event with its standings and its cross-table."""
    lines = event_standings(event.format, event.players, event.matches)
    rows = meetings(event.players, event.matches)
    if event.format == "round_robin":
        heads = [str(line.number) for line in lines]
        cross = [[_against(line, other, rows) for other in lines] for line in lines]
    elif event.format == "swiss":
        heads = [str(number) for number in range(1, event.paired + 1)]
        cross = [
            [_in_round(number, rows.get(line.number, [])) for number in range(1, event.paired + 1)]
            for line in lines
        ]
    else:
        heads, cross = [], []
    return Shown(event, lines, heads, cross)


def _against(line: EventLine, other: EventLine, rows: dict[int, list[Meeting]]) -> str:
    if line.number == other.number:
        return "×"
    found = (one for one in rows.get(line.number, []) if other.number in one.opponents)
    return " ".join(SIGNS[one.share] for one in found if one.share is not None)


def _in_round(number_: int, row: Sequence[Meeting]) -> str:
    """A match in chess notation: a win against number 5 is `5 1`."""
    for one in row:
        if one.round == number_:
            sign = SIGNS[one.share] if one.share is not None else ""
            return f"{one.opponents[0]} {sign}".strip() if one.opponents else f"– {sign}"
    return ""


def event_csv(event: Event) -> bytes:
    """The standings of an event as CSV, one row per player."""
    columns = EventLine.__struct_fields__
    cells = ([getattr(line, name) for name in columns] for line in shown(event).lines)
    return csv_bytes(columns, cells)


class MatchDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A match in the JSON document; shares and scores in the order of the players."""

    round: int
    number: int
    table: str
    players: tuple[str, ...]
    status: Status
    shares: tuple[float, ...]
    scores: tuple[float, ...]


class EventDocument(msgspec.Struct, frozen=True, kw_only=True):
    """An event as JSON."""

    club: str
    event: str
    game: str
    format: str
    terms: str
    state: str
    made_utc: str
    tie_breaks: tuple[str, ...]
    standings: Sequence[EventLine]
    matches: Sequence[MatchDocument]


def event_document(event: Event, club: str) -> EventDocument:
    """The event as `EventDocument`."""
    return EventDocument(
        club=club,
        event=event.name,
        game=event.game,
        format=event.format,
        terms=event.terms,
        state=event.state,
        made_utc=time_utc(event.made_ms),
        tie_breaks=TIE_BREAKS[event.format],
        standings=shown(event).lines,
        matches=[_match_document(one) for one in event.matches],
    )


def _match_document(one: Settled) -> MatchDocument:
    return MatchDocument(
        round=one.match.round,
        number=one.match.number,
        table=one.match.table,
        players=tuple(seat.name for seat in one.match.seats),
        status=one.status,
        shares=one.result.shares if one.result else (),
        scores=one.result.scores if one.result else (),
    )


def trf_of(event: Event) -> str:
    """An event as a tournament report file."""
    rows = meetings(event.players, event.matches)
    lines = {line.number: line for line in shown(event).lines}
    date = datetime.fromtimestamp(event.made_ms / 1000, UTC).strftime("%Y/%m/%d")
    planned = max(event.rounds if event.format == "swiss" else 0, event.paired)
    players = [
        TrfPlayer(
            one.number,
            one.name,
            lines[one.number].points,
            lines[one.number].place,
            _trf_rounds(event, one, rows.get(one.number, [])),
        )
        for one in event.players
    ]
    return trf(event.name, date, planned, players)


def _trf_rounds(event: Event, player: Participant, row: Sequence[Meeting]) -> list[TrfRound]:
    by_round = {one.round: one for one in row}
    found = []
    for number_ in range(1, event.paired + 1 + (player.withdrawn and event.format == "swiss")):
        one = by_round.get(number_)
        if one is None:
            found.append(TrfRound())
        elif not one.opponents:
            found.append(TrfRound(outcome="U"))
        else:
            sign = TRF_SIGNS[one.share] if one.share is not None else None
            found.append(TrfRound(one.opponents[0], one.began, sign))
    return found
