"""A small game for the referee, and tables seen as one likes."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest

from hardware.factory import Devices
from hardware.testing.fakes import (
    FakeButtons,
    FakeBuzzer,
    FakeCalliper,
    FakeDice,
    FakeLamps,
    FakeOutput,
    FakeVoice,
)
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.status import RefereeStatus
from table.observation import Camera, Observation, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying, upright
from tests.support import pegs
from tests.support.disks import Disk
from tests.support.setups import setup_of
from vision.cameras.frame import Frame

CAMERA = Camera(np.eye(3), np.array([0.0, 0.0, 600.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))
MEDIUM = load_piece_set("looney")["medium"]
PATIENCE_S = 20.0
POSES = {"upright": upright, "lying": lying, "leaning": partial(upright, z_mm=5.0)}


@pytest.fixture(scope="session")
def games():
    """The game of Pegs as an engine (tests/support/pegs.py)."""
    return {"pegs": pegs}


@pytest.fixture
def disk():
    """The disk of the log."""
    return Disk()


@pytest.fixture
def log(tmp_path, disk):
    with Log(tmp_path / "rinkside.log", connect=disk.connect) as log:
        yield log


@pytest.fixture(scope="session")
def started():
    return SessionStarted(
        game="pegs",
        players=("red", "blue"),
        camera="folder frames",
        started_utc="2026-11-21T14:00:00+00:00",
    )


@pytest.fixture
def session(log, started, games):
    session = Session.begin(log, started, games=games)
    yield session
    session.close()


@pytest.fixture(scope="session")
def piece():
    """piece("red", 100, 50): a medium piece as it was seen, with a tenth of a millimetre of
    doubt.
    """

    def make(colour, x_mm, y_mm, heading_deg=0.0, pose="lying", sigma_mm=0.1, **more):
        solid = POSES[pose](MEDIUM, x_mm, y_mm, heading_deg)
        covariance = np.diag([sigma_mm, sigma_mm, 0.3]) ** 2
        return SeenPiece(
            colour, "medium", pose, np.array([x_mm, y_mm]), heading_deg, solid, covariance, **more
        )

    return make


@pytest.fixture(scope="session")
def seen():
    """seen(at_ms, *pieces): an observation of these pieces."""

    def make(at_ms, *pieces, hand=False, seq=0):
        return Observation(seq, at_ms, CAMERA, tuple(pieces), hand=hand)

    return make


class Film:
    """A camera that gives what it was told: observations (as frames of their number), errors, or
    things to do.
    """

    name, simulated = "film", True

    def __init__(self, *shots):
        self.shots = list(shots)
        self.shown = []
        self.closed = 0

    def read(self):
        while self.shots:
            shot = self.shots.pop(0)
            if isinstance(shot, Exception):
                raise shot
            if callable(shot):
                shot()
                continue
            self.shown.append(shot)
            return Frame(
                len(self.shown) - 1,
                shot.at_ms,
                np.full((24, 32, 3), 6 * len(self.shown) % 256, np.uint8),
            )
        return None

    def close(self):
        self.closed += 1

    def observe(self, frame, setup, reference=None):
        self.setup, self.reference = setup, reference
        return self.shown[frame.seq]


@pytest.fixture(scope="session")
def film_of():
    """film_of(*shots): a camera that gives them, and eyes."""
    return Film


@pytest.fixture
def made():
    """The films that referees were given, in order."""
    return []


@pytest.fixture
def referee(session, made):
    def make(*shots, **options):
        film = Film(*shots)
        made.append(film)
        return Referee(
            film, setup_of(), film.observe, session, **{"pause": lambda _: None} | options
        )

    return make


@pytest.fixture(scope="session")
def hold(seen):
    """hold(1000, *pieces): what four frames a second show of a table at rest for a second."""

    def shots(at_ms, *pieces):
        return [seen(at_ms + step, *pieces) for step in (0, 250, 500, 750)]

    return shots


@pytest.fixture
def red(piece):
    return piece("red", 50, 50)


@pytest.fixture
def blue(piece):
    return piece("blue", 150, 50)


class Watched(FakeLamps):
    """Fake lamps that can be waited for."""

    def __init__(self):
        super().__init__()
        self.changed = threading.Condition()

    def show(self, cue):
        with self.changed:
            super().show(cue)
            self.changed.notify_all()

    def wait_for(self, cue, after=0):
        with self.changed:
            assert self.changed.wait_for(lambda: cue in self.cues[after:], PATIENCE_S), self.cues

    def next(self, seen):
        """The cue after so many."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.cues) > seen, PATIENCE_S)
            return self.cues[seen]


class ShownScores(FakeOutput):
    def __init__(self):
        super().__init__()
        self.changed = threading.Condition()

    def show(self, board):
        with self.changed:
            super().show(board)
            self.changed.notify_all()

    def wait_for(self, true):
        """The first score of which this is true."""
        with self.changed:
            assert self.changed.wait_for(lambda: any(map(true, self.shown)), PATIENCE_S), self.shown
            return next(filter(true, self.shown))


class Heard(FakeBuzzer):
    def __init__(self):
        super().__init__()
        self.queue = queue.Queue()

    def play(self, cue):
        super().play(cue)
        self.queue.put(cue)

    def next(self):
        return self.queue.get(timeout=PATIENCE_S)


@dataclass
class Eyes:
    """What the referee does, as it is told."""

    latest: RefereeStatus = field(default_factory=lambda: RefereeStatus("waiting", ""))
    pointed: list = field(default_factory=list)

    def point_at(self, question, label):
        self.pointed.append((question, label))


@pytest.fixture
def lamps():
    return Watched()


@pytest.fixture
def devices(lamps):
    return Devices(lamps, FakeDice(1), FakeButtons(), Heard(), FakeCalliper(), FakeVoice())


@pytest.fixture
def with_output(devices):
    """The devices, with an output that can be waited for."""
    devices.output = ShownScores()
    return devices


@pytest.fixture
def eyes():
    return Eyes()
