"""The computer player of Zamboni Wars: it shoots, and keeps out of the way of shots."""

from random import Random

from engines import zamboni_wars
from engines.computer_player import never
from engines.zamboni_wars.computer_player import choose
from engines.zamboni_wars.moves import Fire
from engines.zamboni_wars.phases import Aiming, Over
from simulation.players.policies import RandomPlayer

GAME = zamboni_wars
PLAYERS = ("yellow", "blue")


def winner(strengths, seed):
    """Who wins a game of players by their strengths; None of them is by chance."""
    chance, state = Random(seed), GAME.start(PLAYERS, {})
    dice = RandomPlayer(GAME, chance)
    while not isinstance(state.phase, Over):
        strength = strengths.get(state.next)
        move = (
            dice.choose(state)
            if strength is None
            else choose(state, state.next, strength, chance, never)
        )
        state = GAME.play(state, move)
    return state.to_move


def test_it_fires_when_somebody_is_in_sight():
    state = GAME.State.parse(
        "players yellow blue; zambonis c3 E 3, e3 N 1; to_move yellow; phase fire blue; dice -;"
        f" board {GAME.start(PLAYERS, {}).board}; rulings {_rulings()}."
    )
    assert isinstance(state.phase, Aiming)
    for strength in ("beginner", "club", "strong"):
        assert choose(state, "yellow", strength, Random(1), never) == Fire("blue")


def test_it_takes_a_shot_that_ends_the_game():
    """Blue has one layer left: any shot hits. A strong player finds each of those moves."""
    board, found = GAME.start(PLAYERS, {}).board, 0
    for points in range(1, 7):
        state = GAME.State.parse(
            f"players yellow blue; zambonis c3 N 3, e4 N 1; to_move yellow; phase move {points};"
            f" dice -; board {board}; rulings {_rulings()}."
        )
        shots = [
            move
            for move in GAME.legal_moves(state)
            if isinstance(GAME.play(state, move).phase, Aiming)
        ]
        if shots:
            found += 1
            for strength in ("club", "strong"):
                assert choose(state, "yellow", strength, Random(points), never) in shots
    assert found >= 3


def test_stronger_players_win_more_often():
    by_chance = [winner({PLAYERS[seed % 2]: "beginner"}, seed) for seed in range(6)]
    assert sum(who == PLAYERS[seed % 2] for seed, who in enumerate(by_chance)) >= 5
    pairs = [
        winner({PLAYERS[seed % 2]: "club", PLAYERS[1 - seed % 2]: "beginner"}, seed)
        for seed in range(12)
    ]
    assert sum(who == PLAYERS[seed % 2] for seed, who in enumerate(pairs)) >= 7


def _rulings():
    return str(GAME.start(PLAYERS, {})).rpartition("rulings ")[2].rstrip(".")
