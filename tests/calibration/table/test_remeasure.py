"""A table measured anew in the middle of a game, from pictures: by hand, and through the loop and
its panel.
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import numpy as np
import pytest

from calibration.table.drift import recheck
from calibration.table.ground_colours import colour_warnings
from calibration.table.remeasure import remeasure_cards
from referee.live.referee import Referee
from referee.live.replay import rejudge
from referee.live.table_monitor import HARMLESS, TableMonitor
from referee.sessions.event_store import Log
from referee.sessions.events import TableChecked
from referee.sessions.session import Session
from referee.sessions.start import opening
from simulation.generate.cases import random_case, resized
from simulation.render.renderer import Renderer
from table.errors import InputError
from table.table_config import load_table, save_table
from table.table_file import TableFile
from vision.cameras.frame import Frame
from vision.change_gate import Watch
from vision.geometry.camera_model import project
from vision.localization.fiducials import locate

pytestmark = pytest.mark.slow

WIDTH_PX = 1200
SAME = {"Sec-Fetch-Site": "same-origin"}


class Drawn:
    """A made-up table with pieces on it, and pictures of it with things moved."""

    def __init__(self, kind, seed):
        self.case = random_case(kind, seed)
        self.setup = resized(self.case.setup, WIDTH_PX)
        self.scene = replace(self.case.scene(), limbs=())
        self.rng = np.random.default_rng(seed)

    def picture(self, lies=None, camera=None):
        return Renderer(lies or self.setup, camera or self.case.camera).picture(
            self.scene, self.rng
        )


@pytest.fixture(scope="module")
def ground():
    return Drawn("boule", 4242)


def moved(setup, by_mm, cards=(2,)):
    """The table with cards that lie so far off, turned by a degree."""
    turn = np.array([[np.cos(0.02), -np.sin(0.02)], [np.sin(0.02), np.cos(0.02)]])
    markers = []
    for marker in setup.fiducials.markers:
        corners = np.array(marker.corners_mm)
        there = (corners - corners.mean(axis=0)) @ turn + corners.mean(axis=0) + by_mm
        markers.append(
            msgspec.structs.replace(marker, corners_mm=tuple(map(tuple, there.tolist())))
            if marker.id in cards
            else marker
        )
    return msgspec.structs.replace(
        setup, fiducials=msgspec.structs.replace(setup.fiducials, markers=tuple(markers))
    )


def worst_mm(setup, true):
    one, other = (
        np.array(
            [marker.corners_mm for marker in sorted(table.fiducials.markers, key=lambda m: m.id)]
        )
        for table in (setup, true)
    )
    return float(np.hypot(*(one - other).reshape(-1, 2).T).max())


def test_a_card_that_was_pushed_is_measured_anew_with_pieces_on_the_table(ground):
    lies = moved(ground.setup, (3.0, -2.0))
    image = ground.picture(lies)
    assert recheck(image, ground.setup).cards_mm == {2: pytest.approx(3.6, abs=0.4)}
    renewed, changed = remeasure_cards(image, ground.setup)
    assert changed.cards_mm == {2: pytest.approx(3.6, abs=0.3)}
    assert worst_mm(renewed, lies) < 0.5
    assert renewed.board == ground.setup.board
    assert recheck(image, renewed).message == ()


def test_a_board_that_was_pushed_keeps_its_frame_and_the_cards_are_told_anew():
    drawn = Drawn("storm", 11)
    image = drawn.picture()
    before = moved(drawn.setup, (-5.0, 3.0), cards=(0, 1, 2, 3))
    checked = recheck(image, before)
    assert checked.cards_mm == {}
    assert checked.board_mm == pytest.approx(5.8, abs=0.4)
    renewed, changed = remeasure_cards(image, before)
    assert changed.board_mm == pytest.approx(5.8, abs=0.4)
    assert worst_mm(renewed, drawn.setup) < 0.5


def test_why_a_table_cannot_be_done_anew_is_one_line(ground):
    image = ground.picture()
    corners = np.array([*ground.setup.fiducials.markers[1].corners_mm])
    at = project(np.column_stack([corners, np.zeros(4)]), ground.case.camera, ground.setup.camera)
    low, high = (np.rint(end).astype(int) for end in (at.min(axis=0), at.max(axis=0)))
    covered = image.copy()
    covered[low[1] : high[1], low[0] : high[0]] = 120
    other = msgspec.structs.replace(ground.setup.fiducials.markers[0], id=9)
    fiducials = msgspec.structs.replace(
        ground.setup.fiducials, markers=(other, *ground.setup.fiducials.markers[1:])
    )
    for picture, setup, message in (
        (covered, ground.setup, "none shows 1 (far right) with the others"),
        (
            image,
            msgspec.structs.replace(ground.setup, fiducials=fiducials),
            "expected a table with four corner cards 0 to 3 (DICT_4X4_50) of one size",
        ),
    ):
        with pytest.raises(InputError, match=re.escape(message)) as error:
            remeasure_cards(picture, setup)
        assert "\n" not in str(error.value)


class WatchedCamera:
    """Shows pictures, keeps the panel's page before each, and asks for a new measurement."""

    def __init__(self, shown):
        self.shown, self.pages, self.client = shown, [], None

    def read(self):
        at = len(self.pages)
        self.pages.append(html.unescape(self.client.get("/").text))
        if at == len(self.shown) - 6:
            asked = self.client.post("/table", data={"wish": "redo"}, headers=SAME)
            assert asked.status_code == 303
        return Frame(at, 250 * at, self.shown[at]) if at < len(self.shown) else None

    def close(self):
        pass


def host_of(session, referee):
    """A browser that has joined as host."""
    from webui import create_app

    app = create_app(session, referee)
    client = app.test_client()
    code = app.extensions["access"].codes.now.host
    assert client.post("/join", data={"code": code}, headers=SAME).status_code == 303
    return client


def test_in_a_game_the_panel_tells_holds_and_measures_it_anew_by_a_tap(ground, tmp_path):
    path = tmp_path / "table.json"
    save_table(ground.setup, path)
    lies = moved(ground.setup, (3.0, -2.0))
    aside = replace(
        ground.case.camera,
        translation_mm=ground.case.camera.translation_mm + np.array([6.0, 0.0, 0.0]),
    )
    pictures = [ground.picture(), ground.picture(camera=aside), ground.picture(lies, aside)]
    shown = [pictures[0]] * 4 + [pictures[1]] * 5 + [pictures[2]] * 12
    with Log(tmp_path / "log.sqlite") as log:
        game = ground.setup.game
        session = Session.begin(
            log,
            opening("ice_boule", game.colours, {}, load_table(path), "drawn", datetime.now(UTC)),
        )
        camera = WatchedCamera(shown)
        watch = TableMonitor(
            TableFile(path, load_table(path)), recheck, remeasure_cards, colour_warnings
        )
        referee = Referee(camera, watch.setup, Watch(), session, table=watch)
        camera.client = host_of(session, referee)
        referee.run()
        notes = [
            re.search(r'data-part="moved">(.*?)</div>', page, re.DOTALL)[1] for page in camera.pages
        ]
        assert "form" not in notes[4]
        assert re.search(r"The camera has moved [56]\.\d mm over the board\. ", notes[8])
        assert HARMLESS in notes[8]
        assert "play-on" not in notes[8]
        assert re.search(
            r"Corner card 2 is 3\.\d mm from where it was\. No rulings until", notes[14]
        )
        assert "play-on" in notes[14]
        assert "form" not in notes[-1]
        assert worst_mm(referee.setup, lies) < 0.5
        assert load_table(path) == referee.setup
        assert load_table(tmp_path / "table.json.bak") == ground.setup
        held, redone = (
            record for record in session.records() if isinstance(record.event, TableChecked)
        )
        assert redone.event.decided_by == "players"
        assert redone.event.message in camera.pages[-1]
        rulings = [
            record.seq
            for record in session.records()
            if record.frame and record is not held and record is not redone
        ]
        assert not [seq for seq in rulings if held.seq < seq < redone.seq]
        again = [
            one
            for one in rejudge(log, session.id, {"ice_boule": session.ledger.engine})
            if not one.not_judged
        ]
        assert [one.changes for one in again] == [()] * len(again)
        located = locate(pictures[2], referee.setup)
        assert np.linalg.norm(located.eye_mm - aside.eye_mm) < 2.0
        session.close()
