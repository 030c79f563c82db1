"""Lessons at the virtual table in a real browser; `make bench-lessons` does all of them."""

from __future__ import annotations

import pytest

from simulation.tutor import lessons_of
from tests.support.pupil import until_done, until_open
from tests.support.virtual_hand import virtual_hand
from webui.i18n import LANGUAGES

pytestmark = pytest.mark.slow


def task_in(hand, language):
    """The task as a page in another language shows it."""
    text = hand.page.evaluate(
        "(language) => fetch('/virtual', {headers: {'Accept-Language': language}})"
        ".then((answer) => answer.text())",
        language,
    )
    return text.partition('class="task"')[2].partition(">")[2].partition("</p>")[0]


def test_lessons_are_done_one_after_the_other_with_an_example_to_look_at(chromium):
    with virtual_hand(chromium, "icebreaker") as hand:
        example = hand.page.locator("#example path").first
        for lesson in lessons_of("icebreaker", hand.setup)[:2]:
            until_open(hand)
            assert len({task_in(hand, language) for language in LANGUAGES}) == len(LANGUAGES)
            assert not example.is_visible()
            hand.page.click("#lesson-show")
            assert example.is_visible()
            until_done(hand, lesson)
            hand.page.click("#lesson-next")
