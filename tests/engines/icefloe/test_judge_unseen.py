"""Pyramids that the camera does not see: people are asked what is true of them, and what they say
is held until they are seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import icefloe as game
from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Waiting
from table.pieces import load_piece_set
from table.solids import lying
from tests.support.icefloe_states import line


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
    assert (
        wrong.asks.message
        == "Not seen on the board: pyramid F of arms on c2. Which is right? You can also"
        " move it a little."
    )
    assert [(choice.moves, choice.confirms_record) for choice in wrong.asks.choices] == [
        ((), True),
        ((), False),
    ]
    message = unseen(pond, "FA")
    waiting = game.judge(state, message, message, pond.board)
    assert (type(waiting), waiting.asks) == (Waiting, None)
    assert waiting.message.endswith(
        "Not visible, but there according to the players: pyramid F of arms on c2."
    )
    assert isinstance(
        game.judge(state, unseen(pond, "FA", "AC"), message, pond.board), OutOfSync
    ), "that one is gone for another reason"
    pond.put("AS", "b1")
    assert game.judge(state, unseen(pond, "FA"), message, pond.board).moves == ("AS:a1-b1",)


def test_the_word_ends_when_the_pyramid_is_seen(table):
    state, pond = table
    message = unseen(pond, "FA")
    again = game.judge(state, pond.seen(), message, pond.board)
    assert (type(again), again.moves) == (Accepted, ())
    pond.put("FA", "b3")
    assert not isinstance(
        game.judge(state, pond.seen(), message, pond.board), Waiting | Accepted
    ), "it is seen elsewhere"


def test_the_own_pyramid_may_have_moved(table):
    state, pond = table
    own = {
        (str(move),)
        for move in game.legal_moves(state)
        if str(move).startswith("AS:a1-") and str(move) != "AS:a1-a1"
    }
    lifted = game.judge(state, unseen(pond, "AS"), pond.seen(), pond.board)
    assert isinstance(lifted, Waiting)
    assert {choice.moves for choice in lifted.asks.choices if choice.moves} == own
    assert lifted.asks.choices[0].confirms_record
    message = unseen(pond, "AS")
    assert {
        choice.moves
        for choice in game.judge(state, message, message, pond.board).asks.choices
        if choice.moves
    } == own


def test_something_unread_on_its_tile_may_be_it_and_is_gone_with_it(table):
    state, pond = table
    before, at = pond.seen(), pond.stood["FA"].piece(np.zeros(2)).base_mm
    del pond.stood["FA"]
    unread = pond.seen(unread_mm=(at,))
    hidden = game.judge(state, unread, before, pond.board)
    assert isinstance(hidden, CannotSee)
    assert hidden.asks.choices[0].confirms_record
    assert isinstance(game.judge(state, unread, unread, pond.board), Waiting)
    assert isinstance(game.judge(state, pond.seen(), unread, pond.board), OutOfSync), (
        "what lay there is not there any more"
    )


def test_nobody_is_asked_where_most_pyramids_are_not_there(table):
    state, pond = table
    assert (
        game.judge(state, unseen(pond, *list(pond.stood)[:5]), pond.seen(), pond.board).asks is None
    )


def test_one_that_is_not_seen_when_a_tile_is_taken_off_did_not_go_with_it(pond):
    state, table = pond(line(phase="remove", mover="-", tile="Ma"))
    before = table.seen()
    table.sink("c2")
    wrong = game.judge(state, unseen(table, "AC"), before, table.board)
    assert isinstance(wrong, OutOfSync), "not an unlawful move of AC on to the tile that went"
    assert "pyramid A of crowns" in wrong.asks.message
    assert "pyramid F of arms" not in wrong.asks.message
    assert [choice.moves for choice in wrong.asks.choices if choice.moves] == [("remove Ma",)]


def test_a_pyramid_that_seems_to_be_the_one_that_went_with_its_tile_is_asked_about(pond):
    """A tile goes with its pyramid, and another one of its suit is read, less than surely, as the
    one that went.
    """
    state, table = pond(
        line(
            phase="remove",
            mover="-",
            tile="Ma",
            board="a1=A4+AS a2=A2+FC a3=Mn+AC b1=A5+AM+CM b2=A3+AA c2=Ma+CC",
        )
    )
    before = table.seen()
    table.sink("c2")
    there = table.stood["FC"]
    table.stood["FC"] = replace(
        there, read_as="C", size_probability=0.962, off_mm=(there.off_mm[0] + 5, there.off_mm[1])
    )
    wrong = game.judge(state, table.seen(), before, table.board)
    assert isinstance(wrong, OutOfSync)
    assert (
        wrong.asks.message
        == "The camera is not sure which pyramid stands on a2. Which is right? You can also turn"
        " it a little."
    )
    assert [choice.moves for choice in wrong.asks.choices] == [("remove Ma",), ()]
    table.stood["FC"] = replace(table.stood["FC"], size_probability=1.0)
    assert game.judge(state, table.seen(), before, table.board).asks is None, (
        "what is sure is not asked about"
    )


@pytest.fixture
def set_up(tables):
    """A pond on which all pyramids were placed at once, and its state, which knows of none yet."""
    state = game.set_up(("red", "yellow", "black", "blue"), {}, tables.BOARD)
    table = tables.Table(np.random.default_rng(5), state)
    moves, after = [], state
    while after.phase == "place":
        moves.append(next(iter(game.legal_moves(after))))
        after = game.play(after, moves[-1])
        table.put(moves[-1].pyramid, moves[-1].place)
    return state, table, tuple(map(str, moves))


def test_where_an_unseen_pyramid_was_placed_is_asked(set_up):
    state, table, moves = set_up
    assert game.judge(state, table.seen(), None, table.board).moves == moves
    waiting = game.judge(state, unseen(table, "CM"), None, table.board)
    assert isinstance(waiting, Waiting)
    assert (
        waiting.asks.message
        == "Not seen on the board: pyramid C of moons. Which is right? You can also move it"
        " a little."
    )
    assert [choice.moves for choice in waiting.asks.choices] == [moves, ()]
    two = game.judge(state, unseen(table, "CM", "BS"), None, table.board).asks
    assert moves in [choice.moves for choice in two.choices]
    assert len(two.choices) == 3
    assert (
        game.judge(state, unseen(table, "CM", "BS", "DA", "EC"), None, table.board).asks is None
    ), "there are too many ways"


def test_tiles_that_are_not_seen_may_be_there(set_up):
    state, table, moves = set_up
    table.tiles -= {"a4"}
    waiting = game.judge(state, table.seen(), None, table.board)
    assert waiting.message.startswith("Missing: ")
    assert [choice.moves for choice in waiting.asks.choices] == [moves, ()]
    assert game.judge(state, unseen(table, "CM"), None, table.board).asks is None, "more is amiss"


def test_two_acts_that_nobody_saw_in_between_are_asked_about(table):
    state, pond = table
    before = pond.seen()
    first = next(
        move
        for move in game.legal_moves(state)
        if str(move).startswith("AS:") and move.origin != move.target
    )
    after = game.play(state, first)
    then = next(
        move
        for move in game.legal_moves(after)
        if getattr(move, "pyramid", "AS") != "AS" and move.origin != move.target
    )
    for move in (first, then):
        pond.put(move.pyramid, move.target)
    asked = game.judge(state, pond.seen(), before, pond.board)
    assert isinstance(asked, Ambiguous)
    assert (str(first), str(then)) in [choice.moves for choice in asked.choices]
    assert "No, something else: fix the table" in [
        choice.label for choice in asked.choices if not choice.moves
    ]


def test_a_pyramid_that_fell_over_onto_another_tile_has_not_moved(table):
    state, pond = table
    before = pond.seen()
    piece = next(piece for piece in before.pieces if (piece.colour, piece.size) == ("blue", "F"))
    there = piece.base_mm + pond.board.cell_mm
    solid = lying(load_piece_set("piecepack")["F"], *there, 90.0)
    fallen = replace(piece, pose="lying", base_mm=there, heading_deg=90.0, solid=solid)
    seen = replace(before, pieces=tuple(fallen if one is piece else one for one in before.pieces))
    waiting = game.judge(state, seen, before, pond.board)
    assert (type(waiting), waiting.code) == (Waiting, "icefloe.fallen")
    assert waiting.message.startswith(
        "Pyramid F of arms has fallen over: stand it upright where it belongs."
    )


def test_who_moves_first_in_the_next_round_is_asked_about_a_pyramid_that_is_not_seen(pond):
    """The torch is handed on without a word: whoever moves then may have moved what the camera does
    not see.
    """
    state, table = pond(line("torch", "-"))
    mover = state.after(state.torch)
    name = next(name for name in state.board.pyramids if state.owner(name) == mover)
    message = unseen(table, name)
    waiting = game.judge(state, message, message, table.board)
    assert isinstance(waiting, Waiting)
    assert waiting.asks is not None
    assert any(
        choice.moves and choice.moves[-1].startswith(f"{name}:") for choice in waiting.asks.choices
    )


def test_a_pyramid_that_is_none_of_those_left_to_place_is_not_called_one_of_them(pond):
    state = game.start(("black", "blue", "red"), {})
    while len(state.board.pyramids) < len(state.placing_order) - 1:
        state = game.play(state, next(iter(game.legal_moves(state))))
    _, table = pond(str(state))
    table.put("AS", state.board.floes[0].place)
    extra = table.stood["AS"].piece(np.zeros(2))
    table.put("AS", state.board.floe_under("AS").place)
    verdict = game.judge(state, table.seen(extra), None, table.board)
    assert isinstance(verdict, Waiting), verdict.message
    assert "a red A on a2, but only pyramid F of suns is left to stand there" in verdict.message
