"""What people and files say never moves the cursor of a terminal, and never runs in a
spreadsheet.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner, Result

from cli.main import main
from cli.terminal import console, progress, say, say_json
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Answered,
    Appealed,
    Choice,
    Corrected,
    QuestionAsked,
    SessionEnded,
    SessionStarted,
    Upheld,
    VerdictReached,
)
from simulation.players.ice_boule_table import demo_setup
from table.table_config import table_document
from vision.cameras.image_files import encode_jpeg

ESCAPE = "\x1b[2J\x1b]0;owned\x07\x9b31m\x08\x7f"
TURNED, FORGED = "\u202eevil\u2066", "\nrinkside: all is well\r\u2028"
NASTY = f"=1+1{ESCAPE}{TURNED}{FORGED}"
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
FIRST = "target yellow"
JPEG = encode_jpeg(np.full((960, 1280, 3), 120, np.uint8), 50)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A session in which everything that a person may write is as nasty as it can be."""
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        names, table = {"red": NASTY, "blue": "Ben"}, table_document(demo_setup())
        started = SessionStarted(
            game="ice_boule",
            players=("red", "blue"),
            started_utc=NASTY,
            names=names,
            camera=NASTY,
            table=table,
        )
        first = log.append(started, 0).session
        log.append(
            VerdictReached(
                verdict="accepted",
                code="boule.target",
                message=NASTY,
                rests_on=NASTY,
                player="red",
                moves=(FIRST,),
            ),
            10**15,
            first,
            JPEG,
        )
        way = "throw red large 57.52: red 57.52"
        asked = log.append(
            QuestionAsked(
                code=NASTY,
                message=NASTY,
                choices=(Choice(label=NASTY, moves=(way,)),),
                rests_on=NASTY,
            ),
            -(10**15),
            first,
        )
        log.append(
            Answered(question=asked.seq, label=NASTY, how="order", decided_by=NASTY, moves=(way,)),
            900,
            first,
        )
        appealed = log.append(
            Appealed(appeals=2, player="blue", reason=NASTY, message=NASTY), 950, first
        )
        log.append(Upheld(upholds=appealed.seq, decided_by=NASTY, message=NASTY), 955, first)
        log.append(
            Corrected(corrects=2, moves=(FIRST,), decided_by=NASTY, reason=NASTY, message=NASTY),
            960,
            first,
        )
        log.append(SessionEnded(reason=NASTY), 1000, first)
    return path


def rinkside(*words: object, **more: str) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "160", **more})


SHOWN = (("list",), ("show", 1), ("show",), ("players",), ("players", "--simulated"))


@pytest.mark.parametrize("words", SHOWN, ids=lambda words: " ".join(map(str, words)))
def test_nothing_that_people_wrote_moves_the_cursor(words: tuple[object, ...], log: Path) -> None:
    result = rinkside("log", *words, "--log", log)
    assert result.exit_code == 0, result.output
    assert not UNSAFE.search(result.stdout + result.stderr)
    assert not any(line.strip() == "rinkside: all is well" for line in result.output.splitlines())


@pytest.mark.parametrize(
    "words", [("log", "list"), ("log", "show", 1), ("log", "players"), ("replay", 1)]
)
def test_documents_say_the_same_in_escapes(words: tuple[object, ...], log: Path) -> None:
    result = rinkside(*words, "--log", log, "--json")
    assert result.exit_code == 0, result.output
    assert not UNSAFE.search(result.stdout)
    if words[-1] == 1 and words[0] == "log":
        assert json.loads(result.stdout)[-1]["reason"] == NASTY


def test_replay_and_what_it_cannot_judge(log: Path) -> None:
    result = rinkside("replay", 1, "--log", log)
    assert result.exit_code == 0, result.output
    assert not UNSAFE.search(result.output)


@pytest.mark.parametrize("what", ["scores", "gaps"])
def test_cells_of_a_spreadsheet_are_text_and_no_formulas(
    what: str, log: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.csv"
    assert rinkside("log", what, target, "--log", log).exit_code == 0
    text = target.read_text(encoding="utf-8-sig")
    assert not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
    for row in csv.reader(text.splitlines()):
        assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row), row


@pytest.mark.parametrize("name", [ESCAPE, TURNED, FORGED, "half \udc80 a character"])
def test_file_names_are_said_without_what_moves_the_cursor(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{name}.json"
    for words in (
        ("observe", path, "--table", path),
        ("hardware", "list", "--settings", path),
        ("log", "show", "--log", path),
        ("log", "import", path, "--log", tmp_path / "log.sqlite"),
        ("print", "hex", "--out", tmp_path / f"{name}.gif"),
        ("rules", name),
        (name,),
    ):
        result = rinkside(*words)
        assert result.exit_code == 2, result.output
        assert not UNSAFE.search(result.output)
        assert result.stderr.count("\n") == 1


def test_what_was_written_is_said_without_what_moves_the_cursor(tmp_path: Path) -> None:
    result = rinkside("print", "fiducials", "--out", tmp_path / f"x{ESCAPE}{TURNED}.pdf")
    assert result.exit_code == 0, result.output
    assert not UNSAFE.search(result.output)


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("one\ntwo", "three\r", err=True)
    out = capsys.readouterr()
    assert out.out == ""
    assert len(out.err.splitlines()) == 2


def test_json_is_read_back_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"said": f"{NASTY} ✓ Zoë", "list": ["\u009b"]}
    say_json(json.dumps(document, ensure_ascii=False, indent=1))
    out = capsys.readouterr().out
    assert not UNSAFE.search(out)
    assert "Zoë" in out
    assert json.loads(out) == document


def test_a_terminal_without_the_letters_is_written_to_all_the_same(log: Path) -> None:
    result = CliRunner(charset="ascii").invoke(
        main, ["log", "show", "1", "--log", str(log)], env={"COLUMNS": "160"}
    )
    assert result.exit_code == 0, result.output


def test_tables_take_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    console().print(f"a{ESCAPE}b{TURNED}")
    assert not UNSAFE.search(capsys.readouterr().out)


ADDRESS = "http://192.168.178.25:8000"
DRAW = f"from cli.terminal import draw_qr; draw_qr({ADDRESS!r})"


def on_a_terminal(columns: int) -> str:
    """What is written where stdout is a terminal of this width."""
    main_end, terminal = os.openpty()
    own = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(columns), "PYTHONUTF8": "1"}
    with os.fdopen(main_end, "rb", buffering=0) as screen:
        with os.fdopen(terminal, "wb") as stdout:
            subprocess.run([sys.executable, "-c", DRAW], stdout=stdout, env=own, check=True)
        written = b""
        with suppress(OSError):  # Linux's end of a terminal whose other end is closed
            while more := screen.read(65536):
                written += more
    return written.decode()


def test_a_qr_code_on_a_terminal_is_read_back() -> None:
    halves = {"█": (255, 255), "▀": (255, 0), "▄": (0, 255)}
    rows = [line for line in re.sub(r"\x1b\[[\d;]*m", "", on_a_terminal(80)).splitlines() if line]
    picture = (
        np.array(
            [[halves.get(sign, (0, 0))[half] for sign in row] for row in rows for half in (0, 1)],
            np.uint8,
        )
        .repeat(8, 0)
        .repeat(8, 1)
    )
    assert cv2.QRCodeDetector().detectAndDecode(picture)[0] == ADDRESS


def test_no_qr_code_is_drawn_on_a_narrow_terminal_or_into_a_pipe() -> None:
    assert on_a_terminal(20) == ""
    assert subprocess.check_output([sys.executable, "-c", DRAW]) == b""


def test_a_bar_is_shown_in_a_terminal_only_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress("Reading") as count:
        count()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with progress("Reading the \x1b[31mlog") as count:
        count()
    out, shown = capsys.readouterr()
    assert out == ""
    assert "Reading the" in shown
    assert "\x1b[31mlog" not in shown
    assert shown.rstrip().endswith("\x1b[2K")  # the line is wiped out
