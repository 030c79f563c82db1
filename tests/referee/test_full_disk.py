"""A disk that is really full: a small file system of memory, mounted where nobody else sees it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WRITES = """
import sys, threading
from pathlib import Path
from referee.events import Noted, SessionStarted
from referee.live import LiveState
from referee.log import Log
from referee.patient_session import PatientSession
from referee.session import Session

folder = Path(sys.argv[1])
ballast = folder / "ballast"
log = Log(folder / "log.sqlite")
session = Session.begin(log, SessionStarted(game="ice_boule", players=("red", "blue")))
live, rounds = LiveState(), []

def fill():
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError as error:
            assert error.errno == 28, error

def pause(_):
    rounds.append((live.latest.status, session.seq, len(log.records(session.id))))
    if len(rounds) % 3 == 0:
        ballast.unlink()

patient = PatientSession(session, live, threading.Event(), print, pause)
picture = b"\\xff\\xd8" + bytes(30_000)
for turn in range(40):
    if turn % 10 == 5:
        fill()
    patient.append(Noted(code="turn", said=str(turn)), picture)
assert len(rounds) >= 3 and {status for status, _, _ in rounds} == {"stopped"}, rounds
assert all(seq == len_ for _, seq, len_ in rounds), rounds
log.close()
with Log(folder / "log.sqlite") as log:
    said = [record.event.said for record in log.records(session.id) if isinstance(record.event, Noted)]
    assert said == [str(turn) for turn in range(40)], said
print("whole", len(rounds))
"""
"""Forty records with pictures; now and then the disk is full, and there is room again at the third look."""


@pytest.fixture
def small_disk(tmp_path: Path) -> list[str]:
    """Words before a command that let it run beside a disk of 4 MB at `tmp_path`."""
    words = ["unshare", "-rm", "sh", "-c", f'mount -t tmpfs -o size=4m tmpfs {tmp_path} && exec "$@"', "sh"]
    if not shutil.which("unshare") or subprocess.run([*words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a file system of their own")
    return words


def test_what_waited_for_room_on_the_disk_is_all_there_and_was_shown_only_then(small_disk: list[str], tmp_path: Path) -> None:
    words = [*small_disk, sys.executable, "-c", WRITES, str(tmp_path)]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=120, check=False, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    )
    assert (done.returncode, done.stderr) == (0, "")
    *told, last = done.stdout.splitlines()
    assert last == "whole 12"
    assert [line.partition("; ")[0] for line in told[::2]] == [f"{tmp_path}/log.sqlite: the disk is full"] * 4
    assert told[1::2] == ["the log can be written again; the game goes on"] * 4
