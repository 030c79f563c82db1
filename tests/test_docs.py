"""What is documented is executed: commands, make targets, dependencies, links and examples of
README and docs.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from referee.live.recorded_inputs import read_inputs
from table.pieces import load_piece_set
from table.table_config import parse_table

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("**/*.md")),
]
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
EVERYTHING = "\n".join(TEXTS.values())


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def commands(program: str) -> list[str]:
    """Lines of shell blocks, and inline code, that call a program with something."""
    lines = [
        line.strip()
        for text in TEXTS.values()
        for block in blocks(text, "sh")
        for line in block.splitlines()
    ]
    return sorted(
        {
            line
            for line in lines + re.findall(r"`([^`\n]+)`", EVERYTHING)
            if line.startswith(f"{program} ")
        }
    )


@pytest.mark.parametrize("command", commands("rinkside"))
def test_a_documented_command_is_understood(command: str) -> None:
    """Everything on the line is read before --help is obeyed: an option that is not there is an
    error.
    """
    words = [word for word in shlex.split(command)[1:] if word != "--help"]
    message = CliRunner().invoke(main, [*words, "--help"])
    assert message.exit_code == 0, message.output
    assert message.output.startswith(("Usage: ", "Aufruf: "))


@pytest.mark.parametrize("command", commands("make"))
def test_a_documented_make_target_is_there(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text()
    words = shlex.split(command)[1:]
    for variable in (word.partition("=")[0] for word in words if "=" in word):
        assert f"$({variable})" in makefile
    for target in (word for word in words if "=" not in word):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize(
    "command", [one for one in commands("python -m") if one not in TEXTS["CHANGELOG.md"]]
)
def test_a_documented_module_can_be_run(command: str) -> None:
    """A benchmark is one of the suite; what else is named can be found."""
    module, *words = shlex.split(command)[2:]
    if module == "benchmarks" and words and words[0] != "NAME":
        assert (ROOT / "benchmarks" / "suite" / f"{words[0]}.py").is_file()
    else:
        assert find_spec(module) is not None


PICTURES = ROOT / "docs" / "pictures"
DRAWN = {"rhythms.svg", *(path.name for path in PICTURES.glob("wiring-*.svg"))}
"""Drawings of wires and rhythms; tests/hardware/test_page.py compares what they say."""


def test_every_picture_is_made_by_a_tool_and_small() -> None:
    """`make pictures` makes all but drawings; pages that show them stay small."""
    found = [path for path in PICTURES.rglob("*.*") if path.name not in DRAWN]
    assert {path.parent.name for path in found} <= {"pages", "before"}
    assert [path.name for path in found if path.stat().st_size > 300_000] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    reasons = re.findall(r"^\| \[([\w-]+)\]", TEXTS["DEPENDENCIES.md"], re.MULTILINE)
    assert reasons == [re.split(r"[<>=!~ ]", needed)[0] for needed in project["dependencies"]]


def test_readme_is_one_screen() -> None:
    assert TEXTS["README.md"].count("\n") <= 60


def test_what_a_package_index_shows_links_to_no_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    shown = (ROOT / project["readme"]).read_text(encoding="utf-8")
    assert not re.search(r"\]\((?!https?:)", shown)
    assert "rinkside demo" in shown


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_pages_of_the_site_link_only_to_what_the_site_has() -> None:
    """It has all of docs/ but what mkdocs.yml leaves out: mkdocs would warn of another link."""
    left_out = {"package.md", "style.toml", "tuning.toml"}
    docs = ROOT / "docs"
    for page in sorted(docs.glob("**/*.md")):
        for link in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            to = (page.parent / link).resolve()
            assert to.is_relative_to(docs), f"{page.name} links to {link}, outside docs/"
            assert to.name not in left_out, f"{page.name} links to {link}, which is not in the site"


def test_examples_of_files_are_good(tmp_path: Path) -> None:
    (example,) = blocks(TEXTS["FORMATS.md"], "json")
    assert parse_table(json.loads(example)).game.target == "green"
    (own_set,) = blocks(TEXTS["FORMATS.md"], "toml")
    (tmp_path / "my-set.toml").write_text(own_set)
    assert load_piece_set("my-set.toml", tmp_path)["medium"].height_mm == 34.9
    (inputs,) = blocks(TEXTS["FORMATS.md"], "jsonl")
    (tmp_path / "inputs.jsonl").write_text(inputs)
    assert [heard.at_ms for heard in read_inputs(tmp_path / "inputs.jsonl")] == [5200]


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    for page in [site / "index.html", *site.glob("guide/*.html")]:
        loaded = re.findall(
            r'<(?:script|img)[^>]* src="([^"]+)"|<link rel="stylesheet"[^>]* href="([^"]+)"',
            page.read_text(encoding="utf-8"),
        )
        assert loaded
        assert not [one for pair in loaded for one in pair if "//" in one]


def test_the_changelog_knows_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"## [{version}]" in TEXTS["CHANGELOG.md"]


MODULE = re.compile(r"`([\w/]+\.py)`")
BESIDE = {"score.py"}
"""Beside the checkout, with the benchmark's photographs."""


@pytest.mark.parametrize("page", [page for page in TEXTS if page != "CHANGELOG.md"])
def test_modules_that_a_page_names_exist(page: str) -> None:
    """By their paths, or by the ends of them."""
    rooms = [room for room in ROOT.iterdir() if room.is_dir() and room.name[0] != "."]
    known = {
        f"/{path.relative_to(ROOT).as_posix()}" for room in rooms for path in room.rglob("*.py")
    }
    named = {name for name in MODULE.findall(TEXTS[page]) if "NAME" not in name} - BESIDE
    assert {name for name in named if not any(path.endswith(f"/{name}") for path in known)} == set()
