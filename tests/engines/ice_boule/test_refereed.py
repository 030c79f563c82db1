"""Ends of Ice Boule through the whole referee: settling, judge, inputs and log."""

from __future__ import annotations

import pytest

from engines import GAMES
from engines.verdict import Ambiguous

PLAYERS = ("blue", "yellow")


def test_an_end_with_declared_sizes_is_played_from_recorded_inputs(film, tables):
    film = film("ice_boule", PLAYERS, None, sizes="declared")
    film.say(player="yellow", line=True)
    film.say(player="blue", line=[[0, 80], [600, 80]])
    lying = [tables.target()]
    film.show(tables.seen(*lying))
    film.say(player="yellow", size="medium")
    lying.append(tables.beside("blue", 20.0))
    film.show(tables.seen(*lying))
    film.say(player="blue", size="large")
    film.show(tables.seen(*lying))
    for gap_mm, bearing_deg in ((30.0, 90), (40.0, 180), (50.0, 270)):
        lying.append(tables.beside("yellow", gap_mm, bearing_deg, size="medium"))
        film.show(tables.seen(*lying))
    film.say(player="yellow", out=True)
    film.show(tables.seen(*lying))
    film.say(player="blue", stop=True)
    film.show(tables.seen(*lying))
    assert [line[:3] for line in film.referee()] == [
        ("accepted", "boule.line", "blue"),
        ("accepted", "boule.target", "blue"),
        ("accepted", "boule.size", "yellow"),
        ("refused", "boule.throw.sizes", "blue"),
        ("accepted", "boule.size", "blue"),
        ("accepted", "boule.throw", "blue"),
        *[("accepted", "boule.throw", "yellow")] * 4,
        ("accepted", "boule.stop", "blue"),
    ]
    state = film.session.view().state
    assert (state["end"]["winner"], state["scores"]) == ("blue", {"blue": 1, "yellow": 0})


@pytest.mark.parametrize("sizes", ["shown", "declared"])
def test_everything_that_buttons_offer_in_a_game_is_heard(sizes):
    """Between ends, before the first throw, after it, and where only the leader has pieces left."""
    game = GAMES["ice_boule"]
    state = game.start(PLAYERS, {"sizes": sizes})
    offered = set()
    for move in (
        "target green",
        "sizes blue=large yellow=large",
        "throw blue large 20: blue 20",
        *["throw yellow out: blue 20"] * 4,
        "stop blue",
    ):
        for one in game.state_document(state)["may_say"]:
            verdict = game.hear(state, one["said"])
            moves = (
                [choice.moves for choice in verdict.choices if choice.moves]
                if isinstance(verdict, Ambiguous)
                else [verdict.moves]
            )
            assert all(game.violation(state, game.parse_move(*each)) is None for each in moves), one
            offered |= set(one["said"])
        state = game.play(state, game.parse_move(move))
    assert offered == {"player", "line", "target", "out", "void", "stop"} | (
        {"size"} if sizes == "declared" else set()
    )


@pytest.mark.parametrize(
    ("in_play", "offered"),
    [
        ((), ["small", "medium", "large"]),
        (("medium", "large"), ["medium", "large"]),
        (("small", "medium"), ["small", "medium"]),
    ],
)
def test_people_are_asked_for_sizes_that_are_in_play_only(film, tables, in_play, offered):
    film = film("ice_boule", PLAYERS, None, {"sizes": list(in_play)})
    film.show(tables.seen(tables.target()))
    film.show(
        tables.seen(
            tables.target(), tables.beside("blue", 20.0, size="medium", size_probability=0.6)
        )
    )
    film.referee()
    choices = film.session.view().question.choices
    assert sorted(choice.label for choice in choices if choice.moves) == sorted(
        f"A {size} piece" for size in offered
    )
