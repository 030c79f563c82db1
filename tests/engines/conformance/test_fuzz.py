"""Random acts with random side effects before every judge: true verdicts or questions, orders that
lead on, no errors.
"""

import pytest

from benchmarks.fuzz.acts import FUZZED, fuzz

pytestmark = pytest.mark.slow

ACTS = 80


@pytest.mark.parametrize("game", FUZZED)
def test_no_random_act_is_judged_wrongly_or_leads_to_a_dead_end(game):
    acts = fuzz(game, seed=5, acts=ACTS)
    assert len(acts) == ACTS
    assert [line for act in acts for line in act.lines] == []
    results = [act.result for act in acts]
    assert sum(result.lawful and result.outcome == "right" for result in results) > ACTS / 10
    assert sum(not result.lawful and result.outcome == "right" for result in results) > ACTS / 10
