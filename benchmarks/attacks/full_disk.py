"""Write records on a disk that is really full.

The disk is a small file system in memory, mounted where no other process sees it.
"""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from pathlib import Path

from benchmarks.harness import ROOT
from referee.live.patient_session import PatientSession
from referee.sessions.event_store import Log
from referee.sessions.events import InputRecorded, SessionStarted
from referee.sessions.session import Session
from referee.sessions.status import LiveState

DISK_MB = 8
LOOKS = 3
"""There is room again when the writer has looked so often."""
PICTURE = b"\xff\xd8" + bytes(30_000)


def small_disk(folder: Path) -> list[str]:
    """Words before a command that let it run with a file system of DISK_MB at `folder`."""
    mount = f'mount -t tmpfs -o size={DISK_MB}m tmpfs {folder} && exec "$@"'
    return ["unshare", "-rm", "sh", "-c", mount, "sh"]


def can_mount(folder: Path) -> bool:
    """Whether this system lets a user mount such a file system."""
    try:
        return not subprocess.run(
            [*small_disk(folder), "true"], capture_output=True, check=False
        ).returncode
    except FileNotFoundError:
        return False


def write_on_full_disk(folder: Path, records: int, every: int) -> subprocess.CompletedProcess[str]:
    """Write `records` in a process of its own, with the disk full before one in `every`.

    The last line of its output is `whole WAITS`.
    """
    command = [
        *small_disk(folder),
        sys.executable,
        "-m",
        __name__,
        str(folder),
        str(records),
        str(every),
    ]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT
    )


def main(folder: Path, records: int, every: int) -> None:
    """The program that runs on the small disk.

    Raises AssertionError where a record is lost, doubled, or shown before it is on disk.
    """
    ballast, live = folder / "ballast", LiveState()
    log = Log(folder / "log.sqlite", frames_bytes=1_000_000)
    session = Session.begin(log, SessionStarted(game="ice_boule", players=("red", "blue")))
    waits = 0

    def pause(_: float) -> None:
        nonlocal waits
        waits += 1
        assert live.latest.status == "stopped", "people are told that the game waits"
        assert session.seq == len(log.records(session.id)), "what is shown is on disk"
        if waits % LOOKS == 0:
            ballast.unlink()

    patient = PatientSession(session, live, threading.Event(), print, pause)
    for turn in range(records):
        if turn % every == every // 2:
            fill(ballast)
        patient.append(InputRecorded(code="turn", message=str(turn)), PICTURE)
    log.close()
    with Log(folder / "log.sqlite") as log:
        message = [
            record.event.message
            for record in log.records(session.id)
            if isinstance(record.event, InputRecorded)
        ]
    assert message == [str(turn) for turn in range(records)], (
        "every record is on disk, once and in order"
    )
    print("whole", waits)


def fill(ballast: Path) -> None:
    """Take all the room that is left."""
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
