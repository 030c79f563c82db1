"""What stands where in a real browser: nothing that is said moves what is below it, and motion says
something.
"""

from __future__ import annotations

import pytest

SHORT = "Blue leads."
LONG = (
    "Orange's piece lies on e5 and e6, with its tip in e6: orange1 fires west on e5-a5, orange1"
    " fires northwest on e6-c8, orange3 fires into its own square e6, or orange4 fires northwest."
    " Nobody can fire any more; points in this round: purple 4, blue 3, orange 7. Round 1 is over,"
    " and blue throws next."
)
BELOW = (".ranks", ".controls", ".may", ".table", ".camera", ".past")
PLACES = """(parts) => Object.fromEntries(parts.map((part) => {
  const element = document.querySelector(part);
  return [part, element.hidden ? null : Math.round(element.getBoundingClientRect().top + scrollY)];
}))"""


@pytest.fixture(params=[390, 1024, 1920])
def page(request, chromium):
    """A page of this width, px."""
    page = chromium.new_page(viewport={"width": request.param, "height": 900})
    yield page
    page.close()


def says(panel, page, part, text, **view):
    """Let the panel say this, and wait until the page shows it."""
    panel.change(record=True, view=view)
    page.wait_for_function(
        "([part, text]) => document.querySelector(part).textContent.includes(text)",
        arg=[part, text],
    )


@pytest.mark.parametrize("host", [False, True])
def test_a_longer_ruling_or_question_moves_nothing(page, panel, question, verdict_row, host):
    page.goto(f"{panel.url}/join#{panel.host_code}" if host else panel.url)
    page.locator("#verdict .headline").wait_for()
    history = [verdict_row(16, "yellow", "Yellow throws.")]

    def ruled(seq, text, **more):
        return [verdict_row(seq, "blue", text) | more, *history]

    says(panel, page, "#verdict", SHORT, verdicts=ruled(17, SHORT))
    there = page.evaluate(PLACES, BELOW)
    differences = [f"Blue {n} is not on the board." for n in range(12)]
    says(panel, page, "#verdict", LONG, verdicts=ruled(18, LONG))
    assert page.evaluate(PLACES, BELOW) == there
    apart = {"verdict": "out_of_sync", "evidence": {"differences": differences}}
    says(panel, page, "#verdict", "Blue 11", verdicts=ruled(19, LONG, **apart))
    assert page.evaluate(PLACES, BELOW) == there
    asked = question | {"said": LONG, "choices": question["choices"] * 6}
    says(panel, page, ".question", LONG, question=asked, phase="asking", next=None)
    steady = (".may", ".table", ".camera")  # the host's controls are others meanwhile
    assert page.evaluate(PLACES, steady) == {part: there[part] for part in steady}


def test_what_the_turn_says_moves_nothing(page, panel):
    page.goto(panel.url)
    page.locator("#verdict .headline").wait_for()
    there = page.evaluate(PLACES, BELOW)
    for message in ("Wait.", LONG[:160]):
        panel.change(record=True, live={"status": "settling", "message": message, "at_ms": 10**9})
        page.locator(".turn").get_by_text(message).wait_for()
        assert page.evaluate(PLACES, BELOW) == there


def test_two_lines_are_kept_for_what_the_turn_says_and_all_of_it_is_seen(page, panel):
    page.goto(panel.url)
    for length in (20, 90, 160):
        panel.change(
            record=True,
            live={"status": "settling", "message": LONG[:length], "at_ms": 10**9 + length},
        )
        page.locator(".told").get_by_text(LONG[:length], exact=True).wait_for()
        said = page.locator(".turn .live-said").first
        inside, box, line = said.evaluate(
            "(e) => [e.scrollHeight, e.clientHeight, parseFloat(getComputedStyle(e).lineHeight)]"
        )
        assert inside <= box + 1, f"{length} letters are not cut off"
        assert box <= 2 * line + 1


def test_evidence_that_is_opened_is_not_cut_off(page, panel):
    page.goto(panel.url)
    page.locator("#evidence summary").click()
    inside, box = page.locator("#verdict").evaluate("(e) => [e.scrollHeight, e.clientHeight]")
    assert inside <= box + 1


@pytest.mark.parametrize(("width", "beside"), [(1024, False), (1920, True)])
def test_the_camera_stands_beside_the_board_on_a_wide_screen(chromium, panel, width, beside):
    page = chromium.new_page(viewport={"width": width, "height": 1080})
    page.goto(panel.url)
    board = page.locator(".table").bounding_box()
    camera = page.locator(".camera").bounding_box()
    page.close()
    assert (camera["y"] == board["y"] and camera["x"] >= board["x"] + board["width"]) is beside


MOTION = """
window.moved = []; window.buzzed = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...words) {
  moved.push(this.textContent.trim());
  return animate.apply(this, words);
};
navigator.vibrate = () => ++buzzed;
"""
"""What is set in motion, by its words, and how often a phone buzzes."""


@pytest.fixture
def watched(chromium):
    """watched("reduce"): a page whose motion can be counted, of somebody who wants less of it."""
    contexts = []

    def begin(motion="no-preference"):
        context = chromium.new_context(reduced_motion=motion)
        context.add_init_script(MOTION)
        contexts.append(context)
        return context.new_page()

    yield begin
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("motion", "expected"), [("no-preference", ["12"]), ("reduce", [])])
def test_new_points_stand_out_unless_motion_is_unwanted(panel, watched, motion, expected):
    page = watched(motion)
    page.goto(panel.url)
    page.locator(".scores .points").first.wait_for()
    panel.change(record=True, view={"scores": {"blue": 12, "yellow": 5}})
    page.locator(".scores .points").get_by_text("12").wait_for()
    assert page.evaluate("moved") == expected


def test_a_phone_shows_the_board_and_buzzes_when_its_player_is_needed(panel, watched):
    page = watched()
    page.goto(f"{panel.url}/join#{panel.table_code}")
    page.locator("button[name=seat][value=yellow]").click()
    page.locator(".plan .piece").first.wait_for()
    page.get_by_text("Please wait").wait_for()
    assert page.evaluate("buzzed") == 0
    lefts = {box.bounding_box()["x"] for box in page.locator("main section:visible").all()}
    assert len(lefts) == 1, "one column"
    for turn in (1, 2):
        panel.change(record=True, view={"next": "yellow"})
        page.get_by_text("Your turn").wait_for()
        assert page.evaluate("buzzed") == turn
        panel.change(record=True, view={"next": "blue"})
        page.get_by_text("Please wait").wait_for()
    assert page.evaluate("buzzed") == 2


def test_a_host_pauses_by_a_key(panel, chromium):
    page = chromium.new_page()
    page.goto(f"{panel.url}/join#{panel.host_code}")
    page.locator("#pause").wait_for()
    alt = 1
    key = {"modifiers": alt, "text": "p", "unmodifiedText": "p", "isSystemKey": True}
    with page.expect_response("**/command"):
        page.context.new_cdp_session(page).send("Input.dispatchKeyEvent", {"type": "char"} | key)
    page.close()
    (pause,) = panel.change()
    assert pause["command"] == "pause"


@pytest.mark.parametrize("language", ["en-GB", "de-DE", "es-ES"])
def test_whose_turn_it_is_takes_one_line_in_every_language(panel, page, language):
    page.set_extra_http_headers({"Accept-Language": language})
    states = [("ice_boule", "target"), ("icefloe", "torch"), ("zamboni_wars", "shot")]
    heights = set()
    for game, phase in states:
        state = {"phase": phase, "turn": "", "next": "yellow", "scores": {}, "rulings": {}}
        state |= {"state": "", "outcome": None}
        panel.change(record=True, view={"game": game, "next": "yellow", "state": state})
        page.goto(panel.url)
        first, last = page.locator(".whose > :first-child"), page.locator(".whose > :last-child")
        there, after = first.bounding_box(), last.bounding_box()
        assert after["y"] < there["y"] + there["height"], "player and verb are in one line"
        heights.add(page.locator(".turn .scores").bounding_box()["y"])
    assert len(heights) == 1
