"""Where tables differ in IceFloe: what the judge says under rulings other than the defaults."""

from __future__ import annotations

import pytest

from engines import icefloe as game
from engines.verdict import Accepted

BOARD = "a1=A4+AS a2=A2+BS a3=Mn+AC b1=A5+AM+CM b2=A3+AA c2=Ma+FA"


def line(rulings, phase, scores="0 0 0 0", **given):
    """Four players in round 2, red has borne the torch."""
    words = {
        "mover": "-",
        "value": "-",
        "votes": "- - - -",
        "done": "-",
        "tile": "-",
        "board": BOARD,
    } | given
    return (
        f"players red yellow black blue; round 2; phase {phase}; mover {words['mover']}; scores"
        f" {scores}; coins a2 a2 a2 a2; muted -; value {words['value']}; votes {words['votes']};"
        f" laid 0 0 0 0; done {words['done']}; tile {words['tile']}; sunk -; winners -; board"
        f" {words['board']}; rulings {rulings}."
    )


@pytest.mark.parametrize(
    ("rulings", "next_one"),
    [
        ("scoring=later", "The round is over; the torch goes to black."),
        ("scoring=always", "scores"),
    ],
)
def test_scoring_begins_as_was_ruled(pond, rulings, next_one):
    state, table = pond(
        line(rulings, "remove", tile="A4", board=BOARD.replace("+AS", "") + " d4=S4+CS")
    )
    before = table.seen()
    table.sink("a1")
    verdict = game.judge(state, table.seen(), before, table.board)
    assert (verdict.code, verdict.moves) == ("icefloe.removed", ("remove A4",))
    expected = "Yellow selects a tile to score on next." if next_one == "scores" else next_one
    assert verdict.message.endswith(expected)


def test_votes_that_are_all_void_are_cast_again_where_that_was_ruled():
    done = {"player": "blue", "done": True}
    state = game.State.parse(
        line(
            "void=again",
            "coins",
            votes="2 2 2 2",
            board=BOARD.replace("A2", "S4"),
            done="red yellow black",
        )
    )
    verdict = game.hear(state, done)
    assert (type(verdict), verdict.code, verdict.rests_on) == (
        Accepted,
        "icefloe.vote.again",
        "ruling icefloe.1",
    )
    assert verdict.message.startswith(
        "No vote counts, so all vote again. Vote on the value of the tile to remove: "
    )
    state = game.State.parse(str(state).replace("void=again", "void=torch"))
    assert (
        game.hear(state, done).message
        == "Blue lays no more coins. No vote counts; yellow, the torch bearer, decides: null, ace,"
        " 3, 4 or 5."
    )


def test_a_tie_is_a_shared_victory_where_that_was_ruled(pond):
    """Blue's last pyramid goes with its tile."""
    given = {"scores": "3 0 3 0", "tile": "A3", "board": "a1=A4+AS a3=Mn+AC b1=A5+AM b2=A3+AA"}
    for rulings, ended in (
        (
            "tie=shared",
            (
                "The game is over: red and black share the victory with 4 points to yellow's 1,"
                " blue's 0."
            ),
        ),
        (
            "tie=torch",
            (
                "Red and black are tied; yellow, the torch bearer, names the winner or a shared"
                " victory."
            ),
        ),
    ):
        state, table = pond(line(rulings, "remove", **given))
        before = table.seen()
        table.sink("b2")
        assert game.judge(state, table.seen(), before, table.board).message.endswith(ended)


def test_all_others_vote_on_a_breach_where_that_was_ruled():
    muted = line("ballot=all", "vote").replace("muted -", "muted black")
    for text, asked in (
        (muted, ["yellow", "black", "blue"]),
        (muted.replace("ballot=all", "ballot=voters"), ["yellow", "blue"]),
    ):
        state = game.State.parse(text)
        state = game.play(
            state,
            game.parse_move(game.hear(state, {"player": "black", "objects_to": "red"}).moves[0]),
        )
        assert game.state_document(state)["objection"]["asked"] == asked
