"""How every session begins, and how one goes on: who plays what on which table, seen by which camera."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib import metadata

import msgspec

from referee.events import SessionStarted
from referee.log import Log
from referee.session import Session
from table.errors import InputError
from table.setup import FORMAT, Setup


def opening(
    game: str, players: tuple[str, ...], rulings: dict[str, str], setup: Setup, camera: str, started: datetime, simulated: bool = False
) -> SessionStarted:
    """The first fact of a session; `camera` is its name as people are shown it, `started` an aware time.

    Raises InputError for a player whose colour is not one of the table's: nobody would ever see those pieces.
    """
    _check_players(players, setup)
    table = {name: msgspec.to_builtins(getattr(setup, name)) for name in ("camera", "fiducials", "board", "game")}
    return SessionStarted(
        game=game,
        players=players,
        rulings=rulings,
        camera=camera,
        simulated=simulated,
        started_utc=started.isoformat(timespec="seconds"),
        table={"format": FORMAT} | table,
        version=metadata.version("rinkside"),
    )


def reopened(log: Log, number: int, setup: Setup) -> Session:
    """A session of the log, to go on with; raises InputError for one that has ended or whose pieces this table does not know."""
    session = Session.reopen(log, number)
    if session.ledger.ended:
        raise InputError(f"{log.path}: session {number}: expected one that goes on, but it has ended; begin another one")
    _check_players(session.ledger.players, setup)
    return session


def _check_players(players: Sequence[str], setup: Setup) -> None:
    for player in players:
        if player not in setup.game.colours:
            raise InputError(f"players: expected colours of table.json ({', '.join(setup.game.colours)}), got {player!r}")


def parse_rulings(words: Sequence[str]) -> dict[str, str]:
    """Rulings by name from words such as `repeat=next`; raises InputError."""
    rulings = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name in rulings:
            raise InputError(f"--ruling: expected a name and a value, each name once, such as repeat=next, got {word!r}")
        rulings[name] = value
    return rulings
