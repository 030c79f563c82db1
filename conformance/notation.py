"""Tests of a game's data files: playthroughs, a row for every violation, invalid notation.

`conformance.rows` describes the files.
"""

import ast
import re
import shlex
from importlib import resources

import pytest

from conformance.rows import Rows
from engines import GAMES
from engines.errors import AmbiguousMove, IllegalMove, InvalidNotation
from table.games import package_of


def looked_up(document, path):
    for key in path.split("."):
        document = document[key]
    return ",".join(document) if isinstance(document, list) else str(document)


class Reading:
    """Reader of a playthrough: current state, and the refused move, if any."""

    def __init__(self, game):
        self.game, self.players, self.rulings = game, (), {}
        self.state, self.move, self.refused = None, None, None

    def line(self, text):
        """Apply one line, and assert its expectations."""
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


def test_golden_playthrough(playthrough):
    name, path = playthrough
    reading = Reading(GAMES[name])
    for text in Rows(name, path.parent).lines(path.name):
        reading.line(text)
    assert reading.refused is None, f"{reading.move} was refused: {reading.refused}"


def test_every_game_has_a_golden_playthrough(data):
    assert data.playthroughs()


def test_violation(violation_row):
    name, state, move, code = violation_row
    game = GAMES[name]
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


def test_what_the_umpire_says(sentence_row):
    name, state, move, message = sentence_row
    game = GAMES[name]
    assert str(game.violation(game.State.parse(state), game.parse_move(move))) == message


def rules_of(name):
    """Sources of a game's rules, without judge, facts and players, which use codes of verdicts."""
    folder = resources.files(package_of(GAMES[name]))
    named = [path for path in folder.iterdir() if path.name.endswith(".py")]
    sources = [path.read_text("utf-8") for path in named if path.name != "facts.py"]
    others = ("from engines.verdict import", "from simulation")
    return [source for source in sources if not any(other in source for other in others)]


def test_every_violation_code_has_a_row(name, data):
    have = {code for _, move, code in data.with_states("violations.txt") if move}
    assert have == {code for _, _, code, _ in data.sentences()}, (
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


def test_bad_notation_is_quoted(move_row):
    name, _, text, expected = move_row
    with pytest.raises(InvalidNotation) as raised:
        GAMES[name].parse_move(text)
    assert expected in str(raised.value)
    assert repr(text) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_bad_state_is_refused(state_row):
    name, state, change, expected = state_row
    game = GAMES[name]
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
