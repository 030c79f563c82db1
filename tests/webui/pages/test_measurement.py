"""The ruler's page, and what measures for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from referee.live.live_measurement import Ruler
from table.observation import Unusable
from vision.cameras.base import CameraLost
from vision.cameras.frame import Frame
from webui import create_ruler_app


class Film:
    """A camera of things to see: observations, why there is none, or errors; and a look at the
    ruler after each.
    """

    name, simulated = "film", True

    def __init__(self, *shots):
        self.shots, self.shown, self.seen, self.closed = list(shots), [], [], False

    def ruler(self, setup):
        self.ruling = Ruler(
            self, setup, lambda frame, *_: self.shown[frame.seq], pause=lambda _: None
        )
        return self.ruling

    def read(self):
        self.seen.append(self.ruling.latest)
        if not self.shots:
            return None
        shot = self.shots.pop(0)
        if isinstance(shot, Exception):
            raise shot
        self.shown.append(shot)
        return Frame(len(self.shown) - 1, 500 * len(self.shown), np.full((48, 64, 3), 90, np.uint8))

    def close(self):
        self.closed = True


@pytest.fixture
def end(live):
    """A table with a target and seven projectiles."""
    return live.latest.observation


@pytest.fixture
def setup(live):
    return live.setup


def test_every_gap_is_ranked_with_its_margin_and_no_game_runs(end, setup):
    film = Film(end)
    ruler = film.ruler(setup)
    client = create_ruler_app(ruler).test_client()
    assert "Waiting for the first picture." in client.get("/").text
    assert client.get("/api/v1/camera.jpg").status_code == 404
    ruler.run()
    assert film.closed
    page = client.get("/ruler").text
    assert page == client.get("/").text
    assert page.count('class="place"') == 7
    assert page.count("&nbsp;mm") + page.count("±") >= 8
    assert "no game is running" in page
    assert page.count("<form") == page.count('action="/language"') == 1
    document = client.get("/api/v1/measurement").get_json()
    gaps = [gap["gap_mm"] for gap in document["gaps"]]
    assert len(gaps) == 7
    assert gaps == sorted(gaps)
    assert all(gap["sigma_mm"] > 0 for gap in document["gaps"])
    assert document["call"]["leading"] in setup.game.colours
    assert client.get("/api/v1/camera.jpg").status_code == 200
    assert client.get("/?view=near").text != page
    assert client.post("/").status_code == 403


def test_what_cannot_be_measured_now_is_said_and_the_last_ranking_is_marked_as_such(end, setup):
    film = Film(
        end,
        replace(end, hand=True),
        replace(end, moving=True),
        CameraLost("unplugged"),
        Unusable(4, 0, "fiducial 2 is covered"),
        end,
    )
    ruler = film.ruler(setup)
    ruler.run()
    assert [now.status for now in film.seen] == [
        *(
            "waiting",
            "measured",
            "hand over the board",
            "settling",
            "camera lost",
            "cannot see",
            "measured",
        )
    ]
    assert all(now.measurement == film.seen[1].measurement for now in film.seen[1:])
    ruler.latest = film.seen[5]
    page = create_ruler_app(ruler).test_client().get("/").text
    assert "fiducial 2 is covered" in page
    assert "Last measurement." in page


def test_without_a_target_there_is_nothing_to_rank(end, setup):
    film = Film(end, replace(end, pieces=end.pieces[1:]))
    ruler = film.ruler(setup)
    ruler.run()
    assert film.seen[-1].status == "cannot see"
    assert film.seen[-1].measurement is None
    assert 'class="place"' not in create_ruler_app(ruler).test_client().get("/").text
    assert ruler.latest.status == "ended"
