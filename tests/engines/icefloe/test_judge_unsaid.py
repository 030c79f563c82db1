"""What the rules allow and nobody says: two tiles in one go, a move that comes back, a torch that
passes without a word, a pond cleared.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from engines import icefloe as game
from engines.verdict import Accepted, Ambiguous, OutOfSync, Refused, Waiting

BOARD = "a1=A4+AS a2=A2+BS a3=Mn+AC b1=A5+AM+CM b2=A3+AA c2=Ma+FA d4=S4 d5=S5 e5=C5"


def line(phase, round_=2, scores="0 0 0 0", mover="-", tile="-", board=BOARD):
    return (
        f"players red yellow black blue; round {round_}; phase {phase}; mover {mover}; scores"
        f" {scores}; coins a2 a2 a2 a2; muted -; value -; votes - - - -; laid 0 0 0 0; done -; tile"
        f" {tile}; sunk -; winners -; board {board}; rulings done=stands stay=may corners=may"
        " breach=to_come muted_coins=may."
    )


def test_the_tile_voted_on_and_an_empty_one_are_taken_off_in_one_go(pond):
    state, table = pond(line("remove", tile="A4"))
    before = table.seen()
    table.sink("a1")
    table.sink("d5")
    verdict = game.judge(state, table.seen(), before, table.board)
    assert (type(verdict), verdict.code, verdict.moves) == (
        Accepted,
        "icefloe.removed",
        ("remove A4", "remove S5"),
    )
    assert (
        verdict.message
        == "Yellow removed the 4 of arms, and pyramid A of suns with it. Yellow removed"
        " the 5 of suns. The round is over; the torch goes"
        " to black."
    )


@pytest.mark.parametrize("place", ["a2", "c2"])
def test_a_second_tile_that_carries_pyramids_is_never_taken_for_lawful(pond, place):
    state, table = pond(line("remove", tile="A4"))
    before = table.seen()
    table.sink("a1")
    table.sink(place)
    assert not isinstance(game.judge(state, table.seen(), before, table.board), Accepted)


def test_the_pond_may_be_cleared_while_the_torch_bearer_names_the_winner(pond):
    state, table = pond(line("name", scores="4 4 0 0"))
    before = table.seen()
    table.stood.clear()
    table.tiles.clear()
    verdict = game.judge(state, table.seen(), before, table.board)
    assert isinstance(verdict, Waiting)
    assert (
        verdict.message
        == "Red and yellow are tied; yellow, the torch bearer, names the winner or a shared"
        " victory."
    )


def test_a_refusal_names_the_move_that_nobody_could_see_and_it_can_still_be_said(pond):
    """Red moved out and back, which no picture shows, and yellow moves."""
    state, table = pond(line("move", round_=1, mover="red"))
    before = table.seen()
    table.put("AC", "a2")
    refused = game.judge(state, table.seen(), before, table.board)
    assert (type(refused), refused.player) == (Refused, "yellow")
    assert refused.message.endswith(
        "Put back what was moved, or say that one of red's pyramids came back to where it stood."
    )
    stays = game.hear(state, {"player": "red", "stays": "AS"})
    after = game.play(state, game.parse_move(stays.moves[0]))
    verdict = game.judge(after, table.seen(), before, table.board)
    assert (type(verdict), verdict.moves) == (Accepted, ("AC:a3-a2",))


def test_where_no_pyramid_may_come_back_a_move_out_of_turn_is_just_refused(pond):
    state, table = pond(line("move", round_=1, mover="red").replace("stay=may", "stay=never"))
    before = table.seen()
    table.put("AC", "a2")
    assert game.judge(state, table.seen(), before, table.board).message.endswith(
        "Put back what was moved."
    )


def test_a_tile_that_the_camera_still_reads_is_off_when_the_torch_bearer_says_so(pond):
    state, table = pond(line("remove", tile="S4"))
    seen = table.seen()
    table.tiles.discard("d4")
    assert isinstance(game.judge(state, seen, seen, table.board), Waiting), (
        "nothing tells that it is gone"
    )
    refused = game.hear(state, {"player": "red", "removed": "S4"})
    assert (type(refused), refused.code) == (Refused, "icefloe.remove.player")
    heard = game.hear(state, {"player": "yellow", "removed": "S4"})
    assert (type(heard), heard.code, heard.moves) == (Accepted, "icefloe.removed", ("remove S4",))
    state = game.play(state, game.parse_move("remove S4"))
    misread = replace(table.seen(), tiles=seen.tiles)
    assert isinstance(game.judge(state, misread, seen, table.board), Waiting), (
        "nobody is held to what the camera misreads"
    )
    more = game.hear(state, {"player": "yellow", "removed": "S5"})
    assert (more.code, more.moves) == ("icefloe.removed_empty", ("remove S5",))


def test_the_last_pyramids_of_a_player_go_with_a_tile_and_the_game_is_over_at_once():
    state = game.State.parse(line("remove", tile="A3", board="a1=A4+AS a3=Mn+AC b1=A5+AM b2=A3+AA"))
    heard = game.hear(state, {"player": "yellow", "removed": "A3"})
    assert heard.message.startswith(
        "Yellow removed the 3 of arms, and pyramid A of arms with it. Red, yellow and"
        " black are tied"
    )


def test_who_scores_or_takes_the_torch_says_that_no_empty_tile_goes():
    state = game.State.parse(line("extra", round_=6))
    heard = game.hear(state, {"player": "yellow", "score": "A3"})
    assert (type(heard), heard.moves) == (Accepted, ("remove none", "score yellow A3"))
    assert heard.message.startswith(
        "No empty tile is removed. Yellow chooses the 3 of arms to score: blue 1."
    )
    assert isinstance(game.hear(state, {"player": "black", "score": "A3"}), Refused)
    state = game.State.parse(line("extra"))
    heard = game.hear(state, {"player": "black", "torch": True})
    assert heard.moves == ("remove none", "torch black")
    assert isinstance(game.hear(state, {"player": "blue", "torch": True}), Refused)


def test_two_players_who_moved_in_turn_before_the_pond_was_seen_at_rest_are_asked(pond):
    state, table = pond(line("move", round_=1, mover="red"))
    before = table.seen()
    table.put("AS", "a2")
    table.put("AC", "b2")
    asked = game.judge(state, table.seen(), before, table.board)
    assert isinstance(asked, Ambiguous)
    assert {choice.label: choice.moves for choice in asked.choices} == {
        "Red moved pyramid A of suns from a1 to a2; then yellow moved pyramid A of crowns"
        " from a3 to b2": ("AS:a1-a2", "AC:a3-b2"),
        "No, something else: fix the table": (),
    }
    for name, place in (("BS", "b2"), ("AC", "e5")):
        spoilt = table.copy()
        spoilt.put(name, place)
        verdict = game.judge(state, spoilt.seen(), before, table.board)
        asks = verdict if isinstance(verdict, Ambiguous) else verdict.asks
        assert asks is None or not any(choice.moves for choice in asks.choices), (
            "not what players do in turn"
        )


def test_three_players_who_moved_in_turn_are_asked_where_the_pond_stays_so(pond):
    state, table = pond(line("move", round_=1, mover="red"))
    before = table.seen()
    for name, place in (("AS", "a2"), ("AC", "b2"), ("AM", "c2")):
        table.put(name, place)
    verdict = game.judge(state, table.seen(), before, table.board)
    assert isinstance(verdict, OutOfSync)
    assert ("AS:a1-a2", "AC:a3-b2", "AM:b1-c2") in [choice.moves for choice in verdict.asks.choices]


def test_a_pond_is_read_while_others_say_whether_somebody_broke_a_rule(pond):
    """What is still to be said of an objection is no move that the pond could show."""
    state, table = pond(line("move", round_=1, mover="red"))
    before = table.seen()
    state = game.play(state, game.parse_move("object yellow to blue"))
    table.put("AS", "a2")
    del table.stood["AM"]
    verdict = game.judge(state, table.seen(), before, table.board)
    assert not isinstance(verdict, Accepted)
    table.put("AM", "b1")
    assert game.judge(state, table.seen(), before, table.board).moves == ("AS:a1-a2",)
    table.put("AS", "a1")
    del table.stood["AS"]
    asks = game.judge(state, table.seen(), before, table.board).asks
    assert all(move.startswith("AS:") for choice in asks.choices for move in choice.moves)
