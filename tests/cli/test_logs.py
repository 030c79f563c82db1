"""What the program logs: on stderr by `--verbose`, as journald reads it, and what native libraries
write in it too.
"""

from __future__ import annotations

import ast
import logging
import os
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from cli import logs
from cli.main import main
from table.table_config import save_table
from tests.support.observed_boule import SETUP
from tests.support.paths import ROOT

LIMIT_S = 120


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    logs.set_up(0)


@pytest.mark.parametrize(
    ("words", "shown"), [([], "WE"), (["-v"], "IWE"), (["-v", "--verbose"], "DIWE")]
)
def test_each_verbose_tells_one_level_more(
    words: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    CliRunner().invoke(main, [*words, "rules", "icebreaker"])
    logger = logging.getLogger("vision.made_up")
    for level, letter in ((10, "D"), (20, "I"), (30, "W"), (40, "E")):
        logger.log(level, "level %s.", letter)
    assert "".join(re.findall(r"level (\w)\.", capsys.readouterr().err)) == shown


def test_a_warning_reads_as_all_that_the_program_says(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(0)
    logging.getLogger("referee.made_up").warning("the disk is full")
    assert capsys.readouterr().err == "rinkside: the disk is full\n"


def test_a_module_and_the_time_are_told_with_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(1)
    logging.getLogger("referee.made_up").info("the log is open")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3} INFO referee\.made_up: the log is open\n", capsys.readouterr().err
    )


def test_what_is_logged_moves_no_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(0)
    logging.getLogger("cli.made_up").warning("%s is not there", "\x1b[2Jfile")
    assert "\x1b" not in capsys.readouterr().err


def test_libraries_are_heard_only_where_they_warn(capsys: pytest.CaptureFixture[str]) -> None:
    logs.set_up(1)
    logging.getLogger("waitress").info("of no interest")
    logging.getLogger("waitress").warning("of interest")
    assert "of no interest" not in (message := capsys.readouterr().err)
    assert "of interest" in message


def run(program: str, stderr: int = subprocess.PIPE, **more: str) -> str:
    """What a program of its own writes to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        text=True,
        env=os.environ | more,
        timeout=LIMIT_S,
        check=True,
    )
    return done.stderr or ""


WARNS = """
import logging
from cli.logs import set_up
set_up(0)
try:
    1 / 0
except ArithmeticError:
    logging.getLogger("vision.made_up").warning("first", exc_info=True)
"""


@pytest.mark.slow
def test_under_systemd_every_line_has_a_priority_and_none_a_time(tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w+") as journal:
        status = os.fstat(journal.fileno())
        run(WARNS, journal.fileno(), JOURNAL_STREAM=f"{status.st_dev}:{status.st_ino}")
        journal.seek(0)
        lines = journal.read().splitlines()
    assert lines[0] == "<4>vision.made_up: first"
    assert lines[-1] == "<4>ZeroDivisionError: division by zero"
    assert all(line.startswith("<4>") for line in lines)


@pytest.mark.slow
def test_a_stderr_that_does_not_lead_to_journald_is_written_for_people() -> None:
    assert run(WARNS, JOURNAL_STREAM="9:1").startswith("rinkside: first\n")


NATIVE = """
import ctypes, os, sys
from cli.logs import log_native_output, set_up
log_native_output()
set_up({verbosity})
{act}
sys.stderr.write("the program goes on\\n")
"""


@pytest.mark.slow
@pytest.mark.parametrize("verbosity", [0, 1])
def test_what_native_libraries_write_is_logged_once_and_only_with_verbose(verbosity: int) -> None:
    act = "for n in range(3): os.write(2, f'libpng warning: {n} bytes\\n'.encode())"
    lines = run(NATIVE.format(verbosity=verbosity, act=act)).splitlines()
    native = [line for line in lines if "libpng warning: 0 bytes (told once)" in line]
    assert len(native) == verbosity
    assert [line for line in lines if line not in native] == ["the program goes on"]


@pytest.mark.slow
def test_a_library_that_floods_stderr_holds_nothing_up() -> None:
    """It writes without letting go of the interpreter's lock, which the reader needs."""
    act = "ctypes.PyDLL(None).write(2, b'x' * (1 << 20), 1 << 20)"
    assert "the program goes on" in run(NATIVE.format(verbosity=0, act=act))


@pytest.mark.slow
def test_a_traceback_still_reaches_stderr() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(NATIVE.format(verbosity=0, act="raise KeyError('lost')"))
    assert "KeyError: 'lost'" in failed.value.stderr


def with_a_bad_chunk(picture: bytes) -> bytes:
    """A PNG that is whole but for a colour profile that is none, of which libpng warns."""
    kind, body = b"iCCP", b"x\0\0" + zlib.compress(b"no profile" * 20)
    chunk = struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return picture[:33] + chunk + picture[33:]


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["-v"]])
def test_libpng_is_kept_off_stderr(tmp_path: Path, words: list[str]) -> None:
    save_table(SETUP, tmp_path / "table.json")
    _, data = cv2.imencode(".png", np.full((64, 64, 3), 90, np.uint8))
    (tmp_path / "photo.png").write_bytes(with_a_bad_chunk(data.tobytes()))
    command = "import sys; from cli.main import run; sys.argv[0] = 'rinkside'; run()"
    photo = ["observe", "--table", str(tmp_path / "table.json"), str(tmp_path / "photo.png")]
    done = subprocess.run(
        [sys.executable, "-c", command, *words, *photo],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    about = [line for line in done.stderr.splitlines() if "libpng warning" in line]
    assert len(about) == len(words), done.stderr


@pytest.mark.slow
def test_every_module_logs_under_its_own_name() -> None:
    wrong = []
    for path in (path for room in logs.ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.unparse(node) if isinstance(node, ast.Assign) else ""
            if "getLogger(" in text and "getLogger()" not in text:
                wrong += [] if text == "logger = logging.getLogger(__name__)" else [str(path)]
    assert wrong == []
