"""What may go wrong on a table: pieces gone, moved by hand, thrown together, of a doubtful colour
or size.
"""

from dataclasses import replace

import numpy as np
import pytest

from engines.ice_boule import judge, parse_move, play, start
from engines.ice_boule.layout import Layout
from engines.verdict import Accepted, Ambiguous, CannotSee, Choice, Refused, Waiting
from tests.support.ice_boule import CAMERA, LOONEY

BESIDE_MM = np.array([1.5, 1.5])
"""A piece that is read here does not stand just where the target at (0, 0) would carry it."""


def test_the_target_leaves_the_play_area(tables, game):
    game.add(tables.beside("blue", 20.0))
    pieces = game.pieces[1:]
    asked = game.see(*pieces, tables.beside("yellow", 9.0, 90))
    assert asked.choices[0] == Choice("It left the play area: the end is void", ("void",))
    assert [choice.label for choice in asked.choices[1:-1]] == [
        "The target is still in play. Yellow is nearest",
        "The target is still in play. Blue is nearest",
        "The target is still in play. Yellow and blue are equally near",
    ]
    assert asked.choices[-1] == Choice("It is still in play, or we put it back", ())
    void = game.see(*pieces, off=[tables.target(x_mm=900.0)])
    assert (void.code, void.moves, void.rests_on) == ("boule.void", ("void",), "ruling ice_boule.4")
    assert (
        void.message
        == "The green target left the play area. The end is void. It is played again, and"
        " nobody scores. Blue throws the target next."
    )
    assert game.document["starter"] == "blue"


def test_reserves_outside_are_not_in_play(tables, game):
    """Nor is a spare green piece that lay there before."""
    reserves = [
        tables.piece(colour, 900.0, 50.0 * k)
        for k, colour in enumerate(["blue", "yellow", "green"])
    ]
    verdict = game.see(game.pieces[0], tables.beside("blue", 20.0), off=reserves)
    assert verdict.moves == ("throw blue large 20.00: blue 20.00",)
    assert isinstance(game.see(*game.pieces[1:], off=reserves), Ambiguous)
    game.before = None
    assert isinstance(game.see(*game.pieces[1:], off=reserves), Ambiguous)


def test_a_missing_piece(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target, _, yellow = game.pieces
    missing = game.see(target, yellow)
    assert isinstance(missing, CannotSee)
    assert (
        missing.message
        == "Missing from play: blue. If it is hidden, show it; if it was taken away, put it back."
    )
    assert missing.asks.message == "Missing from play: blue. Was it knocked out by yellow's throw?"
    assert [choice.moves for choice in missing.asks.choices] == [
        ("throw yellow out: yellow 30.00",),
        (),
    ], "in time it is asked, and play goes on"
    outside = tables.piece("blue", 900.0, 0.0)
    asked = game.see(target, yellow, off=[outside])
    assert asked.message == "Out of play: blue. Was it knocked out by yellow's throw?"
    assert asked.choices[0] == Choice(
        "Yellow's throw left the play area", ("throw yellow out: yellow 30.00",)
    )
    assert asked.choices[1].moves == ()
    thrown = tables.beside("yellow", 40.0, 180)
    asked = game.see(target, yellow, thrown)
    assert (asked.code, asked.choices[0]) == (
        "boule.vanished",
        Choice(
            "A large piece; knocked out of play: blue",
            ("throw yellow large 40.00: yellow 30.00 < yellow 40.00",),
        ),
    )
    knocked = game.see(target, yellow, thrown, off=[outside])
    assert knocked.moves == ("throw yellow large 40.00: yellow 30.00 < yellow 40.00",)
    game.before = None
    game.state = play(start(["blue", "yellow"], {}), parse_move("target green"))
    game.move("throw blue large 20: blue 20")
    assert isinstance(game.see(target, thrown, off=[outside]), Ambiguous), (
        "what lay outside before is not known"
    )


def test_a_missing_piece_and_a_doubt_are_one_question(tables, new_game):
    game = new_game(["blue", "yellow", "red"])
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 10.0, 90))
    asked = game.see(game.pieces[0], game.pieces[2], tables.beside("red", 10.1, 180))
    assert [choice.label for choice in asked.choices] == [
        "A large piece; knocked out of play: blue; yellow is nearest",
        "A large piece; knocked out of play: blue; red is nearest",
        "A large piece; knocked out of play: blue; yellow and red are equally near",
        "Still in play but hidden, or moved by hand: fix it",
    ]


def test_pieces_moved_by_hand(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target, blue, yellow = game.pieces
    assert isinstance(game.see(target, tables.beside("blue", 22.0), yellow), Waiting), (
        "less than pictures may be wrong by"
    )
    asked = game.see(target, tables.beside("blue", 26.0), yellow)
    assert asked.message == "1 piece moved, but there is no new one in play. What happened?"
    assert [choice.moves for choice in asked.choices] == [
        ("throw yellow out: blue 26.00 < yellow 30.00",),
        (),
    ]
    asked = game.see(target, blue, tables.beside("yellow", 25.0, 180))
    assert [choice.moves for choice in asked.choices] == [
        ("throw yellow out: blue 20.00 < yellow 25.00",),
        ("throw yellow large 25.00: blue 20.00 < yellow 25.00",),
        (),
    ]
    assert (
        asked.choices[1].label
        == "Yellow threw the piece that lies 25.0 ± 0.5 mm from the target, and another yellow"
        " piece left the play area"
    )
    out = game.answer(asked, asked.choices[0].label)
    assert out.moves == ("throw yellow out: blue 20.00 < yellow 25.00",)
    near = game.see(target, tables.beside("blue", 26.0), tables.beside("yellow", 25.9, 180))
    assert near.choices[0].label == "Yellow's throw left the play area; yellow is nearest"
    assert len(near.choices) == 4


def test_all_readings_forbidden(tables, new_game):
    """A missing piece cannot be explained by a throw that the rules forbid."""
    game = new_game()
    game.see(tables.target())
    game.add(tables.beside("blue", 20.0))
    target = game.pieces[0]
    verdict = game.see(
        target,
        tables.beside("yellow", 30.0, 90),
        tables.beside("blue", 60.0, 180),
        tables.beside("blue", 40.0, 270),
    )
    assert isinstance(verdict, Refused)
    verdict = new_game(sizes="declared")
    verdict.see(tables.target())
    assert (
        verdict.add(tables.beside("blue", 20.0, size_probability=0.5)).code == "boule.throw.sizes"
    )


def test_unsure_size(tables, game):
    asked = game.add(tables.beside("blue", 20.0, size_probability=0.7))
    assert asked.code == "boule.size"
    labels = [choice.label for choice in asked.choices]
    assert labels == [
        "A large piece",
        "A small piece",
        "A medium piece",
        "The piece was not thrown: take it back",
    ]
    game.answer(asked, "A medium piece")
    assert game.document["sizes"]["blue"] == "medium"
    assert isinstance(game.add(tables.beside("yellow", 9.0, 90)), Ambiguous), (
        "a medium piece might be that near"
    )
    game.add(tables.beside("yellow", 0.5, 90))
    verdict = game.add(tables.beside("blue", 30.0, 180, size_probability=0.7))
    assert verdict.moves == ("throw blue medium 30.00: yellow 0.50 < blue 20.00 < blue 30.00",), (
        "blue can have thrown no other size"
    )


def test_unsure_colour_of_the_new_piece(tables, game):
    verdict = game.add(tables.beside("blue", 20.0, colour_probability=0.7))
    assert isinstance(verdict, Accepted), "only blue can have thrown"
    asked = game.add(tables.beside("blue", 30.0, 90, colour_probability=0.7))
    assert asked.message == "Is the new piece yellow or blue? It is yellow's throw."
    assert asked.choices == (
        Choice(
            "It is yellow; a large piece", ("throw yellow large 30.00: blue 20.00 < yellow 30.00",)
        ),
        Choice("It is blue: take it back", ()),
    )


def test_unsure_colours_of_pieces_that_lie_still(tables, game):
    """They were ruled on before: a name that changes with the light is not believed."""
    game.add(tables.beside("blue", 20.0))
    target, blue = game.pieces
    wavering = replace(blue, colour="yellow", colour_probability=0.6)
    assert isinstance(game.see(target, wavering), Waiting)
    verdict = game.see(target, wavering, tables.beside("yellow", 30.0, 90))
    assert verdict.moves == ("throw yellow large 30.00: blue 20.00 < yellow 30.00",)


def test_two_unsure_colours_may_have_been_taken_for_each_other(tables, game):
    game.add(tables.beside("blue", 20.0))
    asked = game.see(
        game.pieces[0],
        tables.beside("blue", 24.0, colour_probability=0.7),
        tables.beside("yellow", 10.0, 90, colour_probability=0.7),
    )
    assert asked.code == "boule.doubt"
    assert asked.choices[0] == Choice(
        "The camera is right: a large piece",
        ("throw yellow large 10.00: yellow 10.00 < blue 24.00",),
    )


def test_an_unsure_colour_that_no_throw_explains(tables, game):
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 90))
    target, blue, _ = game.pieces
    verdict = game.see(target, blue, tables.beside("blue", 40.0, 180, colour_probability=0.7))
    assert isinstance(verdict, CannotSee)
    assert (verdict.code, verdict.message) == (
        "boule.colour",
        "Is the new piece yellow or blue? It is yellow's throw.",
    )


def test_an_unsure_stranger_may_be_the_new_piece(tables, game):
    asked = game.add(tables.beside("red", 40.0, 180, colour_probability=0.6))
    assert asked.choices == (
        Choice("It is blue; a large piece", ("throw blue large 40.00: blue 40.00",)),
        Choice("It is red: take it back", ()),
    )


def test_two_new_pieces(tables, game):
    """Thrown one after the other too fast: the rules may know the order, and people confirm it."""
    asked = game.add(tables.beside("blue", 20.0), tables.beside("yellow", 30.0, 90))
    assert asked.choices == (
        Choice(
            "First the blue piece that lies 20.0 ± 0.5 mm from the target, then the yellow piece"
            " that lies 30.0 ± 0.5 mm from the target",
            (
                "throw blue large 20.00: blue 20.00",
                "throw yellow large 30.00: blue 20.00 < yellow 30.00",
            ),
        ),
        Choice("Both at once: take them back", ()),
    )
    assert asked.withdrawn_if_table_changes, "they may be taken back, or thrown on to"
    both = game.add(tables.beside("blue", 20.0), tables.beside("blue", 30.0, 90))
    assert (both.code, both.message) == (
        "boule.throw.two",
        (
            "There are 2 new pieces in play (blue, blue), but only one is thrown at a time. Take"
            " them back."
        ),
    )
    close = game.add(tables.beside("blue", 20.0), tables.beside("yellow", 20.1, 90))
    assert (type(close), close.code) == (Ambiguous, "boule.throw.two"), "and who is nearest then"
    three = game.add(
        tables.beside("blue", 20.0),
        tables.beside("yellow", 30.0, 90),
        tables.beside("yellow", 40.0, 180),
    )
    assert isinstance(three, Refused)


def test_two_new_pieces_of_one_colour(tables, game):
    """Yellow was to throw until it leads: where neither does, nothing hangs on which was first."""
    game.add(tables.beside("blue", 20.0))
    asked = game.add(tables.beside("yellow", 30.0, 90), tables.beside("yellow", 40.0, 180))
    assert (
        asked.message
        == "There are 2 new pieces in play (yellow, yellow), but only one is thrown at a time."
        " Were they thrown one after the other?"
    )
    whichever, at_once = asked.choices
    assert whichever.label.startswith(
        "One after the other, in either order: the yellow piece that lies 30.0 ± 0.5 mm from the"
        " target, and "
    )
    assert [len(choice.moves) for choice in (whichever, at_once)] == [2, 0]
    leads = game.add(tables.beside("yellow", 10.0, 90), tables.beside("yellow", 40.0, 180))
    first, _ = leads.choices
    assert first.label.startswith(
        "First the yellow piece that lies 40.0 ± 0.5 mm from the target, then "
    ), "after the other it is blue's turn"


def test_a_piece_that_is_perhaps_read_twice_is_asked_about(tables, game):
    thrown = tables.beside("blue", 20.0)
    part = tables.piece(
        "blue", *(thrown.base_mm - np.array([2.0, 0.0])), pose="upright", pose_probability=0.4
    )
    asked = game.add(thrown, part)
    assert isinstance(asked, Ambiguous)
    assert (
        asked.message
        == "There are 2 new pieces in play (blue, blue), but only one is thrown at a time."
        " Is one of them part of another piece?"
    )
    assert asked.choices == (
        Choice("There is only one: a large piece", ("throw blue large 20.00: blue 20.00",)),
        Choice("Each is a separate piece: take them back", ()),
    )
    assert isinstance(game.add(thrown, replace(part, pose_probability=1.0)), Refused)
    assert isinstance(
        game.add(thrown, tables.beside("blue", 90.0, 90, pose_probability=0.4)), Refused
    ), "it touches nothing"


def test_nobody_leads(tables, game):
    """A throw that leaves nothing in play."""
    game.add(tables.beside("blue", 20.0))
    asked = game.see(game.pieces[0], off=[tables.piece("blue", 900.0, 0.0)])
    assert asked.choices[0].moves == ("throw yellow out: nothing",)
    game.answer(asked, asked.choices[0].label)
    assert (game.document["leading"], game.document["next"]) == (None, "yellow")


def test_an_unsure_stack(tables, game):
    """Whether a piece stands on the target is worth a point: people say."""
    asked = game.add(tables.on("blue", game.pieces[0], 0, pose_probability=0.6, base_mm=BESIDE_MM))
    assert isinstance(asked, Ambiguous)
    assert asked.choices[0].moves == ("throw blue large on: blue on",)
    assert asked.choices[1].moves == ("throw blue large touching: blue touching",)


def test_who_stands_on_the_target_is_asked_once(tables, game):
    """Later throws bring no new doubt about it, until the piece is moved."""
    target = game.pieces[0]
    unsure = tables.on("blue", target, 0, pose_probability=0.8, base_mm=BESIDE_MM)
    asked = game.add(unsure)
    assert asked.message.startswith("The large blue piece upright at (")
    assert asked.message.endswith(
        " mm may not be standing on the target. Did the camera read it correctly?"
    )
    game.answer(asked, "The camera is right: a large piece")
    thrown = game.add(tables.beside("yellow", 9.0, 90))
    assert thrown.moves == ("throw yellow large 9.00: blue on < yellow 9.00",)
    moved = tables.on("blue", target, 0, pose_probability=0.8, base_mm=-BESIDE_MM)
    assert isinstance(
        game.see(target, moved, *game.pieces[2:], tables.beside("yellow", 30.0, 180)), Ambiguous
    )


def test_who_does_not_stand_on_the_target_is_asked_once(tables, game):
    target = game.pieces[0]
    asked = game.add(tables.on("blue", target, 0, pose_probability=0.8, base_mm=BESIDE_MM))
    beside = next(
        choice
        for choice in asked.choices
        if choice.label.startswith("It is not standing on the target")
    )
    game.answer(asked, beside.label)
    assert game.add(tables.beside("yellow", 60.0, 90)).moves == (
        "throw yellow large 60.00: blue touching < yellow 60.00",
    )


def test_what_could_not_be_read_is_asked_once(tables, game):
    spot = (np.array([150.0, 150.0]),)
    first = replace(tables.seen(*game.pieces, tables.beside("blue", 20.0)), unread_mm=spot)
    asked = judge(game.state, first, game.before)
    assert (
        asked.message
        == "Rinkside cannot read what is at (150, 150) mm. Did the camera read it correctly?"
    )
    game.move(*asked.choices[0].moves)
    again = replace(first, pieces=(*first.pieces, tables.beside("yellow", 30.0, 90)))
    assert isinstance(judge(game.state, again, first), Accepted)
    elsewhere = replace(again, unread_mm=(np.array([-150.0, 150.0]),))
    assert isinstance(judge(game.state, elsewhere, first), Ambiguous)


def test_who_throws_is_told_what_could_not_be_read(tables, game):
    """It may be the piece that was thrown; what could not be read before is not told again."""
    game.add(tables.beside("blue", 20.0))
    blind = replace(game.before, unread_mm=(np.array([150.0, 150.4]),))
    unread = judge(game.state, blind, game.before)
    assert isinstance(unread, CannotSee)
    assert (
        unread.message
        == "Rinkside cannot read what is at (150, 150) mm. Show it more clearly. Yellow throws"
        " next."
    )
    assert judge(game.state, blind, blind).message == "Yellow throws next."


def test_a_piece_on_the_target_may_hide_it(tables, game):
    """It is asked once; then the target is known to be under that piece, even to a referee that was
    started again.
    """
    game.add(tables.beside("blue", 20.0))
    _, blue = game.pieces
    upper = tables.piece("yellow", 0.5, 2.0, 30.0, pose="upright")
    asked = game.see(blue, upper)
    assert asked.message.startswith(
        "The green target cannot be seen in the play area. The large yellow piece upright "
    )
    assert [choice.moves for choice in asked.choices if choice.label.startswith("It left")] == [
        ("void",)
    ]
    game.answer(asked, "The camera is right: a large piece")
    assert str(game.state.layout) == "yellow on < blue 20.00"
    other = tables.piece("yellow", 200.0, 100.0, pose="upright")
    for before in (game.before, None):
        thrown = judge(
            game.state, tables.seen(blue, upper, tables.beside("blue", 60.0, 180)), before
        )
        assert isinstance(thrown, Accepted), before
        assert ": yellow on < blue " in thrown.moves[0]
        assert thrown.evidence["sigma_mm"] > 2.0, "nobody sees where exactly the target is"
    game.state = replace(
        game.state, thrown=(1, 1), layout=Layout.parse("yellow on < blue 20.00 < yellow 200.00")
    )
    thrown = judge(
        game.state, tables.seen(blue, other, upper, tables.beside("blue", 60.0, 180)), None
    )
    assert ": yellow on < blue 14." in thrown.moves[0], (
        "the other piece that stands is too far from where blue lies"
    )


def test_a_target_that_is_only_guessed_to_be_elsewhere_is_where_it_stood(tables, game):
    """Eyes that do not see it look for a piece that may hide it, and may take the wrong one."""
    target = game.pieces[0]
    game.answer(
        game.add(tables.on("blue", target, 0, pose_probability=0.8, base_mm=BESIDE_MM)),
        "The camera is right: a large piece",
    )
    upper = tables.piece("blue", 0.5, 2.0, 10.0, pose="upright")
    game.before = tables.seen(upper)
    other = tables.piece("yellow", 80.0, 0.0, pose="upright")
    guessed = [tables.target(x_mm=80.0), replace(other, on=0, pose_probability=0.5), upper]
    thrown = game.see(*guessed)
    assert isinstance(thrown, Accepted)
    assert ": blue on < yellow " in thrown.moves[0]
    game.move("void", "target green")
    game.before = None
    alone = game.see(
        tables.target(x_mm=80.0), replace(other, colour="blue", on=0, pose_probability=0.5)
    )
    assert alone.message.startswith("The large blue piece upright "), (
        "nothing else tells where it is"
    )


def test_a_target_that_is_hidden_by_nothing_may_have_left(tables, game):
    """A piece that lies where it stood does not stand on it, nor does one that was there before."""
    lying = tables.piece("blue", 0.5, 2.0)
    assert game.see(lying).code == "boule.target.gone"
    game.add(tables.beside("blue", 20.0))
    assert (
        game.see(*game.pieces[1:], tables.piece("yellow", 40.0, 0.0, pose="upright")).code
        == "boule.target.gone"
    )


def from_the_side(tables, *pieces, **changes):
    """As a camera 700 mm up sees them that is not over the middle."""
    eye_mm = np.array([150.0, -300.0, 700.0])
    return replace(
        tables.seen(*pieces),
        camera=replace(
            CAMERA, rotation=np.diag([1.0, -1.0, -1.0]), translation_mm=eye_mm * (-1, 1, 1)
        ),
        **changes,
    )


def read_on_the_target(tables, **changes):
    """A piece that stands on the target at (0, 0), read as if it stood on the table: beside it,
    away from that camera.
    """
    lift_mm = LOONEY["large"].stack_step_mm
    x_mm, y_mm = np.array([-150.0, 300.0]) * lift_mm / (700.0 - lift_mm)
    return tables.piece("yellow", x_mm, y_mm, 30.0, pose="upright", **changes)


@pytest.mark.parametrize("heading_deg", [0.0, 45.0])
def test_a_piece_that_stands_just_where_the_target_lifts_it_is_on_it(tables, game, heading_deg):
    """Nothing else explains it: nobody is asked, and what is taken for known is said, now and as
    long as it is hidden.
    """
    game.add(tables.beside("blue", 20.0))
    game.before = from_the_side(tables, *game.pieces)
    blue, upper = game.pieces[1], replace(read_on_the_target(tables), heading_deg=heading_deg)
    thrown = judge(game.state, from_the_side(tables, blue, upper), game.before)
    assert isinstance(thrown, Accepted)
    assert thrown.moves == ("throw yellow large on: yellow on < blue 20.00",)
    hidden = (
        "The green target is hidden. It is assumed to be where it was last seen, under the"
        " piece that stands there."
    )
    assert thrown.message.endswith(hidden)
    assert [(piece.colour, piece.on) for piece in thrown.table.pieces] == [
        ("blue", None),
        ("yellow", 2),
        ("green", None),
    ]
    game.move(*thrown.moves)
    after = judge(
        game.state,
        from_the_side(tables, blue, upper, tables.beside("blue", 22.0, 180)),
        thrown.table,
    )
    assert isinstance(after, Accepted)
    assert after.moves == ("throw blue large 22.00: yellow on < blue 20.00 < blue 22.00",), (
        "measured from where the target was seen"
    )
    assert after.message.endswith(hidden)


def test_eyes_that_guess_the_target_under_it_need_no_answer(tables, game):
    upper = tables.on("blue", game.pieces[0], 0, pose_probability=0.6)
    thrown = game.add(upper)
    assert isinstance(thrown, Accepted)
    assert thrown.moves == ("throw blue large on: blue on",)


@pytest.mark.parametrize("sure", [1.0, 0.52])
def test_a_piece_in_the_place_of_the_target_that_lies_outside_is_asked_about(tables, game, sure):
    """It pushed the target off the play area, and seems to stand on it."""
    upper = tables.on("blue", game.pieces[0], 0, pose_probability=sure)
    asked = game.see(game.pieces[0], upper, off=[tables.piece("green", 900.0, 0.0)])
    assert isinstance(asked, Ambiguous)
    assert asked.message.startswith("The green target cannot be seen in the play area.")
    moves = [choice.moves for choice in asked.choices]
    assert moves[0] == ("void",)
    assert ("throw blue large on: blue on",) in moves
    assert moves[-1] == ()


def test_a_doubt_about_a_hidden_target_is_asked(tables, game):
    """Another thing that might be the target, or a place that its shell does not explain."""
    green_outside = tables.piece("green", 900.0, 0.0)
    there = read_on_the_target(tables)
    game.add(tables.beside("blue", 20.0))
    game.before, blue = from_the_side(tables, *game.pieces), game.pieces[1]
    assert isinstance(judge(game.state, from_the_side(tables, blue, there), game.before), Accepted)
    unsure = from_the_side(tables, blue, replace(there, colour_probability=0.9))
    assert isinstance(judge(game.state, unsure, game.before), Accepted), (
        "who throws now has thrown it, and the target did not move"
    )
    on_the_table = tables.piece("yellow", 0.0, 0.0, pose="upright")
    doubts = [
        from_the_side(tables, blue, on_the_table),
        from_the_side(tables, blue, there, off_board=(green_outside,)),
        from_the_side(tables, blue, there, unread_mm=(np.array([150.0, 150.0]),)),
        from_the_side(tables, blue, replace(there, pose_probability=0.9)),
    ]
    for seen in doubts:
        asked = judge(game.state, seen, game.before)
        assert isinstance(asked, Ambiguous), seen
        assert asked.message.startswith("The green target cannot be seen in the play area.")


@pytest.mark.parametrize("sizes", ["shown", "declared"])
@pytest.mark.parametrize("turned_deg", [0, 90])
def test_a_thrown_piece_of_another_size_is_no_piece_that_was_knocked(
    tables, new_game, sizes, turned_deg
):
    """Yellow's large piece knocks a medium one of yellow's out: that is no medium piece, moved, and
    none that is out.
    """
    game = mixed(tables, new_game, sizes)
    target, blue, _ = game.pieces
    thrown = tables.beside("yellow", 50.0, turned_deg)
    outside = tables.piece("yellow", 900.0, 0.0, size="medium")
    for off in ([], [outside]):
        refused = game.see(target, blue, thrown, off=off)
        assert (refused.code, refused.player) == ("boule.throw.size", "yellow")
        assert refused.tried[0].startswith("throw yellow large ")
    both = game.see(target, blue, thrown, tables.beside("yellow", 45.0, 270, size="medium"))
    assert both.code == "boule.throw.size", "the medium one was only pushed"
    unsure = game.see(target, blue, replace(thrown, size_probability=0.7), off=[outside])
    assert isinstance(unsure, Ambiguous), "the size is not sure"
    game.before = None
    assert (
        game.see(target, blue, thrown, tables.beside("yellow", 49.0, 270, size="medium")).code
        == "boule.throw.size"
    ), "nor after a restart"


def test_a_piece_of_another_size_is_none_that_lies_nested_in_the_target(tables, new_game):
    """It knocked another one of its colour away, and the nested one was not touched."""
    game = new_game(equal="take")
    game.see(tables.target())
    game.add(tables.beside("blue", 80.0, 270))
    game.add(tables.beside("yellow", 60.0, 180))
    for number, colour in enumerate(("blue", "yellow", "blue")):
        below = (0, 3, 4)[number]
        game.add(tables.on(colour, game.pieces[below], below))
    assert game.document["next"] == "yellow"
    target, blue, _, *stack = game.pieces
    knocked = tables.piece("yellow", 400.0, 300.0)
    thrown = tables.beside("yellow", 70.0, 90, size="medium")
    refused = game.see(target, blue, knocked, *stack, thrown)
    assert (type(refused), refused.code) == (Refused, "boule.throw.size")


def test_a_piece_that_is_misread_in_another_size_where_it_lies_is_that_piece(tables, new_game):
    game = mixed(tables, new_game, "shown")
    target, blue, _ = game.pieces
    thrown = tables.beside("yellow", 50.0, 90, size="medium")
    assert (
        game.see(target, blue, tables.beside("yellow", 30.0, 180), thrown)
        .moves[0]
        .startswith("throw yellow medium 50.00")
    )


def mixed(tables, new_game, sizes):
    """Blue throws large pieces, yellow medium ones, and yellow throws again."""
    game = new_game(sizes=sizes)
    game.see(tables.target())
    if sizes == "declared":
        game.move("size blue large", "size yellow medium")
    game.add(tables.beside("blue", 20.0))
    game.add(tables.beside("yellow", 30.0, 180, size="medium"))
    assert game.document["next"] == "yellow"
    return game


def test_two_throws_in_one_look_are_asked_about_where_the_second_is_too_close_to_call(tables, game):
    game.add(tables.beside("blue", 20.0))
    asked = game.add(tables.beside("yellow", 90.0, 90), tables.beside("yellow", 20.2, 180))
    assert (type(asked), asked.code) == (Ambiguous, "boule.throw.two")
    assert {choice.label.rpartition("; ")[2] for choice in asked.choices[:-1]} >= {
        "yellow is nearest",
        "blue is nearest",
    }
    assert all(len(choice.moves) == 2 for choice in asked.choices[:-1])


def test_after_a_restart_two_throws_are_asked_about_and_so_is_what_hands_moved(tables, game):
    """Where the pieces lay is not known then, but how far from the target they were is."""
    game.add(tables.beside("blue", 20.0))
    target, blue = game.pieces
    game.before = None
    two = game.see(
        target, blue, tables.beside("yellow", 90.0, 90), tables.beside("yellow", 45.0, 180)
    )
    assert (type(two), two.code) == (Ambiguous, "boule.throw.two")
    carried = game.see(target, tables.beside("blue", 50.0, 180))
    assert (type(carried), carried.code) == (Ambiguous, "boule.moved")
    assert isinstance(game.see(target, tables.beside("blue", 20.4, 180)), Waiting), (
        "within what a picture errs"
    )
    game.before = tables.seen(target, blue)
    game.add(tables.on("yellow", target, 0))
    game.before = None
    assert game.see(target, blue, tables.beside("yellow", 60.0, 180)).code == "boule.moved", (
        "nor does it stand on the target any more"
    )


def test_a_target_that_is_pushed_before_all_have_said_a_size_accuses_nobody(tables, new_game):
    game = new_game(sizes="declared")
    game.see(tables.target())
    pushed = game.see(tables.target(x_mm=60.0))
    assert isinstance(pushed, Waiting)
    assert pushed.as_recorded


def test_a_target_that_nobody_saw_at_the_end_is_thrown_again_somewhere_else(tables, game):
    """Its place was a guess, and anywhere is within its error: the next throw still counts."""
    game.move("throw blue large 20.00: blue 20.00")
    ended = replace(
        game.state, target=None, starter="blue", thrown=(4, 4), layout=Layout.parse("blue 20.00")
    )
    guess = replace(tables.target(), covariance=np.diag([60.0, 60.0, 90.0]) ** 2)
    before = tables.seen(guess, tables.beside("blue", 20.0))
    thrown = judge(ended, tables.seen(tables.target(x_mm=150.0)), before)
    assert isinstance(thrown, Accepted)
    assert thrown.moves == ("target green",)
    still = judge(ended, tables.seen(tables.target(x_mm=3.0)), before)
    assert isinstance(still, Waiting)
    assert "is the last end's target" in still.message
