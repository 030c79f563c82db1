"""Lessons at the virtual table in a real browser: done by hand, in every language."""

from __future__ import annotations

import pytest

from engines import GAMES
from simulation.tutor import lessons_of
from tests.support.pupil import do
from tests.support.virtual_games import answer
from tests.support.virtual_hand import virtual_hand
from webui.i18n import LANGUAGES

pytestmark = pytest.mark.slow

STEP_MS, PATIENCE, RULED, TRIES = 500, 120, 20, 4


def state_of(hand):
    """What the page says of the lesson: `laying`, `open`, `other` or `done`."""
    return hand.page.locator("#lesson").get_attribute("class").partition("is-")[2]


def until(hand, *states):
    for _ in range(PATIENCE):
        if (state := state_of(hand)) in states:
            return state
        hand.page.wait_for_timeout(STEP_MS)
    raise AssertionError((state, hand.view()["live"]["said"], hand.view()["verdicts"][:1]))


def wait_for_ruling(hand):
    """Wait until the lesson is done, or the table has been ruled on or looked at long enough."""
    for _ in range(RULED):
        hand.page.wait_for_timeout(STEP_MS)
        view = hand.view()
        if view["phase"] == "asking":
            answer(hand, view["question"])
        if state_of(hand) == "done":
            return


def task_in(hand, language):
    """The task as a page in another language shows it."""
    text = hand.page.evaluate(
        "(language) => fetch('/virtual', {headers: {'Accept-Language': language}})"
        ".then((answer) => answer.text())",
        language,
    )
    return text.partition('class="task"')[2].partition(">")[2].partition("</p>")[0]


@pytest.mark.parametrize("game", sorted(GAMES))
def test_the_first_two_lessons_of_a_game_are_done_by_hand(game, chromium):
    with virtual_hand(chromium, game) as hand:
        for lesson in lessons_of(game, hand.setup)[:2]:
            until(hand, "open")
            assert len({task_in(hand, language) for language in LANGUAGES}) == len(LANGUAGES)
            for _ in range(TRIES):
                if state_of(hand) == "done":
                    break
                do(hand, lesson)
                wait_for_ruling(hand)
            assert state_of(hand) == "done", hand.view()["verdicts"][:1]
            hand.page.click("#lesson-next")


def test_the_example_of_a_lesson_is_drawn_on_the_board_when_asked_for(chromium):
    with virtual_hand(chromium, "icebreaker") as hand:
        until(hand, "open")
        assert not hand.page.locator("#example path").first.is_visible()
        hand.page.click("#lesson-show")
        assert hand.page.locator("#example path").first.is_visible()
        hand.page.click("#lesson-next")
        until(hand, "open")
        assert not hand.page.locator("#example path").first.is_visible()
