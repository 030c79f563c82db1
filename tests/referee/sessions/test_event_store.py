"""The log: what is shown is on disk, whatever happens to the program or the disk."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from referee.sessions.event_store import FRAMES_BYTES, Log, LogFailed, LogReader
from referee.sessions.event_tables import record_checksum
from referee.sessions.events import (
    SCHEMA,
    Paused,
    SessionEnded,
    SessionStarted,
    VerdictReached,
    encode,
)
from table.errors import InputError
from tests.support.disks import change
from tests.support.paths import ROOT

STARTED = SessionStarted(
    game="pegs", players=("red", "blue"), started_utc="2026-11-21T14:00:00+00:00", simulated=True
)
JPEG = b"\xff\xd8\xff" + bytes(range(256)) * 40 + b"\xff\xd9"


def ruled(code: str, **more) -> VerdictReached:
    return VerdictReached(verdict="accepted", code=code, message="", **more)


def one_line(error: pytest.ExceptionInfo[InputError], path: Path) -> str:
    text = str(error.value)
    assert "\n" not in text
    assert str(path) in text
    return text


def test_records_come_back_in_order_with_their_frames(log):
    start = log.append(STARTED, 0)
    first = log.append(ruled("a"), 250, start.seq, JPEG)
    second = log.append(Paused(decided_by="blue"), 500, start.seq)
    assert (start.seq, start.session, first.frame, second.frame) == (1, 1, True, False)
    assert log.records() == (start, first, second)
    assert log.records(after=first.seq) == (second,)
    assert log.frame(first.seq) == JPEG
    assert log.frame(second.seq) is None


def test_a_clock_that_goes_back_changes_no_order(log):
    session = log.append(STARTED, 10_000).seq
    for at_ms in (20_000, 5_000, -3, 5_000):
        log.append(ruled(str(at_ms)), at_ms, session)
    assert [record.at_ms for record in log.records(session)] == [10_000, 20_000, 5_000, -3, 5_000]
    assert [record.seq for record in log.records(session)] == [1, 2, 3, 4, 5]


def test_sessions_are_listed_apart(log):
    one = log.append(STARTED, 0).seq
    log.append(ruled("a"), 250, one, JPEG)
    log.append(SessionEnded(), 300, one)
    two = log.append(STARTED, 1000).seq
    first, second = log.sessions()
    assert (
        first.session,
        first.players,
        first.records,
        first.rulings,
        first.frames,
        first.ended,
    ) == (one, ("red", "blue"), 3, 1, 1, True)
    assert (
        second.session,
        second.first_ms,
        second.last_ms,
        second.records,
        second.ended,
        second.simulated,
    ) == (two, 1000, 1000, 1, False, True)
    assert [record.seq for record in log.records(two)] == [two]
    with pytest.raises(InputError, match=r"expected the number of a session \(1, 4\), got 2"):
        log.records(2)


def test_only_a_start_begins_a_session(log):
    with pytest.raises(ValueError, match="SessionStarted"):
        log.append(ruled("a"), 0)
    with pytest.raises(ValueError, match="SessionStarted"):
        log.append(STARTED, 0, 1)
    assert log.records() == ()


def test_what_is_appended_is_at_once_in_the_file_for_others(log):
    with LogReader(log.path) as reader:
        record = log.append(STARTED, 0)
        assert reader.records() == (record,)


@pytest.mark.usefixtures("log")
def test_every_commit_is_synced(disk):
    assert disk.ask("synchronous") == 2
    assert disk.ask("journal_mode") == "wal"


@pytest.mark.usefixtures("log")
def test_the_journal_keeps_room_for_an_evening_of_rulings_and_no_more(disk):
    """Pictures make it larger for a while; an SD card need not keep all of that."""
    assert 8 << 20 <= disk.ask("journal_size_limit") <= 32 << 20


def test_a_log_is_reopened_as_it_was(tmp_path):
    path = tmp_path / "rinkside.log"
    with Log(path) as log:
        written = [log.append(STARTED, 0), log.append(ruled("a"), 250, 1, JPEG)]
    with Log(path) as log:
        assert log.records() == tuple(written)
        written.append(log.append(ruled("b"), 500, 1))
    with LogReader(path) as reader:
        assert reader.records() == tuple(written)


def test_a_second_writer_is_refused(log):
    with pytest.raises(
        InputError, match=rf"another Rinkside \(process {os.getpid()}\) is writing to this log"
    ) as error:
        Log(log.path)
    one_line(error, log.path)
    log.append(STARTED, 0)


def test_a_log_that_was_closed_cannot_be_used_and_can_be_opened_again(tmp_path):
    log = Log(tmp_path / "log")
    log.close()
    log.close()
    with pytest.raises(ValueError, match="closed"):
        log.append(STARTED, 0)
    with Log(tmp_path / "log") as again:
        assert again.append(STARTED, 0).seq == 1


# --- files that are no log, or none that can be read ---


def test_a_log_of_a_newer_version_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "log"
    with Log(path) as log:
        log.append(STARTED, 0)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 3")
    db.close()
    before = path.read_bytes()
    for door in (Log, LogReader):
        with pytest.raises(
            InputError,
            match="expected a log of version 2 or older, got 3; a newer Rinkside wrote it",
        ) as error:
            door(path)
        one_line(error, path)
    assert path.read_bytes() == before


def test_an_event_of_a_newer_version_is_refused_with_its_place(log):
    text = encode(log.append(STARTED, 0).event).replace(
        f'"schema": {SCHEMA}', f'"schema": {SCHEMA + 7}'
    )
    change(
        log.path, "UPDATE records SET event = ?, sha256 = ?", (text, record_checksum(1, 1, 0, text))
    )
    with pytest.raises(
        InputError, match=rf"record 1: schema: expected {SCHEMA} or older, got {SCHEMA + 7}"
    ):
        log.records()


@pytest.mark.parametrize("door", [Log, LogReader])
@pytest.mark.parametrize(
    "content", [b"this is a shopping list\n" * 100, JPEG], ids=["text", "picture"]
)
def test_another_kind_of_file_is_refused_and_left_alone(tmp_path, door, content):
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match="expected a log of Rinkside") as error:
        door(path)
    one_line(error, path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("door", [Log, LogReader])
def test_another_programs_database_is_refused(tmp_path, door):
    path = tmp_path / "log"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    db.close()
    with pytest.raises(InputError, match="another program's database") as error:
        door(path)
    one_line(error, path)


def test_no_log_and_no_folder_are_said(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        LogReader(tmp_path / "log")
    with pytest.raises(InputError, match="expected a folder for the log"):
        Log(tmp_path / "nowhere" / "log")
    with pytest.raises(InputError):
        Log(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_was_copied_without_its_journal_is_said(log, tmp_path):
    log.append(STARTED, 0)
    copy = tmp_path / "copy"
    copy.write_bytes(log.path.read_bytes())
    with pytest.raises(
        InputError, match="it is empty; was it copied without its -wal file"
    ) as error:
        LogReader(copy)
    one_line(error, copy)


def test_a_damaged_log_is_said_in_one_line(tmp_path):
    path = tmp_path / "log"
    with Log(path) as log:
        log.append(STARTED, 0)
        for number in range(60):
            log.append(ruled(str(number)), number, 1, JPEG)
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = random.Random(page).randbytes(64)
    path.write_bytes(data)
    with pytest.raises(InputError) as error, LogReader(path) as reader:
        reader.records()
    one_line(error, path)


def test_a_log_cut_short_is_said_in_one_line(tmp_path):
    path = tmp_path / "log"
    with Log(path) as log:
        log.append(STARTED, 0)
        for number in range(60):
            log.append(ruled(str(number)), number, 1, JPEG)
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(InputError) as error, LogReader(path) as reader:
        reader.records()
    one_line(error, path)


def test_a_picture_that_was_changed_is_not_shown(log):
    log.append(STARTED, 0)
    log.append(ruled("a"), 250, 1, JPEG)
    change(log.path, "UPDATE frames SET jpeg = ?", (JPEG[:-3] + b"!\xff\xd9",))
    with pytest.raises(InputError, match=r"frame 2: expected a picture with SHA-256"):
        log.frame(2)


# --- a full disk ---


def test_a_full_disk_loses_nothing_and_says_so(log, disk):
    log.append(STARTED, 0)
    disk.leave_pages(8)
    kept = [log.append(ruled("a"), 250, 1, JPEG)]
    with pytest.raises(
        LogFailed, match="the disk is full; nothing new was written, nothing is lost"
    ) as error:
        log.append(ruled("b"), 500, 1, JPEG * 10)
    one_line(error, log.path)
    assert log.records(after=1) == tuple(kept)
    disk.leave_pages(1000)
    kept.append(log.append(ruled("b"), 750, 1, JPEG * 10))
    with LogReader(log.path) as reader:
        assert reader.records(after=1) == tuple(kept)
        assert reader.frame(kept[1].seq) == JPEG * 10


def test_a_log_that_somebody_holds_is_said_and_written_later(log, disk):
    log.append(STARTED, 0)
    disk.ask("busy_timeout = 0")
    intruder = sqlite3.connect(log.path, isolation_level=None)
    intruder.execute("BEGIN IMMEDIATE")
    with pytest.raises(
        LogFailed, match=r"could not be written \(database is locked\); nothing was changed"
    ) as error:
        log.append(ruled("a"), 250, 1)
    one_line(error, log.path)
    intruder.execute("ROLLBACK")
    intruder.close()
    assert log.append(ruled("a"), 250, 1).seq == 2


WRITE_UNTIL_IT_FAILS = """
import resource, sys
from pathlib import Path
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.event_store import Log, LogFailed
log = Log(Path(sys.argv[1]))
log.append(SessionStarted(game="pegs", players=("red", "blue")), 0)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, -1))
for number in range(2, 10_000):
    try:
        record = log.append(VerdictReached(verdict="accepted", code=str(number), message=""), number, 1, bytes(9000))
    except LogFailed as error:
        print(error, flush=True)
        break
    print(record.seq, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
print(log.append(VerdictReached(verdict="accepted", code="after", message=""), 0, 1, bytes(9000)).seq, flush=True)
"""  # noqa: E501


def test_a_file_that_may_not_grow_loses_nothing_and_is_written_again_when_it_may(tmp_path):
    path = tmp_path / "log"
    child = subprocess.run(
        [sys.executable, "-c", WRITE_UNTIL_IT_FAILS, str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    *shown, failed, after = child.stdout.splitlines()
    assert str(path) in failed
    with LogReader(path) as reader:
        assert [record.seq for record in reader.records(after=1)] == [
            int(seq) for seq in (*shown, after)
        ]
        assert shown


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_log_that_may_not_be_written_is_said(tmp_path):
    path = tmp_path / "log"
    with Log(path) as log:
        log.append(STARTED, 0)
    path.chmod(0o444)
    with pytest.raises(InputError) as error:
        Log(path)
    one_line(error, path)
    with LogReader(path) as reader:
        assert len(reader.records()) == 1


# --- kill -9 ---

APPEND_AND_PRINT = """
import random, sys
from pathlib import Path
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.event_store import Log
path, seed = Path(sys.argv[1]), int(sys.argv[2])
chance = random.Random(seed)
log = Log(path)
sessions = log.sessions()
session = sessions[0].session if sessions else log.append(SessionStarted(game="pegs", players=("red", "blue")), 0).seq
for number in range(100_000):
    frame = chance.randbytes(chance.randrange(200_000)) if chance.random() < 0.5 else None
    record = log.append(VerdictReached(verdict="accepted", code=str(chance.random()), message=""), number, session, frame)
    print(record.seq, record.event.code, flush=True)
"""  # noqa: E501


@pytest.mark.slow
def test_every_ruling_that_was_shown_survives_kill_9(tmp_path):
    path = tmp_path / "log"
    chance = random.Random(20261121)
    shown: dict[int, str] = {}
    for life in range(12):
        child = subprocess.Popen(
            [sys.executable, "-c", APPEND_AND_PRINT, str(path), str(life)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for _ in range(chance.randrange(1, 12)):
            seq, code = child.stdout.readline().split()
            shown[int(seq)] = code
        child.kill()
        rest, _ = child.communicate()
        shown |= {
            int(line.split()[0]): line.split()[1]
            for line in rest.splitlines(keepends=True)
            if line.endswith("\n")
        }
        if chance.random() < 0.5:
            Path(f"{path}-shm").unlink()
        with LogReader(path) as reader:
            kept = reader.records()
            assert [record.seq for record in kept] == list(range(1, len(kept) + 1))
            codes = {
                record.seq: record.event.code
                for record in kept
                if isinstance(record.event, VerdictReached)
            }
            assert shown.items() <= codes.items()
            assert all(reader.frame(record.seq) for record in kept if record.frame)


# --- room for pictures ---


def test_the_oldest_pictures_make_room_and_no_ruling_is_lost(tmp_path):
    with Log(tmp_path / "log.sqlite", frames_bytes=3 * len(JPEG)) as log:
        one = log.append(STARTED, 0).seq
        early = [log.append(ruled(f"a{k}"), k, one, JPEG).seq for k in range(2)]
        two = log.append(STARTED, 100).seq
        late = [log.append(ruled(f"b{k}"), k, two, JPEG).seq for k in range(2)]
        assert [log.frame(seq) is not None for seq in early + late] == [False, True, True, True]
        late += [log.append(ruled(f"c{k}"), k, two, JPEG).seq for k in range(2)]
        assert [log.frame(seq) is not None for seq in early + late] == [
            False,
            False,
            False,
            True,
            True,
            True,
        ]
        assert [record.frame for record in log.records(one)] == [False, False, False]
        assert len(log.records()) == 8


def test_the_empty_table_is_the_last_picture_of_its_session_to_go(tmp_path):
    with Log(tmp_path / "log.sqlite", frames_bytes=2 * len(JPEG)) as log:
        one = log.append(STARTED, 0, frame_jpeg=JPEG).seq
        ruling = log.append(ruled("a"), 5, one, JPEG).seq
        two = log.append(STARTED, 100, frame_jpeg=JPEG).seq
        assert [log.frame(seq) is not None for seq in (one, ruling, two)] == [True, False, True]
        late = [log.append(ruled(f"b{k}"), k, two, JPEG).seq for k in range(2)]
        assert [log.frame(seq) is not None for seq in (one, two, *late)] == [
            False,
            True,
            False,
            True,
        ]


def test_the_room_for_pictures_is_what_the_documentation_says():
    page = (ROOT / "docs" / "LOG.md").read_text(encoding="utf-8")
    assert f"- Pictures may take {FRAMES_BYTES / 10**9:g} GB." in page
