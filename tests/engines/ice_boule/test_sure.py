"""A class that is read with probability SURE counts as read, and one a hair less does not, wherever
it is asked.
"""

from dataclasses import replace

import numpy as np
import pytest

from engines.ice_boule import judge
from engines.ice_boule.measure import measure
from engines.verdict import CannotSee
from table.observation import SURE

HAIR_LESS = float(np.nextafter(SURE, 0))


def pose_of_a_piece(_, tables, p):
    return (
        measure(
            tables.seen(tables.target(), tables.beside("blue", 30, pose_probability=p)), "green"
        )
        .gaps[0]
        .reach_mm
    )


def size_of_a_piece(_, tables, p):
    return (
        measure(
            tables.seen(tables.target(), tables.beside("blue", 30, size_probability=p)), "green"
        )
        .gaps[0]
        .reach_mm
    )


def colour_of_the_target(_, tables, p):
    return len(
        measure(
            tables.seen(tables.target(colour_probability=p), tables.beside("blue", 30)), "green"
        ).doubts
    )


def colour_of_the_leader(_, tables, p):
    seen = tables.seen(
        tables.target(),
        tables.beside("blue", 30, colour_probability=p),
        tables.beside("yellow", 60, 180),
    )
    return len(measure(seen, "green").doubts)


def which_is_the_target(_, tables, p):
    seen = tables.seen(
        tables.target(colour_probability=p), tables.target(x_mm=200, colour_probability=0.5)
    )
    return isinstance(measure(seen, "green"), CannotSee)


def colour_of_a_new_target(game, tables, p):
    return (
        game().see(tables.target(colour_probability=p)).code,
        type(game().see(tables.target(colour_probability=p))).__name__,
    )


def pose_of_a_new_target(game, tables, p):
    verdict = game().see(tables.target(pose_probability=p))
    return type(verdict).__name__, verdict.code


def pose_of_a_target_that_lies(game, tables, p):
    verdict = game().see(tables.target(pose="lying", pose_probability=p))
    return type(verdict).__name__, verdict.message


def begun(game, tables):
    new = game()
    new.see(tables.target())
    return new


def colour_of_a_stranger(game, tables, p):
    verdict = begun(game, tables).add(tables.beside("red", 50, colour_probability=p))
    return type(verdict).__name__, verdict.code


def colour_of_a_throw_out_of_turn(game, tables, p):
    verdict = begun(game, tables).add(tables.beside("yellow", 50, colour_probability=p))
    return type(verdict).__name__, verdict.code


def size_of_a_throw(game, tables, p):
    verdict = begun(game, tables).add(tables.beside("blue", 50, size_probability=p))
    return type(verdict).__name__, verdict.code


ASKED = [
    *(
        pose_of_a_piece,
        size_of_a_piece,
        colour_of_the_target,
        colour_of_the_leader,
        which_is_the_target,
        colour_of_a_new_target,
    ),
    *(
        pose_of_a_new_target,
        pose_of_a_target_that_lies,
        colour_of_a_stranger,
        colour_of_a_throw_out_of_turn,
        size_of_a_throw,
    ),
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.__name__)
def test_sure_is_sure_and_a_hair_less_is_not(new_game, tables, asked):
    certain, sure, less, unsure = (asked(new_game, tables, p) for p in (1.0, SURE, HAIR_LESS, 0.6))
    assert sure == certain
    assert less == unsure
    assert sure != less


def test_a_colour_that_is_just_sure_is_not_recalled_from_what_lay_there(new_game, tables):
    game = begun(new_game, tables)
    game.add(tables.beside("blue", 50))
    for p, colour in ((SURE, "yellow"), (HAIR_LESS, "blue")):
        changed = [
            replace(one, colour="yellow", colour_probability=p) if one.colour == "blue" else one
            for one in game.pieces
        ]
        verdict = judge(game.state, tables.seen(*changed), game.before)
        assert (verdict.code == "boule.nothing" or type(verdict).__name__ == "Waiting") == (
            colour == "blue"
        ), (p, verdict)


def test_an_unsure_colour_that_leaves_no_choice_is_taken_as_read_with_every_colour_in_play(
    new_game, tables
):
    game = begun(new_game, tables)
    game.add(tables.beside("blue", 50))
    verdict = game.add(tables.beside("yellow", 80, 180, colour_probability=0.6))
    assert type(verdict).__name__ == "Accepted"
