"""What was played, over all sessions of a log: every game with its scores, and every throw of Ice
Boule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engines import ice_boule
from engines.ice_boule.layout import Lie
from engines.ice_boule.moves import Throw
from referee.sessions.event_store import LogReader
from referee.sessions.events import Asked, Record, Ruled
from referee.sessions.state import Games, Ledger, Standing, fold
from table.measured_text import time_utc

SAME_MM = 0.006
"""Moves are written to 0.01 mm: a distance that was measured is the one in a move if it rounds to
it.
"""


@dataclass(frozen=True, slots=True)
class Thrown:
    """A throw of Ice Boule that counts, as it came to rest; `record` is where it was ruled or asked
    about.

    `lie` is None for a throw that left the play area; `sigma_mm` None where the distance is not the
    camera's own; `leading` leads after it; `by_people` says that people decided or corrected it.
    """

    record: int
    at_ms: int
    player: str
    size: str | None
    lie: Lie | None
    sigma_mm: float | None
    leading: str | None
    by_people: bool


@dataclass(frozen=True, slots=True)
class Played:
    """A game of a session; `number` counts from 1.

    `players` are colours in turn order, `names` people's by colour; `winners` of a game that is
    over, several where they share it; `throws` of Ice Boule.
    """

    session: int
    game: str
    number: int
    begun_utc: str
    simulated: bool
    players: tuple[str, ...]
    names: Mapping[str, str]
    scores: Mapping[str, float]
    over: bool
    winners: tuple[str, ...]
    throws: tuple[Thrown, ...]


def games_of(log: LogReader, session: int, games: Games) -> tuple[Played, ...]:
    """The games of a session as they stand, oldest first; one that was taken back is none.

    Raises InputError for no such session, or one whose moves are not legal by these engines.
    """
    records = log.records(session)
    return games_in(fold(records, games, f"{log.path}: session {session}"), records)


def games_in(ledger: Ledger, records: Iterable[Record]) -> tuple[Played, ...]:
    """The games of a session whose fold is known, as they stand, oldest first."""
    by_seq = {record.seq: record for record in records}
    played = []
    each: Ledger | None = ledger
    while each is not None:
        played.append(_game(each, by_seq))
        each = each.earlier
    return tuple(reversed(played))


def _game(ledger: Ledger, records: Mapping[int, Record]) -> Played:
    started, begun_ms = ledger.started, records[ledger.game_seq].at_ms
    document = ledger.engine.state_document(ledger.state)
    return Played(
        session=ledger.session,
        game=started.game,
        number=ledger.game_number,
        begun_utc=(
            started.started_utc
            if ledger.earlier is None
            else time_utc(begun_ms) or started.started_utc
        ),
        simulated=started.simulated,
        players=ledger.players,
        names=started.names,
        scores=document["scores"],
        over=ledger.outcome is not None,
        winners=ledger.winners,
        throws=tuple(_throws(ledger, records)) if started.game == ice_boule.NAME else (),
    )


def _throws(ledger: Ledger, records: Mapping[int, Record]) -> Iterator[Thrown]:
    engine = ledger.engine
    state = ledger.start
    for entry in ledger.standing:
        for text in entry.moves:
            move = engine.parse_move(text)
            state = engine.play(state, move)
            if not isinstance(move, Throw):
                continue
            seen = _seen(entry, records)
            sigma_mm = _sigma_mm(seen, move.lie) if move.lie else None
            by_people = seen is None or entry.question is not None
            yield Thrown(
                entry.seq,
                records[entry.seq].at_ms,
                move.player,
                move.size,
                move.lie,
                sigma_mm,
                state.leading,
                by_people,
            )


def _seen(entry: Standing, records: Mapping[int, Record]) -> Mapping[str, Any] | None:
    """The evidence of what the camera saw there; None where people put something else in its
    place.
    """
    event = (entry.question or records[entry.seq]).event
    return event.evidence if entry.by == entry.seq and isinstance(event, Ruled | Asked) else None


def _sigma_mm(seen: Mapping[str, Any] | None, lie: Lie) -> float | None:
    gaps = (seen or {}).get("gaps", ())
    return next(
        (
            gap["sigma_mm"]
            for gap in gaps
            if gap["colour"] == lie.colour and abs(gap["gap_mm"] - lie.gap_mm) < SAME_MM
        ),
        None,
    )
