"""Simulated games refereed by the real referee, with eyes that misread a table now and then."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.games.misreading import FAULTS_AT_ONCE, BadEyes
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.session import Session
from referee.sessions.start import opening
from simulation.players.ice_boule import Players
from simulation.players.ice_boule_table import demo_place, demo_setup
from simulation.tables import game_table, seat

WIDTH_PX = 320


@contextmanager
def misread_game(
    game: str, seed: int, path: Path, frames: int, faults: tuple[int, ...] = FAULTS_AT_ONCE
) -> Iterator[Any]:
    """A game before its first picture: `session`, `players`, `referee` (to be run), its `log`.

    `glance`, a function, is called before every picture; it looks at the session's view until it is
    replaced.
    """
    table = None if game == "ice_boule" else game_table(game, seed, WIDTH_PX)
    setup = demo_setup() if table is None else table.setup
    with Log(path) as log:
        started = opening(
            game,
            setup.game.colours,
            {} if table is None else table.rulings,
            setup,
            "bad eyes",
            datetime.datetime.now(datetime.UTC),
            simulated=True,
        )
        with closing(Session.begin(log, started)) as session:
            players: Any = Players(session, setup, seed) if table is None else seat(session, table)
            place = demo_place() if table is None else table.place
            played = SimpleNamespace(session=session, players=players, log=log, glance=session.view)
            eyes = BadEyes(
                players.scene_at, setup, place, seed, frames, faults, lambda: played.glance()
            )
            played.referee = Referee(eyes, setup, eyes, session)
            yield played
