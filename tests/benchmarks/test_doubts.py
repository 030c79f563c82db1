"""Judges that are not sure of a piece do not take the likelier reading for granted."""

from __future__ import annotations

import pytest

from benchmarks.fuzz.doubts import doubted_acts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "blocks"),
    [
        ("zamboni_wars", range(6)),
        ("icebreaker", range(6)),
        ("ice_storm", (0, 2, 3, 7)),
        ("ice_boule", (0, 1, 5, 11, 18)),
        ("icefloe", range(3)),
    ],
)
def test_no_lawful_act_is_ruled_on_wrongly_by_an_unsure_reading(game, blocks):
    acts = [act for number in blocks for act in doubted_acts(game, 7, number)]
    assert [act.line for act in acts if act.outcome == "wrong"] == []
    assert {act.outcome for act in acts} >= {"true", "open"}
