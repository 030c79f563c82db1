"""A live camera whose wall clock is set while people play: every duration stays what it is."""

from __future__ import annotations

import queue
import re
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from referee.live.referee import Referee
from referee.live.stability import HAND_STILL_MS, RESTLESS_MS
from referee.sessions.events import QuestionAsked, VerdictReached
from referee.sessions.session import Session
from tests.support.paths import ROOT
from tests.support.setups import setup_of
from tests.support.variants import Looking
from vision.cameras.base import CameraLost
from vision.cameras.live import LiveCamera, Picture

NIGHT_MS = 1_795_000_000_000
"""What the wall clock shows at first."""
BACK_MS, FORWARD_MS = -600_000, 2000
PICTURE = np.zeros((24, 32, 3), np.uint8)


@dataclass
class Clocks:
    """A monotonic clock and a wall clock, both in ms; people may set the wall clock."""

    running_ms: int = 5000
    wall_ms: int = NIGHT_MS
    queue: queue.SimpleQueue = field(default_factory=queue.SimpleQueue)

    def picture(self):
        """As a feed: the next picture, when one was taken."""
        if self.queue.get(timeout=20) is None:
            raise CameraLost("the device was let go")
        return Picture(PICTURE)

    def close(self):
        """As a feed."""


class Film:
    """A live camera that takes a picture at each step: (ms since the last one, what is seen, by how
    much the wall clock is set then).
    """

    simulated = False

    def __init__(self, *steps):
        self.clocks, self.steps, self.shown, self.done = Clocks(), list(steps), [], lambda: None
        self.camera = LiveCamera(
            "film",
            lambda: self.clocks,
            None,
            lambda: self.clocks.running_ms,
            lambda: self.clocks.wall_ms,
        )
        self.name = self.camera.name

    def read(self):
        self.done()
        if not self.steps:
            return None
        passed_ms, seen, set_ms = self.steps.pop(0)
        self.shown.append(seen)
        self.clocks.running_ms += passed_ms
        self.clocks.wall_ms += passed_ms + set_ms
        self.clocks.queue.put(True)
        return self.camera.read()

    def observe(self, frame, *_):
        return replace(self.shown[frame.seq], frame_seq=frame.seq, at_ms=frame.at_ms)

    def close(self):
        self.clocks.queue.put(None)
        self.camera.close()


def referee_over(film, session):
    return Referee(film, setup_of(), film.observe, session)


def watched(film, session, of):
    """After each picture, how many records there are of a kind."""
    counts = []
    film.done = lambda: counts.append(
        sum(isinstance(record.event, of) for record in session.records())
    )
    referee_over(film, session).run()
    return counts[1:]


@pytest.mark.parametrize("set_ms", [0, BACK_MS, FORWARD_MS, -NIGHT_MS])
def test_a_table_is_at_rest_after_the_hold_whatever_is_done_to_the_wall_clock(
    session, seen, red, set_ms
):
    table = seen(0, red)
    film = Film((250, table, 0), (250, table, set_ms), (250, table, 0), (250, table, 0))
    assert watched(film, session, VerdictReached) == [0, 0, 1, 1]


def test_two_pictures_of_one_moment_are_not_at_rest_because_the_wall_clock_went_forward(
    session, seen, red
):
    table = seen(0, red)
    assert watched(
        Film((33, table, 0), (33, table, FORWARD_MS), (33, table, 0)), session, VerdictReached
    ) == [0, 0, 0]


@pytest.mark.parametrize("set_ms", [0, BACK_MS, FORWARD_MS])
def test_a_question_comes_when_it_is_due(log, started, games, seen, set_ms):
    session = Session.begin(log, started, games={"pegs": Looking(games["pegs"])})
    session.hear({"player": "red", "put": "blindly"})
    film = Film(*((250, seen(0), set_ms * (k == 8)) for k in range(30)))
    asked = watched(film, session, QuestionAsked)
    assert asked.index(1) * 250 == 5750
    session.close()


@pytest.mark.parametrize("set_ms", [BACK_MS, FORWARD_MS])
def test_what_looks_like_a_hand_lies_still_for_as_long_as_ever(session, seen, red, set_ms):
    table, statuses = seen(0, red, hand=True), []
    film = Film(*((500, table, set_ms * (k == 2)) for k in range(12)))
    referee = referee_over(film, session)
    film.done = lambda: statuses.append(referee.latest.status)
    referee.run()
    assert statuses[1:].count("hand over the board") * 500 == HAND_STILL_MS
    assert statuses[-1] != "hand over the board"


@pytest.mark.parametrize("set_ms", [BACK_MS, FORWARD_MS])
def test_pieces_are_called_restless_no_sooner_and_no_later(session, seen, piece, set_ms):
    steps, statuses = [], []
    for k in range(20):
        steps.append((250, seen(0, piece("red", 50 + 30 * (k % 2), 50)), set_ms * (k == 3)))
    film = Film(*steps)
    referee = referee_over(film, session)
    film.done = lambda: statuses.append(referee.latest.status)
    referee.run()
    assert statuses[1:].index("cannot see") * 250 == RESTLESS_MS


def test_records_show_the_wall_clock_and_keep_their_order(session, seen, red, blue):
    film = Film(
        *((250, seen(0, red), 0) for _ in range(3)),
        *((250, seen(0, red, blue), BACK_MS * (k == 0)) for k in range(3)),
    )
    referee_over(film, session).run()
    first, second = (
        record for record in session.records() if isinstance(record.event, VerdictReached)
    )
    assert first.seq < second.seq
    assert (first.at_ms, second.at_ms) == (NIGHT_MS + 750, NIGHT_MS + 1500 + BACK_MS)


WALL_CLOCKS = re.compile(
    r"\btime\.time(_ns)?\(|\bdatetime\.now\(|\bdatetime\.today\(|\bdate\.today\("
)
FOR_PEOPLE = {
    "cli/play.py": "when a session began or went on",
    "cli/referee.py": "when a session began",
    "cli/backup/pack.py": "when a backup was made",
    "simulation/printed.py": "where a made-up clock starts, which then runs monotonically",
    "calibration/wizard.py": "when cards or colours were measured",
    "referee/live/referee_factory.py": "when a session went on",
    "vision/cameras/live.py": "the time of day of a picture",
    "simulation/camera.py": "where a made-up clock starts, which then runs monotonically",
}


def test_the_wall_clock_is_read_only_where_people_read_it():
    root = ROOT
    rooms = ("table", "vision", "calibration", "engines", "hardware", "referee", "simulation")
    rooms += ("webui", "cli")
    paths = (path for room in rooms for path in (root / room).rglob("*.py"))
    reading = {
        path.relative_to(root).as_posix()
        for path in paths
        if WALL_CLOCKS.search(path.read_text(encoding="utf-8"))
    }
    assert reading <= FOR_PEOPLE.keys()
    assert "vision/cameras/live.py" in reading
