"""The rules of Zamboni Wars: who sits where, roll-offs, shots, and what is said.  Rows of data are
read by the conformance suite.
"""

import re
from dataclasses import replace

import pytest

import engines.zamboni_wars as zamboni_wars
from engines.errors import IllegalMove, InvalidNotation
from engines.zamboni_wars import (
    RULINGS,
    Board,
    State,
    hear,
    legal_moves,
    outcome,
    parse_move,
    play,
    start,
    state_document,
)
from engines.zamboni_wars.board import Space
from engines.zamboni_wars.moves import Die, Drive, Roll, Take
from table.errors import InputError
from tests.support.sentences import without_template


@pytest.mark.parametrize("pips", [0, 7, -1, 2.5])
@pytest.mark.parametrize("die", [Roll, Die])
def test_a_die_has_six_sides(die, pips):
    with pytest.raises(InvalidNotation, match="expected a die of 1 to 6"):
        die(pips)


ROLL_OFF = (
    "players yellow red blue green; zambonis a6 E 3, f6 S 3, f1 W 3, a1 N 3; to_move blue; phase"
    " roll-off red=3 blue=- green=-; dice b5; board yellow=SE red=SW green=NE blue=NW; rulings"
    " warp=on cover=on fire=may."
)


@pytest.mark.parametrize(
    ("players", "rulings", "expected"),
    [
        ((), {}, "players: expected 2 to 4, got 0"),
        (("yellow",), {}, "players: expected 2 to 4, got 1"),
        (("yellow", "red", "blue", "green", "pink"), {}, "players: expected 2 to 4, got 5"),
        (
            ("yellow", "pink"),
            {},
            "players: expected colours of the coasters (yellow, red, blue, green), got 'pink'",
        ),
        (("yellow", "yellow"), {}, "players: expected each colour once, got 'yellow' 2 times"),
        (
            ("yellow", "red"),
            {},
            (
                "two players take opposite coasters (yellow and blue, or red and green), got"
                " yellow and red"
            ),
        ),
        (
            ("red", "yellow", "blue"),
            {},
            "turns go clockwise round the board: expected red blue yellow, got red yellow blue",
        ),
        (("red", "green"), {"warp": "yes"}, "rulings.warp: expected off or on, got 'yes'"),
        (
            ("red", "green"),
            {"range": "5"},
            "rulings: expected one of the names reading, arrows, turns, ",
        ),
    ],
)
def test_a_game_that_cannot_start(players, rulings, expected):
    with pytest.raises(InputError, match=re.escape(expected)) as refused:
        start(players, rulings)
    assert without_template(refused.value.message) == []


@pytest.mark.parametrize(
    "text",
    ["go north", "c9 E", "c6 E dice b4 b4", "c6 Q", "roll 7", "fire mauve", "roll", "c6 E dice"],
)
def test_why_a_text_is_no_move_is_a_template_with_its_values(text):
    with pytest.raises(InvalidNotation) as refused:
        parse_move(text)
    assert without_template(refused.value.message) == []


def test_why_a_move_is_illegal_is_a_template_with_its_values():
    state = start(("red", "green"), {})
    with pytest.raises(IllegalMove) as refused:
        play(state, parse_move("fire green"))
    assert without_template(refused.value.message) == []
    assert (
        str(refused.value)
        == refused.value.message
        == ("'fire green': Nobody fires now. Red rolls for movement. (Turn Sequence)")
    )


@pytest.mark.parametrize(
    "players",
    [
        "yellow blue",
        "green red",
        "blue yellow",
        "green yellow red",
        "red blue green",
        "blue green yellow red",
    ],
)
def test_players_sit_clockwise(players):
    homes = {"yellow": "a6 E 3", "red": "f6 S 3", "blue": "f1 W 3", "green": "a1 N 3"}
    state = start(players.split(), {})
    assert {player: str(nest) for player, nest in state.remaining_zambonis.items()} == {
        player: homes[player] for player in players.split()
    }
    assert state.to_move == players.split()[0]


def test_colours_go_home_wherever_their_coasters_lie():
    state = start(
        ["pink", "black"], {"cover": "on"}, Board.usual([["black", "cyan"], ["white", "pink"]])
    )
    assert str(state.remaining_zambonis["pink"]) == "f1 W 3"
    for pips in (2, 5):
        state = play(state, Roll(pips))
    assert state.dice == (Space.parse("b5"),)
    assert state.to_move == "pink"
    assert State.parse(str(state)) == state


@pytest.mark.parametrize(
    ("players", "dice"), [("yellow blue", 1), ("yellow red blue", 1), ("yellow red blue green", 2)]
)
def test_one_cover_die_for_every_two_players(players, dice):
    state = start(players.split(), {"cover": "on"})
    while "roll-off" in str(state.phase):
        state = play(state, Roll(1 + state.players.index(state.to_move)))
    assert len(state.dice) == dice
    assert start(players.split(), {}).dice == ()


def test_who_wins_the_cover_die_is_said_and_who_ties_for_it():
    state = start(["yellow", "red", "blue", "green"], {"cover": "on", "roll_off": "each"})
    messages = []
    for pips in (2, 5, 5, 1, 3, 4, 1, 6, 1):
        verdict = hear(state, {"player": state.to_move, "die": pips})
        messages.append(verdict.message)
        for move in verdict.moves:
            state = play(state, parse_move(move))
    assert "Green's die shows 1. Red and blue tie and roll again. Red rolls" in messages[3]
    assert "Blue's die shows 4. Blue gets the cover die. Yellow rolls" in messages[5]
    assert "Green's die shows 1. Red gets the cover die. Yellow rolls for movement." in messages[8]
    assert sum("gets the" in message or "tie and" in message for message in messages) == 3


@pytest.mark.parametrize(("layers", "hits"), [(3, [5, 6]), (2, [4, 5, 6])])
def test_what_a_shot_needs(layers, hits):
    line = (
        f"players yellow blue; zambonis a6 E 3, c6 S {layers}; to_move yellow; phase fire blue;"
        f" dice -; board {zamboni_wars.board.USUAL}; "
    )
    shot = play(State.parse(f"{line}rulings warp=off cover=off fire=may."), parse_move("fire blue"))
    rolled = {pips: play(shot, Die(pips)) for pips in range(1, 7)}
    assert {pips: str(after.phase) for pips, after in rolled.items()} == {
        pips: "hit blue" if pips in hits else "roll" for pips in rolled
    }
    after = {
        pips: play(state, Take("blue")) if pips in hits else state for pips, state in rolled.items()
    }
    assert {pips: state.remaining_zambonis["blue"].layers for pips, state in after.items()} == {
        pips: layers - (pips in hits) for pips in rolled
    }
    assert {state.to_move for state in after.values()} == {"blue"}


def test_legal_moves_in_words():
    state = start(["yellow", "blue"], {"cover": "on"})
    assert str(legal_moves(state)) == "roll 1 to 6"
    assert [str(move) for move in legal_moves(state)] == [f"roll {pips}" for pips in range(1, 7)]
    for text in ("roll 2", "roll 1", "roll 1"):
        state = play(state, parse_move(text))
    assert str(legal_moves(state)) == "b6 E | a6 N | a6 NE | a6 SE | a6 S | a6 SW | a6 W | a6 NW"
    assert len(legal_moves(state)) == 8
    assert "b6 E" not in legal_moves(state), "text is no move until it is parsed"
    state = State.parse(str(state).replace("f1 W 3", "c6 W 2").replace("move 1", "fire blue"))
    assert str(legal_moves(state)) == "fire blue | hold"
    state = play(state, parse_move("fire blue"))
    assert str(legal_moves(state)) == "die 1 to 6"
    assert [str(move) for move in legal_moves(state)] == [f"die {pips}" for pips in range(1, 7)]


def test_a_finished_game_allows_nothing():
    state = State.parse(
        "players yellow blue; zambonis -, c6 S 1; to_move blue; phase over; dice -; board yellow=SE red=SW green=NE blue=NW; "  # noqa: E501
        "rulings warp=off cover=off fire=may."
    )
    assert str(legal_moves(state)) == "nothing: the game is over"
    assert not legal_moves(state)
    assert list(legal_moves(state)) == []
    assert str(outcome(state)) == "blue won with the last Zamboni, 1 piece left"


def test_where_only_firing_is_allowed():
    state = State.parse(
        f"players yellow blue; zambonis a6 E 3, c6 S 1; to_move yellow; phase fire blue; dice -; board {zamboni_wars.board.USUAL}; "  # noqa: E501
        "rulings warp=off cover=off fire=must."
    )
    assert str(legal_moves(state)) == "fire blue"
    hit = play(state, parse_move("fire blue"))
    assert str(legal_moves(hit)) == "take blue"
    assert (
        str(outcome(play(hit, parse_move("take blue"))))
        == "yellow won with the last Zamboni, 3 pieces left"
    )


@pytest.mark.parametrize(
    ("phase", "message"),
    [
        ("roll", "Yellow rolls for movement."),
        ("move 1", "Yellow moves and spends 1 point."),
        ("move 4", "Yellow moves and spends 4 points."),
        ("fire blue", "Yellow may fire at blue, or not."),
        ("shot blue", "Yellow rolls for the shot at blue; 4 or more hits."),
        ("hit blue", "Yellow hit blue: take the medium blue piece off the board."),
    ],
)
def test_whose_turn_in_words(phase, message):
    line = (
        f"players yellow blue; zambonis a6 E 3, c6 S 2; to_move yellow; phase {phase}; dice -;"
        f" board {zamboni_wars.board.USUAL}; "
    )
    assert (
        state_document(State.parse(f"{line}rulings warp=off cover=off fire=may."))["turn"]
        == message
    )


def test_a_phase_that_is_none():
    state = replace(start(["yellow", "blue"], {}), phase="a break")
    with pytest.raises(AssertionError, match="unreachable"):
        list(legal_moves(state))
    with pytest.raises(AssertionError, match="unreachable"):
        state_document(state)


def test_the_roll_off_in_words():
    assert (
        state_document(State.parse(ROLL_OFF))["turn"]
        == "Blue rolls for the cover die: the highest roll gets it."
    )
    assert state_document(State.parse(ROLL_OFF))["rolls"] == {"red": 3, "blue": None, "green": None}


def test_dice_are_sorted_whatever_way_they_are_written():
    assert (
        parse_move("c6 E dice e2 b4")
        == parse_move(" c6  E dice b4 e2 ")
        == Drive(Space.parse("c6"), "E", (Space.parse("b4"), Space.parse("e2")))
    )


def test_the_module_has_the_shape_of_a_game():
    assert zamboni_wars.NAME == "zamboni_wars"
    assert [ruling.name for ruling in RULINGS] == [
        *(
            "reading",
            "arrows",
            "turns",
            "points",
            "sight",
            "seats",
            "warp",
            "warp_between",
            "cover",
            "roll_off",
            "fire",
            "cover_three",
            "stuck",
        )
    ]
    for name in (
        "start",
        "parse_move",
        "play",
        "legal_moves",
        "violation",
        "outcome",
        "State",
        "state_document",
    ):
        assert hasattr(zamboni_wars, name)
