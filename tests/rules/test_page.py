"""The page of all rules (docs/RULES.md) says what its data say, and they name tests that there are;
`make rules` runs those tests.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from engines import GAMES
from engines.rule_texts import words
from tests.support.paths import ROOT, SHARED
from tools.rules import (
    LEVELS,
    PAGE,
    TITLES,
    all_sentences,
    collected_tests,
    files,
    levels_of_tests,
    page,
    sentences,
)

pytestmark = pytest.mark.slow

RULES = all_sentences()
RULINGS = SHARED / "facts" / "rulings.md"


def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == page(RULES), "run `make rules`"


def test_every_test_that_is_named_is_there():
    _, wrong = levels_of_tests(RULES, collected_tests(files(RULES)))
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
    known = {rule.section for rule in rules} | {
        f"ruling {game}.{number}" for number in rulings(rules)
    }
    assert words(game).keys() - known == set()


@pytest.mark.parametrize("game", GAMES)
def test_every_ruling_is_on_the_page(game):
    if not RULINGS.exists():
        pytest.skip("the rulings are not beside the checkout")
    part = RULINGS.read_text(encoding="utf-8").split(f"## {TITLES[game]}\n")[1].split("\n## ")[0]
    numbers = {int(number) for number in re.findall(r"^(\d+)\. ", part, re.MULTILINE)}
    assert numbers == rulings(sentences(game))


def test_a_test_that_is_not_there_is_told():
    made_up = replace(
        RULES[0],
        id="pegs.play.1",
        beyond="",
        levels={"engine": ("test_rules.py::test_nothing",), "judge": (), "referee": ()},
    )
    levels, wrong = levels_of_tests(
        [made_up], ["tests/engines/zamboni_wars/test_rules.py::test_nothing_else"]
    )
    assert (levels, wrong) == (
        {},
        ["pegs.play.1, engine: there is no test 'test_rules.py::test_nothing'"],
    )
    assert made_up.empty == ("judge", "referee")


def test_a_test_that_asks_no_judge_holds_nothing_at_the_level_of_the_judge():
    """In a program of its own: it watches the doors of the package for good."""
    asks, none = (
        "tests/engines/icebreaker/test_judge.py::test_the_board_says_how_large_it_is",
        "tests/engines/icebreaker/test_rules.py::test_only_two_play",
    )
    levels = {asks: {"judge", "engine"}, none: {"judge"}}
    program = f"import json; from tools.rules import run; print(json.dumps(run({levels})))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [
        f"{none}: is said to hold at the level of the judge, and never asks a judge"
    ]


def test_what_no_program_can_hold_says_why():
    assert all(
        len(rule.beyond) > 5
        for rule in RULES
        if not any(rule.levels[level] for level in LEVELS) and not rule.empty
    )
