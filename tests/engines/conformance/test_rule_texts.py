"""What verdicts rest on is explained: every clause that any code of any game cites has its
words.
"""

import ast
import re
from functools import cache
from importlib import import_module, resources
from pathlib import Path

import pytest

from engines import GAMES
from engines.rule_texts import explain, words

CODE = re.compile(r"(boule|storm|ice|icebreaker|zamboni|icefloe)(\.[a-z_]+)+")
LONGEST = 420
"""A clause is read on a phone between two throws."""


def modules(game):
    folder = resources.files(f"engines.{game}")
    yield from (
        import_module(f"engines.{game}.{Path(str(path)).stem}")
        for path in folder.iterdir()
        if path.name.endswith(".py")
    )


def value_of(node, module):
    """A text, a constant of the module, or one made of such; None for what is known only when the
    code runs.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return vars(module).get(name)
        case ast.FormattedValue(value=value):
            return value_of(value, module)
        case ast.JoinedStr(values=values):
            parts = [value_of(value, module) for value in values]
            return "".join(parts) if all(isinstance(part, str) for part in parts) else None
        case _:
            return None


def cited(module):
    """(code, clause) wherever the code of a module has both side by side: in a verdict, a
    violation, a table or an answer.
    """
    for node in ast.walk(ast.parse(Path(module.__file__).read_text())):
        if isinstance(node, ast.Call):
            named = {word.arg: value_of(word.value, module) for word in node.keywords}
            given = node.args[:2] if getattr(node.func, "id", "") == "Violation" else ()
            parts = [
                *(value_of(one, module) for one in given),
                named.get("code"),
                named.get("rests_on"),
                named.get("clause"),
            ]
        elif isinstance(node, ast.Tuple):
            parts = [value_of(one, module) for one in node.elts]
        else:
            continue
        texts = [part for part in parts if isinstance(part, str)]
        codes = [text for text in texts if CODE.fullmatch(text)]
        clauses = [
            text
            for text in texts
            if re.match(r"[A-Z][a-z' A-Z]+(;|$)|rulings? ", text) and not text.endswith(".")
        ]
        yield from ((code, clause) for code in codes for clause in clauses)


@cache
def table():
    return sorted(
        {
            (game, code, clause)
            for game in GAMES
            for module in modules(game)
            for code, clause in cited(module)
        }
    )


@pytest.mark.parametrize("game", GAMES)
def test_every_code_has_a_clause_and_every_clause_its_words(game):
    rows = [(code, clause) for name, code, clause in table() if name == game]
    assert len({code for code, _ in rows}) >= 10
    for code, clause in rows:
        for name, text in explain(game, clause):
            assert 20 <= len(text) <= LONGEST, (code, name)
            assert text[0].isupper(), (code, name)
            assert text.endswith("."), (code, name)


@pytest.mark.parametrize("game", GAMES)
def test_what_a_refusal_cites_is_explained(game):
    """The clauses of the sentences that the umpire says to every code (`violations.txt`)."""
    text = (Path(__file__).parents[1] / game / "data" / "violations.txt").read_text()
    clauses = {
        line.rpartition(" (")[2].removesuffix(")")
        for line in text.splitlines()
        if line.strip().startswith("> ")
    }
    assert clauses
    assert all(text for clause in clauses for _, text in explain(game, clause))


@pytest.mark.parametrize("game", GAMES)
def test_all_rulings_are_explained_in_order_without_a_gap(game):
    numbers = [
        int(name.rpartition(".")[2]) for name in words(game) if name.startswith(f"ruling {game}.")
    ]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(text for ruling in GAMES[game].RULINGS for _, text in explain(game, ruling.cites))


def test_several_rulings_are_told_one_by_one():
    assert [
        name for name, _ in explain("ice_storm", "Attack; rulings ice_storm.3 to ice_storm.5")
    ] == ["Attack", "ruling ice_storm.3", "ruling ice_storm.4", "ruling ice_storm.5"]
    assert len(explain("ice_boule", "rulings ice_boule.3 and ice_boule.7")) == 2
    assert explain("ice_boule", "") == ()


def test_what_nobody_has_words_for_is_named_without_any():
    assert explain("ice_boule", "Playing; Goal")[0] == ("Playing", "")
    assert explain("pegs", "Pegs") == (("Pegs", ""),)
