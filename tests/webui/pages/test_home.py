"""The home page: only a host starts something, everybody sees what is going on, old addresses lead
here.
"""

from __future__ import annotations

import pytest

from cli.photo import sample_photo
from cli.photo_page import photo_reader
from tests.support.home_standins import StandInHome
from webui import create_photo_app
from webui.interfaces import HomeNow, MatchHere, TableInUse
from webui.pages.door import add_door
from webui.pages.home import create_home_app
from webui.security.codes import Codes
from webui.security.incoming import LARGER_BODIES, MOST_UPLOAD_BYTES
from webui.security.permissions import Access
from webui.site import bare_app, guard_app

OWN = {"Sec-Fetch-Site": "same-origin"}
PAGE = OWN | {"Accept": "text/html"}
TABLE = TableInUse("ice_boule", (440.0, 360.0), "v4l2:/dev/video0", rough=True)


@pytest.fixture
def home():
    return StandInHome()


@pytest.fixture
def access():
    return Access(Codes())


@pytest.fixture
def host(home, access):
    browser = create_home_app(home, access).test_client()
    assert browser.post("/join", data={"code": access.codes.now.host}, headers=OWN).location == "/"
    return browser


def test_without_a_table_the_first_step_is_to_set_one_up(host):
    page = host.get("/").text
    assert 'id="start-set-up" class="primary"' in page
    assert 'id="start-play"' not in page


def test_with_a_table_people_play_on_it_and_are_told_that_its_lens_is_rough(host, home):
    home.now = HomeNow(table=TABLE)
    page = host.get("/").text
    assert "Your table: Ice Boule, 440 × 360 mm." in page
    assert 'id="start-play" class="primary"' in page
    assert "The lens is only estimated so far." in page


def test_a_table_that_cannot_be_used_says_why(host, home):
    home.now = HomeNow(trouble="table.json: expected text, got 3")
    assert "table.json: expected text, got 3" in host.get("/").text


def test_the_match_that_a_hub_gave_the_table_is_begun_by_one_tap(host, home):
    match = MatchHere(7, "Table 3", "Cup", "ice_boule", "to 13", ("Anna", "<b>Ben"))
    home.now = HomeNow(table=TABLE, match=match)
    page = host.get("/").text
    assert "Table 3: Anna against &lt;b&gt;Ben, Ice Boule to 13" in page
    assert 'id="start-match" class="primary"' in page
    host.post("/start", data={"activity": "match", "game": "7"}, headers=OWN)
    assert home.asked == [("match", "7")]


@pytest.mark.parametrize("activity", ["play", "demo", "set-up"])
def test_a_tap_starts_it(host, home, activity):
    form = {"activity": activity, "game": "icebreaker"}
    assert host.post("/start", data=form, headers=OWN).location == "/"
    assert home.asked == [(activity, "icebreaker")]


@pytest.mark.parametrize(
    ("form", "status"),
    [({"activity": "chess"}, 400), ({}, 400), ({"activity": "demo", "game": "halma"}, 409)],
)
def test_what_cannot_be_started_is_refused_in_a_sentence(host, home, form, status):
    answer = host.post("/start", data=form, headers=PAGE)
    assert answer.status_code == status
    assert "xpected" in answer.text
    assert home.asked == []


def test_who_watches_starts_nothing_and_sees_no_button(host, home):
    watcher = host.application.test_client()
    page = watcher.get("/").text
    assert "No game is running" in page
    assert "start-" not in page
    for path in ("/start", "/cancel", "/shut-down"):
        assert watcher.post(path, data={"activity": "demo"}, headers=OWN).status_code == 403
    assert watcher.get("/devices", headers=PAGE).status_code == 403
    assert (home.asked, home.now.over) == ([], False)


def test_while_something_starts_everybody_waits_and_the_host_can_give_it_up(host, home):
    home.now = HomeNow(starting="demo")
    assert "Starting the game" in host.application.test_client().get("/").text
    assert 'action="/cancel"' in host.get("/").text
    host.post("/cancel", headers=OWN)
    assert home.asked == ["cancel"]


def test_why_a_game_ended_by_itself_is_told(host, home):
    home.now = HomeNow(notice="It stopped unexpectedly: camera <video0> not found")
    assert "It stopped unexpectedly: camera &lt;video0&gt; not found" in host.get("/").text


def test_a_camera_is_shown_with_what_it_sees_to_the_host_alone(host, home, access):
    assert 'src="/devices/picture.jpg?camera=v4l2:0"' in host.get("/devices").text
    picture = host.get("/devices/picture.jpg?camera=v4l2:0")
    assert (picture.mimetype, picture.data) == ("image/jpeg", b"\xff\xd8 picture")
    none = host.get("/devices/picture.jpg?camera=v4l2:9")
    assert (none.status_code, none.mimetype) == (404, "image/svg+xml"), "a drawing is shown"
    none.close()
    watcher = create_home_app(home, access).test_client()
    assert watcher.get("/devices/picture.jpg?camera=v4l2:0", headers=PAGE).status_code == 403
    assert home.asked == [("picture", "v4l2:0"), ("picture", "v4l2:9")]


def test_devices_are_listed_with_what_is_wrong(host):
    page = host.get("/devices").text
    assert "HD Webcam" in page
    assert "no answer" in page


def test_shut_down_says_that_it_is_over(host):
    assert "Rinkside has ended" in host.post("/shut-down", headers=OWN).text


def test_pages_of_a_game_that_has_ended_lead_home_and_programs_are_told(host):
    assert host.get("/play", headers=PAGE).location == "/"
    assert host.get("/api/v1/state").status_code == 404
    assert host.post("/nowhere", headers=PAGE).status_code == 404


def test_other_applications_are_made_when_they_are_first_asked_for(home, access):
    made = []

    def other():
        app = bare_app((), api=False)
        guard_app(app, access)
        app.add_url_rule("/sessions", view_func=lambda: "the sessions")
        made.append(app)
        return app

    browser = create_home_app(home, access, others={"/sessions": other}).test_client()
    assert browser.get("/").status_code == 200
    assert made == []
    assert [browser.get("/sessions").text for _ in range(2)] == ["the sessions"] * 2
    assert len(made) == 1
    assert made[0].config["FORM_TOKEN"] == browser.application.config["FORM_TOKEN"]


def test_photographs_are_measured_beside_the_home_page(home, access):
    """The card is there only where the page is, and large uploads are let through to it."""
    assert 'href="/measure"' not in create_home_app(home, access).test_client().get("/").text
    measuring = create_photo_app(photo_reader(), sample_photo)
    app = create_home_app(home, access, others={"/measure": lambda: measuring})
    assert app.config[LARGER_BODIES] == {"/measure": MOST_UPLOAD_BYTES}
    browser = app.test_client()
    browser.post("/join", data={"code": access.codes.now.host}, headers=OWN)
    assert 'href="/measure"' in browser.get("/").text
    form = {"token": app.config["FORM_TOKEN"], "sample": "1"}
    assert " mm" in browser.post("/measure", data=form, headers=OWN).text


class Way:
    """A way home that remembers how it was left."""

    def __init__(self):
        self.left = []

    def leave(self, then="home"):
        self.left.append(then)


@pytest.mark.parametrize("then", ["home", "again"])
def test_a_game_is_left_by_its_host_once_the_answer_is_sent(access, then):
    way, app = Way(), bare_app((), api=False)
    guard_app(app, access)
    add_door(app, way)
    watcher, host = app.test_client(), app.test_client()
    host.post("/join", data={"code": access.codes.now.host}, headers=OWN)
    assert watcher.get("/home").status_code == 403
    assert watcher.post("/end-game", data={"then": then}, headers=OWN).status_code == 403
    assert way.left == []
    assert "End and go home" in host.get("/home").text
    answer = host.post("/end-game", data={"then": then}, headers=OWN)
    assert "The home page opens by itself" in answer.text
    answer.close()
    assert way.left == [then]
    assert "The home page opens by itself" in host.get("/home").text
