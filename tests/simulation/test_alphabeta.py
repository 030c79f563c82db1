"""The player that looks ahead: legal, repeatable, within its nodes, and stronger than players that
do not look.
"""

from itertools import pairwise
from random import Random

import pytest

from engines import GAMES
from engines.icebreaker import State, legal_moves, outcome, parse_move, play, start
from simulation.players.icebreaker_search import SearchPlayer
from simulation.players.policies import GreedyPlayer, RandomPlayer, playout

pytestmark = pytest.mark.slow

GAME = GAMES["icebreaker"]
STUCK = (
    "players red black; scores {}; turn red; board 222./...../....../......./..1.../1..../*1..;"
    " rulings size=4 closest=any stuck=pass end={}."
)


def wins(player, other, games, size="5"):
    """Games of `games` that a player wins, beginning every second one."""
    won = 0
    for number in range(games):
        seats = {"red": player, "black": other} if number % 2 else {"red": other, "black": player}
        *_, (_, last) = playout(
            GAME,
            start(["red", "black"], {"size": size}),
            lambda state, seats=seats: seats[state.next].choose(state),
        )
        won += seats[outcome(last).winner] is player
    return won


def test_it_beats_players_that_do_not_look_ahead():
    chance = Random(5)
    assert wins(SearchPlayer(200), GreedyPlayer(GAME, chance), 10) == 10
    assert wins(SearchPlayer(200), RandomPlayer(GAME, chance), 4, size="4") == 4


def test_more_nodes_are_worth_having():
    assert wins(SearchPlayer(1000), SearchPlayer(1), 6, size="4") >= 5


@pytest.mark.parametrize("nodes", [1, 7, 100])
def test_it_plays_legally_and_alike(nodes):
    def game():
        return list(
            playout(
                GAME,
                start(["red", "black"], {"size": "4", "end": "last"}),
                SearchPlayer(nodes).choose,
            )
        )

    played = game()
    assert played == game()
    states = [
        start(["red", "black"], {"size": "4", "end": "last"}),
        *(state for _, state in played),
    ]
    assert all(
        move in legal_moves(before)
        for (move, _), (before, _) in zip(played, pairwise(states), strict=True)
    )


@pytest.mark.parametrize(
    ("scores", "end", "first"),
    [
        ("15 15", "majority", None),
        ("15 15", "majority", "C3-B2"),
        ("15 15", "last", "C3-B2"),
        ("20 10", "last", None),
        ("20 10", "last", "C3-B2"),
        ("10 20", "last", "C3-B2"),
    ],
)
def test_it_takes_the_last_iceberg(scores, end, first):
    state = State.parse(STUCK.format(scores, end))
    state = play(state, parse_move(first)) if first else state
    assert str(SearchPlayer(50).choose(state)).endswith("-A1")


def test_nothing_is_chosen_once_the_game_is_over():
    state = play(
        play(State.parse(STUCK.format("15 15", "majority")), parse_move("C3-B2")),
        parse_move("B2-A1"),
    )
    with pytest.raises(ValueError, match="the game is over"):
        SearchPlayer().choose(state)


def test_it_looks_past_a_turn_that_passes():
    """Black takes E6, red goes to B2: then black is stuck, and red is to move again."""
    rows = "222./..*../....../......./..1.../1..../*1.."
    line = (
        f"players red black; scores 9 20; turn black; board {rows}; rulings size=4 closest=any"
        " stuck=pass end=last."
    )
    state = State.parse(line)
    for text in ("E7-E6", "C3-B2"):
        assert parse_move(text) in legal_moves(state)
        state = play(state, parse_move(text))
    assert state.next == "red"
    assert SearchPlayer(5000).choose(State.parse(line)) in legal_moves(State.parse(line))


def test_greedy_takes_what_it_can():
    """Only E9 has ice beside it; chance would mostly move another ship."""
    state = State.parse(
        "players red black; scores 27 26; turn red; board"
        " 1*2../.221.1/......./......../........./......../......./....../*....; rulings size=5"
        " closest=any stuck=pass end=majority."
    )
    assert {str(GreedyPlayer(GAME, Random(seed)).choose(state)) for seed in range(20)} == {"E9-F9"}
