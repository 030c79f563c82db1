"""`rinkside` alone: games start and end on one address, and whatever happens to them, the door
stays open.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import urllib.error
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.home import Home, HomeOptions
from cli.home_settings import RUNNING_NAME, forget_running, remember_running, running_session
from cli.main import main
from cli.service.manager import ServiceManager
from hub.next_match import keep_match
from hub.wire import NextMatch
from simulation.players.ice_boule_table import demo_setup
from table.table_config import save_table
from tests.support.home_process import WAIT_S, HomeProcess, gone
from vision.cameras.found import FoundCamera

pytestmark = pytest.mark.slow
DEMO = {"activity": "demo", "game": "icebreaker"}
HANGS = """
import os, pathlib, sys, threading
import cli.home
from vision.change_gate import Watch

cli.home.WATCHDOG_S = 4.0
cli.home.PROGRAM = [sys.executable, "-c", os.environ["HANGS"]]
hang = pathlib.Path(os.environ["HANG"])
look = Watch.__call__

def looks_or_hangs(self, *rest):
    if hang.exists():
        hang.unlink()
        threading.Event().wait()
    return look(self, *rest)

Watch.__call__ = looks_or_hangs
from cli.main import run
run()
"""
"""Rinkside, whose referee hangs once, at its next picture after a file is there."""
LASTED = "import cli.home; cli.home.LASTED_S = {}; from cli.main import run; run()"
"""Rinkside that continues a game by itself if it ran for so many seconds."""


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
        assert "It stopped unexpectedly: exit code -9" in home.until("Try it")


def test_a_game_that_cannot_start_says_why_on_the_home_page(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "v4l3:0") as home:
        assert "Your table: Ice Boule" in home.get()
        home.get("/start", {"activity": "play"})
        page = home.until("It stopped unexpectedly")
        assert "v4l3:0" in page
        assert "Choose game and players" in page


def test_nothing_else_starts_while_something_starts_and_it_can_be_given_up(tmp_path: Path) -> None:
    with HomeProcess(tmp_path) as home:
        home.get("/start", DEMO)
        with pytest.raises(urllib.error.HTTPError, match="409"):
            home.get("/start", DEMO)
        home.get("/cancel", {})
        home.until("Try it")


def test_a_match_that_a_hub_gave_the_table_begins_with_its_players(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    names = ("Anna", "Ben")
    match = NextMatch(match=7, table="Table 3", event="Cup", game="ice_boule", players=names)
    keep_match(tmp_path, match)
    with HomeProcess(tmp_path, "--camera", "simulated:7") as home:
        assert "Table 3: Anna against Ben, Ice Boule" in home.get()
        with pytest.raises(urllib.error.HTTPError, match="409"):
            home.get("/start", {"activity": "match", "game": "6"})
        home.get("/start", {"activity": "match", "game": "7"})
        page = home.until("data-stream")
        assert "Anna" in page
        assert "Ben" in page
        assert json.loads(home.get("/api/v1/state"))["game"] == "ice_boule"


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


def begin_a_game(home: HomeProcess) -> int:
    """A game of Ice Boule on the table of the data folder: the process that referees it."""
    home.begin()
    return home.game()


def records(home: HomeProcess) -> list[str]:
    """The records of the game so far, as the panel's stream tells them."""
    state = json.loads(home.get("/api/v1/state"))
    return [str(state["session"]), str(state["seq"])]


@pytest.mark.parametrize("what_dies", ["home", "all"])
def test_after_a_power_cut_the_game_goes_on_by_itself_and_nothing_is_lost(
    tmp_path: Path, what_dies: str
) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "simulated:7") as home:
        game = begin_a_game(home)
        session, seq = records(home)
        for process in (home.process.pid, *([game] if what_dies == "all" else [])):
            os.kill(process, signal.SIGKILL)
        assert gone(game)
    with HomeProcess(tmp_path, "--camera", "simulated:7", "--resume") as home:
        home.until("data-stream")
        again, seq_now = records(home)
        assert (again, int(seq_now) >= int(seq)) == (session, True)


def test_a_game_that_people_ended_does_not_go_on_by_itself(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "simulated:7", "--resume") as home:
        begin_a_game(home)
        home.get("/end-game", {"then": "home"})
        assert "Continue the game" not in home.until("Choose game and players")
    with HomeProcess(tmp_path, "--camera", "simulated:7", "--resume") as home:
        assert "Continue the game" not in home.until("Choose game and players")


def test_a_game_that_cannot_go_on_is_offered_with_the_reason(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "simulated:7") as home:
        begin_a_game(home)
        home.process.kill()
    with HomeProcess(tmp_path, "--camera", "v4l3:0", "--resume") as home:
        page = home.until("It stopped unexpectedly")
        assert "v4l3:0" in page
        assert "Continue the game" in page


def test_a_game_whose_referee_hangs_is_ended_and_goes_on(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "simulated:7", program=HANGS) as home:
        first = begin_a_game(home)
        session, _ = records(home)
        (tmp_path / "hang").touch()
        assert gone(first)
        home.until("data-stream")
        assert home.game() != first
        assert records(home)[0] == session


def test_a_game_that_is_killed_goes_on_by_itself(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "simulated:7", program=LASTED.format(0)) as home:
        first = begin_a_game(home)
        session, _ = records(home)
        os.kill(first, signal.SIGKILL)
        assert gone(first)
        home.until("data-stream")
        assert home.game() != first
        assert records(home)[0] == session


def test_a_game_that_stops_as_soon_as_it_has_begun_is_offered_instead(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    with HomeProcess(tmp_path, "--camera", "simulated:7", program=LASTED.format(9e9)) as home:
        os.kill(begin_a_game(home), signal.SIGKILL)
        assert "Continue the game" in home.until("It stopped unexpectedly: exit code -9")


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


@pytest.mark.parametrize("text", ["", "x", "-1", "9" * 40, "\x00\xff" * 9, "1\n2"])
def test_a_damaged_note_of_what_was_played_is_no_game(tmp_path: Path, text: str) -> None:
    (tmp_path / RUNNING_NAME).write_bytes(text.encode("latin-1"))
    assert running_session(tmp_path) is None


def test_what_was_played_is_remembered_until_it_is_forgotten(tmp_path: Path) -> None:
    assert running_session(tmp_path) is None
    remember_running(12, tmp_path)
    assert running_session(tmp_path) == 12
    forget_running(tmp_path)
    forget_running(tmp_path)
    assert running_session(tmp_path) is None


def test_the_page_of_devices_shows_what_a_camera_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = FoundCamera("simulated:mat:7", "a table"), FoundCamera("v4l2:/dev/none", "unplugged")
    monkeypatch.setattr("cli.home.found_cameras", lambda: found)
    options = HomeOptions("127.0.0.1", 0, (), tmp_path, None, None, False, False)
    with socket.socket() as listening:
        home = Home(options, tmp_path, listening, threading.Event(), ServiceManager())
        assert home.picture("simulated:mat:7") is None, "it was not found yet"
        assert [one.camera for one in home.devices()] == ["simulated:mat:7", "v4l2:/dev/none"]
        picture = home.picture("simulated:mat:7")
        assert picture is not None
        assert picture.startswith(b"\xff\xd8")
        assert home.picture("v4l2:/dev/none") is None
        assert home.picture("folder:/etc") is None
