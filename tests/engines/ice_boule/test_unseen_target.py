"""A target that the camera never sees: people say that it stands, and how every throw came out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.ice_boule import hear, judge, parse_move, play, start, state_document
from engines.verdict import Accepted, Ambiguous, Refused, Waiting
from tests.support.ice_boule import Game, Tables

LEFT, BACK = "It left the play area: the end is void", "It is still in play, or we put it back"


def begun():
    """An end in which nobody but the players sees the target."""
    game = Game()
    game.move("target green")
    return game


def test_one_button_and_one_answer_begin_an_end_whose_target_is_not_seen():
    state = start(("blue", "yellow"), {})
    (button,) = [one for one in state_document(state)["may_say"] if "target" in one["said"]]
    assert button["label"] == "the target stands there, but the camera cannot see it"
    asked = hear(state, button["said"])
    assert isinstance(asked, Ambiguous)
    assert all(choice.confirms_record for choice in asked.choices[:-1])
    colours = [parse_move(*choice.moves).colour for choice in asked.choices[:-1]]
    assert "green" in colours
    assert not {"blue", "yellow"} & {*colours}, "players' colours are no target's"
    assert asked.choices[-1] == ("It is not standing yet", (), False)


def test_its_colour_may_be_said_at_once():
    state = start(("blue", "yellow"), {})
    heard = hear(state, {"player": "blue", "target": "green"})
    assert isinstance(heard, Accepted)
    assert heard.moves == ("target green",)
    assert isinstance(hear(state, {"player": "blue", "target": "yellow"}), Refused)
    assert isinstance(hear(state, {"player": "yellow", "target": True}), Waiting), (
        "the starting player throws it"
    )
    assert (
        hear(play(state, parse_move("target green")), {"player": "blue", "target": "green"}).code
        == "boule.target.time"
    )
    assert (
        hear(play(state, parse_move("target green")), {"player": "blue", "target": True}).code
        == "boule.target.time"
    )


def test_after_a_restart_it_is_said_that_the_target_is_not_seen():
    waits = judge(begun().state, Tables.seen(), None)
    assert isinstance(waits, Waiting)
    assert waits.message.startswith("The green target cannot be seen in the play area. ")


@pytest.mark.parametrize("pieces", [1, 2])
def test_throws_beside_a_target_that_is_not_seen_are_not_taken_for_a_table_to_be_cleared(pieces):
    lying = [Tables.piece("blue", 100.0 * k, 40.0) for k in range(pieces)]
    waits = judge(start(("blue", "yellow"), {}), Tables.seen(*lying), None)
    assert isinstance(waits, Waiting)
    assert "A green target stands there, but the camera cannot see it" in [
        choice.label for choice in waits.asks.choices
    ]
    assert waits.asks.withdrawn_if_table_changes


def test_the_last_target_is_the_first_choice():
    game = Game()
    game.see(Tables.target())
    game.move("void")
    waits = game.see(Tables.piece("blue", 100.0, 40.0))
    assert waits.asks.choices[0].moves == ("target green",)


def test_nobody_is_asked_about_it_before_something_is_thrown():
    waits = begun().see()
    assert waits.message == "The green target cannot be seen in the play area. Blue throws next."
    assert waits.as_recorded
    assert waits.asks is None


def test_people_say_how_a_throw_came_out():
    game, lying = begun(), []
    for piece, answer, pieces in (
        (Tables.piece("blue", 100, 100), "The target is still in play. Blue is nearest", "blue"),
        (
            Tables.piece("yellow", 200, 200, 90),
            "The target is still in play. Blue is nearest",
            "blue < yellow",
        ),
        (
            Tables.piece("yellow", 300, 50, 90),
            "The target is still in play. Yellow is nearest",
            "yellow < blue < yellow",
        ),
        (
            Tables.piece("blue", 300, 250, 90),
            "Blue's piece stands on the target; blue is nearest",
            "blue < yellow < blue < yellow",
        ),
    ):
        lying.append(piece)
        asked = game.see(*lying)
        assert (asked.code, asked.table) == ("boule.target.gone", None), (
            "no target is put into what was seen"
        )
        assert {LEFT, BACK} <= {choice.label for choice in asked.choices}
        game.answer(asked, answer)
        assert " < ".join(lie.colour for lie in game.state.layout.lies) == pieces
        assert isinstance(game.see(*lying), Waiting), "nobody is asked the same thing twice"
    assert game.document["points_if_over"] == 2
    assert game.document["gap_mm"] == 0


def test_no_distance_from_it_is_told():
    game = begun()
    asked = game.see(Tables.piece("blue", 100, 100))
    game.answer(asked, asked.choices[0].label)
    assert game.document["gap_mm"] is None
    assert not game.state.layout.lies[0].measured
    out = hear(game.state, {"player": "yellow", "out": True})
    assert "Blue still leads. " in out.message


def test_that_a_piece_stands_on_it_is_never_forgotten():
    """Where the one that does was pushed, nobody knows any more: no order is offered that leaves it
    out.
    """
    game, first = begun(), Tables.piece("blue", 100, 100)
    asked = game.see(first)
    game.answer(asked, "Blue's piece stands on the target; blue is nearest")
    asked = game.see(Tables.piece("blue", 160, 100), Tables.piece("yellow", 300, 100))
    offered = [parse_move(move) for choice in asked.choices for move in choice.moves]
    assert all(
        not hasattr(move, "layout") or any(lie.on_target for lie in move.layout.of("blue"))
        for move in offered
    )
    assert [choice.label for choice in asked.choices[-2:]] == [LEFT, BACK]


def test_a_throw_out_of_turn_is_refused_all_the_same():
    game = begun()
    verdict = game.see(Tables.piece("yellow", 100, 100))
    assert (verdict.code, verdict.evidence) == ("boule.throw.turn", {})


def test_once_it_is_seen_everything_is_measured():
    game, blue = begun(), Tables.piece("blue", 100, 100)
    asked = game.see(blue)
    game.answer(asked, asked.choices[0].label)
    assert isinstance(game.see(blue, Tables.target()), Waiting)
    verdict = game.see(blue, Tables.target(), Tables.piece("yellow", 200, 200, 90))
    assert verdict.moves == ("throw yellow large 256.06: blue 114.83 < yellow 256.06",)


@given(st.lists(st.sampled_from([0, 1, 2, -1, -2]), max_size=9), st.permutations(range(9)))
def test_every_answer_leads_on_to_a_legal_end(answers, places):
    """Whatever people say of each throw, the end goes on, and a question never repeats itself on
    the same table.
    """
    game, lying = begun(), []
    for number, place in zip(answers, places, strict=False):
        if game.state.next is None:
            break
        lying.append(Tables.piece(game.state.next, 80.0 * place, 60.0 * (place % 4), 30.0 * place))
        asked = game.see(*lying)
        if not isinstance(asked, Ambiguous):
            assert isinstance(asked, Accepted)
            continue
        choice = asked.choices[number % len(asked.choices)]
        if not choice.moves:
            choice = asked.choices[0]
        game.answer(asked, choice.label)
        if game.state.next:
            assert isinstance(game.see(*lying), Waiting)


def test_what_was_said_of_one_throw_stands_after_the_next():
    game, lying = Game(("blue", "yellow", "red")), []
    game.move("target green")
    for colour, x_mm in (("blue", 0), ("yellow", 150), ("red", 300)):
        lying.append(Tables.piece(colour, x_mm, 40.0))
        asked = game.see(*lying)
        game.answer(asked, f"The target is still in play. {colour.capitalize()} is nearest")
    assert [lie.colour for lie in game.state.layout.lies] == ["red", "yellow", "blue"]
