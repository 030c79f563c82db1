"""A ruling is opened again with its picture and what else may have happened; a tap puts that on
record, and names what it replaces.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from types import SimpleNamespace

import pytest

from referee.sessions.event_store import Log
from referee.sessions.events import Appealed, Corrected, SessionStarted, VerdictReached
from referee.sessions.session import Session
from table.table_config import table_document
from webui import create_app
from webui.server import listen, serving

OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def storm(tmp_path, live, storm_table):
    """A session of Ice Storm on a log: green's throw is record 2, black's 3, and each has its
    picture.
    """
    with Log(tmp_path / "log.sqlite") as log:
        players = ("green", "black", "red")
        session = Session.begin(
            log,
            SessionStarted(game="ice_storm", players=players, table=table_document(storm_table)),
        )
        for player, move in (("green", "throw green c4-c5>c5"), ("black", "throw black e2")):
            message = f"{player.capitalize()} throws."
            session.append(
                VerdictReached(
                    verdict="accepted",
                    code="storm.throw",
                    message=message,
                    player=player,
                    moves=(move,),
                ),
                live.picture,
            )
        app = create_app(session, live)
        yield SimpleNamespace(session=session, app=app)
        session.close()


def buttons(browser, seq, name):
    """What the buttons of a ruling's page send, by their labels."""
    found = re.findall(
        rf'<button name="{name}" value="([^"]*)">([^<]+)<', browser.get(f"/ruling/{seq}").text
    )
    return {label: value.replace("&gt;", ">").replace("&#39;", "'") for value, label in found}


def test_what_else_may_have_happened_is_told_to_programs(storm, as_host):
    answer = as_host(storm.app).get("/api/v1/alternatives/2").get_json()
    assert answer["record"] == 2
    assert [choice["moves"] for choice in answer["choices"]] == [
        list(choice.moves) for choice in storm.session.alternatives(2)
    ]
    assert len(answer["choices"]) > 2


def test_the_host_s_tap_corrects_the_ruling_and_names_it(storm, as_host):
    host = as_host(storm.app)
    page = host.get("/ruling/2").text
    assert 'src="/api/v1/frame/2.jpg"' in page
    offered = buttons(host, 2, "moves")
    assert list(offered.values()) == [
        "; ".join(choice.moves) for choice in storm.session.alternatives(2)
    ]
    chosen = next(iter(offered.values()))
    assert (
        host.post(
            "/command", data={"command": "correct", "record": "2", "moves": chosen}, headers=OWN
        ).status_code
        == 303
    )
    corrected = storm.session.records()[-1].event
    assert isinstance(corrected, Corrected)
    assert (corrected.corrects, corrected.moves) == (2, (chosen,))
    assert "record 2" in corrected.message
    assert "Replaced by record 4." in host.get("/ruling/2").text
    assert buttons(host, 2, "moves")["As ruled before"] == "throw green c4-c5>c5"


def test_a_player_s_tap_appeals_with_what_it_was_and_the_host_hears_it(storm, as_host, as_player):
    black = as_player(storm.app, "black")
    reasons = buttons(black, 2, "reason")
    assert reasons
    assert buttons(black, 2, "moves") == {}
    reason = next(iter(reasons.values()))
    form = {"command": "appeal", "player": "black", "record": "2", "reason": reason}
    assert black.post("/play", data=form, headers=OWN).status_code == 303
    appealed = storm.session.records()[-1].event
    assert isinstance(appealed, Appealed)
    assert (appealed.appeals, appealed.reason) == (2, reason)
    assert "You have appealed." in black.get("/ruling/2").text
    page = as_host(storm.app).get("/ruling/2").text
    assert reason in page.replace("&#39;", "'")
    assert re.search(rf'value="uphold"><button name="appeal" value="{storm.session.seq}"', page)


def test_who_only_watches_sees_the_ruling_and_no_button(app, spectator, as_player):
    for browser in (spectator, as_player(app, "")):
        page = browser.get("/ruling/16").text
        assert "21.6" in page
        assert 'name="command"' not in page
    assert spectator.get("/api/v1/alternatives/16").status_code == 403
    assert as_player(app, "").get("/api/v1/alternatives/16").status_code == 200


@pytest.mark.parametrize("seq", [1, 15, 999, 2**60])
def test_what_is_no_ruling_is_refused(client, seq):
    assert client.get(f"/ruling/{seq}").status_code == 404
    answer = client.get(f"/api/v1/alternatives/{seq}")
    assert answer.status_code in (404, 409)


def test_why_nothing_is_offered_is_said(client, session):
    assert "record 7 is not a ruling of this game" in client.get("/ruling/7").text
    session.shown["hidden"] = {"blue": 15}
    assert "Votes are secret" in client.get("/ruling/16").text
    assert client.get("/api/v1/alternatives/16").get_json()["error"]["code"] == "secret"


def test_an_appeal_goes_from_a_phone_to_the_host_s_tap_and_into_the_log(storm, chromium):
    """In browsers: a phone says what it was with a tap, the host sees it at once, opens the ruling
    and taps.
    """
    codes = storm.app.extensions["access"].codes.now
    with listen(port=0) as listening, serving(storm.app, listening), ExitStack() as stack:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"

        def come_in(code):
            context = chromium.new_context(viewport={"width": 390, "height": 844})
            stack.callback(context.close)
            page = context.new_page()
            page.goto(f"{url}/join#{code}")
            page.wait_for_url(re.compile(r"/(play)?$"))
            return page

        host, phone = come_in(codes.host), come_in(codes.table)
        phone.locator("button[name=seat][value=black]").click()
        phone.locator("#appeal summary").click()
        phone.get_by_text("See the picture").click()
        phone.wait_for_url("**/ruling/3")
        phone.goto(f"{url}/ruling/2")
        message = phone.locator(".choices button").first.text_content()
        phone.locator(".choices button").first.click()
        phone.wait_for_url("**/play")

        host.locator(".appeal").get_by_text(message, exact=False).wait_for()
        host.get_by_role("link", name="Reopen ruling 2").click()
        host.locator(".seen img").wait_for()
        host.locator(".choices").get_by_text(message, exact=True).click()
        host.wait_for_url(f"{url}/")
        host.locator("#verdict", has_text="corrected record 2").wait_for()
        assert host.locator(".appeal").count() == 0
    last = storm.session.records()[-1].event
    assert isinstance(last, Corrected)
    assert last.corrects == 2
    assert message.lower() in last.reason.lower()
