"""What the data files of every game say: golden playthroughs, a row for every violation, notation
that is wrong.

Beside the tests of each game, in `data/`:

- `play_*.txt`: `players` and `rulings` (or a `state`) to start from, then moves in notation; `->
  KEY=VALUE` is what the state
  document then says (lists: with commas); `!! CODE` says that the move before it was refused
  (`notation`: is no move).
- `violations.txt`: a `state`, then rows `MOVE | CODE`; below a row, `> WHAT THE UMPIRE SAYS
  (CLAUSE)`, once or more for every code.
- `bad_moves.txt`: rows `TEXT | WHAT THE MESSAGE SAYS`.
- `bad_states.txt`: a `state`, then rows `WHAT STOOD THERE => WHAT CAME | WHAT THE MESSAGE SAYS`.
"""

import ast
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

import engines
from engines import GAMES
from engines.errors import AmbiguousMove, IllegalMove, InvalidNotation

TESTS = Path(__file__).parents[1]


def rows(path):
    """Lines of a data file without comments and blank ones."""
    return [
        line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")
    ]


def rows_with_states(name, file):
    """Every row of a game's file, in two parts, with the state above it; a sentence has no part
    before it.
    """
    state = None
    for row in rows(TESTS / name / "data" / file):
        if row.startswith("state "):
            state = row.removeprefix("state ")
        elif row.strip().startswith("> "):
            yield state, "", row.strip().removeprefix("> ")
        else:
            text, _, expected = row.rpartition("|")
            yield state, text.strip(), expected.strip()


def everywhere(file):
    """Parameters: all rows of all games."""
    return [
        pytest.param(
            GAMES[name],
            *row,
            id=f"{name}: {row[2]}: {row[1]}"[:100].encode("ascii", "replace").decode(),
        )
        for name in GAMES
        for row in rows_with_states(name, file)
        if not (file == "violations.txt" and not row[1])
    ]


def sentences(name):
    """(state, move, code, sentence) of every violation whose sentence is written down."""
    found = list(rows_with_states(name, "violations.txt"))
    return [(*before, message) for before, (_, move, message) in pairwise(found) if not move]


PLAYS = [
    (name, path) for name in GAMES for path in sorted((TESTS / name / "data").glob("play_*.txt"))
]


def looked_up(document, path):
    for key in path.split("."):
        document = document[key]
    return ",".join(document) if isinstance(document, list) else str(document)


class Reading:
    """A playthrough as it is read: where it stands, and the move that was refused, if any."""

    def __init__(self, game):
        self.game, self.players, self.rulings = game, (), {}
        self.state, self.move, self.refused = None, None, None

    def line(self, text):
        """Take one line; asserts what it says."""
        word, _, rest = text.strip().partition(" ")
        if word == "!!":
            assert self.refused == rest, f"{self.move}: expected {rest}"
            self.refused = None
            return
        assert self.refused is None, f"{self.move} was refused: {self.refused}"
        match word:
            case "players" | "rulings":
                self.players = rest.split() if word == "players" else self.players
                self.rulings = (
                    dict(pair.split("=") for pair in rest.split())
                    if word == "rulings"
                    else self.rulings
                )
                self.state = self.game.start(self.players, self.rulings)
            case "state":
                self.state = self.game.State.parse(rest)
            case "->":
                for expected in shlex.split(rest):
                    key, _, value = expected.partition("=")
                    assert looked_up(self.game.state_document(self.state), key) == value, (
                        f"{key} after {self.move}"
                    )
            case _:
                self.play(text.strip())

    def play(self, text):
        self.move = text
        try:
            self.state = self.game.play(self.state, self.game.parse_move(text))
        except IllegalMove as error:
            self.refused = error.violation.code
        except InvalidNotation:
            self.refused = "notation"
        assert self.game.State.parse(str(self.state)) == self.state


@pytest.mark.parametrize(
    ("name", "path"), PLAYS, ids=[f"{name} {path.stem}" for name, path in PLAYS]
)
def test_golden_playthrough(name, path):
    reading = Reading(GAMES[name])
    for text in rows(path):
        reading.line(text)
    assert reading.refused is None, f"{reading.move} was refused: {reading.refused}"


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_a_golden_playthrough(name):
    assert list((TESTS / name / "data").glob("play_*.txt"))


@pytest.mark.parametrize(("game", "state", "move", "code"), everywhere("violations.txt"))
def test_violation(game, state, move, code):
    state, move = game.State.parse(state), game.parse_move(move)
    wrong = game.violation(state, move)
    assert wrong is not None
    assert wrong.code == code
    assert wrong.clause
    assert wrong.message.endswith((".", "?"))
    assert wrong.message[0].isupper() or wrong.message.startswith(f"'{move}' ")
    assert "None" not in wrong.message
    assert move not in game.legal_moves(state)
    with pytest.raises(IllegalMove, match=re.escape(wrong.message)) as raised:
        game.play(state, move)
    assert raised.value.violation == wrong
    assert str(raised.value) == f"'{move}': {wrong}"
    assert isinstance(raised.value, AmbiguousMove) == (len(wrong.meant) > 1)
    assert all(str(game.parse_move(text)) == text for text in wrong.meant)


@pytest.mark.parametrize(
    ("name", "state", "move", "message"),
    [(name, state, move, message) for name in GAMES for state, move, _, message in sentences(name)],
)
def test_what_the_umpire_says(name, state, move, message):
    assert (
        str(GAMES[name].violation(GAMES[name].State.parse(state), GAMES[name].parse_move(move)))
        == message
    )


def rules_of(name):
    """Sources of a game's rules: all but its judge and its facts, which know codes of verdicts."""
    folder = Path(engines.__file__).parent / name
    sources = [path.read_text() for path in folder.glob("*.py") if path.name != "facts.py"]
    return [source for source in sources if "from engines.verdict import" not in source]


@pytest.mark.parametrize("name", GAMES)
def test_every_violation_code_has_a_row(name):
    have = {code for _, move, code in rows_with_states(name, "violations.txt") if move}
    assert have == {code for _, _, code, _ in sentences(name)}, (
        "every code has a sentence written down"
    )
    (prefix,) = {code.partition(".")[0] for code in have}
    nodes = [node for source in rules_of(name) for node in ast.walk(ast.parse(source))]
    written = {
        node.value
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert have == {text for text in written if re.fullmatch(rf"{prefix}\.[a-z_.]+", text)}


@pytest.mark.parametrize(("game", "_state", "text", "expected"), everywhere("bad_moves.txt"))
def test_bad_notation_is_quoted(game, _state, text, expected):
    with pytest.raises(InvalidNotation) as raised:
        game.parse_move(text)
    assert expected in str(raised.value)
    assert repr(text) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("game", "state", "change", "expected"), everywhere("bad_states.txt"))
def test_bad_state_is_refused(game, state, change, expected):
    game.State.parse(state)
    text = state
    for part in change.split(" ;; "):
        was, _, came = part.partition("=>")
        assert was.strip() in text
        text = text.replace(was.strip(), came.strip())
    with pytest.raises(InvalidNotation) as raised:
        game.State.parse(text)
    assert expected in str(raised.value)
    assert repr(text) in str(raised.value)
