"""Stacks on the target: three high, pushed over, hiding the target and each other (rulings
ice_boule.9 and ice_boule.10).
"""

from dataclasses import replace

import numpy as np
import pytest

from engines.errors import InvalidNotation
from engines.ice_boule import hear, judge
from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.ranking import rank_layout, readings
from engines.ice_boule.state import State
from engines.verdict import Accepted, Ambiguous, CannotSee, Waiting
from table.solids import on_top
from tests.support.ice_boule import LOONEY


def over(tables, colour, below, index, **changes):
    """A piece that stands on one that stands on the target."""
    return replace(
        tables.on(colour, below, index, **changes), solid=on_top(LOONEY["large"], below.solid, 20.0)
    )


def three_high(tables, lower="blue", upper="yellow"):
    """A target, and two pieces on it."""
    target = tables.target()
    on = tables.on(lower, target, 0)
    return [target, on, over(tables, upper, on, 1)]


def begun(tables, new_game, **rulings):
    game = new_game(**rulings)
    game.see(tables.target())
    return game


@pytest.mark.parametrize(
    ("rulings", "layout", "next_player"),
    [
        ({}, "blue on = yellow on", "yellow"),
        ({"equal": "take"}, "blue on = yellow on", "blue"),
        ({"on_target": "lowest"}, "blue on < yellow touching", "yellow"),
    ],
)
def test_a_stack_of_different_players(tables, new_game, rulings, layout, next_player):
    """All that stands on the target shares the lead; by the other ruling only the lowest stands
    there.
    """
    game = begun(tables, new_game, **rulings)
    pieces = three_high(tables)
    game.see(*pieces[:2])
    verdict = game.see(*pieces)
    assert isinstance(verdict, Accepted)
    assert str(game.state.layout) == layout
    assert game.document["next"] == next_player
    assert isinstance(game.see(*pieces), Waiting)


def test_two_pieces_of_one_player_on_the_target_are_two_points_each(tables, new_game):
    game = begun(tables, new_game)
    pieces = three_high(tables, "blue", "blue")
    game.see(*pieces[:2])
    game.state = replace(game.state, thrown=(1, 4))
    game.see(*pieces)
    assert str(game.state.layout) == "blue on < blue on"
    assert hear(game.state, {"player": "blue", "stop": True}).message.startswith(
        "Blue stops throwing. The end is over: blue scores 4 points."
    )


@pytest.mark.parametrize(
    ("toppled", "layout"),
    [("nested", "blue 20.00 < yellow 60.00"), ("always", "blue touching < yellow 60.00")],
)
def test_a_piece_that_was_pushed_off_the_target(tables, new_game, toppled, layout):
    """It is measured where it came free, or touches the target for the rest of the end."""
    game = begun(tables, new_game, toppled=toppled)
    game.add(tables.on("blue", game.pieces[0], 0))
    assert str(game.state.layout) == "blue on"
    fallen = tables.beside("blue", 20.0)
    verdict = game.see(game.pieces[0], fallen, tables.beside("yellow", 60.0, 90))
    assert isinstance(verdict, Accepted)
    assert str(game.state.layout) == layout
    assert game.document["leading"] == "blue"
    again = game.see(game.pieces[0], fallen, *game.pieces[2:], tables.beside("yellow", 9.0, 180))
    assert isinstance(again, Accepted)
    assert game.document["leading"] == ("yellow" if toppled == "nested" else "blue"), (
        "wherever it lies"
    )


@pytest.mark.parametrize("toppled", ["nested", "always"])
def test_a_stack_that_was_pushed_over_and_still_nests_touches(tables, new_game, toppled):
    """Both lie, one in the other: the piece is nearer than one that lies a hair beside the
    target.
    """
    game = begun(tables, new_game, toppled=toppled)
    game.add(tables.on("blue", game.pieces[0], 0))
    target = tables.piece("green", 10.0, 0.0)
    nested = tables.piece("blue", 15.0, 0.0, on=0)
    verdict = game.see(target, nested, tables.piece("yellow", 10.0, 60.0))
    assert isinstance(verdict, Accepted)
    assert str(game.state.layout).startswith("blue touching < yellow ")
    assert verdict.message.startswith("The target was moved and is measured where it lies.")


def test_a_piece_that_was_seen_to_nest_is_gone_when_it_is_seen_no_more(tables, new_game):
    """It was seen there, so it is not hidden: whoever lays it elsewhere is asked."""
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    fallen, thrown = tables.piece("green", 10.0, 0.0), tables.beside("yellow", 60.0, 90)
    nests = tables.piece("blue", 15.0, 0.0, on=0)
    assert isinstance(game.see(fallen, nests, thrown), Accepted)
    carried = game.see(fallen, tables.beside("blue", 80.0, 180), thrown)
    assert isinstance(carried, Ambiguous)
    assert carried.message == "1 piece moved, but there is no new one in play. What happened?"


def test_what_still_nests_after_the_stack_fell_is_not_the_piece_that_was_thrown(tables, new_game):
    """Yellow stood in the stack; another yellow piece lies apart, nearer to where the stack was."""
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    game.add(tables.on("yellow", game.pieces[1], 1))
    nested = [tables.piece("blue", 195.0, 100.0, on=0), tables.piece("yellow", 200.0, 100.0, on=1)]
    thrown = tables.piece("yellow", 100.0, 20.0)
    move = game.see(tables.piece("green", 190.0, 100.0), *nested, thrown).moves[0]
    assert not move.startswith("throw yellow large touching"), "the one that lies apart was thrown"


def test_a_piece_hidden_inside_the_fallen_target_is_one_of_the_answers(tables, new_game):
    """Only the target is seen to lie there; the piece that nests with it is known until it moves,
    and then asked about again.
    """
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    fallen = tables.piece("green", 10.0, 0.0)
    table = [tables.beside("yellow", 60.0, 90)]
    game.answer(game.see(fallen, *table), "A large piece; nested with the target: blue")
    assert str(game.state.layout).startswith("blue touching < yellow ")
    assert isinstance(game.see(fallen, *table), Waiting)
    table.append(tables.beside("yellow", 75.0, 180))
    assert isinstance(game.see(fallen, *table), Accepted)
    assert str(game.state.layout).startswith("blue touching < yellow ")
    table.append(tables.beside("yellow", 120.0, 270))
    pushed = tables.piece("green", 30.0, 0.0)
    game.answer(game.see(pushed, *table), "A large piece; nested with the target: blue")
    assert str(game.state.layout).startswith("blue touching < yellow ")


def test_a_piece_of_the_throwers_own_that_is_hidden_so_is_not_the_piece_thrown(tables, new_game):
    """No colour is missing: another piece of the same colour came."""
    game = begun(tables, new_game)
    pieces = three_high(tables)
    game.see(*pieces[:2])
    game.see(*pieces)
    assert game.document["next"] == "yellow"
    came_free, thrown = tables.beside("blue", 60.0, 90), tables.beside("yellow", 80.0, 180)
    asked = game.see(tables.piece("green", 10.0, 0.0), came_free, thrown)
    assert asked.message == "3 pieces moved, but there is no new one in play. What happened?"
    game.answer(asked, "A large piece; nested with the target: yellow")
    assert str(game.state.layout).startswith("yellow touching < blue ")
    assert len(game.state.layout.of("yellow")) == 2


@pytest.mark.parametrize(
    ("answer", "layout"),
    [
        ("The camera is right: a large piece", "blue on < yellow 60.00"),
        ("It is not standing on the target: a large piece", "blue touching < yellow 60.00"),
    ],
)
def test_a_doubt_about_a_piece_thrown_earlier_is_settled_by_the_answer(
    tables, new_game, answer, layout
):
    """The stack was pushed along: whether blue still stands on the target is asked and recorded."""
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    pushed = tables.target(x_mm=30.0)
    blue = tables.on("blue", pushed, 0, pose_probability=0.7)
    asked = game.see(pushed, blue, tables.beside("yellow", 90.0, 0))
    assert asked.code == "boule.doubt"
    game.answer(asked, answer)
    assert str(game.state.layout) == layout


def test_a_throw_that_pushes_a_stack_over_and_leaves_play_may_hide_a_piece(tables, new_game):
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    target = tables.piece("green", 10.0, 0.0)
    asked = game.see(target)
    game.answer(asked.asks, "Yellow's throw left the play area; nested with the target: blue")
    assert str(game.state.layout) == "blue touching"


def test_a_target_that_still_stands_hides_no_piece_inside_it(tables, new_game):
    """Only a stack that was pushed over nests so: a missing piece was then knocked out."""
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    asked = game.see(tables.target(), tables.beside("yellow", 60.0, 90))
    assert not any("nested" in choice.label for choice in asked.choices)


def test_a_stack_that_hides_the_target_when_it_falls_does_not_stop_play(tables, new_game):
    """The answers hold the true one, whoever is nearest, and lead on to the end of the end."""
    game = begun(tables, new_game)
    game.add(tables.on("blue", game.pieces[0], 0))
    lying = [tables.piece("blue", 5.0, 0.0), tables.beside("yellow", 40.0, 90)]
    asked = game.see(*lying)
    assert asked.code == "boule.target.gone"
    still = {
        choice.label: choice
        for choice in asked.choices
        if choice.label.startswith("The target is still in play. ")
    }
    assert {label.partition(". ")[2] for label in still} == {
        "Blue is nearest",
        "Yellow is nearest",
        "Blue and yellow are equally near",
    }
    game.answer(asked, "The target is still in play. Blue is nearest")
    assert (game.document["leading"], game.document["next"]) == ("blue", "yellow")
    for bearing_deg in (180, 270, 0):
        lying.append(tables.beside("yellow", 90.0, bearing_deg))
        verdict = game.see(*lying)
        if isinstance(verdict, Ambiguous):
            game.answer(
                verdict,
                next(
                    choice.label for choice in verdict.choices if "Blue is nearest" in choice.label
                ),
            )
    assert (game.document["leading"], game.document["may_stop"]) == ("blue", True)
    shown = game.see(tables.piece("green", 0.0, 0.0), *lying, tables.beside("blue", 150.0, 0, 15))
    assert isinstance(shown, Accepted | Ambiguous), (
        "once it is seen again, it is measured from where it lies"
    )


def test_a_target_that_comes_back_to_view_is_measured_from(tables, new_game):
    """What people said while nobody saw it falls."""
    game = begun(tables, new_game)
    game.add(tables.beside("blue", 20.0))
    lying = [game.pieces[1], tables.beside("yellow", 40.0, 90)]
    asked = game.see(*lying)
    game.answer(asked, "The target is still in play. Yellow is nearest")
    verdict = game.see(tables.target(), *lying, tables.beside("blue", 60.0, 180))
    assert isinstance(verdict, Accepted)
    assert verdict.moves == ("throw blue large 60.00: blue 20.00 < yellow 40.00 < blue 60.00",)


def test_a_piece_that_hides_the_one_under_it_on_the_target(tables, new_game):
    """It is asked once; then the lower one is known to be there as long as the upper one lies
    still.
    """
    game = begun(tables, new_game)
    target = game.pieces[0]
    game.add(tables.on("blue", target, 0))
    upper = tables.on("yellow", target, 0)
    asked = game.see(target, upper)
    labels = [choice.label for choice in asked.choices[:-1]]
    assert labels == [
        "A large piece; knocked out of play: blue",
        "A large piece; under it on the target: blue",
    ]
    game.answer(asked, "A large piece; under it on the target: blue")
    assert str(game.state.layout) == "blue on = yellow on"
    assert isinstance(game.see(target, upper), Waiting)
    verdict = game.see(target, upper, tables.beside("yellow", 30.0, 90))
    assert isinstance(verdict, Accepted)
    assert verdict.moves == ("throw yellow large 30.00: blue on = yellow on < yellow 30.00",)


def test_a_piece_that_is_taken_off_the_stack_on_the_target_is_missed(tables, new_game):
    """What stood below it is on top now: that hides nothing which stood above it."""
    game = begun(tables, new_game)
    pieces = three_high(tables)
    game.see(*pieces[:2])
    game.see(*pieces)
    assert str(game.state.layout) == "blue on = yellow on"
    missed = game.see(*pieces[:2])
    assert isinstance(missed, CannotSee)
    assert missed.message.startswith("Missing from play: yellow.")
    assert isinstance(game.see(*pieces), Waiting)


def test_a_stack_that_hides_all_below_it_is_known_as_long_as_it_lies_still(tables, new_game):
    game = begun(tables, new_game)
    pieces = three_high(tables)
    game.see(*pieces[:2])
    game.see(*pieces)
    top = replace(pieces[2], on=None)
    verdict = game.see(top, tables.beside("yellow", 30.0, 90))
    assert isinstance(verdict, Accepted)
    assert verdict.moves == ("throw yellow large 30.00: blue on = yellow on < yellow 30.00",)
    assert [(piece.colour, piece.on) for piece in verdict.table.pieces] == [
        ("yellow", 3),
        ("yellow", None),
        ("green", None),
        ("blue", 2),
    ]


def test_the_true_reading_of_a_fallen_stack_is_always_among_the_answers(tables, new_game):
    """Wherever the hidden target truly is, who is nearest to it is one of the answers."""
    chance = np.random.default_rng(5)
    for _ in range(30):
        game = begun(tables, new_game)
        game.add(tables.on("blue", game.pieces[0], 0))
        fallen = tables.piece(
            "blue", *chance.uniform(-30, 30, 2), heading_deg=float(chance.uniform(0, 360))
        )
        thrown = tables.piece(
            "yellow",
            *(chance.uniform(60, 120, 2) * chance.choice([-1, 1], 2)),
            heading_deg=float(chance.uniform(0, 360)),
        )
        asked = judge(game.state, tables.seen(fallen, thrown), game.before)
        message = {choice.label.partition(". ")[2] for choice in asked.choices if choice.moves}
        assert message >= {"Blue is nearest", "Yellow is nearest"}
        assert message & {"Blue and yellow are equally near", "Yellow and blue are equally near"}


def test_a_target_that_is_guessed_under_a_piece_that_stood_there_all_along_is_not_there(
    tables, new_game
):
    """Where a stack falls over it, eyes look for a piece that may hide it, and find one that lay
    still.
    """
    game = begun(tables, new_game)
    bystander = tables.piece("blue", 80.0, 0.0, pose="upright")
    game.add(bystander)
    game.add(tables.on("yellow", game.pieces[0], 0))
    assert str(game.state.layout).startswith("yellow on < blue ")
    fallen = tables.piece("yellow", 10.0, 5.0)
    guess = [
        tables.target(x_mm=80.0),
        replace(bystander, on=0, pose_probability=0.8),
        fallen,
        tables.beside("blue", 60.0, 90),
    ]
    asked = game.see(*guess)
    assert asked.code == "boule.target.gone"
    assert {
        "The target is still in play. Yellow is nearest",
        "The target is still in play. Blue is nearest",
    } <= {c.label for c in asked.choices}


@pytest.mark.parametrize("sure", [0.5, 0.85])
def test_a_target_that_is_guessed_far_away_under_a_piece_just_thrown_is_not_there(
    tables, new_game, sure
):
    """No throw carries the target so far and then stands on it: it is hidden where it was."""
    game = begun(tables, new_game)
    beside = tables.beside("blue", 20.0, 90)
    game.add(beside)
    came = tables.piece("yellow", 80.0, 0.0, pose="upright")
    guess = [tables.target(x_mm=80.0), replace(came, on=0, pose_probability=sure), beside]
    asked = game.see(*guess)
    assert asked.code == "boule.target.gone"
    assert any(c.label.startswith("The target is still in play") for c in asked.choices)


def test_a_target_that_is_guessed_nearby_under_a_piece_just_thrown_may_be_there(tables, new_game):
    game = begun(tables, new_game)
    beside = tables.beside("blue", 40.0, 90)
    game.add(beside)
    came = tables.piece("yellow", 15.0, 0.0, pose="upright")
    guess = [tables.target(x_mm=15.0), replace(came, on=0, pose_probability=0.85), beside]
    assert game.see(*guess).code == "boule.doubt"


def test_by_lowest_all_above_the_lowest_touch_and_are_equally_near(tables, new_game):
    """However many they are, nobody is asked which of them is nearer: they count as touching by the
    ruling.
    """
    game = begun(tables, new_game, on_target="lowest")
    pieces = three_high(tables, "blue", "yellow")
    for count in (2, 3):
        assert isinstance(game.see(*pieces[:count]), Accepted)
    while game.document["next"]:
        pieces.append(over(tables, game.document["next"], pieces[-1], len(pieces) - 1))
        verdict = game.see(*pieces)
        assert isinstance(verdict, Accepted), verdict
        if {lie.colour for lie in game.state.layout.lies if not lie.on_target} == {
            "blue",
            "yellow",
        }:
            break
    assert "yellow touching = blue touching" in str(game.state.layout)


def test_a_doubt_beside_pieces_that_were_said_to_be_equal_is_asked_in_orders_that_can_be_played(
    game,
):
    """Of the leader's pieces only those that may be nearer than all others are offered to be."""
    state = replace(game.state, thrown=(3, 4), leading="blue")
    state = replace(
        state, layout=Layout.parse("blue touching < yellow 20.00 = blue 20.00 < yellow 40.00")
    )
    ranking = rank_layout(state.layout)
    lies = (*state.layout.lies[:3], Lie("blue", 20.0), *state.layout.lies[3:])
    nearer, equal = (
        np.insert(np.insert(each, 3, False, 0), 3, False, 1)
        for each in (ranking.nearer, ranking.equal)
    )
    nearer[3, 4], nearer[0, 3] = True, False
    doubtful = replace(ranking, ids=tuple(range(5)), lies=lies, nearer=nearer, equal=equal)

    def too_close(order):
        return order.layout().points_in_doubt("blue")

    found = list(readings(doubtful, too_close))
    assert len(found) == 2, "the doubtful one is nearer than all others, or not"
    assert not any(map(too_close, found))
    assert not any(order.nearer[order.ids.index(2), order.ids.index(1)] for order in found), (
        "those were said to be equal"
    )


@pytest.fixture
def fallen(tables, new_game):
    """Blue stood on the target and was pushed over; another blue piece lies 50 mm away, and
    yellow's 60 mm; two rulings.
    """

    def make(restarted, **rulings):
        game = begun(tables, new_game, toppled="always", **rulings)
        game.add(tables.on("blue", game.pieces[0], 0))
        game.state = State.parse(
            str(replace(game.state, thrown=(2, 0), layout=Layout.parse("blue on < blue 50.00")))
        )
        other = tables.beside("blue", 50.0, 270)
        game.before, game.pieces = tables.seen(*game.pieces, other), [*game.pieces, other]
        game.see(
            game.pieces[0], tables.beside("blue", 20.0), other, tables.beside("yellow", 60.0, 90)
        )
        assert str(game.state.layout) == "blue touching < blue 50.00 < yellow 60.00"
        if restarted:
            game.before, game.state = None, State.parse(str(game.state))
        return game

    return make


@pytest.mark.parametrize("restarted", [False, True])
def test_what_was_pushed_over_touches_the_target_after_a_restart_too(tables, fallen, restarted):
    game = fallen(restarted)
    assert "toppled blue;" in str(game.state)
    assert isinstance(game.see(*game.pieces), Waiting), "nothing has happened"
    verdict = game.add(tables.beside("yellow", 9.0, 180))
    assert isinstance(verdict, Accepted)
    assert str(game.state.layout) == "blue touching < yellow 9.00 < blue 50.00 < yellow 60.00"
    assert game.document["leading"] == "blue"


def test_what_is_pushed_over_by_the_first_throw_after_a_restart_touches_the_target(
    tables, new_game
):
    game = begun(tables, new_game, toppled="always")
    game.add(tables.on("blue", game.pieces[0], 0))
    game.before = None
    assert isinstance(
        game.see(game.pieces[0], tables.beside("blue", 20.0), tables.beside("yellow", 9.0, 180)),
        Accepted,
    )
    assert str(game.state.layout) == "blue touching < yellow 9.00"
    assert game.state.toppled == ("blue",)


def test_what_was_pushed_over_and_left_the_table_is_forgotten_and_so_is_all_with_the_end(
    tables, new_game
):
    game = begun(tables, new_game, toppled="always")
    game.add(tables.on("blue", game.pieces[0], 0))
    game.see(game.pieces[0], tables.beside("blue", 20.0), tables.beside("yellow", 60.0, 90))
    assert game.state.toppled == ("blue",)
    game.move("throw yellow out: yellow 60.00")
    assert game.state.toppled == ()
    game = begun(tables, new_game, toppled="always")
    game.move(
        "throw blue large on: blue on",
        "throw yellow large 60.00: blue touching < yellow 60.00",
        "void",
    )
    assert game.state.toppled == ()
    assert State.parse(str(game.state)) == game.state


def test_after_a_restart_people_are_asked_which_of_two_pieces_fell_where_it_matters(
    tables, new_game
):
    """One was pushed over before, one was thrown since, and none is on record where it lies."""
    game = begun(tables, new_game, toppled="always", players=("blue", "yellow"))
    game.add(tables.on("blue", game.pieces[0], 0))
    game.see(game.pieces[0], tables.beside("blue", 20.0), tables.beside("yellow", 9.0, 180))
    game.state = replace(game.state, thrown=(1, 4))
    game.before = None
    asked = game.see(*game.pieces, tables.beside("blue", 30.0, 90))
    assert asked.code == "boule.toppled"
    moves = [
        "throw blue large 30.00: blue touching < yellow 9.00 < blue 30.00",
        "throw blue large 20.00: blue touching < yellow 9.00 < blue 20.00",
    ]
    assert [choice.moves for choice in asked.choices] == [(moves[0],), (moves[1],), ()]
    game.answer(asked, asked.choices[0].label)
    assert str(game.state.layout) == "blue touching < yellow 9.00 < blue 30.00"
    seen = [*game.pieces, tables.beside("blue", 40.0, 270)]
    assert isinstance(game.see(*seen), Accepted)
    assert str(game.state.layout) == "blue touching < yellow 9.00 < blue 30.00 < blue 40.00"


def test_a_state_of_before_is_read_and_one_that_no_throw_reaches_is_refused(tables, new_game):
    game = begun(tables, new_game, toppled="always")
    game.move(
        "throw blue large on: blue on", "throw yellow large 60.00: blue touching < yellow 60.00"
    )
    line = str(game.state)
    assert State.parse(line.replace("; toppled blue", "")).toppled == ()
    for wrong in ("toppled blue blue", "toppled yellow", "toppled green"):
        with pytest.raises(InvalidNotation):
            State.parse(line.replace("toppled blue", wrong))


def test_a_piece_that_lies_still_does_not_lean_on_a_target_that_has_moved(tables, new_game):
    """It would have fallen: the reading that it leans, and so touches the target, is in doubt."""
    game = begun(tables, new_game)
    leaning = replace(tables.beside("blue", 12.0), pose="leaning", pose_probability=0.999)
    game.add(leaning)
    game.add(tables.beside("yellow", 30.0, 90))
    pushed = tables.piece("green", 20.5, 0.0, 180.0)
    asked = game.see(pushed, *game.pieces[1:], tables.beside("yellow", 90.0, 270))
    assert isinstance(asked, Ambiguous)
    assert "if it is leaning (50% sure)" in asked.message
