"""A throw that lies on the board and that the camera never sees: people say where, and play goes
on.
"""

from __future__ import annotations

import pytest

from engines import ice_storm as game
from engines.verdict import Accepted, Ambiguous, Refused, Waiting
from table.errors import InputError
from tests.support.ice_storm import PLAYERS, thrown


def test_one_button_and_one_answer_put_an_unseen_throw_on_record():
    state = game.start(PLAYERS, {})
    (button,) = [one for one in game.state_document(state)["may_say"] if "on" in one["said"]]
    assert button["label"] == "Green's throw is on the board, but the camera cannot see it"
    asked = game.hear(state, button["said"])
    assert isinstance(asked, Ambiguous)
    *squares, several = asked.choices
    assert len(squares) == 64
    assert all(choice.confirms_record for choice in squares)
    assert several.moves == ()
    assert squares[-1] == ("Within h8", ("throw green h8",), True)
    for choice in squares:
        after = game.play(state, game.parse_move(*choice.moves))
        assert after.next == "black"


@pytest.mark.parametrize("lies", ["d4", "c4-c5>c5", "c4-c5^"])
def test_how_it_lies_may_be_said_at_once(lies):
    state = game.start(PLAYERS, {})
    heard = game.hear(state, {"player": "green", "on": lies})
    assert isinstance(heard, Accepted)
    assert heard.moves == (f"throw green {lies}",)
    assert "The camera does not see it. Black throws next." in heard.message
    assert isinstance(game.hear(state, {"player": "black", "on": lies}), Refused)


@pytest.mark.parametrize("lies", ["z9", "", "c4-e5>c4", "off"])
def test_what_is_no_place_is_not_understood(lies):
    with pytest.raises(InputError, match="input: on: expected"):
        game.hear(game.start(PLAYERS, {}), {"player": "green", "on": lies})


def test_play_goes_on_beside_a_first_throw_that_is_never_seen(table, lie, play):
    """Nobody is told to put it right, and nobody is asked whether the next throw knocked it off."""
    state = game.play(game.start(PLAYERS, {}), game.parse_move("throw green d4"))
    waits = play(state)
    assert isinstance(waits, Waiting)
    assert waits.as_recorded
    assert (
        waits.message
        == "The camera cannot see green1; on record it lies within d4. Black throws next."
    )
    table.pieces["black1"] = lie("black", 320, 320)
    assert play(state).moves == ("throw black g7",)
    state, before = game.play(state, game.parse_move("throw black g7")), table.seen()
    table.pieces["red1"] = lie("red", 60, 60)
    assert play(state, before).moves == ("throw red b2",)


def test_a_throw_is_not_said_to_lie_there_while_players_fire():
    state = game.State.parse(thrown("green1 d2-d3>d3, black1 f6, red1 d8", 15))
    assert all("on" not in one["said"] for one in game.state_document(state)["may_say"])
    assert isinstance(game.hear(state, {"player": "green", "on": True}), Refused)
