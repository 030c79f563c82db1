"""The command line as a process of its own: signals, ports, pipes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from simulation.players.ice_boule_table import demo_setup
from table.table_config import save_table
from tests.support.films import film, zeroed
from tests.support.pictures import jpeg

pytestmark = pytest.mark.slow

RINKSIDE = [sys.executable, "-c", "from cli.main import run; run()"]
WAIT_S = 120
"""A generous limit for a start on a small and busy board; nothing is measured by it."""


def run(*words: object, stdout: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    """As people run it: with buffers, whatever the tests themselves run with."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [*RINKSIDE, *map(str, words)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=WAIT_S,
        check=False,
        env=own,
    )


@contextmanager
def running(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A program that serves pages until the block ends, then is interrupted."""
    process = subprocess.Popen(
        [*RINKSIDE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=WAIT_S)
        finally:
            process.kill()


def code_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Where the panel is, and the host's code."""
    assert process.stdout is not None
    url = next(
        word for word in process.stdout.readline().split() if word.startswith("http://localhost:")
    )
    return url, next(
        word
        for word in process.stdout.readline().split()
        if re.fullmatch(r"[0-9A-Z]{5}-[0-9A-Z]{5}", word)
    )


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo on a free port, with its log in the test's folder."""
    words = [*RINKSIDE, "demo", "--port", "0", "--seed", "3", "--data", str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGTERM])
def test_demo_serves_its_panel_and_ends_cleanly(
    demo: subprocess.Popen[str], tmp_path: Path, with_signal: signal.Signals
) -> None:
    url, code = code_of(demo)
    assert demo.stdout is not None
    with urllib.request.urlopen(url, timeout=WAIT_S) as page:
        assert "simulated" in page.read().decode().lower()
    asks = urllib.request.Request(f"{url}/api/v1/me", headers={"Authorization": f"Bearer {code}"})
    with urllib.request.urlopen(asks, timeout=WAIT_S) as answer:
        assert json.load(answer) == {"role": "host", "seat": None}
    assert demo.stdout.readline().startswith(f"Host link (one use): {url}/join#")
    assert stat.S_IMODE((tmp_path / "access.json").stat().st_mode) == 0o600
    demo.send_signal(with_signal)
    demo.send_signal(
        signal.SIGTERM
    )  # `timeout`, `make` and service managers like to send another one
    rest, errors = demo.communicate(timeout=WAIT_S)
    assert (demo.returncode, rest, errors) == (0, "", "")
    (session,) = json.loads(run("log", "list", "--json", "--log", tmp_path / "log.sqlite").stdout)
    assert (session["game"], session["simulated"], session["ended"]) == ("ice_boule", True, True)


def sent(url: str, code: str, form: dict[str, str] | None = None) -> str:
    """What a host is answered; with a form, what it leads to."""
    headers = {
        "Authorization": f"Bearer {code}",
        "Sec-Fetch-Site": "same-origin",
        "Accept": "text/html",
    }
    body = urllib.parse.urlencode(form).encode() if form else None
    with urllib.request.urlopen(
        urllib.request.Request(url, body, headers), timeout=WAIT_S
    ) as answer:
        return str(answer.read().decode())


def test_a_table_is_made_ready_on_a_page_that_becomes_the_game(tmp_path: Path) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    words = [
        "play",
        "--table",
        tmp_path / "table.json",
        "--camera",
        "simulated:7",
        "--set-up",
        "--port",
        "0",
        "--data",
        tmp_path / "data",
    ]
    process = subprocess.Popen(
        [*RINKSIDE, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first.startswith("The game is set up on ")
        url = next(word for word in first.split() if word.startswith("http://localhost:"))
        code = next(
            word
            for word in process.stdout.readline().split()
            if re.fullmatch(r"[0-9A-Z]{5}-[0-9A-Z]{5}", word)
        )
        looked = (sent(url, code) for _ in range(10_000))
        assert any(
            "The corner cards and the board are where table.json says." in page for page in looked
        )
        form = {
            "game": "ice_boule",
            "plays red": "on",
            "plays blue": "on",
            "place red": "2",
            "place blue": "1",
            "name red": "Anna",
        }
        sent(f"{url}/begin", code, form)
        process.stdout.readline()
        assert process.stdout.readline().startswith("The panel is on ")
        state = json.loads(sent(f"{url}/api/v1/state", code))
        assert (state["players"], state["names"]) == (["blue", "red"], {"red": "Anna"})
    finally:
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize("begins", ["lot", "roll", "blue"])
def test_who_begins_is_said_on_the_command_line_and_is_in_the_log(
    tmp_path: Path, begins: str
) -> None:
    save_table(demo_setup(), tmp_path / "table.json")
    table, data = tmp_path / "table.json", tmp_path / "data"
    words = ["play", "--table", table, "--camera", "simulated:7", "--port", "0", "--data", data]
    with running(*words, "--players", "red,blue", "--begins", begins) as process:
        url, code = code_of(process)
        if begins == "roll":
            for player, die in (("red", 2), ("blue", 5)):
                rolled = json.dumps({"player": player, "die": die})
                sent(f"{url}/command", code, {"command": "hear", "said": rolled})
        state = json.loads(sent(f"{url}/api/v1/state", code))
        message = next(
            line
            for line in reversed(state["verdicts"])
            if line["code"].startswith("begins.") and line["said"].count("begins")
        )
    shown = run("log", "show", "--json", "--log", tmp_path / "data" / "log.sqlite").stdout
    records = json.loads(shown)
    assert records[0]["begins"] == {"lot": "lot", "roll": "roll", "blue": "hand"}[begins]
    assert records[0]["first"] == {"lot": records[0]["first"], "roll": "", "blue": "blue"}[begins]
    assert begins == "roll" or message["said"] in (records[0]["said"],)
    assert {
        "lot": "Picked at random among red and blue.",
        "roll": "Red rolled 2.",
        "blue": "Blue begins: set by hand.",
    }[begins] in message["said"]
    with Log(tmp_path / "data" / "log.sqlite") as log:
        first = {"lot": records[0]["first"], "roll": "blue", "blue": "blue"}[begins]
        assert Session.reopen(log, 1).ledger.state.players == (
            first,
            "red" if first == "blue" else "blue",
        )


def test_sessions_are_looked_at_by_all_and_carried_away_by_hosts(tmp_path: Path) -> None:
    with Log(tmp_path / "log.sqlite") as log:
        number = log.append(SessionStarted(game="ice_boule", players=("red", "green")), 0).session
    with running("sessions", "--log", tmp_path / "log.sqlite", "--port", "0") as process:
        url, code = code_of(process)
        with urllib.request.urlopen(f"{url}/sessions/{number}", timeout=WAIT_S) as page:
            assert page.status == 200
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(f"{url}/sessions/{number}/session.zip", timeout=WAIT_S)
        asks = urllib.request.Request(
            f"{url}/sessions/{number}/session.zip", headers={"Authorization": f"Bearer {code}"}
        )
        with urllib.request.urlopen(asks, timeout=WAIT_S) as answer:
            assert answer.read().startswith(b"PK")
    assert not (tmp_path / "access.json").exists(), (
        "a log that is only looked at gets no codes of its own"
    )


def test_a_taken_port_is_one_line_and_no_log(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("demo", "--port", port, "--data", tmp_path / "data")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert str(port) in result.stderr
    assert "--port" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_data_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    result = run("demo", "--port", "0", "--data", tmp_path / "data" / "rinkside")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_the_name_of_a_proxy_is_answered_to_where_it_is_said(tmp_path: Path) -> None:
    Log(tmp_path / "log.sqlite").close()
    log = tmp_path / "log.sqlite"
    proxied = ("--public-name", "Rink.example.org")
    with running("sessions", "--log", log, "--port", "0", *proxied) as process:
        url, _ = code_of(process)
        statuses = []
        for name in ("rink.example.org", "other.example.org"):
            try:
                with urllib.request.urlopen(
                    urllib.request.Request(url, headers={"Host": name}), timeout=WAIT_S
                ) as answer:
                    statuses.append(answer.status)
            except urllib.error.HTTPError as refused:
                with refused:
                    statuses.append(refused.code)
    assert statuses == [200, 421]


@pytest.mark.parametrize(
    "name", ["https://rink.example.org", "rink.example.org:443", "", "a b", "rink.example.org/"]
)
def test_what_is_no_name_of_a_proxy_is_one_line(tmp_path: Path, name: str) -> None:
    result = run("sessions", "--log", tmp_path / "log.sqlite", "--public-name", name)
    assert result.returncode == 2
    assert result.stderr.startswith("rinkside: --public-name: expected a name")
    assert result.stderr.count("\n") == 1


def test_a_second_demo_on_the_same_log_is_refused(
    demo: subprocess.Popen[str], tmp_path: Path
) -> None:
    assert demo.stdout is not None
    demo.stdout.readline()
    result = run("demo", "--port", "0", "--data", tmp_path)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert (
        f"log.sqlite: another Rinkside (process {demo.pid}) is writing to this log" in result.stderr
    )
    assert "--data FOLDER" in result.stderr


def test_demos_play_beside_each_other_and_leave_nothing_behind(tmp_path: Path) -> None:
    """A simulated game is no game of the user's: neither its log nor its codes stay."""
    (tmp_path / "tmp").mkdir()
    own = {"XDG_DATA_HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp")}
    save_table(demo_setup(), tmp_path / "table.json")
    looking = ["play", "--table", str(tmp_path / "table.json"), "--camera", "simulated:7"]
    games = [
        subprocess.Popen(
            [*RINKSIDE, *words, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | own,
        )
        for words in (
            ["demo", "--seed", "3"],
            ["demo", "--seed", "4", "--game", "zamboni_wars"],
            looking,
        )
    ]
    try:
        for game in games:
            assert game.stdout is not None
            assert game.stdout.readline().startswith("The panel is on ")
        assert len(list((tmp_path / "tmp").iterdir())) == len(games)
    finally:
        for game in games:
            game.send_signal(signal.SIGINT)
        ends = [(*game.communicate(timeout=WAIT_S), game.returncode) for game in games]
    assert [(errors, code) for _, errors, code in ends] == [("", 0)] * len(games)
    assert not (tmp_path / "home").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


FAILING = """
import itertools, sys
from vision import change_gate
turns, look = itertools.count(), change_gate.Watch.__call__
def failing(self, *words):
    if eval(sys.argv[1], {"turn": next(turns)}):
        raise KeyError("no such piece")
    return look(self, *words)
change_gate.Watch.__call__ = failing
from cli.main import main
main(sys.argv[2:])
"""


def failing_demo(fails: str, folder: Path) -> subprocess.Popen[str]:
    """A demo whose eyes fail at those turns."""
    words = [
        sys.executable,
        "-c",
        FAILING,
        fails,
        "demo",
        "--port",
        "0",
        "--seed",
        "3",
        "--data",
        str(folder),
    ]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_referee_that_fails_goes_on_and_the_panel_tells(tmp_path: Path) -> None:
    process = failing_demo("turn == 8", tmp_path)
    try:
        url, code = code_of(process)
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith(
            "rinkside: the referee failed (KeyError: 'no such piece', <string>:7) and restarts"
            " from the log"
        )
        seen = (json.loads(sent(f"{url}/api/v1/state", code)) for _ in range(100_000))
        assert any(state["verdicts"] and not state["live"]["trouble"] for state in seen), (
            "it rules, and then all is well"
        )
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, errors) == (0, "")


def test_a_referee_that_fails_again_and_again_is_halted_and_the_panel_stays(tmp_path: Path) -> None:
    process = failing_demo("turn >= 8", tmp_path)
    try:
        url, code = code_of(process)
        assert process.stderr is not None
        lines = [process.stderr.readline() for _ in range(3)]
        assert (
            "failed 3 times within a minute (KeyError: 'no such piece') and has stopped" in lines[2]
        )
        live = json.loads(sent(f"{url}/api/v1/state", code))["live"]
        assert live["status"] == "ended"
        assert "has stopped" in live["said"]
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, errors) == (2, "")
    shown = run("log", "show", "1", "--log", tmp_path / "log.sqlite")
    assert (shown.returncode, shown.stdout.count("reopened")) == (0, 2)


def test_version_and_help_load_nothing_heavy() -> None:
    program = (
        "import sys; from cli.main import main; main(sys.argv[1:], standalone_mode=False);"
        " print({'cv2', 'scipy', 'flask'} & {*sys.modules})"
    )
    for words in (["--version"], ["--help"]):
        result = subprocess.run(
            [sys.executable, "-c", program, *words],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            check=True,
        )
        assert result.stdout.splitlines()[-1] == "set()"


def test_commands_that_referee_a_game_do_not_load_scipy() -> None:
    program = "import sys, cli.measure, cli.play, cli.referee; print('scipy' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=WAIT_S, check=True
    )
    assert result.stdout == "False\n"


def test_a_reader_that_goes_away_is_no_mistake() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        result = run("rules", "ice_boule", "--json", stdout=write)
    finally:
        os.close(write)
    assert "Traceback" not in result.stderr
    assert result.returncode != 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        result = run("rules", "ice_boule", "--json", stdout=full.fileno())
    assert result.returncode == 2
    assert "No space left on device" in result.stderr
    assert result.stderr.count("\n") == 1


def test_nobody_but_rinkside_says_what_is_wrong_with_pictures_and_films(tmp_path: Path) -> None:
    """FFmpeg, libjpeg and libpng write to stderr by themselves, behind Python's back."""
    lens = msgspec.structs.replace(
        demo_setup().camera,
        width=96,
        height=80,
        matrix=((90.0, 0.0, 48.0), (0.0, 90.0, 40.0), (0.0, 0.0, 1.0)),
    )
    save_table(msgspec.structs.replace(demo_setup(), camera=lens), tmp_path / "table.json")
    table = ["--table", tmp_path / "table.json"]
    damaged = zeroed(film(tmp_path / "game.mp4", frames=60), 0.4, 0.5)
    refereed = run("referee", *table, "--camera", f"video:{damaged}", "--players", "red,blue")
    assert (refereed.returncode, len(refereed.stderr.splitlines())) == (3, 1), refereed.stderr
    assert "game.mp4: expected 60 pictures, as the video says, could read only" in refereed.stderr
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(jpeg()[:-90] + jpeg()[-2:])
    measured = run("observe", photo, *table)
    assert (measured.returncode, len(measured.stderr.splitlines())) == (2, 1), measured.stderr
    assert "photo.jpg: expected a whole picture" in measured.stderr
