"""Ships that the camera does not see: people are asked what is true of them, and what they say is
held until they are seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines import icebreaker as game
from engines.icebreaker.board import label
from engines.verdict import Accepted, Ambiguous, CannotSee, OutOfSync, Waiting
from table.boards import Hex

BOARD = Hex(size=5, cell_mm=32.0)


@pytest.fixture
def state():
    """Red is to move."""
    return game.start(("red", "green"), {})


@pytest.fixture
def table(tables, state):
    return tables.Table(state, np.random.default_rng(3))


def unseen(table, *cells):
    """The table as it is seen when the camera does not see the ships of these cells."""
    hidden = table.copy()
    for cell in cells:
        del hidden.ships[cell]
    return hidden.seen()


def cells_of(table, player):
    return [cell for cell, (owner, _) in table.ships.items() if owner == player]


def judge(state, table, seen, before=None):
    return game.judge(state, seen, before or table.seen(), BOARD)


def test_what_people_say_of_another_players_ship_is_held(state, table):
    lost = cells_of(table, "green")[0]
    asked = judge(state, table, unseen(table, lost)).asks
    assert (
        asked.message
        == f"Not seen on the board: green's ship from {lost}. Which is right? You can also move it"
        " a little."
    )
    assert [(choice.moves, choice.confirms_record) for choice in asked.choices] == [
        ((), True),
        ((), False),
    ]
    message = unseen(table, lost)
    waiting = judge(state, table, message, message)
    assert (type(waiting), waiting.asks) == (Waiting, None)
    assert waiting.message.endswith(
        f"Not visible, but there according to the players: green's ship from {lost}."
    )
    move = next(iter(game.legal_moves(state)))
    table.move(*str(move).split("-"))
    assert judge(state, table, unseen(table, lost), message).moves == (str(move),)
    other = cells_of(table, "green")[1]
    assert isinstance(judge(state, table, unseen(table, lost, other), message), Waiting), (
        "that one is gone for another reason"
    )


def test_a_ship_that_is_read_to_lie_and_stands_is_held_at_peoples_word(state, table):
    lost = cells_of(table, "green")[0]
    lies = table.fallen(lost)
    fallen = judge(state, table, lies)
    assert fallen.message == "Stand the green ship upright where it belongs."
    assert [(choice.moves, choice.confirms_record) for choice in fallen.asks.choices] == [
        ((), True),
        ((), False),
    ]
    move = next(iter(game.legal_moves(state)))
    table.move(*str(move).split("-"))
    assert judge(state, table, table.fallen(lost), lies).moves == (str(move),), (
        "they said that it stands there"
    )


def test_the_word_ends_when_the_ship_is_seen(state, table):
    lost = cells_of(table, "green")[0]
    message = unseen(table, lost)
    again = judge(state, table, table.seen(), message)
    assert (type(again), again.moves) == (Accepted, ())
    assert judge(state, table, unseen(table, lost), table.seen()).asks, (
        "by the table on which it was seen again it is gone"
    )


def test_the_own_ship_may_have_moved(state, table):
    """Nothing of it is seen but, where it took one, that an iceberg is gone."""
    move = next(iter(game.legal_moves(state)))
    here, there = str(move).split("-")
    own = {(str(legal),) for legal in game.legal_moves(state) if str(legal).startswith(here)}
    asked = judge(state, table, unseen(table, here)).asks
    legal = {choice.moves for choice in asked.choices if choice.moves}
    assert legal == {way for way in own if way[0].split("-")[1] not in table.ice}
    message = unseen(table, here)
    assert {
        choice.moves
        for choice in judge(state, table, message, message).asks.choices
        if choice.moves
    } == legal
    del table.ice[there]
    assert (str(move),) in [
        choice.moves for choice in judge(state, table, unseen(table, here), message).asks.choices
    ]


def test_something_unread_in_its_cell_may_be_it(state, table):
    lost = cells_of(table, "green")[0]
    hidden = table.copy()
    _, place = hidden.ships.pop(lost)
    verdict = judge(state, table, hidden.seen(unread_mm=(place,)))
    assert isinstance(verdict, CannotSee)
    assert verdict.asks.choices[0].confirms_record


def test_a_move_is_offered_though_its_ship_is_badly_seen_and_another_is_not_seen(state, table):
    move, lost = next(iter(game.legal_moves(state))), cells_of(table, "green")[0]
    before = table.seen()
    table.move(*str(move).split("-"))
    seen = unseen(table, lost)
    seen = replace(
        seen, pieces=tuple(replace(piece, pose_probability=0.9) for piece in seen.pieces)
    )
    verdict = judge(state, table, seen, before)
    assert isinstance(verdict, CannotSee)
    assert (str(move),) in [choice.moves for choice in verdict.asks.choices]
    asked = judge(state, table, replace(seen, unread_mm=(table.ships[lost][1],)), before)
    assert isinstance(asked, Ambiguous), "something stands where the other one stood"
    assert [choice.moves for choice in asked.choices] == [(str(move),), ()]


def test_something_unread_where_an_unseen_ship_may_have_gone_is_asked_about_at_once(state, table):
    move = next(move for move in game.legal_moves(state))
    before = table.seen()
    table.move(*str(move).split("-"))
    there = str(move).split("-")[1]
    asked = judge(
        state, table, replace(unseen(table, there), unread_mm=(table.ships[there][1],)), before
    )
    assert isinstance(asked, Ambiguous)
    assert next(choice.moves for choice in asked.choices if choice.moves) == (str(move),)


def test_nobody_is_asked_where_most_ships_are_not_there(state, table):
    assert game.judge(state, unseen(table, *list(table.ships)[:4]), None, BOARD).asks is None
    assert (
        game.judge(state, unseen(table, *list(table.ships)[:1]), None, BOARD)
        .asks.choices[0]
        .confirms_record
    )


def test_a_board_that_is_set_up_but_for_unseen_icebergs_is_asked_about(state, table):
    """What people say of them is held: the first move is ruled on without them."""
    pale = table.copy()
    lost = sorted(pale.ice)[20:22]
    for cell in lost:
        del pale.ice[cell]
    asked = game.judge(state, pale.seen(), None, BOARD).asks
    assert (
        asked.message
        == f"Not seen on the board: the icebergs on {' and '.join(lost)}. Which is right? You can"
        " also move it a little."
    )
    assert [(choice.moves, choice.confirms_record) for choice in asked.choices] == [
        ((), True),
        ((), False),
    ]
    message = pale.seen()
    assert type(game.judge(state, pale.seen(), message, BOARD)) is Waiting
    move = next(move for move in game.legal_moves(state) if str(move).split("-")[1] not in lost)
    pale.move(*str(move).split("-"))
    assert game.judge(state, pale.seen(), message, BOARD).moves == (str(move),)


def test_nobody_is_asked_about_icebergs_while_they_are_laid_out(state, table):
    half = table.copy()
    for cell in sorted(half.ice)[:20]:
        del half.ice[cell]
    assert game.judge(state, half.seen(), None, BOARD).asks is None


def test_a_ship_that_is_hardly_read_beside_an_iceberg_that_is_gone_is_asked_about(state, table):
    """It may stand where it stood, or where the iceberg was: that it went is not seen."""
    here = cells_of(table, str(state.next))[0]
    move = next(move for move in game.legal_moves(state) if label(move.from_cell) == here)
    before, rest = table.seen(), unseen(table, here)
    hardly = min(before.pieces, key=lambda piece: np.hypot(*(piece.base_mm - table.middles[here])))
    hardly = replace(hardly, covariance=np.diag([15.0, 15.0, 20.0]) ** 2)
    del table.ice[label(move.to_cell)]
    taken = replace(rest, pieces=(*rest.pieces, hardly), counters=table.seen().counters)
    asked = judge(state, table, taken, before)
    assert isinstance(asked, Ambiguous), asked
    assert asked.message.startswith(
        f"Has {state.next} moved? A ship may still be on its old cell, or on one that it may move"
        " to."
    )
    assert [choice.moves for choice in asked.choices] == [(str(move),), ()]


def test_a_counter_that_may_be_none_is_held_against_nobody(state, table):
    """Where none belongs it may be a pale cell, and where one belongs it is taken to be there."""
    before = table.seen()
    move = next(iter(game.legal_moves(state)))
    here, there = str(move).split("-")
    table.move(here, there)
    pale = replace(
        table.seen().counters[0],
        x_mm=float(table.middles[here][0]),
        y_mm=float(table.middles[here][1]),
    )
    belongs = table.seen()
    for sure, moves in ((False, (str(move),)), (True, ())):
        seen = replace(belongs, counters=(*belongs.counters, replace(pale, sure=sure)))
        verdict = judge(state, table, seen, before)
        assert getattr(verdict, "moves", ()) == moves, verdict
    doubted = replace(belongs, counters=tuple(replace(one, sure=False) for one in belongs.counters))
    assert judge(state, table, doubted, before).moves == (str(move),)


def test_of_icebergs_that_are_not_seen_people_say_that_they_are_there(state, table):
    """One that nobody can take now; the table is out of step until they say so, and then the game
    goes on.
    """
    hidden = table.copy()
    del hidden.ice["E5"]
    wrong = judge(state, table, hidden.seen())
    assert isinstance(wrong, OutOfSync)
    assert (
        wrong.asks.message
        == "Not seen on the board: the iceberg on E5. Which is right? You can also move it a"
        " little."
    )
    assert [(choice.moves, choice.confirms_record) for choice in wrong.asks.choices] == [
        ((), True),
        ((), False),
    ]
    message = hidden.seen()
    assert isinstance(judge(state, table, hidden.seen(), message), Waiting)
    move = next(iter(game.legal_moves(state)))
    hidden.move(*str(move).split("-"))
    assert judge(state, table, hidden.seen(), message).moves == (str(move),)
    reach = {str(move).split("-")[1] for move in game.legal_moves(state)}
    near = table.copy()
    del near.ice[next(cell for cell in near.ice if cell in reach)]
    waiting = judge(state, table, near.seen())
    assert isinstance(waiting, Waiting)
    assert waiting.asks is not None, "or somebody has begun to take it"


def test_a_game_that_began_before_anybody_looked_goes_on(state, table):
    first = next(iter(game.legal_moves(state)))
    table.move(*str(first).split("-"))
    waiting = game.judge(state, table.seen(), None, BOARD)
    assert isinstance(waiting, Waiting)
    assert waiting.asks.message == "Was the board set up, and has play begun?"
    assert [choice.moves for choice in waiting.asks.choices] == [(str(first),), ()]
    then = next(iter(game.legal_moves(game.play(state, first))))
    table.move(*str(then).split("-"))
    both = game.judge(state, table.seen(), None, BOARD)
    assert (str(first), str(then)) in [choice.moves for choice in both.asks.choices]
