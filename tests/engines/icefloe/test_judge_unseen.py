"""Pyramids that the camera does not see: people are asked what is true of them, and what they say is held until they are seen."""

from __future__ import annotations

import numpy as np
import pytest

from engines import icefloe as game
from engines.verdict import Accepted, CannotSee, OutOfSync, Waiting
from tests.engines.icefloe.test_judge_doubts import line


@pytest.fixture
def table(pond):
    """Red is to move, whose pyramids are BS and AS on a2 and a1."""
    return pond(line())


def unseen(table, *names):
    """The pond as it is seen when the camera does not see these pyramids."""
    there = dict(table.stood)
    for name in names:
        del table.stood[name]
    seen = table.seen()
    table.stood.update(there)
    return seen


def test_what_people_say_of_another_players_pyramid_is_held(table):
    state, pond = table
    wrong = game.judge(state, unseen(pond, "FA"), pond.seen(), pond.board)
    assert isinstance(wrong, OutOfSync)
    assert wrong.asks.said == "Not seen on the pond: FA on c2. What is true? You may also move it a little."
    assert [(choice.moves, choice.holds) for choice in wrong.asks.choices] == [((), True), ((), False)]
    said = unseen(pond, "FA")
    waiting = game.judge(state, said, said, pond.board)
    assert (type(waiting), waiting.asks) == (Waiting, None)
    assert waiting.said.endswith("Not seen, and there on the players' word: FA on c2.")
    assert isinstance(game.judge(state, unseen(pond, "FA", "AC"), said, pond.board), OutOfSync), "that one is gone for another reason"
    pond.put("AS", "b1")
    assert game.judge(state, unseen(pond, "FA"), said, pond.board).moves == ("AS:a1-b1",)


def test_the_word_ends_when_the_pyramid_is_seen(table):
    state, pond = table
    said = unseen(pond, "FA")
    again = game.judge(state, pond.seen(), said, pond.board)
    assert (type(again), again.moves) == (Accepted, ())
    pond.put("FA", "b3")
    assert not isinstance(game.judge(state, pond.seen(), said, pond.board), Waiting | Accepted), "it is seen elsewhere"


def test_the_own_pyramid_may_have_moved(table):
    state, pond = table
    own = {(str(move),) for move in game.legal_moves(state) if str(move).startswith("AS:a1-") and str(move) != "AS:a1-a1"}
    lifted = game.judge(state, unseen(pond, "AS"), pond.seen(), pond.board)
    assert isinstance(lifted, Waiting)
    assert {choice.moves for choice in lifted.asks.choices if choice.moves} == own
    assert lifted.asks.choices[0].holds
    said = unseen(pond, "AS")
    assert {choice.moves for choice in game.judge(state, said, said, pond.board).asks.choices if choice.moves} == own


def test_something_unread_on_its_tile_may_be_it_and_is_gone_with_it(table):
    state, pond = table
    before, at = pond.seen(), pond.stood["FA"].piece(np.zeros(2)).base_mm
    del pond.stood["FA"]
    unread = pond.seen(unread_mm=(at,))
    hidden = game.judge(state, unread, before, pond.board)
    assert isinstance(hidden, CannotSee)
    assert hidden.asks.choices[0].holds
    assert isinstance(game.judge(state, unread, unread, pond.board), Waiting)
    assert isinstance(game.judge(state, pond.seen(), unread, pond.board), OutOfSync), "what lay there is not there any more"


def test_nobody_is_asked_where_most_pyramids_are_not_there(table):
    state, pond = table
    assert game.judge(state, unseen(pond, *list(pond.stood)[:5]), pond.seen(), pond.board).asks is None


def test_one_that_is_not_seen_when_a_tile_is_taken_off_did_not_go_with_it(pond):
    state, table = pond(line(phase="remove", mover="-", tile="Ma"))
    before = table.seen()
    table.sink("c2")
    wrong = game.judge(state, unseen(table, "AC"), before, table.board)
    assert isinstance(wrong, OutOfSync), "not an unlawful move of AC on to the tile that went"
    assert "AC" in wrong.asks.said
    assert "FA" not in wrong.asks.said
    assert [choice.moves for choice in wrong.asks.choices if choice.moves] == [("remove Ma",)]
