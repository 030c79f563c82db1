"""Whole games at random: what a move may change, and nothing else."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.zamboni_wars import RULINGS, legal_moves, outcome, play, start
from engines.zamboni_wars.moves import Drive, Hold, Take

PLAYERS = st.sampled_from(
    ["yellow blue", "green red", "red blue green", "yellow red blue green"]
).map(str.split)
VALUES = st.tuples(*(st.sampled_from(ruling.values) for ruling in RULINGS))


def layers(state):
    return {player: nest.layers for player, nest in state.remaining_zambonis.items()}


def check(before, move, after):
    """What a move may change, and nothing else."""
    assert len({nest.space for nest in after.remaining_zambonis.values()} | set(after.dice)) == len(
        after.remaining_zambonis
    ) + len(after.dice)
    assert after.to_move in after.remaining_zambonis
    assert (outcome(after) is None) == (len(after.remaining_zambonis) > 1)
    lost = sum(layers(before).values()) - sum(layers(after).values())
    if isinstance(move, Drive):
        assert (
            after.remaining_zambonis[before.to_move].space,
            after.remaining_zambonis[before.to_move].facing,
        ) == (move.space, move.facing)
        assert len(after.dice) == len(before.dice)
    else:
        assert lost in (0, 1)
        assert lost == 0 or layers(before).items() - layers(after).items() == {
            (before.phase.target, layers(before)[before.phase.target])
        }
        assert all(
            before.remaining_zambonis[player].space == nest.space
            for player, nest in after.remaining_zambonis.items()
        )
    assert lost == isinstance(move, Take)
    if isinstance(move, Take) and before.remaining_zambonis[move.colour].layers == 1:
        assert move.colour not in after.remaining_zambonis


@settings(max_examples=25)
@given(st.integers(0), PLAYERS, VALUES)
def test_what_a_move_may_change(seed, players, values):
    """Whole games, shot after shot, to the last Zamboni."""
    state, dice = (
        start(players, {ruling.name: value for ruling, value in zip(RULINGS, values, strict=True)}),
        Random(seed),
    )
    for _ in range(5000):
        legal = list(legal_moves(state))
        aimed = [
            move
            for move in legal
            if isinstance(move, Drive) and str(play(state, move).phase).startswith("fire")
        ]
        move = dice.choice(aimed or [move for move in legal if not isinstance(move, Hold)])
        before, state = state, play(state, move)
        check(before, move, state)
        if outcome(state):
            break
    assert str(outcome(state)).startswith(f"{next(iter(state.remaining_zambonis))} won")
