"""Every sentence of the printed rules and every ruling, with the tests that hold it.

Writes docs/RULES.md and runs those tests. `tests/rules/GAME.toml` has the sentences, in our own
words. A table is a section, a table inside it a sentence:

    [moves]
    section = "Moves"

    [moves.1]
    words = "A ship goes to a cell beside it."
    engine = ["violation ice.step"]
    judge = ["test_judge.py::test_refusals_say_what_to_do"]
    at_table = '''
    players red black
    A1-C3
      -> refused icebreaker.move
    '''

Levels: `engine` is the rules alone; `judge` hand-made observations, or words, to the judge;
`referee` a session, with a simulated camera or with observations in its place. Under a level stand
the names of tests, or a text: why that level cannot hold the sentence. `at_table` is a script of
what happens at a table (`tests/support/table_scripts.py`), which is played to the judge and to the
whole referee, and holds at both levels. A sentence that no program can hold has `beyond`, the
reason, and none of these. Names of tests:

- `test_judge.py::test_name`, beside the tests of the game;
  `referee/live/test_referee.py::test_name`, elsewhere in `tests/`; with all that it is run with,
  unless one of these follows in brackets;
- `violation CODE`: the rows of `violations.txt` with that code; `play_NAME`: a playthrough in
  `data/`.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engines import GAMES
from tools.doors import NEEDS, Doors

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "RULES.md"
DATA = ROOT / "tests" / "rules"
LEVELS = ("engine", "judge", "referee")
DATA_TESTS = "tests/engines/conformance/test_data.py"
AT_TABLE = "at_table"
TABLE_TESTS = "tests/rules/test_at_the_table.py"
TITLES = {
    "zamboni_wars": "Zamboni Wars",
    "icebreaker": "Icebreaker",
    "ice_storm": "Ice Storm",
    "ice_boule": "Ice Boule",
    "icefloe": "IceFloe",
}


ABOUT = """\
# Every sentence of the rules, and what holds it

Every sentence of the printed rules and every ruling of the five games, in our words, with the tests
that fail when it is broken. `make rules` runs just these tests and writes this page; its data are
in `tests/rules/`. Three levels:

- **engine**: the rules alone, asked in notation;
- **judge**: the judge, told what lies on the table by observations made by hand, or told in words;
- **referee**: a session: the loop with settling, judge, log and questions, with a simulated camera
  or with observations in its place; where nothing is to be seen, what people say at the panel.

"its script" is a table in `tests/rules/GAME.toml`, played to the judge and to the whole referee. An
**empty** cell is a sentence that no test holds at that level yet. A text in a cell says why that
level has nothing to hold.
"""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a game's rules, and its tests.

    `levels` has for each level the names of tests, or the reason for none.
    """

    id: str
    game: str
    section: str
    words: str
    levels: Mapping[str, tuple[str, ...] | str]
    beyond: str = ""
    at_table: str = ""

    @property
    def holds(self) -> tuple[tuple[str, str], ...]:
        """(level, test name) for every named test."""
        named = (
            (level, names) for level, names in self.levels.items() if not isinstance(names, str)
        )
        return tuple((level, name) for level, names in named for name in names)

    @property
    def empty(self) -> tuple[str, ...]:
        """Levels without a test that a program could check."""
        return () if self.beyond else tuple(level for level in LEVELS if not self.levels[level])


def sentences(game: str) -> tuple[Sentence, ...]:
    """All sentences of a game, in the order of its file.

    Raises ValueError for an invalid file.
    """
    found = []
    for part, table in tomllib.loads((DATA / f"{game}.toml").read_text(encoding="utf-8")).items():
        section = table.pop("section")
        found += [
            _sentence(game, section, f"{game}.{part}.{key}", row) for key, row in table.items()
        ]
    return tuple(found)


def _sentence(game: str, section: str, name: str, row: dict[str, object]) -> Sentence:
    words, beyond, script = (
        str(row.pop("words")),
        str(row.pop("beyond", "")),
        str(row.pop(AT_TABLE, "")),
    )
    levels = {
        level: _level(row.pop(level, []), bool(script) and level != "engine") for level in LEVELS
    }
    if row or (beyond and any(levels.values())):
        raise ValueError(
            f"{name}: expected words, and either beyond or {', '.join(LEVELS)}, got {row or levels}"
        )
    return Sentence(name, game, section, words, levels, beyond, script)


def _level(given: object, at_table: bool) -> tuple[str, ...] | str:
    if isinstance(given, str):
        return given
    assert isinstance(given, list)
    return (*map(str, given), *([AT_TABLE] if at_table else []))


def node_id(rule: Sentence, level: str, name: str) -> str:
    """Prefix of the ids of the tests with this name, at a level of a sentence."""
    game = rule.game
    if name == AT_TABLE:
        return f"{TABLE_TESTS}::test_{level}[{rule.id}]"
    if name.startswith("violation "):
        return f"{DATA_TESTS}::test_violation[{game}: {name.removeprefix('violation ')}: "
    if name.startswith("play_"):
        return f"{DATA_TESTS}::test_golden_playthrough[{game} {name}]"
    file = name.partition("::")[0]
    return f"tests/{name}" if "/" in file else f"tests/engines/{game}/{name}"


def collected_tests(files: Iterable[str]) -> tuple[str, ...]:
    """Ids of all tests that pytest collects from these files."""
    words = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *files,
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"pytest cannot collect: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return tuple(line for line in done.stdout.splitlines() if "::" in line)


def all_sentences() -> tuple[Sentence, ...]:
    """The sentences of all games."""
    return tuple(sentence for game in TITLES for sentence in sentences(game))


def files(rules: Sequence[Sentence]) -> list[str]:
    """The files of the named tests."""
    return sorted(
        {
            node_id(rule, level, name).partition("::")[0]
            for rule in rules
            for level, name in rule.holds
        }
    )


def levels_of_tests(
    rules: Sequence[Sentence], ids: Sequence[str]
) -> tuple[dict[str, set[str]], list[str]]:
    """Levels of each test, by test id, and errors in test names."""
    levels: dict[str, set[str]] = {}
    wrong = []
    for rule in rules:
        for level, name in rule.holds:
            begins = node_id(rule, level, name)
            open_ended = begins.endswith(": ")
            meant = [
                one
                for one in ids
                if one == begins or one.startswith(begins if open_ended else f"{begins}[")
            ]
            wrong += [] if meant else [f"{rule.id}, {level}: there is no test {name!r}"]
            for one in meant:
                levels.setdefault(one, set()).add(level)
    return levels, wrong


def page(rules: Sequence[Sentence]) -> str:
    """The page, in Markdown."""
    lines = [
        *ABOUT.splitlines(),
        "",
        "| game | sentences | no program can hold | "
        + " | ".join(f"held by {level}" for level in LEVELS)
        + " | empty cells |",
        "|---|---|---|---|---|---|---|",
        *(_counts(TITLES[game], [rule for rule in rules if rule.game == game]) for game in TITLES),
        _counts("all", rules),
    ]
    for game, title in TITLES.items():
        lines += ["", f"## {title}"]
        section = None
        for rule in (rule for rule in rules if rule.game == game):
            if rule.section != section:
                section = rule.section
                lines += [
                    "",
                    f"### {title}: {section}",
                    "",
                    "| id | sentence | engine | judge | referee |",
                    "|---|---|---|---|---|",
                ]
            lines.append(_row(rule))
    return "\n".join(lines) + "\n"


def _counts(title: str, rules: Sequence[Sentence]) -> str:
    held = (
        sum(isinstance(rule.levels[level], tuple) and bool(rule.levels[level]) for rule in rules)
        for level in LEVELS
    )
    beyond, empty = sum(bool(rule.beyond) for rule in rules), sum(len(rule.empty) for rule in rules)
    return f"| {title} | {len(rules)} | {beyond} | {' | '.join(map(str, held))} | {empty} |"


def _row(rule: Sentence) -> str:
    if rule.beyond:
        return f"| {rule.id} | {rule.words} | no program can hold it: {rule.beyond} | | |"
    cells = " | ".join(_cell(rule.levels[level]) for level in LEVELS)
    return f"| {rule.id} | {rule.words} | {cells} |"


def _cell(holds: tuple[str, ...] | str) -> str:
    if isinstance(holds, str):
        return holds
    names = ("its script" if name == AT_TABLE else f"`{name.replace('|', ' ')}`" for name in holds)
    return "<br>".join(names) or "**empty**"


def run(levels: Mapping[str, set[str]]) -> list[str]:
    """Run tests by id; returns errors.

    An error is a failed test, or one that did not call the entry point of its stated level. Skipped
    tests are allowed: they need files that are not beside the checkout.
    """
    import pytest

    doors = Doors()
    words = ["-q", "-p", "no:cacheprovider", "--no-header", "-p", "no:warnings", *sorted(levels)]
    code = pytest.main(words, plugins=[doors])
    came = {one: doors.came.get(one, "not run") for one in sorted(levels)}
    wrong = [f"{one}: {how}" for one, how in came.items() if how not in ("passed", "skipped")]
    for one, level in ((one, level) for one in came for level in LEVELS if level in levels[one]):
        if came[one] == "passed" and not doors.has_reached(one, level):
            message = f"is said to hold at the level of the {level}, and never asks {NEEDS[level]}"
            wrong.append(f"{one}: {message}")
    return wrong or ([f"pytest ended with {code}"] if code else [])


def main() -> int:
    """Check the names, run the tests, write the page."""
    rules = all_sentences()
    levels, wrong = levels_of_tests(rules, collected_tests(files(rules)))
    wrong += [] if wrong else run(levels)
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    PAGE.write_text(page(rules), encoding="utf-8")
    empty = sum(len(rule.empty) for rule in rules)
    print(f"{len(rules)} sentences, {len(levels)} tests, {empty} empty cells: docs/RULES.md")
    return 0


if __name__ == "__main__":
    assert TITLES.keys() == GAMES.keys()
    sys.exit(main())
