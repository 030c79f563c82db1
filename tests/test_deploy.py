"""What runs a hub for good: units of systemd and a file for Docker Compose, parsed and checked."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import yaml

from cli.main import main
from hub.store import Store
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
PROGRAM = "/opt/rinkside/.venv/bin/rinkside"
ANALYZE = shutil.which("systemd-analyze")
needs_systemd = pytest.mark.skipif(
    ANALYZE is None, reason="systemd-analyze is not installed: apt-get install systemd"
)
MOST_EXPOSURE = 25
"""systemd's tenths; under 4.0 it calls a service "OK"."""
VALUES = {"RINKSIDE_HUB_NAME": "hub.example.org", "RINKSIDE_HUB": "https://hub.example.org"}
"""What the environment files of the guide say."""


def understood(words: list[str]) -> dict[str, object]:
    """The options of a command of Rinkside's; raises click.ClickException for wrong ones."""
    name, *rest = words
    command = main.get_command(click.Context(main), name)
    with command.make_context(name, rest) as ctx:
        return ctx.params


def lines(unit: Path, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("unit", UNITS, ids=lambda one: one.name)
def test_a_unit_starts_a_command_that_there_is(unit):
    (start,) = lines(unit, "ExecStart")
    program, *words = shlex.split(re.sub(r"\$\{(\w+)\}", lambda one: VALUES[one[1]], start))
    assert program == PROGRAM
    assert understood(words)
    assert lines(unit, "Restart") == ["always"]
    (file,) = lines(unit, "EnvironmentFile")
    guide = (ROOT / "docs" / "HUB.md").read_text(encoding="utf-8")
    assert f"{unit.name}" in guide
    assert file in guide
    assert all(f"{name}=" in guide for name in re.findall(r"\$\{(\w+)\}", start))


@needs_systemd
@pytest.mark.parametrize("unit", UNITS, ids=lambda one: one.name)
def test_systemd_finds_no_fault_in_a_unit_and_little_that_it_may_do(tmp_path, unit):
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text(encoding="utf-8").replace(PROGRAM, sys.executable))
    for words in (
        ("verify", "--man=no"),
        ("security", "--offline=yes", f"--threshold={MOST_EXPOSURE}"),
    ):
        done = subprocess.run(
            [ANALYZE, *words, str(copy)], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert words[0] == "security" or (done.stdout, done.stderr) == ("", "")


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def test_the_hub_of_compose_waits_for_its_database_and_is_restarted(compose):
    database, hub = compose["services"]["database"], compose["services"]["hub"]
    assert hub["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert {database["restart"], hub["restart"]} == {"unless-stopped"}
    assert database["volumes"] == ["records:/var/lib/postgresql/data"]
    assert set(compose["volumes"]) == {"records"}
    assert hub["read_only"]
    assert hub["cap_drop"] == ["ALL"]
    assert hub["ports"] == ["127.0.0.1:8080:8080"]


def test_the_hub_of_compose_is_given_options_that_there_are(compose):
    hub = compose["services"]["hub"]
    params = understood(["hub", *hub["command"]])
    assert (params["host"], params["port"]) == ("0.0.0.0", 8080)
    known = {one.envvar for one in main.get_command(click.Context(main), "hub").params}
    assert set(hub["environment"]) <= known
    url = hub["environment"]["RINKSIDE_HUB_DATABASE"].replace("${HUB_DB_PASSWORD}", "abc")
    store = Store(url)
    assert store.shown == "postgresql://hub:***@database/hub"
    store.close()
    user = compose["services"]["database"]["environment"]
    assert (user["POSTGRES_USER"], user["POSTGRES_DB"]) == ("hub", "hub")
    assert "example.org" not in str(compose)


def test_the_container_has_all_rooms_of_the_wheel_and_runs_as_nobody_special(compose):
    build = compose["services"]["hub"]["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    recipe = (ROOT / build["dockerfile"]).read_text(encoding="utf-8")
    copied = {
        word for line in re.findall("^COPY (.*)$", recipe, re.MULTILINE) for word in line.split()
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = project["tool"]["setuptools"]["packages"]["find"]["include"]
    assert {one.rstrip("*") for one in rooms} <= copied
    assert {"pyproject.toml", "LICENSE", project["project"]["readme"]} <= copied
    sent = (ROOT / f"{build['dockerfile']}.dockerignore").read_text(encoding="utf-8").splitlines()
    assert set(sent) >= {f"!{one.rstrip('*')}" for one in rooms} | {"*", "!docs/package.md"}
    assert all((ROOT / word).exists() for word in copied if word != "./")
    assert set(re.findall(r"\[([\w,]+)\]'", recipe)[0].split(",")) <= set(
        project["project"]["optional-dependencies"]
    )
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", recipe, re.MULTILINE)
    (entry,), (command,) = (
        re.findall(f"^{name} (.*)$", recipe, re.MULTILINE) for name in ("ENTRYPOINT", "CMD")
    )
    program, *words = yaml.safe_load(entry)
    assert program == "rinkside"
    assert understood([*words, *yaml.safe_load(command)])


def test_the_database_of_the_recipe_for_debian_is_one_that_a_hub_takes():
    guide = (ROOT / "docs" / "HUB.md").read_text(encoding="utf-8")
    (url,) = re.findall(r"RINKSIDE_HUB_DATABASE=(postgresql://\S+)", guide)
    store = Store(url)
    assert store.engine.url.query["host"] == "/run/postgresql"
    store.close()
