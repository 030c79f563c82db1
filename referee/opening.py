"""How every session begins: who plays what on which table, seen by which camera."""

from __future__ import annotations

from datetime import datetime
from importlib import metadata

import msgspec

from referee.events import SessionStarted
from table.setup import FORMAT, Setup


def opening(game: str, players: tuple[str, ...], setup: Setup, camera: str, started: datetime, simulated: bool = False) -> SessionStarted:
    """The first fact of a session; `camera` is its name as people are shown it, `started` an aware time."""
    table = {name: msgspec.to_builtins(getattr(setup, name)) for name in ("camera", "fiducials", "board", "game")}
    return SessionStarted(
        game=game,
        players=players,
        camera=camera,
        simulated=simulated,
        started_utc=started.isoformat(timespec="seconds"),
        table={"format": FORMAT} | table,
        version=metadata.version("rinkside"),
    )
