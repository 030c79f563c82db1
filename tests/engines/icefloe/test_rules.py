"""The rules of IceFloe: what its data files and the suite for all games do not say."""

import re

import pytest

from engines import GAMES
from engines.errors import InvalidNotation
from engines.icefloe import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    start,
    state_document,
    violation,
)
from engines.icefloe.state import public_state
from table.errors import InputError


def changed(state, changes):
    for change in changes.split(" ;; "):
        was, came = change.split(" =>")
        assert was in state, was
        state = state.replace(was, came.strip(), 1)
    return state


GOOD_STATE = (
    "players red blue yellow; round 2; phase coins; mover -; scores 3 0 7; coins a2 2 -; muted -;"
    " value 4; votes C A C; laid 0 1 0; done blue; tile -; sunk -; winners -; board a2=A2+AA"
    " a3=Mn+ES c2=C4+EC; rulings done=stands stay=may corners=may muted_coins=may."
)


@pytest.mark.parametrize(
    ("players", "rulings", "expected"),
    [
        (("red", "blue"), {}, "players: expected 3 to 4, got 2"),
        (("red", "blue", "yellow", "black", "green"), {}, "players: expected 3 to 4, got 5"),
        (("red", "blue", "anna"), {}, "players: expected colours (red, yellow"),
        (
            ("red", "blue", "pink"),
            {},
            "players: expected colours of the suits (red, black, yellow, green, blue), got 'pink'",
        ),
        (("red", "blue", "red"), {}, "players: expected each colour once, got 'red' 2 times"),
        (
            ("green", "blue", "yellow"),
            {},
            "players: expected each suit once, got crowns 2 times (green, yellow)",
        ),
        (
            ("red", "blue", "green"),
            {"weather": "fine"},
            "rulings: expected one of the names void, done, overweight, ",
        ),
        (
            ("red", "blue", "green"),
            {"stay": "yes"},
            "rulings.stay: expected may or never, got 'yes'",
        ),
    ],
)
def test_a_game_that_cannot_start(players, rulings, expected):
    with pytest.raises(InputError, match=re.escape(expected)):
        start(players, rulings)


PRINTED_BOARD = """
2 3 a 2 3
4 5 a 4 5
n n - n n
2 3 a 2 3
4 5 a 4 5
"""


def test_tiles_lie_as_printed():
    four, three = (
        start(["red", "blue", "yellow", "black"], {}).board,
        start(["red", "blue", "yellow"], {}).board,
    )
    for rank, row in zip("54321", PRINTED_BOARD.split("\n")[1:], strict=False):
        for file, value in zip("abcde", row.split(), strict=True):
            floe = four.at(file + rank)
            assert (floe.tile[1] if floe else "-") == value
    assert {floe.tile for floe in four.floes} == {
        suit + value for suit in "SMCA" for value in "na2345"
    }
    assert {floe.tile for floe in four.floes} - {floe.tile for floe in three.floes} == {
        "S2",
        "M3",
        "A4",
        "C5",
    }
    assert len(three.floes) == 20


def test_legal_moves_in_words():
    state = State.parse(GOOD_STATE)
    assert (
        str(legal_moves(state))
        == "done red | done yellow | coin red a to red | coin red a to blue | coin red a to yellow"
        " | coin red 2 to red | coin red 2 to blue | coin red 2 to yellow | coin blue 2 to red |"
        " coin blue 2 to blue | coin blue 2 to yellow"
    )
    assert len(legal_moves(state)) == 11
    assert "done red" not in legal_moves(state), "text is no move until it is parsed"
    counted = (
        "value 4; votes C A C; laid 0 1 0; done blue => value -; votes - - -; laid 0 0 0; done -"
    )
    over = State.parse(
        changed(
            GOOD_STATE, f"phase coins => phase over ;; {counted} ;; winners - => winners yellow"
        )
    )
    assert str(legal_moves(over)) == "nothing: the game is over"
    assert not legal_moves(over)
    assert str(outcome(over)) == "yellow won with 7 points to red's 3, blue's 0"


def test_votes_are_secret_until_all_have_voted():
    cast = "votes C A C; laid 0 1 0; done blue => votes C - -; laid 0 0 0; done -"
    voting = State.parse(changed(GOOD_STATE, f"phase coins => phase vote ;; {cast}"))
    document = state_document(voting)
    assert document["votes"] == {"red": "?", "blue": None, "yellow": None}
    assert "votes ? - -;" in document["state"]
    assert document["tally"] == {}
    other = play(State.parse(str(voting).replace("votes C", "votes -")), parse_move("vote red A"))
    assert state_document(other) == document, "nothing in it tells one vote from another"
    with pytest.raises(InvalidNotation, match="votes among S M C A"):
        State.parse(str(public_state(voting)))
    shown = play(play(voting, parse_move("vote blue A")), parse_move("vote yellow S"))
    assert state_document(shown)["votes"] == {"red": "C", "blue": "A", "yellow": "S"}
    assert state_document(shown)["tally"] == {"C": 1}
    assert public_state(shown) == shown


def test_rulings_cite_and_explain():
    assert all(
        ruling.cites.startswith("ruling icefloe.") and ruling.description for ruling in RULINGS
    )


def test_text_is_no_move():
    with pytest.raises(AssertionError, match="unreachable"):
        violation(State.parse(GOOD_STATE), "done red")


def test_who_has_a_hidden_vote_is_said_by_the_votes_and_not_by_a_phase():
    """The last player still moves: votes on the value may be set already, and are hidden."""
    game, state = GAMES["icefloe"], GAMES["icefloe"].start(("red", "blue", "yellow"), {})
    while not state.last_to_move:
        state = play(state, next(iter(legal_moves(state))))
    assert (state.phase, game.hidden_voters(state)) == ("move", ())
    state = play(state, parse_move("vote blue 4"))
    assert (state.phase, game.hidden_voters(state)) == ("move", ("blue",))
    while state.phase == "move":
        state = play(state, next(move for move in legal_moves(state) if ":" in str(move)))
    state = play(state, parse_move("vote red 3"))
    assert (state.phase, game.hidden_voters(state)) == ("vote", ("red", "blue"))
    state = play(state, parse_move("vote yellow 3"))
    assert (state.phase, game.hidden_voters(state)) == ("coins", ())


@pytest.mark.parametrize(
    ("message", "voter"),
    [
        ({"player": "red", "vote_value": "4"}, "red"),
        ({"player": "red", "vote_suit": "S"}, "red"),
        ({"player": "red", "vote_value": "nonsense", "more": 1}, "red"),
        ({"player": ["red"], "vote_value": "4"}, None),
        ({"player": "red", "coin": 2, "to": "blue"}, None),
        ({"player": "red", "penalty": True}, None),
    ],
)
def test_what_is_heard_says_whose_secret_vote_it_is(message, voter):
    assert GAMES["icefloe"].secret_voter(message) == voter


def test_moves_say_whose_secret_vote_they_are():
    moves = map(parse_move, ("vote red 4", "vote blue S", "done red", "ES:b3-c1"))
    assert list(map(GAMES["icefloe"].secret_voter, moves)) == ["red", "blue", None, None]


def test_a_vote_of_the_wrong_kind_is_refused_without_saying_what_it_was():
    game, state = GAMES["icefloe"], GAMES["icefloe"].start(("red", "blue", "yellow"), {})
    while state.phase != "vote":
        state = play(state, next(iter(legal_moves(state))))
    message = {
        choice: game.hear(state, {"player": "red", "vote_suit": choice}).message
        for choice in "SMCA"
    }
    assert len(set(message.values())) == 1
    assert "Red cannot vote for that now." in message["S"]
