"""The log, what is beside it, and what is exported from it can be read by their owner only."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from cli.main import main
from cli.paths import codes_path, log_path, ready_folder
from referee.sessions.archive import export_session
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.rescue import rescue
from webui.security.codes import Codes

JPEG = b"\xff\xd8\xff a picture \xff\xd9"
STARTED = SessionStarted(game="ice_boule", players=("red", "blue"))


@pytest.fixture(params=[0o000, 0o022, 0o077], autouse=True)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in sorted(folder.iterdir())}


def test_all_files_of_an_open_log_are_private_from_the_start(tmp_path):
    with Log(tmp_path / "log.sqlite") as log:
        log.append(STARTED, 0, frame_jpeg=JPEG)
        assert modes(tmp_path) == dict.fromkeys(
            ("log.sqlite", "log.sqlite-shm", "log.sqlite-wal", "log.sqlite.lock"), 0o600
        )
    assert set(modes(tmp_path).values()) == {0o600}


def test_the_file_is_private_before_sqlite_opens_it(tmp_path):
    seen = []

    def connect(*_words: object, **_options: object) -> NoReturn:
        seen.append(modes(tmp_path))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Log(tmp_path / "log.sqlite", connect=connect)
    assert seen == [{"log.sqlite": 0o600}]


@pytest.mark.parametrize("loose", [0o644, 0o664, 0o666, 0o604])
def test_a_log_that_others_can_read_is_made_private_as_it_is_opened(tmp_path, loose):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        log.append(STARTED, 0)
        for end in ("", "-wal", "-shm", ".lock"):
            Path(f"{tmp_path}/copy.sqlite{end}").write_bytes(Path(f"{path}{end}").read_bytes())
            Path(f"{tmp_path}/copy.sqlite{end}").chmod(loose)
    with Log(tmp_path / "copy.sqlite") as log:
        assert len(log.records()) == 1
        assert set(modes(tmp_path).values()) == {0o600}


def test_a_log_of_somebody_else_is_said_and_used(tmp_path, monkeypatch, caplog):
    path = tmp_path / "log.sqlite"
    Log(path).close()
    path.chmod(0o666)

    def refused(*_words: object, **_options: object) -> NoReturn:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", refused)
    with Log(path) as log:
        assert log.append(STARTED, 0).seq == 1
    (message,) = caplog.messages
    assert (
        message == f"{path}: other users of this machine can read it (Operation not permitted):"
        " give it to this user"
    )


def test_exports_tables_and_rescued_logs_are_private(tmp_path):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        log.append(STARTED, 0, frame_jpeg=JPEG)
        log.append(VerdictReached(verdict="refused", code="c", message=""), 5, 1, JPEG)
        export_session(log, 1, tmp_path / "session.zip")
    for words in (("scores", tmp_path / "scores.csv"), ("gaps", tmp_path / "gaps.csv")):
        assert (
            CliRunner().invoke(main, ["log", *map(str, words), "--log", str(path)]).exit_code == 0
        )
    rescue(path, tmp_path / "good.sqlite")
    assert set(modes(tmp_path).values()) == {0o600}


def test_the_data_folder_is_made_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    folder = ready_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o755)
    (folder / "mine.txt").touch()
    ready_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    with Log(log_path(folder)):
        Codes(codes_path(folder))
        assert {
            name: mode for name, mode in modes(folder).items() if name != "mine.txt"
        } == dict.fromkeys(
            ("access.json", "log.sqlite", "log.sqlite-shm", "log.sqlite-wal", "log.sqlite.lock"),
            0o600,
        )


def test_a_folder_that_was_named_is_made_private_if_nothing_else_is_in_it(tmp_path):
    folder = tmp_path / "data"
    assert ready_folder(folder).stat().st_mode & 0o777 == 0o700
    Log(log_path(folder)).close()
    folder.chmod(0o755)
    assert ready_folder(folder).stat().st_mode & 0o777 == 0o700
    (folder / "letters").mkdir()
    folder.chmod(0o755)
    assert ready_folder(folder).stat().st_mode & 0o777 == 0o755, "somebody's home, perhaps"
    (folder / "letters").rmdir()
    folder.chmod(0o1777)
    assert ready_folder(folder).stat().st_mode & 0o7777 == 0o1777, "everybody's"


def test_who_only_reads_changes_no_rights(tmp_path):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        log.append(STARTED, 0)
    path.chmod(0o644)
    with LogReader(path) as reader:
        assert len(reader.records()) == 1
    assert path.stat().st_mode & 0o777 == 0o644
