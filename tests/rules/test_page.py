"""The page of all rules (docs/RULES.md) says what its data say, and they name tests that there are; `make rules` runs those tests."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.rules import LEVELS, PAGE, TITLES, collected, everything, files, named, page, sentences
from engines import GAMES
from engines.clauses import words

RULES = everything()
RULINGS = Path(__file__).parents[3] / "shared" / "facts" / "rulings.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(RULES), "run `make rules`"


def test_every_test_that_is_named_is_there():
    _, wrong = named(RULES, collected(files(RULES)))
    assert wrong == []


def test_every_sentence_is_said_once_and_has_a_name_of_its_own():
    assert [name for name, count in Counter(rule.id for rule in RULES).items() if count > 1] == []
    assert {rule.game for rule in RULES} == set(GAMES)
    assert all(rule.words.endswith(".") and "|" not in rule.words for rule in RULES)


def rulings(rules):
    """The numbers of the rulings among some rules."""
    return {int(rule.id.rpartition(".")[2]) for rule in rules if rule.section == "Rulings"}


@pytest.mark.parametrize("game", GAMES)
def test_every_clause_that_verdicts_cite_is_on_the_page(game):
    """Sections by their names, rulings by their numbers."""
    rules = sentences(game)
    known = {rule.section for rule in rules} | {f"ruling {game}.{number}" for number in rulings(rules)}
    assert words(game).keys() - known == set()


@pytest.mark.parametrize("game", GAMES)
def test_every_ruling_is_on_the_page(game):
    if not RULINGS.exists():
        pytest.skip("the rulings are not beside the checkout")
    part = RULINGS.read_text(encoding="utf-8").split(f"## {TITLES[game]}\n")[1].split("\n## ")[0]
    numbers = {int(number) for number in re.findall(r"^(\d+)\. ", part, re.MULTILINE)}
    assert numbers == rulings(sentences(game))


def test_what_no_program_can_hold_says_why():
    assert all(len(rule.beyond) > 5 for rule in RULES if not any(rule.levels[level] for level in LEVELS) and not rule.empty)
