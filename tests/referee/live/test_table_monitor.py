"""Cards, board and camera that are not where table.json says: told whenever the camera was found
anew, and nothing ruled on wrong lengths.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from calibration.table.drift import DriftCheck
from referee.live.referee import Referee
from referee.live.table_monitor import HARMLESS, NO_RULINGS, PLAYED_ON, TableMonitor
from referee.sessions.events import TableChecked, VerdictReached, decode, encode
from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from table.observation import Unusable
from table.table_config import load_table, save_table
from table.table_file import TableFile
from vision.cameras.frame import Frame
from vision.change_gate import NOT_AT_REST

pytestmark = pytest.mark.slow

PERIOD_MS, FRAMES_TO_REST = 250, 4


class Table:
    """A table of which a test says, frame by frame, what is seen, what the check finds and what
    people wish.
    """

    def __init__(self, session, path, before=None):
        self.setup, self.path, self.session = before or demo_setup(), path, session
        self.shown, self.checks, self.wishes, self.looked, self.statuses = [], {}, {}, [], []
        self.anew, self.hidden = None, ()

    def show(self, seen, check=None, wish=None):
        """One more frame."""
        at = len(self.shown)
        self.shown.append(replace(seen, frame_seq=at, at_ms=PERIOD_MS * at))
        self.checks[at] = (
            check
            if check is not None
            else self.checks.get(at - 1, DriftCheck(camera=camera_of(seen)))
        )
        self.wishes[at] = wish

    def rest(self, seen, check=None, wish=None):
        """Frames until the table counts as at rest, and one more."""
        for _ in range(FRAMES_TO_REST):
            self.show(seen, check, wish)
            wish = None

    def run(self):
        watch = TableMonitor(
            TableFile(self.path, self.setup), self.check, self.redo, lambda *_: self.hidden
        )
        referee = Referee(
            SimpleNamespace(read=self.read, close=lambda: None),
            self.setup,
            self.observe,
            self.session,
            table=watch,
        )
        self.referee, self.at, self.read_by = referee, -1, []
        referee.run()
        self.statuses = [*self.statuses[1:], referee.latest]
        return referee

    def read(self):
        self.statuses.append(self.referee.latest)
        self.at += 1
        if self.at == len(self.shown):
            return None
        if self.wishes[self.at]:
            self.referee.request_table(self.wishes[self.at])
        return Frame(self.at, self.shown[self.at].at_ms, np.full((24, 32, 3), self.at, np.uint8))

    def observe(self, frame, setup, *_):
        self.read_by.append(setup)
        return self.shown[frame.seq]

    def check(self, _image, setup, before=None):
        self.looked.append((self.at, before))
        return (
            DriftCheck(camera=self.checks[self.at].camera)
            if setup is not self.setup
            else self.checks[self.at]
        )

    def redo(self, _image, _setup):
        if isinstance(self.anew, str):
            raise InputError(self.anew)
        return self.anew, replace(self.checks[self.at], camera_mm=None)

    def events(self, kind):
        return [record.event for record in self.session.records() if isinstance(record.event, kind)]


def camera_of(seen):
    return None if isinstance(seen, Unusable) else seen.camera


def elsewhere(camera, **what):
    return DriftCheck(**what, camera=camera)


@pytest.fixture
def table(session, tmp_path):
    setup = demo_setup()
    save_table(setup, tmp_path / "table.json")
    return Table(session, tmp_path / "table.json", setup)


@pytest.fixture
def cameras(seen):
    """Places of a camera that was found anew each time."""
    return [replace(seen(0).camera) for _ in range(4)]


def by(seen, camera):
    return replace(seen, camera=camera)


def test_it_is_looked_at_when_the_camera_was_found_anew_and_only_then(table, seen, piece, cameras):
    lies = seen(0, piece("red", 50, 50))
    table.show(seen(0, hand=True))
    for camera in cameras[:2]:
        table.rest(by(lies, camera), DriftCheck(camera=camera))
        table.rest(by(lies, camera), DriftCheck(camera=camera))
    table.run()
    (first, before), (second, base) = table.looked
    assert first > 1
    assert second > first + FRAMES_TO_REST
    assert before is None
    assert base is cameras[0]
    assert table.events(TableChecked) == []


def test_a_board_of_a_colour_in_play_is_said_once_before_play(table, seen, piece, cameras):
    table.hidden = ("About 50 percent of the play area is red.",)
    table.rest(by(seen(0), cameras[0]))
    table.rest(by(seen(0, piece("red", 50, 50)), cameras[1]))
    table.run()
    assert [event.message for event in table.events(TableChecked)] == [*table.hidden]
    assert [len(event.moves) for event in table.events(VerdictReached)] == [1], "play goes on"
    assert table.statuses[-1].moved == ()


def test_a_game_that_goes_on_is_not_told_again_of_its_board(table, seen, piece, cameras):
    table.rest(by(seen(0, piece("red", 50, 50)), cameras[0]))
    table.run()
    again = Table(table.session, table.path, table.setup)
    again.hidden = ("About 50 percent of the play area is red.",)
    again.rest(by(seen(0, piece("red", 50, 50)), cameras[1]))
    again.run()
    assert again.events(TableChecked) == []


def test_nothing_is_ruled_while_a_card_lies_elsewhere_until_it_is_put_back(
    table, seen, piece, cameras
):
    one, two = seen(0, piece("red", 50, 50)), seen(0, piece("red", 50, 50), piece("blue", 90, 50))
    table.rest(by(one, cameras[0]))
    table.rest(by(two, cameras[1]), elsewhere(cameras[1], cards_mm={2: 4.12}))
    held = len(table.shown)
    table.rest(by(two, cameras[2]), DriftCheck(camera=cameras[2]))
    table.run()
    assert [len(event.moves) for event in table.events(VerdictReached)] == [1, 1]
    assert table.statuses[held - 1].moved == (
        "Corner card 2 is 4.1 mm from where it was.",
        NO_RULINGS,
    )
    assert table.statuses[held - 1].held
    assert (table.statuses[held - 1].status, table.statuses[held - 1].message) == (
        "cannot see",
        NO_RULINGS,
    )
    assert [event.message.partition(".")[0] for event in table.events(TableChecked)] == [
        "Corner card 2 is 4",
        "The corner cards and the board are back in place",
    ]
    assert (table.statuses[-1].moved, table.statuses[-1].held) == ((), False)
    kinds = [
        type(record.event)
        for record in table.session.records()
        if isinstance(record.event, VerdictReached | TableChecked)
    ]
    assert kinds == [VerdictReached, TableChecked, TableChecked, VerdictReached]


def test_one_tap_measures_the_table_anew_and_play_goes_on_by_it(table, seen, piece, cameras):
    one, two = seen(0, piece("red", 50, 50)), seen(0, piece("red", 50, 50), piece("blue", 90, 50))
    marker = table.setup.fiducials.markers[2]
    moved = replace_marker(table.setup, marker, 4.0)
    table.anew = moved
    table.rest(by(one, cameras[0]))
    table.rest(by(two, cameras[1]), elsewhere(cameras[1], cards_mm={2: 4.0}, board_mm=None))
    table.show(by(two, cameras[1]), elsewhere(cameras[1], cards_mm={2: 4.0}), wish="redo")
    table.rest(by(two, cameras[2]))
    referee = table.run()
    noted, redone = table.events(TableChecked)
    assert (
        redone.message
        == "The table was measured again: corner card 2 is 4.0 mm from where it was. The new"
        " positions are used from now on."
    )
    assert (noted.table, noted.decided_by, redone.decided_by) == ({}, "", "players")
    assert decode(encode(redone), "log") == redone
    assert load_table(table.path) == moved == referee.setup
    assert load_table(table.path.with_name("table.json.bak")) == table.setup
    assert table.read_by[-1] is moved
    assert [len(event.moves) for event in table.events(VerdictReached)] == [1, 1]
    assert referee.latest.moved == ()


def test_what_cannot_be_done_anew_says_why_and_people_may_play_on(table, seen, piece, cameras):
    one, two = seen(0, piece("red", 50, 50)), seen(0, piece("red", 50, 50), piece("blue", 90, 50))
    table.anew = "expected four flat corner cards, and card 1 is bent"
    check = elsewhere(cameras[0], cards_mm={1: 2.0}, board_mm=11.6)
    table.rest(by(one, cameras[0]), check)
    table.show(by(one, cameras[0]), wish="redo")
    tried = len(table.shown)
    table.rest(by(one, cameras[0]), wish="play on")
    table.rest(by(two, cameras[0]))
    good = table.path.read_text()
    table.run()
    refused = (
        "The table could not be measured again, so the old positions stay: expected four"
        " flat corner cards, and card 1 is bent."
    )
    assert table.statuses[tried - 1].moved == (
        "Corner card 1 is 2.0 mm from where it was.",
        "The board is 12 mm from where it was.",
        NO_RULINGS,
        refused,
    )
    assert table.path.read_text() == good
    assert not table.path.with_name("table.json.bak").exists()
    assert [len(event.moves) for event in table.events(VerdictReached)] == [1, 1]
    assert table.events(TableChecked)[-1].message.endswith(
        f"The board is 12 mm from where it was. {PLAYED_ON}"
    )
    assert table.events(TableChecked)[-1].decided_by == "players"
    assert not table.statuses[-1].held
    assert PLAYED_ON in table.statuses[-1].moved


def test_a_card_that_moved_is_on_record_where_it_cannot_be_measured_anew(
    table, seen, piece, cameras
):
    """The request comes before the look that finds it elsewhere."""
    table.anew = "expected four flat corner cards, and card 1 is bent"
    table.rest(by(seen(0, piece("red", 50, 50)), cameras[0]))
    moved = by(seen(0, piece("red", 50, 50)), cameras[1])
    table.rest(moved, elsewhere(cameras[1], cards_mm={1: 2.0}), wish="redo")
    table.run()
    (noted,) = table.events(TableChecked)
    assert noted.message.startswith("Corner card 1 is 2.0 mm from where it was.")


def test_a_camera_that_moved_alone_is_said_to_do_no_harm_and_taken_by_a_tap(
    table, seen, piece, cameras
):
    one = seen(0, piece("red", 50, 50))
    table.rest(by(seen(0), cameras[0]))
    table.rest(by(one, cameras[1]), elsewhere(cameras[1], camera_mm=3.21))
    noticed = len(table.shown)
    table.show(by(one, cameras[1]), wish="redo")
    table.rest(by(one, cameras[2]), DriftCheck(camera=cameras[2]))
    table.run()
    assert table.statuses[noticed - 1].moved == (
        "The camera has moved 3.2 mm over the board.",
        HARMLESS,
    )
    assert not table.statuses[noticed - 1].held
    assert len(table.events(VerdictReached)) == 1
    assert table.statuses[-1].moved == ()
    assert table.looked[-1][1] is cameras[1]
    assert table.events(TableChecked) == []


def test_a_table_that_cannot_be_read_is_looked_at_and_done_anew_too(table, seen, piece, cameras):
    one = seen(0, piece("red", 50, 50))
    table.anew = replace_marker(table.setup, table.setup.fiducials.markers[3], 40.0)
    lost = Unusable(0, 0, "fiducial 3 does not fit the others")
    table.rest(by(one, cameras[0]))
    table.show(Unusable(0, 0, NOT_AT_REST))
    table.rest(lost, elsewhere(cameras[1], cards_mm={3: 40.0}))
    held = len(table.shown)
    table.show(lost, wish="redo")
    table.rest(by(one, cameras[2]), DriftCheck(camera=cameras[2]))
    table.run()
    assert table.statuses[held - 1].moved == (
        "Corner card 3 is 40 mm from where it was.",
        NO_RULINGS,
    )
    assert (
        table.statuses[held - 1].message
        == "The table cannot be read: fiducial 3 does not fit the others."
    )
    assert not any(
        at < len(table.shown) and table.shown[at] == Unusable(at, PERIOD_MS * at, NOT_AT_REST)
        for at, _ in table.looked
    )
    assert load_table(table.path) == table.anew


def test_a_table_that_cannot_be_read_for_the_same_reason_as_before_is_looked_at_once(table):
    for reason in ("fiducial 3 does not fit", "too dark"):
        for _ in range(2 * FRAMES_TO_REST):
            table.show(Unusable(0, 0, "".join(reason)))
    table.run()
    assert len(table.looked) == 2


def test_a_card_that_is_covered_is_not_taken_to_lie_where_it_did_again(table, seen, piece, cameras):
    one = seen(0, piece("red", 50, 50))
    half = replace(cameras[1], fiducials_seen=(0, 1, 3))
    table.rest(by(one, cameras[0]), elsewhere(cameras[0], cards_mm={2: 4.0}))
    table.rest(by(one, half), DriftCheck(camera=half))
    table.run()
    assert table.statuses[-1].held
    assert len(table.events(TableChecked)) == 1


def replace_marker(setup, marker, by_mm):
    """The setup with a marker that lies so much farther right."""
    there = msgspec.structs.replace(
        marker, corners_mm=tuple((x + by_mm, y) for x, y in marker.corners_mm)
    )
    markers = tuple(there if one is marker else one for one in setup.fiducials.markers)
    return msgspec.structs.replace(
        setup, fiducials=msgspec.structs.replace(setup.fiducials, markers=markers)
    )
