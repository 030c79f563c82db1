"""What hosts, editors and containers are told of this project is true: workflows, issue forms,
hooks, the editor's settings, the changelog.
"""

from __future__ import annotations

import configparser
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.main import COMMANDS
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(
    path
    for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
    if path.name != "config.yml"
)
YAML = [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml"]
TARGETS = set(
    re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
) | {".venv/ready", ".venv/ready-dev", ".venv/ready-tracing"}
MARKERS = {line.partition(":")[0] for line in PROJECT["tool"]["pytest"]["ini_options"]["markers"]}
SHELL = {"make", "python", "timeout", "curl", "grep", "command", "sleep", "for", "do", "done", "if"}
SHELL |= {"installed/bin/python", "$GITHUB_WORKSPACE/installed/bin/rinkside"}
"""What a hosted runner has without asking, and the copy that a workflow has just installed."""


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", YAML, ids=lambda path: path.name)
def test_yaml_files_are_read(path: Path) -> None:
    assert isinstance(read(path), dict)


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in read(path)["jobs"].values() for step in job["steps"]]


SCRIPTS = [(path.name, step["run"]) for path in WORKFLOWS for step in steps(path) if "run" in step]


def commands(script: str) -> list[list[str]]:
    """Simple commands of a script, as words."""
    script = re.sub(r"\$\{\{.*?\}\}", "VALUE", script)
    parts = re.split(r"\n|;|&&|\|\||\||&", script)
    return [words for part in parts if (words := shlex.split(part))]


def markers(words: list[str]) -> str:
    """The choice of markers that pytest is called with."""
    return words[words.index("-m", words.index("pytest")) + 1]


@pytest.mark.parametrize(("name", "script"), SCRIPTS)
def test_workflows_run_only_what_there_is(name: str, script: str) -> None:
    for words in commands(script):
        while words and words[0] in ("do", "if", "then", "timeout"):
            words = words[2:] if words[0] == "timeout" else words[1:]
        if not words or words[0] in ("fi", "done", "break"):
            continue
        program = words[0]
        if program == "make":
            assert set(words[1:]) <= TARGETS, name
        elif program.startswith(".venv/bin/"):
            assert Path(sys.executable).with_name(Path(program).name).exists(), program
        else:
            assert program in SHELL, program
        if program.endswith("/rinkside"):
            assert words[1].startswith("-") or words[1] in COMMANDS
        if "pytest" in words:
            assert set(re.findall(r"\w+", markers(words))) - {"not", "and", "or"} <= MARKERS
            for path in (word for word in words if word.startswith("tests/")):
                assert (ROOT / path).exists()


def test_every_kind_of_test_is_run_by_a_workflow() -> None:
    """What one choice of markers leaves out, another runs; so do `make test` and `test-long`."""
    calls = [words for _, script in SCRIPTS for words in commands(script) if "pytest" in words]
    chosen = {markers(words) for words in calls}
    for slow in (False, True):
        for browser in (False, True):
            if browser and not slow:
                continue  # whatever opens a browser is slow
            known = {"slow": slow, "browser": browser}
            assert any(eval(one, {}, known) for one in chosen), known


def matrix(path: Path, job: str) -> dict[str, list[str]]:
    return read(path)["jobs"][job]["strategy"]["matrix"]


def test_the_matrix_is_what_the_package_says_it_needs() -> None:
    (path,) = WORKFLOWS
    tried = matrix(path, "unit")
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert tried["python"][0] == lowest
    (opencv,) = [one for one in PROJECT["project"]["dependencies"] if one.startswith("opencv")]
    least, below = re.search(r">=(\d+\.\d+),<(\d+)", opencv).groups()
    assert tried["opencv"][0] == least
    assert int(tried["opencv"][-1].partition(".")[0]) == int(below) - 1
    assert any(runner.endswith("-arm") for runner in tried["runner"])


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_is_one(path: Path) -> None:
    """Source: GitHub Docs, "Syntax for GitHub's form schema"."""
    form = read(path)
    assert form["name"]
    assert form["description"]
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked) > 0
    for part in asked:
        assert part["type"] in ("input", "textarea", "dropdown", "checkboxes")
        assert part["attributes"]["label"]
        assert (part["type"] == "dropdown") == ("options" in part["attributes"])
    for command in re.findall(r"`rinkside ([\w-]+)", path.read_text(encoding="utf-8")):
        assert command.startswith("-") or command in COMMANDS


def test_who_reports_a_misread_table_is_asked_for_debug_pictures_and_what_is_on_them() -> None:
    form = read(ROOT / ".github" / "ISSUE_TEMPLATE" / "misread-table.yml")
    wanted = {
        part["id"] for part in form["body"] if part.get("validations", {}).get("required", False)
    }
    assert {"pictures", "truth", "wrong"} <= wanted
    (pictures,) = [part for part in form["body"] if part.get("id") == "pictures"]
    assert "--debug" in pictures["attributes"]["description"]


def test_hooks_run_the_tools_of_the_environment() -> None:
    hooks = [
        hook for repo in read(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]
    ]
    assert {hook["id"] for hook in hooks} == {"ruff", "ruff-format", "mypy"}
    for hook in hooks:
        words = shlex.split(hook["entry"])
        tool = Path(sys.executable).with_name(Path(words[0]).name)
        assert words[0] == f".venv/bin/{tool.name}"
        assert subprocess.run([tool, "--version"], capture_output=True, check=False).returncode == 0


def test_editors_and_ruff_break_lines_at_the_same_width() -> None:
    editor = configparser.ConfigParser()
    editor.read_string("[top]\n" + (ROOT / ".editorconfig").read_text(encoding="utf-8"))
    assert int(editor["*.py"]["max_line_length"]) == PROJECT["tool"]["ruff"]["line-length"]


def test_the_container_makes_the_same_environment() -> None:
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    made = re.findall(r"make (\S+)", container["postCreateCommand"])
    assert made == [".venv/ready-dev"]
    lowest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert lowest in container["image"]


SECTIONS = re.findall(r"^## \[(.+?)\](?: - (.+))?$", CHANGELOG, re.MULTILINE)


def test_the_changelog_begins_with_this_version_and_dates_those_before() -> None:
    (newest, date), *older = SECTIONS
    assert newest == PROJECT["project"]["version"]
    assert re.fullmatch(r"unreleased|\d{4}-\d\d-\d\d", date)
    assert older
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in older)
    numbers = [tuple(map(int, version.split("."))) for version, _ in SECTIONS]
    assert numbers == sorted(numbers, reverse=True)


def test_the_changelog_has_the_usual_headings_each_once() -> None:
    """Source: Keep a Changelog 1.1.0."""
    for section in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        headings = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert len(set(headings)) == len(headings)
        usual = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
        assert set(headings) <= usual
