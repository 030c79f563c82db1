"""What engines and referee say in English is said in every language."""

from __future__ import annotations

import ast
import re
from itertools import islice
from pathlib import Path
from random import Random

import pytest

import engines
from engines import GAMES, ice_storm
from engines.ice_storm.messages import throw as throw_in_words
from engines.rule_texts import words
from table.messages import FIELD
from tests.support.sentences import without_template
from webui.i18n import LANGUAGES, translated

CODES = sorted(set(LANGUAGES) - {"en"})
PLAYERS = {
    "ice_boule": ("blue", "yellow"),
    "ice_storm": ("red", "yellow", "blue"),
    "icebreaker": ("red", "black"),
    "icefloe": ("red", "black", "blue"),
    "zamboni_wars": ("red", "green"),
}
AS_DATA = tuple(GAMES)
"""Games of which every sentence is made by `msg` or `phrase`."""
MOVES, TRIES = 150, 4
ROOMS = Path(engines.__file__).parents[1]
ROOMS_WITH_MESSAGES = (
    "calibration",
    "cli",
    "engines",
    "hardware",
    "referee",
    "simulation",
    "table",
    "vision",
    "webui",
)
SPEAKING = [
    *(path for path in sorted(ROOMS.glob("engines/*/*.py")) if path.stem != "default_table"),
    ROOMS / "calibration" / "wizard.py",
    ROOMS / "calibration" / "lens" / "capture.py",
    *sorted(ROOMS.glob("referee/live/*.py")),
    ROOMS / "referee" / "sessions" / "session.py",
    ROOMS / "referee" / "presentation" / "announcements.py",
    *(
        path
        for path in sorted(ROOMS.glob("webui/**/*.py"))
        if path.stem not in ("openapi", "schemas")
    ),
]
"""Modules whose sentences people read on pages."""


def said_in_a_game(name: str, seed: int) -> set[str]:
    """Everything that the rules say while a game is played by chance, and when moves of other
    moments are tried.
    """
    game, chance = GAMES[name], Random(seed)
    shown = getattr(game, "shown_state", game.state_document)
    state = game.start(PLAYERS[name], {})
    message, known = set(), []
    for _ in range(MOVES):
        document = shown(state)
        outcome = game.outcome(state)
        message |= {
            document.get("turn") or "",
            str(outcome or ""),
            *(option.label for option in game.options(state)),
        }
        message |= {one["label"] for one in document.get("may_say") or ()}
        wrong = [
            game.violation(state, move) for move in chance.sample(known, min(TRIES, len(known)))
        ]
        message |= {violation.message for violation in wrong if violation}
        moves = list(islice(game.legal_moves(state), 40))
        known += moves
        if outcome or not moves:
            break
        state = game.play(state, chance.choice(moves))
    return message - {""}


@pytest.mark.parametrize("name", PLAYERS)
def test_everything_that_the_rules_say_is_said_in_every_language(name):
    message = said_in_a_game(name, 1)
    assert len(message) > 15
    assert (
        sorted(text for text in message for code in CODES if translated(text, code) is None) == []
    )


@pytest.mark.parametrize("name", AS_DATA)
def test_what_the_rules_say_is_a_template_with_its_values(name):
    assert without_template(*said_in_a_game(name, 1)) == []


def test_what_is_said_of_commentary_is_said_in_every_language():
    game, state, message = GAMES["icefloe"], GAMES["icefloe"].start(PLAYERS["icefloe"], {}), set()
    while not state.last_to_move:
        state = game.play(state, next(iter(game.legal_moves(state))))
    for heard in (
        *({"player": player, "vote_value": "3"} for player in PLAYERS["icefloe"]),
        {"player": "red", "objects_to": "red"},
        {"player": "red", "breach": True},
        {"player": "red", "objects_to": "blue"},
        {"player": "red", "objects_to": "black"},
        {"player": "blue", "breach": True},
        {"player": "red", "breach": True},
        {"player": "black", "breach": False},
        {"player": "red", "breach": False},
        {"player": "black", "objects_to": "red"},
        {"player": "black", "breach": False},
        {"player": "blue", "breach": True},
        {"player": "red", "breach": True},
        {"player": "blue", "objects_to": "black"},
        {"player": "blue", "breach": False},
        {"player": "black", "penalty": True},
    ):
        verdict = game.hear(state, heard)
        for move in getattr(verdict, "moves", ()):
            state = game.play(state, game.parse_move(move))
        document = game.shown_state(state)
        message |= {
            verdict.message,
            document["turn"],
            document["comments"] or "",
            *(option.label for option in game.options(state)),
        }
        for one in document["may_say"]:
            message.add(one["label"])
    assert state.muted == ("red", "black")
    assert (
        sorted(text for text in message - {""} for code in CODES if translated(text, code) is None)
        == []
    )
    assert without_template(*message) == []


def message_calls(tree: ast.AST) -> list[ast.Call]:
    """The calls `msg(...)` in a module."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [
        call
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ("msg", "phrase")
    ]


@pytest.mark.parametrize("room", ROOMS_WITH_MESSAGES)
def test_messages_are_literal_templates_with_a_value_for_each_field(room):
    made = ROOMS / "table" / "messages.py"
    for path in sorted({*(ROOMS / room).rglob("*.py")} - {made}):
        for call in message_calls(ast.parse(path.read_text(encoding="utf-8"))):
            where = f"{path.name}:{call.lineno}"
            texts = [
                node.value
                for node in ast.walk(call.args[0])
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            assert texts, f"{where}: expected a literal template"
            assert len(call.args) == 1, f"{where}: fields are given by name"
            assert not any(isinstance(node, ast.JoinedStr) for node in ast.walk(call.args[0])), (
                where
            )
            given = {keyword.arg for keyword in call.keywords}
            for text in texts:
                fields = {field[1] for field in FIELD.finditer(text)}
                assert fields >= given - {None}, f"{where}: a field that {text!r} does not have"
                assert None in given or fields == given, f"{where}: {text!r} wants {fields}"


def sentences_in_code(path: Path) -> set[str]:
    """The parts of sentences that stand in a module as they are said: between what is filled in,
    and with an end.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    raised = {
        text
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise | ast.Assert)
        for text in ast.walk(node)
    }
    as_data = {part for call in message_calls(tree) for part in ast.walk(call.args[0])}
    texts = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node not in docstrings | raised | as_data
    )
    parts = {
        re.sub(r"^ (?=[A-Z])", "", part)
        for node in texts
        for part in re.split(r"(?<=[.!?]) ", node.value)
    }
    return {part for part in parts if re.search(r"[a-z]{2,} [a-z]{2,}.*[.!?]$", part)}


@pytest.mark.parametrize(
    "path",
    [path for path in SPEAKING if path.parent.name in AS_DATA],
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_no_sentence_is_put_together_from_strings(path):
    assert sorted(sentences_in_code(path)) == []


OF_REFEREE_AND_PAGES = [
    *sorted(ROOMS.glob("referee/live/*.py")),
    *sorted(ROOMS.glob("referee/presentation/*.py")),
    *(
        ROOMS / "referee" / "sessions" / f"{name}.py"
        for name in ("alternatives", "first_player", "session", "start", "state", "status")
    ),
    *(
        ROOMS / "calibration" / f"{name}.py"
        for name in ("colours", "progress", "wizard", "table/drift")
    ),
    *(
        ROOMS / "calibration" / "lens" / f"{name}.py"
        for name in ("capture", "file", "guidance", "next_view", "target", "views")
    ),
    *(path for path in SPEAKING if path.is_relative_to(ROOMS / "webui")),
]
"""Modules of the referee, of calibration and of pages whose sentences people read."""


@pytest.mark.parametrize(
    "path", OF_REFEREE_AND_PAGES, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_no_sentence_of_referee_calibration_and_pages_is_put_together_from_strings(path):
    assert sorted(sentences_in_code(path)) == []


@pytest.mark.parametrize(
    "path", OF_REFEREE_AND_PAGES, ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_what_the_panel_refuses_is_said_by_a_template(path):
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    refused = [
        call.args[2]
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "Refusal" and len(call.args) > 2
    ]
    texts = (ast.Constant, ast.JoinedStr)
    assert [ast.unparse(message) for message in refused if isinstance(message, texts)] == []


REASONS = ("InputError", "CannotGoOn", "LogFailed", "RefereeHalted", "CameraLost", "DeviceLost")
"""Errors whose text people read; it is translated where it is shown."""
GIVING_REASONS = [
    path
    for room in ROOMS_WITH_MESSAGES
    for path in sorted((ROOMS / room).rglob("*.py"))
    if any(f"{name}(" in path.read_text(encoding="utf-8") for name in REASONS)
]
"""Modules whose errors are made by `msg`."""


def plain_texts(value: ast.expr) -> list[ast.expr]:
    """The expressions of an argument or a value that are text without a template."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            return plain_texts(body) + plain_texts(orelse)
        case ast.JoinedStr() | ast.Constant(value=str()) if ast.unparse(value) != "''":
            return [value]
        case _:
            return []


@pytest.mark.parametrize(
    "path", GIVING_REASONS, ids=lambda path: str(path.relative_to(ROOMS).with_suffix(""))
)
def test_reasons_are_given_by_templates(path):
    plain = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[message, *_]) if name in REASONS:
                plain += plain_texts(message)
            case ast.Assign(targets=[ast.Attribute(attr="error" | "_error")], value=message):
                plain += plain_texts(message)
    assert [f"{text.lineno}: {ast.unparse(text)}" for text in plain] == []


@pytest.mark.parametrize("count", range(1, 6))
def test_a_throw_that_moved_pieces_is_said_in_every_language_however_many_they_are(count):
    lie = ["blue1 b3-b4>b4", "blue2 c5^", "red1 d1-d2-e1-e2>e2", "yellow1 h8", "yellow2 a1-a2^"]
    head = "players red yellow blue; round 1; totals 0 0 0; stacks 0 0 0; thrown 6; turn -"
    state = ice_storm.State.parse(
        f"{head}; pieces red1 a8, yellow1 b8, yellow2 c8, blue1 d8, blue2 e8; rulings low=again."
    )
    message = throw_in_words(state, ice_storm.parse_move(f"throw red g6: {', '.join(lie[:count])}"))
    assert [code for code in CODES if translated(message, code) is None] == []


@pytest.mark.parametrize("name", PLAYERS)
def test_the_rules_are_in_every_language(name):
    assert [
        message
        for code in CODES
        for message in words(name).values()
        if translated(message, code) in (None, message)
    ] == []
