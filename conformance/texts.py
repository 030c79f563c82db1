"""Tests of texts: cited clauses are explained, and all of a game's texts are translated."""

import ast
import re
from importlib import import_module, resources
from pathlib import Path

import pytest

from conformance import sentences
from engines import GAMES
from engines.rule_texts import CLAUSES, explain, words
from table.game_words import TRANSLATIONS, read_words
from table.games import package_of, package_text
from table.languages import CODES, catalogue
from table.messages import FIELD

LONGEST = 420
"""Maximum length of a clause, which is read on a phone between two throws."""


def modules(name):
    """All modules of a game's package."""
    package = package_of(GAMES[name])
    for path in resources.files(package).iterdir():
        if path.name.endswith(".py"):
            module = path.name.removesuffix(".py")
            yield import_module(package if module == "__init__" else f"{package}.{module}")


def value_of(node, module):
    """Value of a literal, a module constant, or a text of these; None if known only at run time."""
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


def cited(module, code_form):
    """(code, clause) pairs in a module's source: in verdicts, violations, tables and answers."""
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
        codes = [text for text in texts if code_form.fullmatch(text)]
        clauses = [
            text
            for text in texts
            if re.match(r"[A-Z][a-z' A-Z]+(;|$)|rulings? ", text) and not text.endswith(".")
        ]
        yield from ((code, clause) for code in codes for clause in clauses)


def test_every_code_has_a_clause_and_every_clause_its_words(name, data):
    prefixes = {
        code.partition(".")[0] for _, move, code in data.with_states("violations.txt") if move
    }
    code_form = re.compile(rf"({'|'.join({*prefixes, name})})(\.[a-z_]+)+")
    rows = sorted({row for module in modules(name) for row in cited(module, code_form)})
    assert rows
    for code, clause in rows:
        for cites, text in explain(name, clause):
            assert 20 <= len(text) <= LONGEST, (code, cites)
            assert text[0].isupper(), (code, cites)
            assert text.endswith("."), (code, cites)


def test_what_a_refusal_cites_is_explained(name, data):
    """The clauses in the sentences of all codes (`violations.txt`)."""
    clauses = {message.rpartition(" (")[2].removesuffix(")") for *_, message in data.sentences()}
    assert clauses
    assert all(text for clause in clauses for _, text in explain(name, clause))


def test_all_rulings_are_explained_in_order_without_a_gap(name):
    numbers = [
        int(clause.rpartition(".")[2])
        for clause in words(name)
        if clause.startswith(f"ruling {name}.")
    ]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(text for ruling in GAMES[name].RULINGS for _, text in explain(name, ruling.cites))


def said(name):
    """(context, text) of all texts of a package: messages, house rules and clauses."""
    for path in resources.files(package_of(GAMES[name])).iterdir():
        if path.name.endswith(".py") or path.name == CLAUSES:
            find = sentences.code if path.name.endswith(".py") else sentences.clauses
            with path.open("rb") as file:
                yield from (text for _, _, text, _ in find(file, (), (), {}))


def test_a_game_that_is_translated_is_translated_whole(name):
    text = package_text(GAMES[name], TRANSLATIONS)
    if not text:
        pytest.skip("it has no translations.toml")
    own, missing = read_words(text), []
    for context, english in dict.fromkeys(said(name)):
        needs = re.search("[A-Za-z]{2}", FIELD.sub("", english))
        for language in CODES[1:]:
            there = language in own.get((context, english), {})
            if needs and not there and catalogue(language).pgettext(context, english) == english:
                missing.append(f"{language}: {english}")
    assert not missing
    assert own.keys() <= {*said(name)}, "a translation of what is not said"
