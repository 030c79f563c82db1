"""The hub's pages in Chromium: the wall follows the tables, and nothing is hard to use."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from hub.app import create_hub_app
from hub.forwarder import Forwarder
from hub.site_folder import write_folder
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from table.messages import msg
from tests.support.evenings import Evening
from tests.support.hubs import PASSWORD, DirectHub
from webui.server import listen, serving

pytestmark = pytest.mark.slow


@pytest.fixture
def page(chromium):
    opened = chromium.new_page(viewport={"width": 1024, "height": 768})
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
    yield opened
    opened.close()
    assert errors == []


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


@pytest.fixture
def address(club):
    app, stopping = create_hub_app(club.store, (), club.now_ms, club.accounts), threading.Event()
    hall = app.extensions["hall"]
    folding = threading.Thread(target=hall.run, args=(stopping,))
    folding.start()
    with closing(listen(port=0)) as listening, serving(app, listening):
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    stopping.set()
    folding.join()


def test_the_wall_follows_a_table_as_it_plays(address, page, club, tmp_path):
    token = club.enrol("Table 3")
    page.goto(address)
    expect(page.locator(".card h2")).to_have_text("Table 3")
    expect(page.locator(".card .phase")).to_have_text("no game")
    with Log(tmp_path / "log.sqlite") as log:
        names = {"red": "Anna", "blue": "<b>Ben</b>"}
        session = Session.begin(
            log, SessionStarted(game="icebreaker", players=("red", "blue"), names=names)
        )
        with closing(Forwarder(log.path, DirectHub(club, token), print)) as forwarder:
            forwarder.round()
            forwarder.round()
            expect(page.locator(".players .who")).to_have_text(["Anna", "<b>Ben</b>"])
            text = msg("The set-up is right.")
            session.append(VerdictReached(verdict="accepted", code="test", message=text))
            forwarder.round()
            expect(page.locator(".headline")).to_have_text("The set-up is right.")
    club.enrol("Table 12")
    expect(page.locator(".card h2")).to_have_text(["Table 12", "Table 3"])
    assert page.locator(".players .who b").count() == 0


def test_an_exported_site_is_read_from_a_stick(page, club, tmp_path):
    evening = Evening(club, tmp_path, "swiss", ("Anna", "Ben", "Cleo Maximiliane Huber"), tables=2)
    evening.pair()
    evening.play(*evening.players_of(1)[0], lost="Ben")
    app = create_hub_app(club.store, (), club.now_ms, club.accounts)
    files = app.extensions["site"].files(club.actor.club_id, "Club", "de", club.now_ms())
    write_folder(tmp_path / "site", files)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 390, "height": 800})
    for name in sorted(name for name in files if name.endswith(".html")):
        page.goto((tmp_path / "site" / name).as_uri())
        said = Axe().run(page, options={"preload": False}).response  # it may ask for no file
        found = [one["id"] for one in said["violations"]]
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert (name, found, wide <= 0) == (name, [], True)
    assert {url.partition("/site/")[0] for url in asked} == {tmp_path.as_uri()}
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.click("text=Cup")
    page.click("text=Anna – Ben")
    expect(page.locator("main")).to_contain_text("Belege")


@pytest.mark.parametrize("width", [390, 1024, 1920])
def test_no_page_is_hard_to_use_or_wider_than_its_window(address, page, club, tmp_path, width):
    evening = Evening(club, tmp_path, "swiss", ("Anna", "Ben", "Cleo Maximiliane Huber"), tables=2)
    evening.pair()
    evening.play(*evening.players_of(1)[0], lost="Ben")
    events = f"/halls/{club.actor.club_id}/tournaments"
    match = f"{events}/{evening.id}/matches/{evening.matches[0].match.id}"
    page.set_viewport_size({"width": width, "height": 800})
    for path in (
        "/",
        f"/halls/{club.actor.club_id}/standings",
        f"/me/{evening.player('Anna').code}",
        "/me",
        "/login",
        "/tables",
        "/players",
        "/organisers",
        events,
        f"{events}/{evening.id}",
        f"/halls/{club.actor.club_id}/player?name=Anna",
        match,
    ):
        if path == "/tables":
            page.fill("[name=name]", "Host of Club")
            page.fill("[name=password]", PASSWORD)
            page.click("main button")
            page.wait_for_url("**/tables")
        page.goto(f"{address}{path}")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            found = Axe().run(page).response["violations"]
            assert [
                (path, theme, one["id"], node["html"][:160])
                for one in found
                for node in one["nodes"]
            ] == []
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path
