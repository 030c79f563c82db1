"""Every log is told from every other one: what a hub names records by, and how copies show."""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from uuid import UUID

import pytest
from click.testing import CliRunner

from cli.main import main
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import Paused, SessionStarted
from referee.sessions.rescue import rescue
from tests.support.disks import change

STARTED = SessionStarted(game="pegs", players=("red", "blue"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log of three records."""
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        session = log.append(STARTED, 0).seq
        for at_ms in (10, 20):
            log.append(Paused(decided_by="host"), at_ms, session)
    return path


def read(path: Path):
    with LogReader(path) as log:
        return log.identity(), log.fingerprints(), log.records()


def test_every_log_has_an_id_of_its_own_that_stays(path, tmp_path):
    identity, *_ = read(path)
    assert str(UUID(identity.log_id)) == identity.log_id
    with Log(path) as log:
        log.append(Paused(decided_by="host"), 30, 1)
    assert read(path)[0] == identity
    Log(tmp_path / "other.sqlite").close()
    other, *_ = read(tmp_path / "other.sqlite")
    assert (other.log_id, other.key) != (identity.log_id, identity.key)
    assert other.key != identity.key
    assert identity.key.hex() not in repr(identity)


def test_a_fingerprint_is_the_checksum_under_the_logs_own_key(path):
    identity, prints, records = read(path)
    with closing(sqlite3.connect(path)) as db:
        stored = dict(db.execute("SELECT seq, sha256 FROM records"))
    assert list(prints) == [record.seq for record in records]
    assert prints == {
        seq: hmac.new(identity.key, sha256.encode(), hashlib.sha256).hexdigest()
        for seq, sha256 in stored.items()
    }
    with LogReader(path) as log:
        assert log.fingerprints(1, 1) == {2: prints[2]}
        assert log.fingerprints(3) == {}


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE identity",
        "DELETE FROM identity",
        "UPDATE identity SET log_id = 'nobody'",
        "UPDATE identity SET key = x'00'",
    ],
)
def test_an_old_log_gets_an_id_when_it_is_next_written_and_keeps_its_records(path, damage):
    *_, before = read(path)
    change(path, damage)
    identity, prints, records = read(path)
    assert (identity, prints, records) == (None, {}, before)
    Log(path).close()
    identity, prints, records = read(path)
    assert records == before
    assert identity is not None
    assert len(prints) == 3


def test_a_log_of_the_first_version_gets_checksums_and_an_id(path):
    *_, before = read(path)
    change(path, "DROP TABLE identity")
    change(path, "ALTER TABLE records DROP COLUMN sha256")
    change(path, "PRAGMA user_version = 1")
    assert read(path)[:2] == (None, {})
    Log(path).close()
    identity, prints, records = read(path)
    assert (identity is not None, len(prints), records) == (True, 3, before)


def test_a_rescued_log_is_still_the_same_log(path, tmp_path):
    good = tmp_path / "good.sqlite"
    rescue(path, good)
    assert read(good) == read(path)


def test_a_log_whose_id_is_lost_is_rescued_as_another(path, tmp_path):
    change(path, "DROP TABLE identity")
    good = tmp_path / "good.sqlite"
    rescue(path, good)
    assert read(good)[0] is not None
    assert read(good)[2] == read(path)[2]


def test_a_copy_that_is_renamed_is_another_log_with_the_same_fingerprints(path, tmp_path):
    copy = tmp_path / "copy.sqlite"
    copyfile(path, copy)
    assert read(copy) == read(path)
    done = CliRunner().invoke(main, ["log", "rename", "--log", str(copy)])
    identity, prints, records = read(copy)
    assert done.output == f"{copy} is now log {identity.log_id}\n"
    before, *same = read(path)
    assert identity.log_id != before.log_id
    assert [prints, records] == same
    with Log(copy) as log:
        assert log.append(Paused(decided_by="host"), 30, 1).seq == 4


def test_an_empty_log_is_renamed_too(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        assert log.rename() == log.identity().log_id
        assert log.append(STARTED, 0).seq == 1
