"""Pairings: everybody meets whom they should, and no way of pairing would be better."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.pairing import Entrant, bracket, next_round, round_robin, swiss


@pytest.mark.parametrize("count", range(2, 15))
def test_in_a_round_robin_everybody_meets_everybody_once(count):
    rounds = round_robin(range(count))
    assert len(rounds) == count - 1 + count % 2
    for pairs in rounds:
        players = [one for pair in pairs for one in pair]
        assert len(players) == len(set(players)) == count - count % 2
    met = Counter(frozenset(pair) for pairs in rounds for pair in pairs)
    assert met == dict.fromkeys(map(frozenset, combinations(range(count), 2)), 1)
    began = Counter(pair[0] for pairs in rounds for pair in pairs)
    assert max(began.values()) - min(began[one] for one in range(count)) <= 1


@pytest.mark.parametrize("count", range(2, 20))
def test_in_a_knock_out_the_best_have_byes_and_meet_last(count):
    pairs = bracket(range(count))
    size = 2 * len(pairs)
    assert size // 2 < count <= size
    assert [one for pair in pairs for one in pair].count(None) == size - count
    assert {one for one, other in pairs if other is None} == set(range(size - count))
    while len(pairs) > 1:  # the better one always wins
        winners = [min(one for one in pair if one is not None) for pair in pairs]
        assert sorted(winners) == list(range(len(pairs)))
        pairs = next_round(winners)
    assert {one for one in pairs[0] if one is not None} == set(range(min(count, 2)))


def every_pairing(players):
    if not players:
        yield []
        return
    first, *others = players
    for other in others:
        left = [one for one in others if one != other]
        yield from ([(first, other), *pairs] for pairs in every_pairing(left))


def worth(pairs, entrants):
    """What a round of Swiss is judged by, the smaller the better, all of it counted slowly."""
    by_number = {one.player: one for one in entrants}
    ranked = sorted(entrants, key=lambda one: -one.score)
    groups = sorted({one.score for one in entrants})
    repeats = height = apart = 0
    for one, other in pairs:
        if other is None:
            repeats += by_number[one].byes
            height += len(ranked) - 1 - [entrant.player for entrant in ranked].index(one)
            continue
        repeats += by_number[one].met.get(other, 0)
        levels = [groups.index(by_number[player].score) for player in (one, other)]
        apart += (levels[0] - levels[1]) ** 2
    return repeats, height, apart


@st.composite
def fields(draw):
    """Players with any scores, games and byes behind them."""
    count = draw(st.integers(2, 7))
    pairs = draw(st.lists(st.sampled_from([*combinations(range(count), 2)]), max_size=2 * count))
    met = [Counter[int]() for _ in range(count)]
    for one, other in pairs:
        met[one][other] += 1
        met[other][one] += 1
    return [
        Entrant(
            player,
            draw(st.sampled_from((0, 0.5, 1, 2, 3))),
            met[player],
            draw(st.integers(0, 1)),
            draw(st.integers(-1, 1)),
        )
        for player in range(count)
    ]


@given(fields())
def test_no_other_round_of_swiss_would_be_better(entrants):
    pairs = swiss(entrants)
    players = [one for pair in pairs for one in pair if one is not None]
    assert sorted(players) == [one.player for one in entrants]
    numbers = [one.player for one in entrants]
    possible = every_pairing([*numbers, None] if len(numbers) % 2 else numbers)
    fixed = [[pair if pair[0] is not None else pair[::-1] for pair in one] for one in possible]
    assert worth(pairs, entrants) == min(worth(one, entrants) for one in fixed)


@given(st.integers(4, 13), st.data())
def test_nobody_meets_twice_or_has_two_byes_in_half_as_many_rounds_as_players(count, data):
    score, byes, began = [0.0] * count, [0] * count, [0] * count
    met = [Counter[int]() for _ in range(count)]
    for _ in range(count // 2):  # so many rounds can always be paired (a theorem of Dirac's)
        entrants = [
            Entrant(one, score[one], met[one], byes[one], began[one]) for one in range(count)
        ]
        for one, other in swiss(entrants):
            if other is None:
                byes[one] += 1
                score[one] += 1
                continue
            met[one][other] += 1
            met[other][one] += 1
            began[one] += 1
            began[other] -= 1
            won = data.draw(st.sampled_from((0, 0.5, 1)))
            score[one] += won
            score[other] += 1 - won
    assert max(max(one.values()) for one in met) == 1
    assert max(byes) <= 1


def test_the_upper_half_meets_the_lower_half():
    entrants = [Entrant(one, 0) for one in range(8)]
    assert swiss(entrants) == [(0, 4), (5, 1), (2, 6), (7, 3)]
    assert swiss(entrants[:5])[-1] == (4, None)


def test_who_began_less_often_begins():
    entrants = [Entrant(0, 1, began=1), Entrant(1, 1, began=-1)]
    assert swiss(entrants) == [(1, 0)]
