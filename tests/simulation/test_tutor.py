"""Lessons on the virtual table: every game's can be done, and only what they ask for counts."""

from __future__ import annotations

import pytest

from engines import GAMES
from simulation.tables import lessons_table
from simulation.tutor import lessons_of
from table.errors import InputError
from tests.support.pupil import do, until_done
from tests.support.quick_hand import quick_hand


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_game_has_lessons(game):
    assert lessons_of(game, lessons_table(game).setup)


@pytest.mark.slow
@pytest.mark.parametrize("game", sorted(GAMES))
def test_a_pupil_does_every_lesson_in_turn(tmp_path, game):
    with quick_hand(tmp_path, game) as hand:
        lessons = lessons_of(game, hand.setup)
        for number, lesson in enumerate(lessons, 1):
            hand.tutor.begin(number)
            hand.wait_for_timeout(12_000)
            assert hand.tutor.look().state == "open", (lesson.title, hand.view()["verdicts"][:1])
            until_done(hand, lesson)


def test_what_a_lesson_does_not_ask_for_is_told_to_be_something_else(tmp_path):
    with quick_hand(tmp_path, "icebreaker") as hand:
        lessons = lessons_of("icebreaker", hand.setup)
        hand.wait_for_timeout(12_000)
        do(hand, lessons[1])
        hand.until(lambda view: view["verdicts"][0]["verdict"] == "refused")
        assert hand.tutor.look().state == "other"
        hand.tutor.begin(1)
        hand.wait_for_timeout(12_000)
        assert hand.tutor.look().state == "open"
        until_done(hand, lessons[0])
        with pytest.raises(InputError, match="1 to 4"):
            hand.tutor.begin(5)
