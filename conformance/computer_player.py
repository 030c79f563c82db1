"""Computer players make legal moves in any position, at any strength and time limit.

They explain each in a sentence, and are deterministic.  Games without a computer player are
skipped.
"""

import os
from itertools import count, islice
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import GAMES, facts_of
from engines.computer_player import STRENGTHS
from engines.verdict import Accepted, Noted
from simulation.players.policies import RandomPlayer, playout
from table.messages import Message

MOVES_BEFORE = (0, 1, 2, 3, 5, 10, 20, 40, 60, 80, 120, 160)
"""Number of random moves before a computer player is asked."""
few = settings(
    max_examples=int(os.environ.get("RINKSIDE_EXAMPLES", "20")),
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
situations = st.tuples(st.integers(0, 2**32), st.sampled_from(MOVES_BEFORE), st.integers(0, 3))


def soon():
    """A clock by which the time is over at the second reading."""
    looks = count()
    return lambda: next(looks) > 0


def situation(name, starts, drawn):
    """A state of a random game, and the player who is asked."""
    seed, moves, start = drawn
    game, state = GAMES[name], starts[start % len(starts)]
    player = RandomPlayer(game, Random(seed))
    for _, after in islice(playout(game, state, player.choose), moves):
        state = after
    return state, facts_of(name).computer_player.asked(state)


@few
@given(drawn=situations)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_a_computer_player_makes_a_legal_move_and_the_same_one_again(name, starts, strength, drawn):
    game, computer = GAMES[name], facts_of(name).computer_player
    state, asked = situation(name, starts, drawn)
    assert len(set(asked)) == len(asked)
    assert {*asked} <= {*state.players}
    if game.outcome(state) is not None:
        assert asked == ()
    for player in asked:
        move = computer.choose(state, player, strength, Random(7), soon())
        assert game.violation(state, move) is None, f"{move} in {state}"
        assert game.parse_move(str(move)) == move
        assert computer.choose(state, player, strength, Random(7), soon()) == move
        said = computer.wants(state, move)
        assert isinstance(said, Message)
        assert said.endswith(".")
        assert "\n" not in said
        heard = computer.announced(state, move)
        if heard is not None:
            verdict = game.hear(state, heard)
            assert isinstance(verdict, Accepted | Noted)
            assert verdict.moves[:1] == (str(move),)
            assert heard["player"] == player
