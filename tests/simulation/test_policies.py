"""Players that need nothing of a game but its rules."""

from random import Random

from engines import GAMES
from simulation.players.policies import GreedyPlayer


def test_greedy_takes_what_it_can():
    """Only E9 has ice beside it; chance would mostly move another ship."""
    game = GAMES["icebreaker"]
    state = game.State.parse(
        "players red black; scores 27 26; turn red; board"
        " 1*2../.221.1/......./......../........./......../......./....../*....; rulings size=5"
        " closest=any stuck=pass end=majority."
    )
    assert {str(GreedyPlayer(game, Random(seed)).choose(state)) for seed in range(20)} == {"E9-F9"}
