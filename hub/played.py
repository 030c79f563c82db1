"""Replay a hub's games by their rules, for game texts and statistics of play.

Records at a hub are public, so they lack votes that were never shown. A session that this version's
rules cannot read has no replayed games; standings still count it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from sqlalchemy import select

from engines import GAMES
from hub.standings import HubGame
from hub.store import RECORDS, Store
from referee.sessions.events import Record, SessionStarted, read_public_document
from referee.sessions.game_text import GameText, game_text
from referee.sessions.shown_votes import with_shown_votes
from referee.sessions.state import SessionState, fold
from referee.statistics.practice import GamePractice, practices

REMEMBERED = 2000
"""Cache size in sessions; one evening's session takes about 100 kB."""


@dataclass(frozen=True, slots=True)
class PlayedAgain:
    """A replayed game; `text` is None if the game was never begun."""

    text: GameText | None
    practice: GamePractice


class PlayedGames:
    """Replays games on request, with a cache.  Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[tuple[str, int], tuple[int, Mapping[int, PlayedAgain]]]
        self._known = OrderedDict()
        self._lock = threading.Lock()

    def of(self, game: HubGame) -> PlayedAgain | None:
        """The replayed game; None if this version's rules cannot read its session."""
        key = (game.log_id, game.session)
        with self._lock:
            last, found = self._known.get(key, (0, {}))
        if last != game.last:
            found = self._read_games(game)
            with self._lock:
                self._known[key] = (game.last, found)
                self._known.move_to_end(key)
                while len(self._known) > REMEMBERED:
                    self._known.popitem(last=False)
        return found.get(game.result.seq)

    def forget(self) -> None:
        """Clear the cache, because records were changed."""
        with self._lock:
            self._known.clear()

    def _read_games(self, game: HubGame) -> Mapping[int, PlayedAgain]:
        """The games of a session, by the number of each game's first record."""
        wanted = (
            select(RECORDS.c.document)
            .where(
                RECORDS.c.log_id == game.log_id,
                RECORDS.c.session == game.session,
                RECORDS.c.seq <= game.last,
            )
            .order_by(RECORDS.c.seq)
        )
        with self._store.reading() as db:
            documents = [row.document for row in db.execute(wanted)]
        try:
            records = [
                read_public_document(msgspec.json.decode(document), "record")
                for document in documents
            ]
            return _replayed_games(records)
        except ValueError:  # another version, or a game that is not installed
            return {}


def _replayed_games(records: list[Record]) -> dict[int, PlayedAgain]:
    """Replay a session; raises ValueError if this version's rules cannot read it."""
    started = records[0].event
    if not isinstance(started, SessionStarted) or started.game not in GAMES:
        return {}
    whole = with_shown_votes(records, GAMES[started.game])
    ledger: SessionState | None = fold(whole, GAMES, "session")
    assert ledger is not None
    games = practices(ledger, whole)[::-1]
    found: dict[int, PlayedAgain] = {}
    for practice in games:
        assert ledger is not None
        found[ledger.game_seq] = PlayedAgain(game_text(ledger), practice)
        ledger = ledger.earlier
    return found
