"""`rinkside` alone: games start and end on one address, and whatever happens to them, the door
stays open.
"""

from __future__ import annotations

import json
import os
import signal
import urllib.error
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from simulation.players.ice_boule_table import demo_setup
from table.table_config import save_table
from tests.support.home_process import WAIT_S, HomeProcess, gone

pytestmark = pytest.mark.slow
DEMO = {"activity": "demo", "game": "icebreaker"}


def test_a_simulated_game_is_started_and_left_on_one_address_by_the_same_host(
    tmp_path: Path,
) -> None:
    with HomeProcess(tmp_path) as home:
        assert "Set up the table" in home.get()
        home.get("/start", DEMO)
        home.until("data-stream")
        assert json.loads(home.get("/api/v1/me"))["role"] == "host"
        game = home.game()
        assert "The home page opens by itself" in home.get("/end-game", {"then": "home"})
        home.until("Try it")
        assert gone(game)
        assert "No sessions yet" in home.get("/sessions")
        assert "Rinkside has ended" in home.get("/shut-down", {})
        out, errors = home.process.communicate(timeout=WAIT_S)
        assert (home.process.returncode, out, errors) == (0, "", "")


def test_another_game_is_chosen_without_going_home(tmp_path: Path) -> None:
    with HomeProcess(tmp_path) as home:
        home.get("/start", DEMO)
        home.until("data-stream")
        first = home.game()
        home.get("/end-game", {"then": "again"})
        assert gone(first)
        home.until("data-stream")
        assert home.game() != first


def test_a_game_that_is_killed_leaves_the_home_page_which_says_so(tmp_path: Path) -> None:
    with HomeProcess(tmp_path) as home:
        home.get("/start", DEMO)
        home.until("data-stream")
        os.kill(home.game(), signal.SIGKILL)
        assert "It ended by itself: exit code -9" in home.until("Try it")


def test_a_game_that_cannot_start_says_why_on_the_home_page(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "v4l3:0") as home:
        assert "Your table: Ice Boule" in home.get()
        home.get("/start", {"activity": "play"})
        page = home.until("It ended by itself")
        assert "v4l3:0" in page
        assert "Choose game and players" in page


def test_nothing_else_starts_while_something_starts_and_it_can_be_given_up(tmp_path: Path) -> None:
    with HomeProcess(tmp_path) as home:
        home.get("/start", DEMO)
        with pytest.raises(urllib.error.HTTPError, match="409"):
            home.get("/start", DEMO)
        home.get("/cancel", {})
        home.until("Try it")


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_home_page_and_its_game(
    tmp_path: Path, with_signal: signal.Signals
) -> None:
    with HomeProcess(tmp_path) as home:
        home.get("/start", DEMO)
        home.until("data-stream")
        game = home.game()
        home.process.send_signal(with_signal)
        out, errors = home.process.communicate(timeout=WAIT_S)
        assert (home.process.returncode, out, errors) == (0, "", "")
        assert gone(game)


def test_a_game_does_not_outlive_the_home_page(tmp_path: Path) -> None:
    with HomeProcess(tmp_path) as home:
        home.get("/start", DEMO)
        home.until("data-stream")
        game = home.game()
        home.process.kill()
        assert gone(game)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--port", "9000", "rules", "ice_boule"], "--port goes after the command"),
        (["--public-name", "a b"], "--public-name: expected a name"),
        (["--data", "/dev/null/x"], "/dev/null/x: expected a folder"),
    ],
)
def test_what_will_not_do_is_one_line(words: list[str], expected: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert result.stderr.count("\n") == 1
