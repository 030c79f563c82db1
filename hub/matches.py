"""Resolve the matches of an event from tables' records and entered results.

A match is linked to a game by its table and its players' names. The table's result is not stored
with the match but read from the records each time. So a correction at the table counts at once, and
voids earlier confirmations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from hub.names import name_key
from hub.standings import HubGame
from table.errors import InputError
from table.files import convert

T = TypeVar("T")
Format = Literal["round_robin", "swiss", "knock_out", "free"]
Source = Literal["", "table", "player", "organiser"]
"""Origin of a result. Precedence: organiser, table, player."""
Status = Literal["waiting", "playing", "reported", "confirmed", "disputed", "bye"]
"""`reported` waits for confirmation; `disputed` is frozen until an organiser decides."""
OPEN: tuple[Status, ...] = ("waiting", "playing")
WON, DRAWN, LOST = 1.0, 0.5, 0.0


class MatchResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result by seat: shares (win 1, draw 0.5, loss 0), and points scored in the game.

    `scores` is empty if the points are unknown.
    """

    shares: tuple[float, ...]
    scores: tuple[float, ...] = ()


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Snapshot of a disputed result and its source.

    The source is the records of a log and session up to number `last`; empty for an entered result.
    """

    result: MatchResult
    log: str = ""
    session: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Seat:
    """A player of a match, in order of play; `agreed` is the result that they agreed to."""

    player_id: int
    name: str
    agreed: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A match as stored in the database.

    `entered` is a manually entered result, `confirmed` the one that an organiser confirmed, and
    `disputed_by` the player who disputes `frozen`.
    """

    id: int
    round: int
    number: int
    table_id: int | None
    table: str
    made_ms: int
    seats: tuple[Seat, ...]
    entered_by: Source = ""
    entered: MatchResult | None = None
    confirmed: str = ""
    disputed_by: int | None = None
    frozen: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """Current state of a match.

    `result` is the valid result, `game` the linked game at a table, and `table_says` that game's
    result.
    """

    match: Match
    status: Status
    result: MatchResult | None = None
    source: Source = ""
    game: HubGame | None = None
    table_says: MatchResult | None = None

    @property
    def counts(self) -> MatchResult | None:
        """The result for standings; None while it is disputed."""
        return None if self.status == "disputed" else self.result


def result_text(result: msgspec.Struct | None) -> str:
    """JSON text of a result, for storage and for naming it in a confirmation; empty for None."""
    return msgspec.json.encode(result).decode() if result is not None else ""


def read_result(text: str) -> MatchResult | None:
    """Parse `result_text`; None for an empty text.  Raises InputError for invalid text."""
    return _decode(text, MatchResult)


def read_evidence(text: str) -> Evidence | None:
    """As `read_result`, for evidence."""
    return _decode(text, Evidence)


def _decode(text: str, kind: type[T]) -> T | None:
    if not text:
        return None
    try:
        return convert(msgspec.json.decode(text), kind, "result")
    except msgspec.DecodeError as error:
        raise InputError(str(error)) from error


def settle(game: str, matches: Iterable[Match], games: Sequence[HubGame]) -> list[Settled]:
    """Link matches of an event to games, and resolve their current state, in order.

    A match takes its players' first finished game that began after the match was made; before one
    is finished, the latest begun. Each game counts for one match only.
    """
    ordered = sorted(matches, key=lambda one: (one.round, one.number))
    first_ms = min((one.made_ms for one in ordered), default=0)
    open_games: defaultdict[frozenset[str], list[HubGame]] = defaultdict(list)
    for one in sorted(games, key=lambda one: (one.began_ms, one.log_id, one.result.seq)):
        if one.result.game == game and one.began_ms >= first_ms:
            open_games[_players(one.result.names.values())].append(one)
    settled = []
    for match in ordered:
        players = _players(seat.name for seat in match.seats)
        found = _game_of(match, open_games.get(players, ()))
        if found is not None:
            open_games[players].remove(found)
        settled.append(_settle(match, found))
    return settled


def _players(names: Iterable[str]) -> frozenset[str]:
    return frozenset(map(name_key, names))


def _game_of(match: Match, games: Sequence[HubGame]) -> HubGame | None:
    """The game to link to a match, out of its players' unlinked games; None if none fits."""
    found = [
        one
        for one in games
        if one.began_ms >= match.made_ms
        and match.table_id in (None, one.table_id)
        and len(one.result.players) == len(one.result.names) == len(match.seats) > 1
    ]
    return next((one for one in found if one.result.over), found[-1] if found else None)


def _settle(match: Match, game: HubGame | None) -> Settled:
    if len(match.seats) == 1:
        return Settled(match, "bye", MatchResult((WON,)))
    says = _table_result(match, game) if game is not None and game.result.over else None
    if match.entered_by == "organiser":
        return Settled(match, "confirmed", match.entered, "organiser", game, says)
    if match.disputed_by is not None and match.frozen is not None:
        return Settled(match, "disputed", match.frozen.result, "", game, says)
    result = says or match.entered
    if result is None:
        return Settled(match, "playing" if game is not None else "waiting", game=game)
    text = result_text(result)
    agreed = match.confirmed == text or all(seat.agreed == text for seat in match.seats)
    source: Source = "table" if says else match.entered_by
    return Settled(match, "confirmed" if agreed else "reported", result, source, game, says)


def _table_result(match: Match, game: HubGame) -> MatchResult:
    """Result of a finished game by seat; a game without a winner is drawn."""
    result = game.result
    colours = {name_key(name): colour for colour, name in result.names.items()}
    own = [colours[name_key(seat.name)] for seat in match.seats]
    won = [colour for colour in own if colour in result.winners]
    win = WON if len(won) == 1 else DRAWN
    return MatchResult(
        tuple(win if colour in won or not won else LOST for colour in own),
        tuple(float(result.scores.get(colour, 0)) for colour in own),
    )


def next_at_tables(settled: Iterable[Settled]) -> dict[int, Match]:
    """The next match of each table, by the table's id.

    It is the table's first waiting match whose players have no earlier open match.
    """
    found: dict[int, Match] = {}
    busy: set[int] = set()
    for one in settled:
        if one.status not in OPEN:
            continue
        match = one.match
        players = {seat.player_id for seat in match.seats}
        ready = one.status == "waiting" and not players & busy
        if ready and match.table_id is not None:
            found.setdefault(match.table_id, match)
        busy |= players
    return found
