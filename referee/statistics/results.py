"""Results of all sessions of a log: every game with its scores, every measured throw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engines.game import facts
from engines.statistics import Thrown
from referee.sessions.event_store import LogReader
from referee.sessions.events import Record
from referee.sessions.state import Games, SessionState, fold
from referee.statistics.steps import steps_of
from table.measured_text import time_utc


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game of a session; `number` counts from 1.

    `players` are colours in turn order, `names` people's by colour; `winners` of a game that is
    over, several where they share it; `throws` those whose distance counts.
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


def games_of(log: LogReader, session: int, games: Games) -> tuple[PlayedGame, ...]:
    """Return the current games of a session, oldest first; undone ones are left out.

    Raises InputError for an unknown session, or moves that are illegal in these engines.
    """
    records = log.records(session)
    return games_in(fold(records, games, f"{log.path}: session {session}"), records)


def games_in(ledger: SessionState, records: Iterable[Record]) -> tuple[PlayedGame, ...]:
    """Return the current games of a folded session, oldest first."""
    by_seq = {record.seq: record for record in records}
    played = []
    each: SessionState | None = ledger
    while each is not None:
        played.append(_game(each, by_seq))
        each = each.earlier
    return tuple(reversed(played))


def _game(ledger: SessionState, records: Mapping[int, Record]) -> PlayedGame:
    started, begun_ms = ledger.started, records[ledger.game_seq].at_ms
    document = ledger.engine.state_document(ledger.state)
    return PlayedGame(
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
        throws=tuple(facts(ledger.engine).statistics.throws(steps_of(ledger, records))),
    )
