"""When a die that lies in its corner counts as rolled, whatever reads it."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from referee.live import dice_monitor
from referee.live.dice_monitor import DiceMonitor, monitor_dice
from simulation.players.ice_boule_table import demo_place, demo_setup
from table.table_config import DiceCorner
from vision.cameras.frame import Frame
from vision.dice.reader import Die, NoDie
from vision.geometry.rectified_view import Photo

SIDE_MM = 60.0
SETUP = demo_setup()
LOW = SETUP.outline_mm().mean(axis=0)
CORNER = DiceCorner(
    outline_mm=tuple(
        (float(LOW[0] + x), float(LOW[1] + y))
        for x, y in ((0, 0), (SIDE_MM, 0), (SIDE_MM, SIDE_MM), (0, SIDE_MM))
    )
)
SETUP = msgspec.structs.replace(SETUP, dice_corner=CORNER)
CAMERA = demo_place()
SIZE = (SETUP.camera.height, SETUP.camera.width)


def inside():
    """The corner in a picture: rows and columns, from and to."""
    outline = np.array(CORNER.outline_mm)
    at = Photo(None, CAMERA, SETUP).pixels(
        np.column_stack([outline, np.full(4, SETUP.fiducials.z_mm)])
    )
    (u0, v0), (u1, v1) = np.floor(at.min(axis=0)).astype(int), np.ceil(at.max(axis=0)).astype(int)
    return v0, v1, u0, u1


V0, V1, U0, U1 = inside()


def picture(*spots):
    """A grey table with bright spots: row and column from the corner's first, side, brightness."""
    image = np.full((*SIZE, 3), 60, np.uint8)
    for row, column, side, bright in spots:
        image[V0 + row : V0 + row + side, U0 + column : U0 + column + side] += np.uint8(bright)
    return image


class Corner:
    """The corner of a table of which a test says what is read there, and what the picture shows."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(dice_monitor, "read_dice", self.read)
        self.monitor = monitor_dice(SETUP)
        self.lies, self.reads, self.shown = NoDie(), 0, 0
        self.awaited = True

    def read(self, _photo):
        self.reads += 1
        return self.lies

    @property
    def ledger(self):
        may_say = [{"said": {"die": pips}} for pips in range(1, 7)] if self.awaited else []
        engine = SimpleNamespace(state_document=lambda _state: {"may_say": may_say})
        return SimpleNamespace(engine=engine, state=None)

    def frame(self, image=None):
        """The next frame: without an image, one on which the corner looks as never before."""
        self.shown += 1
        image = picture((5 + self.shown % 9, 5, 12, 80 + self.shown)) if image is None else image
        return Frame(self.shown, 100 * self.shown, image)

    def look(self, lies=None, image=None):
        self.lies = self.lies if lies is None else lies
        return self.monitor.look(self.frame(image), CAMERA, self.ledger)

    def glance(self, image, lies=None):
        self.lies = self.lies if lies is None else lies
        self.monitor.glance(self.frame(image), CAMERA, self.ledger)


@pytest.fixture
def corner(monkeypatch):
    return Corner(monkeypatch)


def die(pips=3, x_mm=0.0, turn_deg=10.0):
    return Die(pips, np.array([x_mm, 0.0]), turn_deg)


def test_a_die_that_lies_there_at_first_was_rolled_before(corner):
    assert corner.look(die(3)) == ""
    assert corner.look(die(5)) == {"die": 5}
    assert corner.look(die(5)) != {"die": 5}


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (die(3, x_mm=7.9), "unread"),
        (die(3, x_mm=8.0), "unread"),
        (die(3, x_mm=8.1), "rolled"),
        (die(3, turn_deg=29.9), "unread"),
        (die(3, turn_deg=30.1), "rolled"),
        (die(3, turn_deg=85.0), "unread"),
        (die(3, turn_deg=75.0), "rolled"),
        (die(3, x_mm=1.4), ""),
        (die(3, x_mm=1.5), ""),
        (die(3, x_mm=1.6), "unread"),
        (die(3, turn_deg=15.0), ""),
        (die(3, turn_deg=15.1), "unread"),
        (die(4), "rolled"),
    ],
)
def test_a_die_that_lies_much_as_before_was_not_rolled(corner, now, said):
    """A shadow moves nothing; a die that was nudged may have been rolled, and people say so."""
    corner.look(die(3))
    heard = corner.look(now)
    if said == "rolled":
        assert heard == {"die": now.pips}
        assert corner.monitor.unread == ""
    else:
        assert corner.monitor.unread == heard
        assert ("it lies much as it did before" in heard) == (said == "unread")
        assert bool(heard) == bool(said)


@pytest.mark.parametrize(("x_mm", "rolled"), [(1.5, False), (1.6, True), (0.0, False)])
def test_a_die_that_was_picked_up_was_rolled_though_it_lies_nearly_as_before(corner, x_mm, rolled):
    corner.look(die(3))
    empty = picture()
    corner.glance(empty, NoDie())
    corner.glance(empty, NoDie())
    heard = corner.look(die(3, x_mm=x_mm))
    assert (heard == {"die": 3}) == rolled


def test_a_corner_that_changes_from_picture_to_picture_is_not_read_between(corner):
    corner.look(die(3))
    reads = corner.reads
    for step in range(4):
        corner.glance(picture((5 + 10 * step, 5, 12, 90)), NoDie())
    assert corner.reads == reads
    assert corner.look(die(3, x_mm=2.0)) != {"die": 3}, "nobody picked it up"


def test_nothing_is_rolled_while_nobody_is_to_roll(corner):
    corner.look(die(3))
    corner.awaited = False
    assert corner.look(die(5)) == ""
    corner.awaited = True
    assert corner.look(die(5)) == ""
    assert corner.look(die(6)) == {"die": 6}


def test_why_a_die_cannot_be_read_is_told(corner):
    corner.look(die(3))
    heard = corner.look(NoDie("it stands on an edge"))
    assert heard == corner.monitor.unread
    assert heard.startswith("The die cannot be read: it stands on an edge.")
    assert corner.look(NoDie("")) == ""


@pytest.mark.parametrize(
    ("spot", "again"),
    [
        ((10, 10, 1, 120), False),
        ((10, 10, 2, 120), True),
        ((10, 10, 12, 8), False),
        ((10, 10, 12, 30), True),
        ((-5, 10, 4, 120), True),
        ((-20, 10, 4, 120), False),
    ],
    ids=["a pixel", "four", "faint", "clear", "beside", "far off"],
)
def test_the_corner_is_read_again_where_it_looks_different(corner, spot, again):
    corner.look(die(3), picture())
    reads = corner.reads
    corner.look(die(3), picture())
    assert corner.reads == reads, "the same picture"
    corner.look(die(3), picture(spot))
    assert (corner.reads > reads) == again


def test_a_table_without_a_corner_has_no_monitor():
    assert isinstance(monitor_dice(SETUP), DiceMonitor)
    assert monitor_dice(msgspec.structs.replace(SETUP, dice_corner=None)) is None
