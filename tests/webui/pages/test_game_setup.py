"""A session that is set up on a page: only what this table and the rules allow begins."""

from __future__ import annotations

import re
import threading
from contextlib import closing
from dataclasses import replace

import msgspec
import pytest

from calibration.progress import LensGuide
from calibration.wizard import Step
from engines import GAMES
from referee.live.game_setup import Choice, SettingUp, playable
from referee.sessions.events import SessionStarted
from table.boards import Hex
from table.errors import InputError
from table.languages import CODES
from webui import create_set_up_app
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.server import listen, serving

OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def setting():
    def opening(choice):
        return SessionStarted(
            game=choice.game,
            players=choice.players,
            rulings=dict(choice.rulings),
            names=dict(choice.names),
            computers=dict(choice.computers),
        )

    return SettingUp(opening)


@pytest.fixture
def access():
    return Access(Codes())


@pytest.fixture
def host(setting, table, access):
    browser = create_set_up_app(setting, table, access).test_client()
    assert browser.post("/join", data={"code": access.codes.now.host}, headers=OWN).location == "/"
    return browser


FORM = {
    "game": "ice_boule",
    "plays blue": "on",
    "plays yellow": "on",
    "place blue": "2",
    "place yellow": "1",
}
FORM |= {"name blue": "Änne & Co", "name yellow": ""}


def test_games_that_this_table_does_not_carry_say_why(host, live):
    page = host.get("/").text
    assert playable(live.setup)["ice_boule"] == ""
    assert "Ice Storm: not on this table" in page
    assert "chessboard" in playable(live.setup)["ice_storm"]
    for option in GAMES["ice_boule"].RULINGS:
        assert f'name="ruling {option.name}"' in page


def test_what_was_chosen_begins_and_who_looks_is_told(host, setting):
    watcher = host.application.test_client()
    assert "The host is setting up a game" in watcher.get("/").text
    option = GAMES["ice_boule"].RULINGS[0]
    assert (
        host.post(
            "/begin", data=FORM | {f"ruling {option.name}": option.values[-1]}, headers=OWN
        ).status_code
        == 303
    )
    assert "The game begins" in watcher.get("/").text
    started = setting.wait(0)
    assert (started.players, started.names) == (("yellow", "blue"), {"blue": "Änne & Co"})
    assert started.rulings == {option.name: option.values[-1]}
    assert "already been started" in host.post("/begin", data=FORM, headers=OWN).text


@pytest.mark.parametrize(
    ("changed", "status", "message"),
    [
        ({"game": "halma"}, 409, "halma"),
        ({"game": "ice_storm"}, 409, "board"),
        ({"plays yellow": None, "plays blue": None}, 409, "players"),
        ({"place blue": "first"}, 400, "order of turns"),
        ({"name blue": "x" * 400}, 409, "--names"),
        ({"name blue": "Bo", "name yellow": "Bo"}, 409, "a different name"),
        ({"ruling sizes": "tiny"}, 409, "sizes"),
        ({"ruling weather": "fine"}, 409, "weather"),
    ],
)
def test_what_will_not_do_is_said_and_the_form_stays_as_it_was(host, changed, status, message):
    form = {name: value for name, value in (FORM | changed).items() if value is not None}
    answer = host.post("/begin", data=form, headers=OWN | {"Accept": "text/html"})
    assert answer.status_code == status
    assert message in answer.text.replace("&#39;", "'")
    if status == 409 and form["game"] == "ice_boule":
        assert re.search(r'id="place-yellow"[^>]*value="1"', answer.text)
    assert "The game begins" not in host.get("/").text


HEXAGONS = {"game": "icebreaker", "plays blue": "on", "plays yellow": "on"}
HEXAGONS |= {"place blue": "1", "place yellow": "2"}


@pytest.fixture
def hexagons(table):
    """The table has the board of a game that computers play."""
    table.setup = msgspec.structs.replace(table.setup, board=Hex(size=5, cell_mm=32))


@pytest.mark.usefixtures("hexagons")
def test_a_colour_may_be_played_by_the_computer(host, setting):
    page = host.get("/?game=icebreaker").text
    assert page.count('<option value="strong"') == len(re.findall('name="plays ', page))
    form = HEXAGONS | {"computer yellow": "strong", "computer blue": ""}
    assert host.post("/begin", data=form, headers=OWN).status_code == 303
    assert setting.wait(0).computers == {"yellow": "strong"}


@pytest.mark.usefixtures("hexagons")
def test_a_strength_that_there_is_not_is_refused(host):
    form = HEXAGONS | {"computer yellow": "genius"}
    answer = host.post("/begin", data=form, headers=OWN)
    assert answer.status_code == 409
    assert "--computer: expected a colour and a strength" in answer.text


def test_a_game_of_skill_asks_for_no_computer(host):
    assert 'name="computer ' not in host.get("/").text


def test_only_a_host_begins(host, access):
    player = host.application.test_client()
    assert (
        player.post("/join", data={"code": access.codes.now.table}, headers=OWN).location == "/play"
    )
    for browser in (player, host.application.test_client()):
        assert browser.post("/begin", data=FORM, headers=OWN).status_code == 403
        assert 'name="game"' not in browser.get("/play").text


def test_the_referee_waits_until_a_page_has_shown_the_beginning(setting):
    got = []
    waiting = threading.Thread(target=lambda: got.append(setting.wait(60)))
    waiting.start()
    setting.begin(Choice("ice_boule", ("blue", "yellow")))
    assert setting.look()
    assert got == []
    setting.look()
    waiting.join(60)
    assert got[0].players == ("blue", "yellow")


def test_every_step_says_how_far_it_is(host):
    page = " ".join(re.sub(r"<[^>]+>", " ", host.get("/").text).split())
    assert "Camera Good simulated table, 640 × 480 px." in page
    assert "Lens To do First estimate only: lengths are rough until the lens is calibrated." in page
    assert "The table Not yet Not checked yet." in page
    assert "Done 2026-11-21" not in page, "it was measured then, but is not known to be good"
    assert "expected pieces, but there are none" in page
    spectator = host.application.test_client().get("/").text
    assert "First estimate only" not in spectator
    assert "table.jpg" not in spectator


def test_a_step_is_begun_by_the_host_and_only_by_the_host(host, table, access):
    player = host.application.test_client()
    player.post("/join", data={"code": access.codes.now.table}, headers=OWN)
    assert player.post("/table", data={"job": "lens"}, headers=OWN).status_code == 403
    for job, leads in (("table", "/"), ("colours", "/"), ("lens", "/lens")):
        assert host.post("/table", data={"job": job}, headers=OWN).location == leads
    assert table.wishes == ["table", "colours", "lens"]
    assert host.post("/table", data={"job": "dance"}, headers=OWN).status_code == 400
    table.refuse = InputError("another job is running")
    assert host.post("/table", data={"job": "table"}, headers=OWN).status_code == 409
    assert (
        player.get("/table.jpg").status_code
        == player.get("/print/charuco-A4.pdf").status_code
        == 403
    )


def test_while_something_is_at_work_nothing_else_is_begun(host, table):
    table.shown["lens"] = replace(table.shown["lens"], doing=True)
    page = host.get("/").text
    assert "In progress" in page
    assert len(re.findall(r'name="job" value="\w+" disabled', page)) == 3
    assert 'href="/lens"' in page


def test_the_lens_is_calibrated_on_a_page_that_leads_back(host, table):
    assert (
        host.get("/lens").status_code
        == host.get("/api/v1/lens").status_code
        == host.get("/api/v1/camera.jpg").status_code
        == 404
    )
    table.lens = LensGuide()
    assert "Waiting for the first picture" in host.get("/lens").text
    assert host.get("/api/v1/lens").get_json()["stage"] == "waiting"
    assert host.post("/lens/end", headers=OWN).location == "/lens"
    assert table.lens.ended
    table.lens.finish(("lens.json: written.",))
    assert '<a href="/">Back</a>' in host.get("/lens").text


def test_every_sheet_of_the_page_is_there_to_print(host, table):
    links = re.findall(r'href="(/print/[^"]+)"', host.get("/").text)
    assert len(links) == 24
    for link in links[::5]:
        answer = host.get(link)
        assert answer.mimetype == "application/pdf", link
        assert answer.data.startswith(b"%PDF")
    assert (
        host.get("/print/moon-A4.pdf").status_code
        == host.get("/print/charuco-A9.pdf").status_code
        == 404
    )
    assert host.get("/table.jpg").data == table.jpeg()


@pytest.mark.parametrize("code", CODES)
def test_a_sheet_is_in_the_language_of_the_page(host, code):
    answer = host.get("/print/charuco-A4.pdf", headers={"Accept-Language": code})
    assert f"/Lang ({code})".encode() in answer.data


def test_in_a_browser_steps_follow_what_is_done_and_what_is_being_typed_stays(
    chromium, setting, table, access
):
    app = create_set_up_app(setting, table, access)
    with (
        listen(port=0) as listening,
        serving(app, listening),
        closing(chromium.new_context()) as context,
    ):
        page = context.new_page()
        complaints = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/join#{access.codes.now.host}")
        page.locator("#job-table").wait_for()
        page.locator("#name-blue").fill("Änne")
        table.shown["table"] = Step(
            True, ("The corner cards and the board are where table.json says.",)
        )
        page.locator("[data-part=step-table] .state.is-good").wait_for()
        page.locator("#job-colours").click()
        page.wait_for_function("() => !document.querySelector('#job-colours').disabled")
        assert page.locator("#name-blue").input_value() == "Änne"
        table.lens = LensGuide()
        page.locator("#job-lens").click()
        page.wait_for_url("**/lens")
        table.lens.fail("expected 12 views or more, got 0")
        page.get_by_role("link", name="Back").click()
        page.locator("#name-blue").wait_for()
        assert table.wishes == ["colours", "lens"]
        assert complaints == []
