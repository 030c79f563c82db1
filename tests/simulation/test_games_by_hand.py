"""Whole games that a person plays by hand, with wrong acts and undo, on a quick clock.

They came to a standstill before: a wrong table was put back as recorded, the table was waited on
without a word, or a simulated player failed and with it the referee.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.support.quick_hand import quick_hand
from tests.support.virtual_games import NOT_COUNTED, err, play, put_back

pytestmark = pytest.mark.slow

ACTS, ROUND = 4, 3
"""Acts between two mishaps; in every third of them an act is undone, in the others it is wrong."""


@pytest.mark.parametrize(
    ("game", "seed"),
    [("zamboni_wars", 17), ("zamboni_wars", 19), ("ice_storm", 18), ("icebreaker", 16)],
)
def test_a_game_by_hand_comes_to_its_end(tmp_path, game, seed):
    chance = Random(seed)
    with quick_hand(tmp_path, game, seed) as hand:
        me, rounds = hand.setup.game.colours[0], 0
        while not hand.view()["outcome"]:
            play(hand, me, chance, acts=ACTS)
            rounds += 1
            play(hand, me, chance, acts=None)
            if (before := hand.view())["outcome"]:
                break
            if rounds % ROUND:
                view = err(hand, me, chance)
                put_back(hand)
                assert view["verdicts"][0]["verdict"] in NOT_COUNTED
                assert view["scores"] == before["scores"]
            else:
                hand.undo()
