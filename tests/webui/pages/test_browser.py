"""The page in a real browser: headless Chromium, driven by Playwright."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import playwright.sync_api
import pytest

from calibration.progress import CornersGuide
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from table.table_config import table_document
from webui import create_corners_app, create_history_app
from webui.server import listen, serving


class Browser:
    """One page, and everything it complained about or fetched."""

    def __init__(self, chromium: playwright.sync_api.Browser) -> None:
        self.context = chromium.new_context()
        self.page = self.context.new_page()
        self.protocol = self.context.new_cdp_session(self.page)
        self.complaints: list[str] = []
        self.fetched: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.fetched.append(request.url))

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the DevTools protocol."""
        return self.protocol.send(method, params)

    def run(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        return self.page.evaluate(expression)

    def until(self, condition: str) -> None:
        """Wait until an expression in the page is true; fails when it never is."""
        self.page.wait_for_function(f"() => {condition}")

    def open(self, url: str) -> None:
        self.page.goto(url)


@pytest.fixture
def browser(chromium) -> Iterator[Browser]:
    browser = Browser(chromium)
    yield browser
    browser.context.close()


def open_as_host(browser: Browser, panel: Any) -> None:
    """Come in by the link that brings the host's code."""
    browser.open(f"{panel.url}/join#{panel.host_code}")
    came_in(browser)


def open_with_question(browser: Browser, panel: Any, question: dict[str, Any]) -> None:
    """The host's panel while a question is open."""
    open_as_host(browser, panel)
    panel.change(record=True, view={"question": question, "phase": "asking", "next": None})


def came_in(browser: Browser) -> None:
    """Wait for the page behind the door."""
    browser.page.wait_for_url(lambda url: "join" not in url)


def test_the_page_follows_the_table_without_being_loaded_again(browser, panel):
    open_as_host(browser, panel)
    browser.until("document.querySelectorAll('svg.plan .piece').length === 9")
    browser.run("window.stayed = true; document.querySelector('#evidence').open = true")

    verdict = {
        "seq": 17,
        "at_ms": 21250,
        "kind": "ruled",
        "verdict": "accepted",
        "code": "boule.throw",
        "player": "blue",
    }
    verdict |= {
        "said": "Blue takes <the> lead.",
        "rests_on": "Play",
        "moves": [],
        "evidence": {"gap_mm": 3.2},
        "frame": 17,
    }
    verdict |= {"decided_by": None, "refers_to": None, "overturned_by": None}
    verdict |= {"clauses": [], "call": "", "sound": ""}
    panel.change(
        record=True,
        view={"verdicts": [verdict], "next": "yellow", "scores": {"blue": 12, "yellow": 5}},
    )
    browser.until(
        "document.querySelector('#verdict .why').textContent.includes('Blue takes <the> lead.')"
    )
    assert browser.run("document.querySelector('#verdict .headline').textContent").split()[1:] == [
        "Yellow",
        "leads",
    ]
    browser.until(
        "document.querySelector('#spoken').textContent.includes('Blue takes <the> lead.')"
    )
    assert browser.run("document.querySelector('.whose').textContent").split() == [
        "Y",
        "Yellow",
        "throws",
    ]
    assert browser.run("document.querySelector('#evidence').open")

    panel.change(live={"status": "camera lost", "message": "Camera lost (no cable)."})
    browser.until("document.querySelector('.status').textContent.includes('Camera lost')")
    assert browser.run("window.stayed")
    assert browser.complaints == []
    assert browser.fetched
    assert all(url.startswith(panel.url + "/") for url in browser.fetched)


def test_a_text_stays_for_a_second_unless_something_is_put_on_record(browser, panel):
    """Hands come and go faster than anybody reads."""
    clock, turn = browser.page.clock, "document.querySelector('.live-said').textContent"

    def tell(status, message):
        """The referee says this; returns once the page has heard of it."""
        panel.change(live={"status": status, "message": message})
        browser.until(
            f"document.querySelector('[data-part=lens]').textContent.includes({status!r})"
        )

    clock.install(time=0)
    open_as_host(browser, panel)
    clock.pause_at(60_000)
    tell("settling", "Something is moving.")
    assert browser.run(turn) == "Something is moving."
    tell("cannot see", "A hand is over the board.")
    assert browser.run(turn) == "Something is moving."
    clock.run_for(1_250)
    browser.until(f"{turn} === 'A hand is over the board.'")
    tell("settling", "Something is moving.")
    assert browser.run(turn) == "A hand is over the board."
    panel.change(record=True, view={"next": "yellow"})
    browser.until(f"{turn} === 'Something is moving.'")
    assert browser.complaints == []


def test_a_question_is_answered_without_leaving_the_page_and_words_being_typed_stay(
    browser, panel, question
):
    open_with_question(browser, panel, question)
    browser.until("document.querySelector('.choices button')")
    browser.run(
        "window.stayed = true; document.querySelector('#answer-name').focus();"
        " document.querySelector('#answer-name').value = 'Ann'"
    )
    browser.run(
        "document.querySelector('#callipers').open = true;"
        " document.querySelector('#reading-1').value = '20.35'"
    )
    panel.change(record=True, view={"question": question | {"said": "Still: which one is nearer?"}})
    browser.until("document.querySelector('[data-part=controls] [name=seen]').value === '18'")
    assert browser.run("document.querySelector('#answer-name').value") == "Ann"

    browser.run("document.querySelector('.choices button').click()")
    browser.until("document.querySelector('[data-part=controls] [name=seen]').value === '19'")
    [answer] = panel.change()
    assert answer["command"] == "answer"
    assert answer["decided_by"] == "Ann"
    assert list(answer["readings_mm"].values()) == [20.35]
    assert browser.run("window.stayed")
    assert browser.complaints == []


def test_many_answers_take_no_more_of_the_page_than_few_and_the_one_pointed_at_is_in_sight(
    browser, panel, question
):
    choices = [
        {"label": f"The ship on d4 went to {c}{r}", "moves": [f"d4-{c}{r}"]}
        for c in "abcdefg"
        for r in range(1, 9)
    ]
    none = {"label": "None of these: fix the table", "moves": []}
    open_with_question(browser, panel, question | {"choices": [*choices, none]})
    browser.until("document.querySelectorAll('.choices button').length === 57")
    top, bottom = (
        f"{edge} = document.querySelector('.choices').getBoundingClientRect().{edge}"
        for edge in ("top", "bottom")
    )
    in_sight = (
        f"(button) => {{ const {top}, {bottom}, at = button.getBoundingClientRect(); return top <="
        " at.top + 1 && at.bottom <= bottom + 1 }"
    )
    assert browser.run(f"(() => {{ const {top}, {bottom}; return bottom - top }})()") < 600
    assert browser.run(f"({in_sight})(document.querySelector('.choices').lastElementChild)")
    panel.change(pointed=[17, choices[40]["label"]])
    browser.until(
        "document.querySelector('.choices [aria-current]') &&"
        f" ({in_sight})(document.querySelector('.choices [aria-current]'))"
    )
    assert not browser.run(f"({in_sight})(document.querySelector('#choice-1'))")
    assert browser.complaints == []


def test_a_button_that_points_at_answers_is_followed_and_the_focus_stays_while_somebody_types(
    browser, panel, question
):
    open_with_question(browser, panel, question)
    browser.until("document.querySelector('.choices button')")
    browser.until("document.querySelector('#spoken').textContent.endsWith('which one is nearer?')")
    browser.run("document.querySelector('#answer-name').focus()")
    for place, choice in enumerate(question["choices"], 1):
        panel.change(pointed=[17, choice["label"]])
        browser.until(
            f"document.querySelector('.choices [aria-current]')?.value === {choice['label']!r}"
        )
        browser.until(
            "document.querySelector('#spoken').textContent.startsWith('The button selects answer"
            f" {place} of 3')"
        )
        assert browser.run("document.querySelectorAll('.choices [aria-current]').length") == 1
    browser.run("document.querySelector('#choice-2').focus()")
    panel.change(pointed=[17, ""])
    browser.until("!document.querySelector('.choices [aria-current]')")
    assert browser.run("document.activeElement.id") == "choice-2"
    browser.until("document.querySelector('#spoken').textContent.endsWith('which one is nearer?')")
    assert browser.complaints == []


def test_a_calliper_that_types_measures_one_piece_after_the_other(browser, panel, question):
    """A keyboard-wedge calliper types its reading and Enter, whatever has the focus."""
    open_with_question(browser, panel, question)
    browser.until("document.querySelector('#reading-1')")
    browser.run(
        "document.querySelector('#callipers').open = true;"
        " document.querySelector('#reading-1').focus()"
    )
    fields = browser.run("document.querySelectorAll('.readings input').length")
    for number in range(1, fields + 1):
        assert browser.run("document.activeElement.id") == f"reading-{number}"
        browser.page.keyboard.press("Enter")
        browser.page.keyboard.type(f"{19 + number}.35")
        browser.page.keyboard.press("Enter")
    browser.until("document.querySelector('[data-part=controls] [name=seen]').value === '18'")
    [answer] = panel.change()
    assert (answer["label"], list(answer["readings_mm"].values())) == (
        "",
        [19.35 + number for number in range(1, fields + 1)],
    )


def test_what_is_refused_is_said_and_stays_until_the_next_form(browser, panel):
    open_as_host(browser, panel)
    browser.run(
        "(field => { field.name = 'surprise'; field.value = 'x';"
        " })(document.querySelector('#control-name'))"
    )
    browser.run("document.querySelector('#undo').click()")
    browser.until("document.querySelector('.notice')?.textContent.includes('surprise')")
    panel.change(record=True)
    browser.until("document.querySelector('[data-part=controls] [name=seen]').value === '17'")
    assert browser.run("document.querySelector('.notice') !== null")
    browser.run("document.querySelector('#pause').click()")
    browser.until("document.querySelector('.notice') === null")


def test_a_code_that_is_typed_comes_in_and_a_link_leaves_no_code_behind(browser, panel):
    browser.open(panel.url)
    browser.run(f"document.querySelector('#code').value = '{panel.table_code.lower()}'")
    browser.run("document.querySelector('#enter').requestSubmit()")
    browser.page.wait_for_url("**/play")
    browser.run("document.querySelector('button[value=blue]').click()")
    browser.until("document.querySelector('.whose')?.textContent === 'Your turn'")
    open_as_host(browser, panel)
    assert panel.host_code not in json.dumps(browser.call("Page.getNavigationHistory"))
    assert browser.run("document.cookie") == ""
    assert not [url for url in browser.fetched if panel.host_code in url.partition("#")[0]]
    assert browser.complaints == []


@pytest.mark.parametrize("width", [360, 390, 768, 1024, 1920, 3840])
def test_it_fits_every_width_with_targets_large_enough_to_touch(browser, panel, question, width):
    panel.change(view={"question": question, "phase": "asking"})
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    open_as_host(browser, panel)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    heights = browser.run(
        "[...document.querySelectorAll('button')].filter(b => b.offsetParent).map(b =>"
        " b.getBoundingClientRect().height)"
    )
    assert heights
    assert min(heights) >= 40
    assert (
        float(browser.run("parseFloat(getComputedStyle(document.querySelector('.said')).fontSize)"))
        >= 18
    )


def test_everything_can_be_reached_and_pressed_by_keyboard(browser, panel):
    open_as_host(browser, panel)
    reached = []
    for _ in range(40):
        browser.call(
            "Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9
        )
        reached.append(
            browser.run("document.activeElement.id || document.activeElement.textContent.trim()")
        )
    assert {"undo", "pause", "next-game", "control-name", "Close-up", "Skip to the ruling"} <= set(
        reached
    )


@pytest.fixture
def corners():
    """A photograph with four cards, on a page of its own."""
    cards = [
        [[x, y], [x + 40, y], [x + 40, y + 40], [x, y + 40]]
        for x, y in ((20, 20), (580, 20), (580, 420), (20, 420))
    ]
    guide = CornersGuide(np.full((480, 640, 3), 120, np.uint8), np.array(cards, float))
    app = create_corners_app(guide)
    with listen(port=0) as listening, serving(app, listening):
        yield (
            guide,
            f"http://127.0.0.1:{listening.getsockname()[1]}/join#{app.extensions['access'].link}",
        )


def test_corners_are_dragged_and_moved_by_keys_and_put(browser, corners):
    guide, url = corners
    browser.open(url)
    came_in(browser)
    browser.until("document.querySelector('#loupe-cross').getAttribute('d')")
    browser.run("document.querySelector('#handle-1').focus()")
    for modifiers in (0, 0, 8):  # two pixels, and ten with Shift
        browser.call(
            "Input.dispatchKeyEvent",
            type="keyDown",
            key="ArrowLeft",
            code="ArrowLeft",
            windowsVirtualKeyCode=37,
            modifiers=modifiers,
        )
    assert browser.run("document.querySelector('#corner-1').value") == "568.0, 60.0"
    assert browser.run("document.querySelector('#loupe-name').textContent") == "far right"
    handle = "document.querySelector('#handle-2 .ring').getBoundingClientRect()"
    x, y = browser.run(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({handle})")
    width = browser.run("document.querySelector('#photo').getBoundingClientRect().width")
    for kind, by in (
        ("mousePressed", 0),
        ("mouseMoved", -width / 64),
        ("mouseReleased", -width / 64),
    ):
        browser.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x + by,
            y=y,
            button="left",
            clickCount=1,
            buttons=1,
        )
    assert (
        browser.run("document.querySelector('#handle-2').getAttribute('aria-label')")
        == "Near right corner, 570, 420 px; move it with the arrow keys"
    )
    browser.run("document.querySelector('#put').click()")
    np.testing.assert_allclose(guide.corners(), [[60, 60], [568, 60], [570, 420], [60, 420]])
    guide.refuse("the board's lines are not seen there")
    browser.until("document.querySelector('.warned') && !document.querySelector('#put').disabled")
    assert browser.run("document.querySelector('#corner-2').value") == "570.0, 420.0"
    guide.finish(["table.json: written."])
    browser.until("document.querySelector('#spoken').textContent === 'table.json: written.'")
    assert browser.complaints == []


@pytest.mark.parametrize("width", [360, 1024, 3840])
def test_the_page_of_corners_fits(browser, corners, width):
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    browser.open(corners[1])
    came_in(browser)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture
def played(tmp_path, storm_table):
    """The sessions of a log, on pages of their own: one of Ice Storm with a table, five throws of
    it.
    """
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(
            game="ice_storm", players=("red", "yellow", "blue"), table=table_document(storm_table)
        )
        session = Session.begin(log, started)
        for number, move in enumerate(
            ("red a1", "yellow b2-b3>b3", "blue off", "red h8", "yellow c4")
        ):
            session.tick(10 * number)
            session.append(
                VerdictReached(
                    verdict="accepted",
                    code="storm.throw",
                    message=f"Throw {number}.",
                    moves=(f"throw {move}",),
                )
            )
        with (
            listen(port=0) as listening,
            serving(create_history_app(HistoryCache(log.path)), listening),
        ):
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/sessions/{session.id}"


def press(browser, key, code):
    browser.call(
        "Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code
    )


def test_a_session_is_stepped_through_by_keys_and_played(browser, played):
    browser.open(played)
    browser.run("window.stayed = true")
    text = "document.querySelector('#verdict .said').textContent"
    assert "Throw 4." in browser.run(text)
    press(browser, "Home", 36)
    browser.until(f"{text}.includes('Throw 0.')")
    press(browser, "ArrowRight", 39)
    browser.until(f"{text}.includes('Throw 1.')")
    assert "at=" in browser.run("location.search")
    browser.run("document.querySelector('#play').click()")
    browser.until(
        f"{text}.includes('Throw 4.')"
        " && document.querySelector('#play').textContent === 'Start replay'"
    )
    browser.run("document.querySelector('#go-back').click()")
    browser.until(f"{text}.includes('Throw 3.') && document.querySelector('#line').value === '3'")
    assert browser.run("window.stayed")
    assert browser.complaints == []


@pytest.mark.parametrize("width", [360, 1024, 3840])
def test_the_pages_of_sessions_fit(browser, played, width):
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width,
        height=900,
        deviceScaleFactor=1,
        mobile=False,
    )
    for page in (
        played,
        f"{played}/statistics",
        played.rpartition("/")[0],
        f"{played}/../../statistics?simulated=1",
    ):
        browser.open(page)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), page


def test_one_thing_that_may_be_done_is_picked_out_and_stays_so(browser, panel):
    marks = [{"kind": "goal", "cells": ["a1"], "sure": True, "looks": []}]
    options = [{"who": "blue", "said": f"to {name}", "marks": marks} for name in ("a1", "b2")]
    panel.change(view={"options": options})
    browser.open(panel.url)
    browser.run("document.querySelector('.option-row[data-option=\"1\"]').click()")
    assert browser.run("document.querySelector('.plan').classList.contains('has-pick')")
    panel.change(record=True, view={"scores": {"blue": 4, "yellow": 5}, "options": options[::-1]})
    browser.until("document.querySelector('.points').textContent === '4'")
    browser.until("document.querySelector('.option-row.is-picked')?.dataset.option === '1'")


def verdicts(seq, text, sound="turn"):
    """What a view has of its newest verdict."""
    line = {
        "at_ms": 0,
        "kind": "ruled",
        "verdict": "accepted",
        "code": "",
        "player": None,
        "said": text,
        "rests_on": "",
        "clauses": [],
        "moves": [],
    }
    return [
        line
        | {
            "seq": seq,
            "evidence": {},
            "frame": None,
            "decided_by": None,
            "refers_to": None,
            "overturned_by": None,
            "call": text,
            "sound": sound,
        }
    ]


def test_verdicts_are_called_on_request_each_once(browser, panel):
    """Off until asked for; a page that is loaded again, or a record that comes again, says nothing
    twice.
    """
    stub = "window.heard = []; window.tones = 0; speechSynthesis.speak = (u) => heard.push(u.text);"
    stub += (
        "const node = OscillatorNode; window.OscillatorNode = class extends node { start(at) {"
        " tones += 1; super.start(at); } }; null"
    )
    open_as_host(browser, panel)
    browser.run(stub)
    panel.change(record=True, view={"verdicts": verdicts(17, "Blue leads.")})
    browser.until("document.querySelector('#caller').dataset.seq === '17'")
    assert browser.run("[heard.length, tones, document.querySelector('#voice').hidden]") == [
        0,
        0,
        False,
    ]

    switch = "document.querySelector('#voice').click(); document.querySelector('#sounds').click()"
    browser.call("Runtime.evaluate", expression=switch, userGesture=True)
    panel.change(record=True, view={"verdicts": verdicts(18, "Yellow leads.", "hit")})
    browser.until("document.querySelector('#caller').dataset.seq === '18'")
    panel.change(record=True, view={"verdicts": verdicts(17, "Blue leads.")})
    browser.until("document.querySelector('#caller').dataset.seq === '17'")
    panel.change(record=True, view={"verdicts": verdicts(18, "Yellow leads.", "hit")})
    browser.until("document.querySelector('#caller').dataset.seq === '18'")
    assert browser.run("heard") == ["Voice on.", "Yellow leads."]
    assert browser.run("tones") == 4, "two when they were switched on, two for a hit"

    browser.open(panel.url)
    browser.run(stub)
    assert browser.run("document.querySelector('#voice').getAttribute('aria-pressed')") == "true"
    panel.change(record=True, live={"message": "Nothing new."})
    browser.until("document.querySelector('[data-part=controls] [name=seen]').value === '21'")
    panel.change(record=True, view={"verdicts": verdicts(22, "The ruling was corrected.")})
    browser.until("heard.length === 1")
    assert browser.run("heard") == ["The ruling was corrected."]
    browser.run("localStorage.clear()")
    assert browser.complaints == []
