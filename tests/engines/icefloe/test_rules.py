"""The rules of IceFloe: golden playthroughs, a row for every violation, and notation."""

import re
import shlex
from pathlib import Path

import pytest

import engines.icefloe
from engines.errors import IllegalMove, InvalidNotation
from engines.icefloe import RULINGS, State, legal_moves, outcome, parse_move, play, start, state_document, violation
from engines.icefloe.state import hidden
from table.errors import InputError

DATA = Path(__file__).with_name("data")


def rows(name):
    """Lines of a data file without comments and blank ones."""
    return [line for line in (DATA / name).read_text().splitlines() if line.strip() and not line.startswith("#")]


def changed(state, changes):
    for change in changes.split(" ;; "):
        was, came = change.split(" =>")
        assert was in state, was
        state = state.replace(was, came.strip(), 1)
    return state


def looked_up(document, path):
    for key in path.split("."):
        document = document[key]
    return ",".join(document) if isinstance(document, list) else str(document)


@pytest.mark.parametrize("path", sorted(DATA.glob("play_*.txt")), ids=lambda path: path.stem)
def test_golden_playthrough(path):
    rulings, state, move, refused = {}, None, None, None
    for line in rows(path.name):
        words = line.split()
        match words[0]:
            case "players":
                state = start(words[1:], rulings)
            case "rulings":
                rulings = dict(word.split("=") for word in words[1:])
            case "state":
                state = State.parse(line.removeprefix("state "))
            case "->":
                assert refused is None, f"{refused} was refused"
                for word in shlex.split(line)[1:]:
                    key, _, expected = word.partition("=")
                    assert looked_up(state_document(state), key) == expected, f"{key} after {move}"
            case "!!":
                assert refused == words[1], f"{move}: expected {words[1]}"
                refused = None
            case _:
                for move in line.split(", "):
                    assert refused is None, f"{refused} was refused"
                    try:
                        state = play(state, parse_move(move))
                    except IllegalMove as error:
                        refused = error.violation.code
                    except InvalidNotation:
                        refused = "notation"
                    assert State.parse(str(state)) == state
    assert refused is None, f"{refused} was refused"


def violation_rows():
    base = state = None
    for line in rows("violations.txt"):
        if line.startswith("state "):
            base = state = line.removeprefix("state ")
        elif line.startswith("with "):
            state = changed(base, line.removeprefix("with "))
        else:
            move, _, code = line.rpartition("|")
            yield pytest.param(state, move.strip(), code.strip(), id=f"{code.strip()}: {move.strip()}")


@pytest.mark.parametrize(("state", "move", "code"), list(violation_rows()))
def test_violation(state, move, code):
    state, move = State.parse(state), parse_move(move)
    wrong = violation(state, move)
    assert wrong is not None
    assert wrong.code == code
    assert wrong.clause
    assert wrong.said.endswith(".")
    assert wrong.said[0].isupper() or wrong.said.startswith(f"'{move}' comes ")
    assert "None" not in wrong.said
    assert move not in legal_moves(state)
    with pytest.raises(IllegalMove, match=re.escape(wrong.said)) as raised:
        play(state, move)
    assert raised.value.violation == wrong


def test_every_violation_code_has_a_row():
    sources = Path(engines.icefloe.__file__).parent.glob("*.py")
    codes = {code for path in sources for code in re.findall(r'"(icefloe\.[a-z_.]+)"', path.read_text())}
    assert codes == {row.values[2] for row in violation_rows()}


def test_a_refusal_says_what_was_tried_why_not_and_what_is_allowed():
    state = State.parse(next(violation_rows()).values[0])
    assert str(violation(state, parse_move("AA:a2-e3"))) == (
        "AA cannot reach e3 from a2 by a step, a jump over one place, or two of them with at most one jump. "
        "It may go to a2, a3, b2, c2, c4 or d1. (Piece Movement)"
    )


@pytest.mark.parametrize("row", rows("bad_moves.txt"))
def test_bad_notation_is_quoted(row):
    text, _, expected = row.rpartition("|")
    text = text.strip()
    with pytest.raises(InvalidNotation) as raised:
        parse_move(text)
    assert expected.strip() in str(raised.value)
    assert repr(text) in str(raised.value)


GOOD_STATE = (
    "players red blue yellow; round 2; phase coins; mover -; scores 3 0 7; coins a2 2 -; muted -; value 4; votes C A C; laid 0 1 0; done blue; "
    "tile -; sunk -; winners -; board a2=A2+AA a3=Mn+ES c2=C4+EC; rulings done=stands stay=may corners=may muted_coins=may."
)


@pytest.mark.parametrize("row", rows("bad_states.txt"))
def test_bad_state_is_refused(row):
    change, _, expected = row.rpartition(" | ")
    State.parse(GOOD_STATE)
    text = changed(GOOD_STATE, change)
    with pytest.raises(InvalidNotation) as raised:
        State.parse(text)
    assert expected.strip() in str(raised.value)
    assert repr(text) in str(raised.value)


@pytest.mark.parametrize("length", range(0, len(GOOD_STATE), 7))
def test_a_state_cut_short_is_refused(length):
    with pytest.raises(InvalidNotation):
        State.parse(GOOD_STATE[:length])


@pytest.mark.parametrize(
    ("players", "rulings", "expected"),
    [
        (("red", "blue"), {}, "players: expected 3 to 4, got 2"),
        (("red", "blue", "yellow", "black", "green"), {}, "players: expected 3 to 4, got 5"),
        (("red", "blue", "anna"), {}, "players: expected colours (red, yellow"),
        (("red", "blue", "pink"), {}, "players: expected colours of the suits (red, black, yellow, green, blue), got 'pink'"),
        (("red", "blue", "red"), {}, "players: expected each colour once, got 'red' 2 times"),
        (("green", "blue", "yellow"), {}, "players: expected each suit once, got crowns 2 times (green, yellow)"),
        (("red", "blue", "green"), {"tie": "same"}, "rulings: expected names among done, stay, corners, muted_coins, got 'tie'"),
        (("red", "blue", "green"), {"stay": "yes"}, "rulings.stay: expected may or never, got 'yes'"),
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
    four, three = start(["red", "blue", "yellow", "black"], {}).board, start(["red", "blue", "yellow"], {}).board
    for rank, row in zip("54321", PRINTED_BOARD.split("\n")[1:], strict=False):
        for file, value in zip("abcde", row.split(), strict=True):
            floe = four.at(file + rank)
            assert (floe.tile[1] if floe else "-") == value
    assert {floe.tile for floe in four.floes} == {suit + value for suit in "SMCA" for value in "na2345"}
    assert {floe.tile for floe in four.floes} - {floe.tile for floe in three.floes} == {"S2", "M3", "A4", "C5"}
    assert len(three.floes) == 20


def test_legal_moves_in_words():
    state = State.parse(GOOD_STATE)
    assert str(legal_moves(state)) == (
        "done red | done yellow | coin red a to red | coin red a to blue | coin red a to yellow | coin red 2 to red | coin red 2 to blue | "
        "coin red 2 to yellow | coin blue 2 to red | coin blue 2 to blue | coin blue 2 to yellow"
    )
    assert len(legal_moves(state)) == 11
    assert "done red" not in legal_moves(state), "text is no move until it is parsed"
    counted = "value 4; votes C A C; laid 0 1 0; done blue => value -; votes - - -; laid 0 0 0; done -"
    over = State.parse(changed(GOOD_STATE, f"phase coins => phase over ;; {counted} ;; winners - => winners yellow"))
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
        State.parse(str(hidden(voting)))
    shown = play(play(voting, parse_move("vote blue A")), parse_move("vote yellow S"))
    assert state_document(shown)["votes"] == {"red": "C", "blue": "A", "yellow": "S"}
    assert state_document(shown)["tally"] == {"C": 1}
    assert hidden(shown) == shown


def test_rulings_cite_and_explain():
    assert all(ruling.cites.startswith("ruling icefloe.") and ruling.said for ruling in RULINGS)


def test_text_is_no_move():
    with pytest.raises(AssertionError, match="unreachable"):
        violation(State.parse(GOOD_STATE), "done red")
