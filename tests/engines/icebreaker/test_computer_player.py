"""The computer player of Icebreaker: its fast positions are those of the rules, and its search
takes what there is to take.
"""

from itertools import count
from random import Random

import pytest

from engines.computer_player import never
from engines.icebreaker import State, legal_moves, outcome, parse_move, play, start
from engines.icebreaker.computer_player import choose
from engines.icebreaker.positions import Position, playout, steps
from engines.icebreaker.search import Search

STUCK = (
    "players red black; scores {}; turn red; board 222./...../....../......./..1.../1..../*1..;"
    " rulings size=4 closest=any stuck=pass end={}."
)


def position_of(state):
    seat = state.seat
    return Position(
        state.ships[seat],
        state.ships[1 - seat],
        state.ice,
        state.scores[seat],
        state.scores[1 - seat],
    )


def named(legal):
    """Moves of the search as the rules name them."""
    return sorted((start.bit_length() - 1, end.bit_length() - 1) for start, end in legal)


@pytest.mark.parametrize("size", ["4", "5", "6", "7", "8"])
@pytest.mark.parametrize("end", ["majority", "last"])
def test_fast_positions_are_those_of_the_rules(size, end):
    """Move for move, in all positions of whole games: about 5,000 of them."""
    chance, passes = Random(int(size)), 0
    for _ in range(8):
        state = start(["red", "black"], {"size": size, "end": end})
        position, board = position_of(state), state.setting.board
        while outcome(state) is None:
            assert position == position_of(state)
            legal = steps(board, position)
            assert named(legal) == sorted(map(tuple, legal_moves(state)))
            move = chance.choice(list(legal_moves(state)))
            before = state.seat
            state = play(state, move)
            position = position.after((1 << move.from_cell, 1 << move.to_cell))
            if state.seat == before:
                assert steps(board, position) == []
                position, passes = position.after_pass(), passes + 1


def test_playouts_end_as_games_by_the_rules_do():
    """Long and short games, and who wins, agree with random games by the rules."""
    board = start(["red", "black"], {}).setting.board
    chance, lengths, won = Random(3), [], 0
    for _ in range(2000):
        moves, first = playout(board, position_of(start(["red", "black"], {})), 28, chance.random)
        lengths.append(moves)
        won += first
    by_rules, rules_won = [], 0
    for _ in range(300):
        state, moves = start(["red", "black"], {}), 0
        while outcome(state) is None:
            state, moves = play(state, chance.choice(list(legal_moves(state)))), moves + 1
        by_rules.append(moves)
        rules_won += outcome(state).winner == "red"
    assert sum(lengths) / 2000 == pytest.approx(sum(by_rules) / 300, abs=1.5)
    assert won / 2000 == pytest.approx(rules_won / 300, abs=0.1)
    assert min(lengths) >= 55


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
@pytest.mark.parametrize("strength", ["club", "strong"])
def test_it_takes_the_last_iceberg(scores, end, first, strength):
    state = State.parse(STUCK.format(scores, end))
    state = play(state, parse_move(first)) if first else state
    assert str(choose(state, "red", strength, Random(1), never)).endswith("-A1")


def test_nothing_is_chosen_once_the_game_is_over():
    state = State.parse(STUCK.format("15 15", "majority"))
    for text in ("C3-B2", "B2-A1"):
        state = play(state, parse_move(text))
    with pytest.raises(ValueError, match="the game is over"):
        choose(state, "red", "club", Random(1), never)


def test_it_looks_past_a_turn_that_passes():
    """Black takes E6, red goes to B2: then black is stuck, and red is to move again."""
    rows = "222./..*../....../......./..1.../1..../*1.."
    state = State.parse(
        f"players red black; scores 9 20; turn black; board {rows}; rulings size=4 closest=any"
        " stuck=pass end=last."
    )
    assert choose(state, "black", "strong", Random(1), never) in legal_moves(state)


def test_a_player_that_looks_further_wins():
    """Of eight games from four openings, each side once."""
    won = 0
    for number in range(8):
        chance, state = Random(number // 2), start(["red", "black"], {"size": "4"})
        for _ in range(4):
            state = play(state, chance.choice(list(legal_moves(state))))
        beginner = state.players[number % 2]
        while outcome(state) is None:
            strength = "beginner" if state.next == beginner else "club"
            state = play(state, choose(state, state.next, strength, chance, never))
        won += outcome(state).winner != beginner
    assert won >= 7


def test_it_stops_when_the_time_is_over():
    """The clock is looked at every 64 positions; a first look one move ahead is always done."""
    state, looks = start(["red", "black"], {}), count(1)

    def out_of_time():
        return next(looks) == 3

    search = Search(state.setting.board, 28, 10**9, out_of_time)
    assert search.best(position_of(state)) in steps(state.setting.board, position_of(state))
    assert next(looks) == 4
    assert search.depth >= 2
