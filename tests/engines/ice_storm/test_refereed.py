"""A stretch of Ice Storm through the whole referee: settling, judge and log."""

from __future__ import annotations

import numpy as np
import pytest

from engines import ice_storm as game
from referee.sessions.commands import Answer


def test_throws_that_count_and_throws_that_do_not(film, tables):
    table = tables.Table(np.random.default_rng(8))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    film.show(table.seen())
    table.pieces["green1"] = table.thrown("green", 60, 340)
    film.show(table.seen())
    leaning = table.leaning("black")
    film.show(table.seen(leaning))
    film.show(table.seen(leaning))
    film.show(table.seen())
    table.beside.append(table.off("black"))
    film.show(table.seen())
    film.show(table.seen())
    table.pieces["red1"] = table.thrown("red", 60, 340)
    film.show(table.seen())
    film.say(player="green", low=True)
    film.say(player="green", off=True)
    film.say(player="green", off=True)
    film.show(table.seen())
    table.pieces["black2"] = table.thrown("black", 60, 340)
    film.show(table.seen())
    assert film.referee() == [
        ("accepted", "storm.throw", "green", (f"throw green {table.pieces['green1'].place}",)),
        ("refused", "storm.throw.leaning", "black", ("throw black leaning",)),
        ("accepted", "storm.throw.wasted", "black", ("throw black off",)),
        ("accepted", "storm.throw", "red", (f"throw red {table.pieces['red1'].place}",)),
        ("accepted", "storm.throw.low", "green", ("low green",)),
        ("refused", "storm.throw.low", "green", ("throw green off",)),
        ("accepted", "storm.throw.wasted", "green", ("throw green off",)),
        ("accepted", "storm.throw", "black", (f"throw black {table.pieces['black2'].place}",)),
    ]
    state = film.session.view().state
    assert state["on_board"] == {"green": 1, "black": 1, "red": 1}
    assert state["next"] == "red"


def far_from(table, piece, colour):
    """A piece of a colour that lies at least three squares away from another."""
    while (
        np.hypot((now := table.thrown(colour, 40, 360)).x_mm - piece.x_mm, now.y_mm - piece.y_mm)
        < 150
    ):
        pass
    return now


def places(film):
    """Where the record has every piece."""
    return film.session.view().state["pieces"]


def thrown_by_all(film, table, *colours):
    """Players throw one after the other, on to the board; the table after each throw is shown."""
    film.show(table.seen())
    for number, colour in enumerate(colours):
        table.pieces[f"{colour}{1 + number // 3}"] = table.thrown(colour, 60, 340)
        film.show(table.seen())


@pytest.mark.parametrize("seed", range(6))
def test_a_throw_may_knock_pieces_any_distance_and_several_of_them(film, tables, seed):
    table = tables.Table(np.random.default_rng(seed))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    thrown_by_all(film, table, "green", "black", "red", "green")
    for name in ("green1", "red1", "black1")[: 1 + seed % 3]:
        table.pieces[name] = far_from(table, table.pieces.pop(name), name[:-1])
    table.pieces["black2"] = table.thrown("black", 60, 340)
    film.show(table.seen())
    assert [verdict[:3] for verdict in film.referee()][-1] == ("accepted", "storm.throw", "black")
    on_record = sorted((name[:-1], place) for name, place in places(film).items())
    assert on_record == sorted((piece.colour, str(piece.place)) for piece in table.pieces.values())


def test_what_a_leaning_throw_moved_stays_when_it_is_picked_up(film, tables):
    table = tables.Table(np.random.default_rng(3))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    thrown_by_all(film, table, "green", "black", "red", "green")
    table.pieces["red1"] = far_from(table, table.pieces.pop("red1"), "red")
    table.beside.append(table.off(table.pieces.pop("green1").colour))
    film.show(table.seen(table.leaning("black")))
    film.show(table.seen())
    table.pieces["black2"] = table.thrown("black", 60, 340)
    film.show(table.seen())
    moved = f"red1 {table.pieces['red1'].place}"
    *_, leans, again = film.referee()
    assert leans[:3] == ("refused", "storm.throw.leaning", "black")
    assert sorted(leans[3][0].removeprefix("throw black leaning: ").split(", ")) == [
        "green1 off",
        moved,
    ]
    assert again == (
        "accepted",
        "storm.throw",
        "black",
        (f"throw black {table.pieces['black2'].place}",),
    )
    assert places(film) == {name: str(piece.place) for name, piece in table.pieces.items()}
    assert film.session.view().state["score"]["black"] == 1, (
        "what it knocked off is black's at once"
    )


def test_a_low_hand_is_called_after_its_throw_was_ruled_and_the_throw_is_made_again(film, tables):
    table = tables.Table(np.random.default_rng(4))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    thrown_by_all(film, table, "green", "black", "red")
    table.pieces["black1"] = far_from(table, table.pieces.pop("black1"), "black")
    low = table.thrown("green", 60, 340)
    table.pieces["low"] = low
    film.show(table.seen())
    film.say(player="green", low=True)
    film.show(table.seen())
    del table.pieces["low"]
    film.show(table.seen())
    table.pieces["green2"] = table.thrown("green", 60, 340)
    film.show(table.seen())
    assert [verdict[:3] for verdict in film.referee()][-3:] == [
        ("accepted", "storm.throw", "green"),
        ("accepted", "storm.throw.low", "green"),
        ("accepted", "storm.throw", "green"),
    ]
    assert places(film) == {name: str(piece.place) for name, piece in table.pieces.items()}
    assert film.session.view().state["next"] == "black"


def test_a_low_hand_is_called_before_its_throw_was_ruled_and_the_throw_does_not_count(film, tables):
    table = tables.Table(np.random.default_rng(5))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    thrown_by_all(film, table, "green", "black", "red")
    film.say(player="green", low=True)
    table.pieces["red1"] = far_from(table, table.pieces.pop("red1"), "red")
    film.show(table.seen(table.thrown("green", 60, 340).piece()))
    film.show(table.seen())
    table.pieces["green2"] = table.thrown("green", 60, 340)
    film.show(table.seen())
    assert [verdict[:3] for verdict in film.referee()][-3:] == [
        ("accepted", "storm.throw.low", "green"),
        ("refused", "storm.throw.low", "green"),
        ("accepted", "storm.throw", "green"),
    ]
    assert places(film) == {name: str(piece.place) for name, piece in table.pieces.items()}


def test_which_of_two_pieces_was_thrown_with_a_low_hand_shows_once_one_is_picked_up(film, tables):
    """The thrown piece came to rest near where the own one lay that it knocked far away."""
    table = tables.Table(np.random.default_rng(5))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    thrown_by_all(film, table, "green", "black", "red")
    film.say(player="green", low=True)
    was = table.pieces.pop("green1")
    table.pieces["green1"] = far_from(table, was, "green")
    low = table.thrown("green", about=(was.x_mm, was.y_mm))
    film.show(table.seen(low.piece()))
    film.show(table.seen())
    film.show(table.seen())
    film.referee()
    question = film.session.view().question
    assert [choice.moves for choice in question.choices] == [
        (),
        (f"void green: green1 {table.pieces['green1'].place}",),
    ]
    film.session.command(Answer(question=question.seq, label=question.choices[1].label))
    film.show(table.seen())
    table.pieces["green2"] = table.thrown("green", 60, 340)
    film.show(table.seen())
    assert film.referee()[-1][:3] == ("accepted", "storm.throw", "green")
    assert places(film) == {name: str(piece.place) for name, piece in table.pieces.items()}


def test_the_other_of_two_pieces_is_picked_up_after_a_ruled_throw_was_void(film, tables):
    """The throw was ruled with its pieces taken for each other; the one that is on record as moved
    was thrown.
    """
    table = tables.Table(np.random.default_rng(5))
    film = film("ice_storm", ("green", "black", "red"), table.board)
    thrown_by_all(film, table, "green", "black", "red")
    was = table.pieces.pop("green1")
    table.pieces["green1"] = far_from(table, was, "green")
    low = table.thrown("green", about=(was.x_mm, was.y_mm))
    film.show(table.seen(low.piece()))
    film.say(player="green", low=True)
    film.show(table.seen())
    film.show(table.seen())
    film.referee()
    question = film.session.view().question
    taken = next(
        choice
        for choice in question.choices
        if choice.moves == (f"void green: green1 {table.pieces['green1'].place}",)
    )
    film.session.command(Answer(question=question.seq, label=taken.label))
    table.pieces["green2"] = table.thrown("green", 60, 340)
    film.show(table.seen())
    assert film.referee()[-1][:3] == ("accepted", "storm.throw", "green")
    assert places(film) == {name: str(piece.place) for name, piece in table.pieces.items()}


def test_all_that_a_low_throw_moved_is_put_back_where_the_players_chose_so():
    start = game.start(("green", "black", "red"), {"low": "undone"})
    state = play_all(
        start, "throw green c4", "throw black d5", "throw red e6: black1 off, green1 a1"
    )
    assert game.state_document(state)["score"]["red"] == 1
    undone = game.play(state, game.parse_move("low red"))
    assert (undone.pieces, undone.stacks, undone.next) == (state.last.pieces, (0, 0, 0), "red")
    again = play_all(
        game.start(("green", "black", "red"), {}),
        "throw green c4",
        "throw black d5",
        "throw red e6: black1 off, green1 a1",
        "low red",
    )
    assert [str(piece) for piece in again.pieces] == ["green1 a1"]
    assert (again.stacks, again.next) == ((0, 0, 1), "red")


def play_all(state, *moves):
    for move in moves:
        state = game.play(state, game.parse_move(move))
    return state
