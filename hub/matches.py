"""What became of the matches of an event, by what tables sent and people said.

A match is played where its players' names stand in a game of its table. What a table says is never
kept with the match: it is read from the records each time, so that a correction at the table counts
at once, and lets go of what was confirmed before it.
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
"""Whose result it is; an organiser's goes before a table's, and a table's before a player's."""
Status = Literal["waiting", "playing", "reported", "confirmed", "disputed", "bye"]
"""`reported` waits for confirmation; `disputed` is frozen until an organiser decides."""
OPEN: tuple[Status, ...] = ("waiting", "playing")
WON, DRAWN, LOST = 1.0, 0.5, 0.0


class MatchResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result by seats: 1 for a win, 0.5 for a draw, 0 for a loss; and the points of the game.

    Points are missing where nobody said them.
    """

    shares: tuple[float, ...]
    scores: tuple[float, ...] = ()


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A result as it stood when somebody said that it is wrong, and where it came from.

    The records are those of a log and a session up to number `last`; none where people said it.
    """

    result: MatchResult
    log: str = ""
    session: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True)
class Seat:
    """A player of a match, the one who begins first; `agreed` is the result that they agreed to."""

    player_id: int
    name: str
    agreed: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A match as it is kept.

    `entered` is a result that somebody entered, `confirmed` the one that an organiser confirmed,
    `disputed_by` the player who said that `frozen` is wrong.
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
    """A match as it stands.

    `result` is what counts, `game` the one at a table that it was played in, and `table_says` what
    came of that one.
    """

    match: Match
    status: Status
    result: MatchResult | None = None
    source: Source = ""
    game: HubGame | None = None
    table_says: MatchResult | None = None

    @property
    def counts(self) -> MatchResult | None:
        """The result, if standings may count it; a disputed one waits."""
        return None if self.status == "disputed" else self.result


def result_text(result: msgspec.Struct | None) -> str:
    """A result as it is kept, and as those who confirm it name it; empty for None."""
    return msgspec.json.encode(result).decode() if result is not None else ""


def read_result(text: str) -> MatchResult | None:
    """A result as `result_text`; None for an empty text.  Raises InputError for anything else."""
    return _decode(text, MatchResult)


def read_evidence(text: str) -> Evidence | None:
    """The same for evidence."""
    return _decode(text, Evidence)


def _decode(text: str, kind: type[T]) -> T | None:
    if not text:
        return None
    try:
        return convert(msgspec.json.decode(text), kind, "result")
    except msgspec.DecodeError as error:
        raise InputError(str(error)) from error


def settle(game: str, matches: Iterable[Match], games: Sequence[HubGame]) -> list[Settled]:
    """The matches of an event of a game, in their order, as they stand.

    A match takes the first finished game of its players that began after it was made; the last one
    that they began, as long as none is finished. Each game counts for one match only.
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
    """The game of a match, of those that its players have had."""
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
    """What came of a finished game, by seats; nobody won: it is drawn."""
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
    """The match that each table plays next, by the table's id.

    It is the first one whose players have no earlier match to play.
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
