"""People play on the virtual table in a real browser: the whole of `rinkside demo`, by hand.

Whole games, those of Zamboni Wars too, are played in tests/simulation/test_games_by_hand.py, on a
quick clock and without a browser.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.support.virtual_games import NOT_COUNTED, err, play, put_back
from tests.support.virtual_hand import virtual_hand

pytestmark = pytest.mark.slow

SEED = 3


@pytest.mark.parametrize("game", ["ice_boule", "ice_storm"])
def test_a_few_throws(game, chromium):
    with virtual_hand(chromium, game, SEED) as hand:
        me = hand.setup.game.colours[0]
        hand.press(f'[data-sit="{me}"]')
        assert play(hand, me, Random(5), acts=2) == 2


@pytest.mark.parametrize("game", ["icebreaker", "icefloe"])
def test_a_few_acts_a_wrong_one_an_undo_and_on(game, chromium):
    chance = Random(5)
    with virtual_hand(chromium, game, SEED) as hand:
        me = hand.setup.game.colours[0]
        hand.press(f'[data-sit="{me}"]')
        assert play(hand, me, chance, acts=1) == 1
        play(hand, me, chance, acts=None)
        before = hand.view()
        view = err(hand, me, chance)
        assert view["verdicts"][0]["verdict"] in NOT_COUNTED
        assert view["scores"] == before["scores"]
        put_back(hand)
        assert play(hand, me, chance, acts=1) == 1
        hand.undo()
        assert play(hand, me, chance, acts=1) == 1


def test_a_hostile_touch_is_refused_in_a_line(chromium):
    with virtual_hand(chromium, "icebreaker", SEED) as hand:
        for body in (
            '{"do": "drop", "piece": "ship A1", "x_mm": NaN}',
            '{"do": "drop", "piece": "ship A1", "x_mm": 1e300}',
            '{"do": "explode"}',
            '{"do": "take", "piece": "no such piece"}',
            "[" * 1000,
            "x" * 10_000,
        ):
            answer = hand.page.evaluate(
                "(body) => fetch('/virtual', {method: 'POST', body, headers:"
                " {'Content-Type': 'application/json'}}).then(async (answer) =>"
                " [answer.status, (await answer.json()).error.said])",
                body,
            )
            assert 400 <= answer[0] < 500
            assert answer[1]
            assert "\n" not in answer[1]
