"""Ruling icebreaker.2: who can move no ship is told so, and the turn passes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from engines import icebreaker as game
from engines.icebreaker.board import Board, board, label, members, union
from engines.icebreaker.moves import parse_move
from engines.rule_texts import explain, words
from engines.verdict import Accepted, Waiting
from table.observation import Observation

STILL_ON = (
    "players red black; scores 15 15; turn red; board 222./...../....../......./..1.../1..../*1..; "
    "rulings size=4 closest=any stuck=pass end=majority."
)
"""Once red's third ship stands on B2, the iceberg on A1 is red's alone."""


@pytest.fixture
def table(tables):
    return tables.Table(game.State.parse(STILL_ON), np.random.default_rng(3))


def ruled(state, table):
    return game.judge(state, table.seen(), Observation(0, 0, None), table.board)


def test_a_player_who_can_move_no_ship_is_told_with_the_ruling(table):
    state = game.State.parse(STILL_ON)
    table.move("C3", "B2")
    verdict = ruled(state, table)
    assert isinstance(verdict, Accepted)
    assert (
        verdict.message
        == "Red's ship goes from C3 to B2: red 15 and black 15. Black cannot move any ship, so the"
        " turn passes. Red moves next."
    )
    assert verdict.rests_on == "Moves; ruling icebreaker.2"
    assert all(clause.text for clause in explain("icebreaker", verdict.rests_on))
    after = game.play(state, parse_move(*verdict.moves))
    assert after.next == "red"
    assert [one.label for one in game.options(after) if one.who == "black"] == [
        "cannot move any ship now and passes"
    ]
    assert isinstance(ruled(after, table), Waiting), "nothing is asked of who is stuck"


def test_a_turn_that_goes_on_as_usual_cites_no_such_ruling(table):
    table.move("C3", "C2")
    verdict = ruled(game.State.parse(STILL_ON), table)
    assert not isinstance(verdict, Accepted), "C2 is no shorter way"
    state = game.start(("red", "black"), {"size": "4"})
    assert all(one.who == "red" for one in game.options(state))
    assert all("passes" not in choice.label for choice in game.alternatives(state, ("A1-B2",)))


def test_people_who_are_asked_about_such_a_move_read_what_it_does_to_the_turn():
    state = game.State.parse(STILL_ON)
    offered = game.alternatives(state, ("C3-C2",))
    assert [choice.label for choice in offered] == [
        "The ship on C3 went to B2; black cannot move any ship, so the turn passes"
    ]


def test_the_whole_referee_tells_it_and_goes_on_to_the_end(film, table, monkeypatch):
    """No game comes there from the usual start (see below): this one begins with the iceberg on a
    corner.
    """
    monkeypatch.setattr(game, "set_up", lambda *_: game.State.parse(STILL_ON))
    film = film("icebreaker", ("red", "black"), table.board)
    film.show(table.seen())
    for move in ("C3-B2", "A2-A1"):
        table.move(*move.split("-"))
        film.show(table.seen())
    assert film.referee() == [
        ("accepted", "icebreaker.move", "red", ("C3-B2",)),
        ("accepted", "icebreaker.move", "red", ("A2-A1",)),
    ]
    message = [
        record.event.message
        for record in film.session.records()
        if getattr(record.event, "verdict", "") == "accepted"
    ]
    assert "Black cannot move any ship, so the turn passes. Red moves next." in message[0]
    assert message[1].endswith("The game is over: red won with 16 icebergs to black's 15.")


def cut_off(played: Board, ships: tuple[int, ...]) -> int:
    """The cells that these ships part from the largest piece of the board."""
    free = played.cells & ~union(*ships)
    pieces = []
    while left := free & ~sum(pieces):
        reached = left & -left
        while (more := reached | played.neighbours(reached) & free) != reached:
            reached = more
        pieces.append(reached)
    return sum(sorted(pieces, key=int.bit_count)[:-1])


@pytest.mark.parametrize("size", [4, 5])
def test_three_ships_shut_in_nothing_but_a_corner(size):
    """So nobody is ever stuck in a game from the usual start: its corners hold ships, and no ice
    comes back.
    """
    played = board(size)
    corners = played.ships[0] | played.ships[1]
    shut_in = 0
    for ships in combinations(members(played.cells), 3):
        shut_in |= cut_off(played, ships)
    assert {label(cell) for cell in members(shut_in)} == {label(cell) for cell in members(corners)}
    assert not played.ice & corners


def test_every_ruling_is_listed_with_its_sentence():
    """So it stands on the set-up page, in `rinkside rules icebreaker` and in the log."""
    cited = {ruling.cites for ruling in game.RULINGS}
    assert {clause for clause in words("icebreaker") if clause.startswith("ruling ")} <= cited
