"""Who has resigned is waited for by nobody: turns, throws, votes, dice and the torch pass over
them, in every game, whenever it happens.
"""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines import GAMES
from engines.first_player import RolledFirst
from engines.zamboni_wars.board import USUAL
from simulation.players.policies import RandomPlayer
from table.errors import InputError

PLAYED = {
    "ice_boule": (
        ("red", "blue", "yellow", "green"),
        ({}, {"sizes": "declared"}, {"repeat": "next"}),
    ),
    "ice_storm": (
        ("red", "blue", "yellow", "green"),
        ({}, {"attack": "may"}, {"starter": "right"}),
    ),
    "icefloe": (
        ("red", "blue", "yellow", "black"),
        ({}, {"scoring": "always"}, {"void": "again"}, {"ballot": "all"}),
    ),
    "zamboni_wars": (
        ("yellow", "red", "blue", "green"),
        ({}, {"cover": "on"}, {"cover": "on", "roll_off": "once"}),
    ),
}
LONGEST = 4000
several = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


def start(name, chance):
    players, rulings = PLAYED[name]
    if name == "zamboni_wars":
        players = tuple(USUAL.colours.values())
    return GAMES[name].start(players, chance.choice(rulings))


def waited_for(game, state):
    """All that a state, as people are told it, waits for: who is next, who may say something, what
    is waited for in the sentence.
    """
    document = game.state_document(state)
    message = (
        [row["said"]["player"] for row in document["may_say"] if not row.get("anybody")]
        if "may_say" in document
        else []
    )
    named = [document.get(key) for key in ("next", "to_move", "torch", "attacker", "to_throw")]
    return {*message, *named} - {None}


def check(game, state):
    assert game.State.parse(str(state)) == state, state
    if game.outcome(state) is None:
        assert not waited_for(game, state) & {*state.resigned}, state
        assert len(game.legal_moves(state)), state
    else:
        winners = getattr(game.outcome(state), "winners", None) or (game.outcome(state).winner,)
        assert not {*winners} & {*state.resigned}, state
        assert winners


@pytest.mark.parametrize("name", PLAYED)
@several
@given(st.integers(0, 2**32))
def test_nobody_waits_for_who_resigned_and_the_game_comes_to_an_end(name, seed):
    game, chance = GAMES[name], Random(seed)
    state, player = start(name, chance), RandomPlayer(GAMES[name], chance)
    leaves_at = sorted(
        chance.choice((0, 1, 3, 8, 20, 30, 60)) + chance.randrange(10)
        for _ in range(chance.choice((1, 2)))
    )
    for number in range(LONGEST):
        while leaves_at and number >= leaves_at[0] and game.outcome(state) is None:
            leaves_at.pop(0)
            leaver = chance.choice([one for one in state.players if one not in state.resigned])
            try:
                state = game.resign(state, leaver)
            except InputError:
                assert name == "ice_boule", (
                    "only there an end may hang on what is too close to call"
                )
            check(game, state)
        if game.outcome(state) is not None:
            return
        state = game.play(state, player.choose(state))
        check(game, state)
    pytest.fail(f"still running: {state}")


@pytest.mark.parametrize("name", PLAYED)
@several
@given(st.integers(0, 2**32))
def test_nobody_waits_for_a_roll_of_who_resigned(name, seed):
    game, chance = RolledFirst(GAMES[name]), Random(seed)
    players, _ = PLAYED[name]
    if name == "zamboni_wars":
        players = start(name, chance).players
    state = game.start(players, {})
    leaves_at = sorted(chance.randrange(6) for _ in range(2))
    for number in range(200):
        if leaves_at and number >= leaves_at[0]:
            leaves_at.pop(0)
            state = game.resign(
                state, chance.choice([one for one in state.players if one not in state.resigned])
            )
        assert game.State.parse(str(state)) == state
        if not str(state).startswith("who_begins") and not leaves_at:
            assert not waited_for(game, state) & {*state.resigned}
            return
        assert not str(state).startswith("who_begins") or not {*state.due} & {*state.resigned}
        state = game.play(state, chance.choice(list(game.legal_moves(state))))
    pytest.fail("nobody begins")
