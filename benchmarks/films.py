"""Filmed games, and a scorer that knows what a referee must say of them.

They are not Rinkside's own: RINKSIDE_BENCH names the folder with score_sequences.py and sequences/
(see CONTRIBUTING.md).
"""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.harness import BENCH, needs
from benchmarks.photographs import RINKSIDE, load_scorer
from cli.referee import verdict_document
from referee.live.recorded_inputs import read_inputs
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.session import Session
from referee.sessions.start import opening, played_setup
from table.observation import Observation, SeenPiece, Unusable
from table.table_config import Setup, load_table
from vision.cameras.base import open_camera
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.change_gate import Watch

GAMES = {
    "ice_boule": "Ice Boule",
    "icebreaker": "Icebreaker",
    "ice_storm": "Ice Storm",
    "icefloe": "IceFloe",
    "zamboni_wars": "Zamboni Wars",
}
OPTIONS = (
    "--table {table} --camera folder:{frames} --empty {empty} --game {game} --players {players}"
    " --inputs {inputs} --json"
)
Reading = Observation | Unusable
SAME_MM = 6.0
"""Search radius around a piece's place in the last picture of its table."""
STILL_MM = 2.0
"""Distance from all earlier pieces of its colour beyond which a piece counts as new."""


class Counted(msgspec.Struct, frozen=True):
    """The scorer's counts for the films of one game."""

    game: str
    verdicts: int
    met: int
    false_calls: int


def referee_films(game: str, films: Path) -> Counted:
    """Referee a game's films in a folder with the command line.

    Raises RuntimeError if the scorer fails.
    """
    ask = [sys.executable, str(needs(BENCH / "score_sequences.py")), "--sequences", str(films)]
    ask += ["--referee", f"{RINKSIDE} referee {OPTIONS}", "--game", game]
    done = subprocess.run(ask, capture_output=True, text=True, check=False)
    try:
        counted = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise RuntimeError(f"the scorer failed: {done.stderr.strip()[-200:]}") from None
    return Counted(game, counted["verdicts"], counted["met"], counted["false_calls"])


def merge_counts(films: Sequence[Counted]) -> Counted:
    """Sum of the counts of all films."""
    names = ("verdicts", "met", "false_calls")
    return Counted("all", *(sum(getattr(film, name) for film in films) for name in names))


@dataclass(frozen=True, slots=True)
class Film:
    """Readings of a filmed game, picture by picture."""

    folder: Path
    game: str
    players: tuple[str, ...]
    setup: Setup
    readings: tuple[Reading, ...]
    expected: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, folder: Path) -> Film:
        """Read all pictures as from a camera, and the expected rulings."""
        setup = load_table(folder / "table.json")
        setup = played_setup(setup.game.name, setup, {})
        empty, watch, readings = read_image(folder / "empty.jpg", setup), Watch(), []
        with closing(open_camera(f"folder:{folder / 'frames'}", setup)) as camera:
            while (frame := camera.read()) is not None:
                readings.append(watch(frame, setup, empty))
        return cls(
            folder,
            setup.game.name,
            tuple(setup.game.colours),
            setup,
            tuple(readings),
            tuple(load_scorer("score_sequences").lines(folder / "expected.jsonl")),
        )

    def tables(self) -> Iterator[list[int]]:
        """The pictures of each table at rest, without a hand."""
        found: list[int] = []
        for k, seen in enumerate(self.readings):
            if isinstance(seen, Observation) and not seen.moving and not seen.hand:
                found.append(k)
            elif found:
                yield found
                found = []
        if found:
            yield found

    def refereed(self, readings: Sequence[Reading]) -> list[dict[str, Any]]:
        """Output of `rinkside referee --json` for these readings."""
        by_seq = {seen.frame_seq: seen for seen in readings}
        with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
            started = opening(
                self.game, self.players, {}, self.setup, "a film", datetime.datetime.now(UTC)
            )
            with closing(Session.begin(log, started)) as session:
                inputs = read_inputs(self.folder / "inputs.jsonl")
                Referee(
                    Blank(readings),
                    self.setup,
                    lambda frame, *_: by_seq[frame.seq],
                    session,
                    inputs=inputs,
                ).run()
                records = session.records()
        documented = [(record.event, verdict_document(record)) for record in records]
        return [
            json.loads(json.dumps(document | {"moves": getattr(event, "moves", ())}))
            for event, document in documented
            if document
        ]


class Blank:
    """A camera whose pictures are not used."""

    name, simulated = "a film", False

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._left = list(readings)

    def read(self) -> Frame | None:
        if not self._left:
            return None
        seen = self._left.pop(0)
        return Frame(seen.frame_seq, seen.at_ms, np.zeros((8, 8, 3), np.uint8))

    def close(self) -> None:
        pass


@cache
def film_of(game: str) -> Film:
    """The film of a game, cached per process."""
    folders = sorted(path.parent for path in needs(BENCH / "sequences").glob("*/expected.jsonl"))
    return next(
        Film.read(folder)
        for folder in folders
        if load_table(folder / "table.json").game.name == game
    )


def is_near(a: SeenPiece, b: SeenPiece, mm: float) -> bool:
    """True if both have one colour and are within `mm`."""
    return a.colour == b.colour and bool(np.hypot(*(a.base_mm - b.base_mm)) < mm)
