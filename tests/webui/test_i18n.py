"""The language of the pages: who chooses it, and what is written in it."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from calibration.progress import CornersGuide, LensGuide
from referee.live.game_setup import SettingUp
from referee.live.live_measurement import Ruler
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from table import languages
from table.messages import as_message, msg, phrase, sentences
from table.table_config import table_document
from webui import (
    create_app,
    create_corners_app,
    create_lens_app,
    create_ruler_app,
    create_set_up_app,
)
from webui.i18n import LANGUAGES
from webui.security.codes import Codes
from webui.security.permissions import Access

OWN = {"Sec-Fetch-Site": "same-origin"}
CARDS_PX = np.array(
    [
        [[x, y], [x + 40, y], [x + 40, y + 40], [x, y + 40]]
        for x, y in ((20, 20), (580, 20), (580, 420), (20, 420))
    ],
    float,
)


def language_of(page):
    return re.search(r'<html lang="(\w+)"', page)[1]


@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("es-MX", "es"),
        ("fr, es;q=0.7, en;q=0.3", "es"),
        ("fr", "en"),
        ("*", "en"),
        ("", "en"),
        (";;q=x", "en"),
    ],
)
def test_the_browser_says_which_language_it_wants(client, wanted, language):
    assert language_of(client.get("/", headers={"Accept-Language": wanted}).text) == language


def test_what_is_chosen_on_a_page_counts_more_and_is_kept(client):
    answer = client.post(
        "/language", data={"language": "es"}, headers=OWN | {"Referer": "http://localhost/host?x=1"}
    )
    assert (answer.status_code, answer.location) == (303, "/host?x=1")
    assert language_of(client.get("/", headers={"Accept-Language": "de"}).text) == "es"
    client.post("/language", data={"language": "kl"}, headers=OWN)
    assert language_of(client.get("/", headers={"Accept-Language": "de"}).text) == "de"


def test_everybody_may_choose_and_a_foreign_site_may_not(spectator):
    assert spectator.post("/language", data={"language": "de"}, headers=OWN).status_code == 303
    assert (
        spectator.post(
            "/language", data={"language": "es"}, headers={"Sec-Fetch-Site": "cross-site"}
        ).status_code
        == 403
    )
    assert language_of(spectator.get("/").text) == "de"


@pytest.mark.parametrize(
    "page",
    [
        "",
        "http://elsewhere/evil",
        "http://localhost/command",
        "http://localhost//elsewhere/",
        "nonsense",
        "http://localhost/nowhere",
    ],
)
def test_only_pages_of_the_panel_are_gone_back_to(client, page):
    answer = client.post("/language", data={"language": "de"}, headers=OWN | {"Referer": page})
    assert answer.location == "/"


@pytest.mark.parametrize("cookie", ["xx", "../../etc", "de\x00", "x" * 4000])
def test_a_cookie_of_somebody_else_is_no_language(client, cookie):
    client.set_cookie("language", cookie)
    assert language_of(client.get("/").text) == "en"


@pytest.fixture
def everywhere(live, session, table, tmp_path, as_host):
    """Browsers of hosts, by application, with paths of all its pages."""
    table.lens = LensGuide()
    with Log(tmp_path / "log.sqlite") as log:
        Session.begin(
            log,
            SessionStarted(
                game="ice_boule", players=("blue", "yellow"), table=table_document(live.setup)
            ),
        ).close()
        applications = {
            "panel": create_app(session, live, histories=HistoryCache(log.path)),
            "lens": create_lens_app(LensGuide()),
            "corners": create_corners_app(
                CornersGuide(np.full((480, 640, 3), 120, np.uint8), CARDS_PX)
            ),
            "set up": create_set_up_app(SettingUp(lambda choice: choice), table, Access(Codes())),
        }
        browsers = {name: as_host(app) for name, app in applications.items()}
        film = SimpleNamespace(name="film", simulated=True, read=lambda: None, close=lambda: None)
        browsers["ruler"] = create_ruler_app(Ruler(film, live.setup, None)).test_client()
        yield browsers


def pages(app):
    rules = (
        rule
        for rule in app.url_map.iter_rules()
        if "GET" in rule.methods and rule.arguments <= {"session"} and "." not in rule.rule
    )
    return sorted(
        rule.rule.replace("<seq:session>", "1")
        for rule in rules
        if not rule.rule.startswith(("/api/", "/static/", "/healthz", "/metrics"))
    )


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_page_is_there_in_every_language(everywhere, language):
    headers = {"Accept-Language": language, "Accept": "text/html"}
    counted = 0
    for browser in everywhere.values():
        for path in [*pages(browser.application), "/nothing-here"]:
            answer = browser.get(path, headers=headers)
            assert (answer.status_code, language_of(answer.text)) == (
                404 if path == "/nothing-here" else 200,
                language,
            ), path
            assert "%(" not in answer.text
            counted += 1
    assert counted > 15


def test_words_and_numbers_are_those_of_the_language(client):
    german, spanish = (
        client.get("/", headers={"Accept-Language": code}).text for code in ("de", "es")
    )
    assert "Am nächsten am Ziel" in german
    assert ">21,6 ± 0,3<" in german
    assert "Wäre die Aufnahme jetzt zu Ende: Gelb, 2 Punkte." in german
    assert "Lo más cerca de la diana" in spanish
    assert ">21,6 ± 0,3<" in spanish
    assert 'viewBox="-' in german, "what browsers read keeps its points"


def test_one_is_said_as_one(client, session):
    session.shown["state"]["points_if_over"] = 1
    assert "Gelb, 1 Punkt." in client.get("/", headers={"Accept-Language": "de"}).text


def test_programs_are_answered_in_english_and_with_points(client):
    german, english = ({"Accept-Language": code} for code in ("de", "en"))
    state = client.get("/api/v1/state", headers=german)
    assert (state.status_code, state.json) == (
        200,
        client.get("/api/v1/state", headers=english).json,
    )
    refused = client.post("/api/v1/command", json={"command": "nonsense"}, headers=german)
    assert (refused.status_code, refused.json) == (
        400,
        client.post("/api/v1/command", json={"command": "nonsense"}, headers=english).json,
    )


def test_only_numbers_get_a_decimal_comma(client, live):
    lost = msg("Camera lost ({text}).", text="no answer of 192.168.1.20")
    again = msg("The game is waiting; trying again in {mm} s.", mm="2.5")
    live.become(message=sentences(lost, again))
    german = client.get("/", headers={"Accept-Language": "de"}).text
    assert "Kamera verloren (no answer of 192.168.1.20)." in german
    assert "Das Spiel wartet; neuer Versuch in 2,5 s." in german


def test_a_refusal_is_in_the_language_of_the_page(client):
    page = client.get("/ruling/99999", headers={"Accept-Language": "de", "Accept": "text/html"})
    assert page.status_code == 404
    assert "Eintrag 99999 gehört nicht zu den neuesten Entscheidungen dieser Sitzung." in page.text
    assert '<span lang="en">' not in page.text


def test_evidence_is_in_the_language_of_the_page(client, session):
    touch = phrase("{cell}: {mm} mm, {touch}", cell="d6", mm="16.3 ± 0.4", touch="touched")
    session.shown["verdicts"][0]["evidence"] = {"touches": [touch], "margin_mm": 0.25, "sure": True}
    german = client.get("/", headers={"Accept-Language": "de"}).text
    assert "d6: 16,3 ± 0,4 mm, berührt" in german
    assert "0,25 mm" in german
    assert "<dd>ja</dd>" in german


def test_what_nobody_has_translated_is_marked_as_english(client, live):
    live.become(message="Words <never> seen before.")
    assert (
        '<span lang="en">Words &lt;never&gt; seen before.</span>'
        in client.get("/", headers={"Accept-Language": "de"}).text
    )
    assert '<span lang="en">' not in client.get("/").text


def test_an_old_log_keeps_its_fixed_sentences_in_the_language_of_the_page(client, session):
    """Its sentences are texts; the rest of them stays English, and is marked so."""
    message = "The session has ended. Nobody told this program what a zeppelin is."
    session.shown["verdicts"][0]["said"] = as_message(message)
    german = client.get("/", headers={"Accept-Language": "de"}).text
    assert "Die Sitzung ist beendet." in german
    assert '<span lang="en">Nobody told this program what a zeppelin is.</span>' in german


def test_the_caller_speaks_the_language_of_the_page(client, session):
    def called(code):
        found = re.search(
            r'id="caller" data-seq="16" data-call="([^"]+)" data-lang="(\w+)"',
            client.get("/", headers={"Accept-Language": code}).text,
        )
        return found.groups()

    session.shown["verdicts"][0]["said"] = sentences(
        msg("{player}'s piece lies {mm} mm from the target.", player="yellow", mm="21.6 ± 0.3"),
        msg("{player} resigns.", player="red"),
        msg("{player} throws next.", player="blue"),
    )
    assert called("de") == (
        (
            "Die Pyramide von Gelb liegt 21,6 Millimeter vom Ziel. Rot gibt auf."
            " Blau wirft als Nächstes."
        ),
        "de",
    )
    assert called("es")[1] == "es"
    assert called("en") == ("Call 16.", "en")
    session.shown["verdicts"][0] |= {"kind": "undone", "said": "players undid record 14."}
    assert called("de") == ("Das wurde zurückgenommen.", "de")
    session.shown["verdicts"][0] |= {"kind": "ruled", "said": "Never seen before."}
    assert called("de") == ("Call 16.", "en")


def test_every_language_of_the_program_has_its_name_on_the_pages():
    assert tuple(LANGUAGES) == languages.CODES
