"""Whatever a game allows and no camera can see has a button, and what the button says is heard as
that move.
"""

from __future__ import annotations

from random import Random

import pytest

from engines import GAMES
from engines.icefloe import moves as ice
from engines.zamboni_wars import moves as zamboni

PLAYERS = {"icefloe": ("red", "yellow", "blue"), "zamboni_wars": ("yellow", "red", "blue")}
SPOKEN = {
    "icefloe": (
        ice.Vote,
        ice.Coin,
        ice.Done,
        ice.Decision,
        ice.Selection,
        ice.Torch,
        ice.Penalty,
        ice.Objection,
        ice.Finding,
    ),
    "zamboni_wars": (zamboni.Roll, zamboni.Die, zamboni.Fire, zamboni.Hold, zamboni.EarlyRoll),
}
"""Moves that leave the table as it is, whatever they say."""


def unseen(name, state, move):
    """Does a move leave the table as it is?"""
    match move:
        case ice.Movement(_, origin, target):
            return origin == target
        case ice.Removal(tile):
            return tile is None
        case zamboni.Drive(space, facing, dice):
            return (space, facing, dice) == (state.mover.space, state.mover.facing, ())
        case _:
            return isinstance(move, SPOKEN[name])


def asked_for(game, name, state):
    """Moves that are legal and not listed, being no choice of a player who plays by the rules; and
    dice before their time.
    """
    players = state.players
    if name == "zamboni_wars":
        more = [zamboni.EarlyRoll(player, 6) for player in (state.to_move, state.follower)]
    else:
        more = [
            ice.Penalty(player)
            for player in players
            if not state.objection or player == state.objection.accused
        ]
        more += [ice.Objection(by, to) for by in players for to in players]
    return [move for move in more if game.violation(state, move) is None]


@pytest.mark.slow
@pytest.mark.parametrize(
    "rulings",
    [{}, {"points": "may", "stay": "may", "cover": "on", "warp": "on"}],
    ids=["default", "other"],
)
@pytest.mark.parametrize("name", PLAYERS)
def test_every_move_that_no_camera_sees_has_a_button(name, rulings):
    game, chance, kinds = GAMES[name], Random(5), set()
    for _ in range(4):
        chosen = {one.name: rulings[one.name] for one in game.RULINGS if one.name in rulings}
        state = game.start(PLAYERS[name], chosen)
        for _ in range(250):
            legal = list(game.legal_moves(state))
            if not legal:
                break
            more = asked_for(game, name, state)
            wanted = {str(move): move for move in (*legal, *more) if unseen(name, state, move)}
            rows = game.state_document(state)["may_say"]
            heard = {
                move
                for row in rows
                for move in getattr(game.hear(state, row["said"], True), "moves", ())
            }
            assert wanted.keys() <= heard, f"{wanted.keys() - heard} in {state}"
            kinds |= {type(move).__name__ for move in wanted.values()}
            state = game.play(
                state, chance.choice(more if more and chance.random() < 0.1 else legal)
            )
    assert kinds >= {kind.__name__ for kind in SPOKEN[name]}
    assert "Movement" in kinds or name != "icefloe", "a pyramid came back to where it was"
    assert "Drive" in kinds or name != "zamboni_wars" or not rulings, "a Zamboni did"


@pytest.mark.parametrize("name", PLAYERS)
def test_what_is_waited_for_is_never_refused(name):
    """A button that is not set aside is a legal move; what is set aside may be told early, and is
    never misunderstood.
    """
    game, chance = GAMES[name], Random(6)
    state = game.start(PLAYERS[name], {})
    for _ in range(250):
        legal = list(game.legal_moves(state))
        if not legal:
            break
        for row in game.state_document(state)["may_say"]:
            verdict = game.hear(state, row["said"])
            assert row.get("aside") or type(verdict).__name__ in ("Accepted", "Noted"), (
                row,
                verdict,
            )
        state = game.play(state, chance.choice(legal))


@pytest.mark.parametrize(("name", "last"), [("icefloe", 8), ("zamboni_wars", 9)])
def test_every_ruling_is_listed(name, last):
    cited = " ".join(ruling.cites for ruling in GAMES[name].RULINGS).split()
    assert {f"{name}.{number}" for number in range(1, last + 1)} <= {*cited}
