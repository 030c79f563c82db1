"""A stretch of Ice Storm through the whole referee: settling, judge and log."""

from __future__ import annotations

import numpy as np


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
    film.show(table.seen())
    table.pieces["black2"] = table.thrown("black", 60, 340)
    film.show(table.seen())
    assert film.referee() == [
        ("accepted", "storm.throw", "green", (f"throw green {table.pieces['green1'].place}",)),
        ("refused", "storm.throw.leaning", "black", ("throw black leaning",)),
        ("accepted", "storm.throw.wasted", "black", ("throw black off",)),
        ("accepted", "storm.throw", "red", (f"throw red {table.pieces['red1'].place}",)),
        ("refused", "storm.throw.low", "green", ("throw green low",)),
        ("accepted", "storm.throw.wasted", "green", ("throw green off",)),
        ("accepted", "storm.throw", "black", (f"throw black {table.pieces['black2'].place}",)),
    ]
    state = film.session.view()["state"]
    assert state["on_board"] == {"green": 1, "black": 1, "red": 1}
    assert state["next"] == "red"
