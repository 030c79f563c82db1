"""A backup is taken while a game runs, comes back whole, and nothing hostile gets in."""

from __future__ import annotations

import hashlib
import io
import json
import os
import sqlite3
import stat
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.backup.pack import MANIFEST
from cli.main import main
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from simulation.players.ice_boule_table import demo_setup
from table.table_config import save_table
from tests.support.pictures import jpeg
from webui.security.codes import Codes

SETTINGS = '[hardware.buzzer]\nkind = "terminal"\n'


def rinkside(*words: object) -> Result:
    return CliRunner().invoke(main, [*map(str, words)])


def refusal(said: Result) -> str:
    """The one line of a command that could not do its work."""
    assert said.exit_code == 2, said.output
    assert said.output.count("\n") == 1
    return said.output


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def unseen(message: str) -> VerdictReached:
    return VerdictReached(verdict="cannot_see", code="boule.vanished", message=message)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with everything in it: a session with pictures, codes, table, settings."""
    folder = tmp_path / "here" / "rinkside"
    folder.mkdir(parents=True)
    with Log(folder / "log.sqlite") as log:
        started = SessionStarted(game="ice_boule", players=("red", "blue"))
        number = log.append(started, 0, frame_jpeg=jpeg()).session
        for at_ms in range(1, 20):
            log.append(unseen(f"input {at_ms}"), at_ms, number, jpeg())
    Codes(folder / "access.json")
    save_table(demo_setup(), folder / "table.json")
    (folder / "rinkside.toml").write_text(SETTINGS)
    (folder / "empty.jpg").write_bytes(jpeg())
    (folder / "notes.txt").write_text("not Rinkside's")
    return folder


def test_a_backup_comes_back_whole_on_another_computer(data: Path, tmp_path: Path) -> None:
    said = rinkside("backup", tmp_path / "all.zip", "--data", data)
    assert said.exit_code == 0, said.output
    assert "access.json, empty.jpg, log.sqlite, rinkside.toml, table.json" in said.output
    assert stat.S_IMODE((tmp_path / "all.zip").stat().st_mode) == 0o600
    there = tmp_path / "there" / "rinkside"
    said = rinkside("restore", tmp_path / "all.zip", "--data", there)
    assert said.exit_code == 0, said.output
    assert stat.S_IMODE(there.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in there.iterdir()} == {0o600}
    before, after = contents(data), contents(there)
    for name in ("access.json", "table.json", "rinkside.toml", "empty.jpg"):
        assert after[name] == before[name]
    assert "notes.txt" not in after
    with Log(data / "log.sqlite") as old, Log(there / "log.sqlite") as new:
        assert new.records() == old.records()
        assert [new.frame(record.seq) for record in new.records()] == [jpeg()] * 20
    assert [path.name for path in there.parent.iterdir()] == ["rinkside"]


def test_a_backup_during_a_game_has_all_that_was_shown_before_it(
    data: Path, tmp_path: Path
) -> None:
    """Another thread writes all the time; each backup is a moment of the log, and none fails."""
    stop, shown = threading.Event(), [20]
    with Log(data / "log.sqlite") as log:

        def play() -> None:
            while not stop.is_set():
                event = unseen("as it is played")
                shown.append(log.append(event, len(shown), 1, jpeg()).seq)

        player = threading.Thread(target=play)
        player.start()
        try:
            for number in range(3):
                before = shown[-1]
                target = tmp_path / f"{number}.zip"
                said = rinkside("backup", target, "--data", data)
                assert said.exit_code == 0, said.output
                there = tmp_path / str(number)
                assert rinkside("restore", target, "--data", there).exit_code == 0
                with Log(there / "log.sqlite") as copy:
                    last = copy.records()[-1].seq
                    assert before <= last
                    assert len(copy.records()) == last
        finally:
            stop.set()
            player.join()


def test_a_restored_session_goes_on(data: Path, tmp_path: Path) -> None:
    rinkside("backup", tmp_path / "all.zip", "--data", data)
    rinkside("restore", tmp_path / "all.zip", "--data", tmp_path / "there")
    with Log(tmp_path / "there" / "log.sqlite") as log:
        assert Session.reopen(log, 1).ledger.players == ("red", "blue")


def test_what_was_there_before_is_kept(data: Path, tmp_path: Path) -> None:
    rinkside("backup", tmp_path / "all.zip", "--data", data)
    (data / "rinkside.toml").write_text(f"# changed\n{SETTINGS}")
    for number in (1, 2):
        before = contents(data)
        said = rinkside("restore", tmp_path / "all.zip", "--data", data)
        old = data.with_name(f"rinkside.before-restore-{number}")
        assert str(old) in said.output
        left = contents(old)
        left.pop("log.sqlite.lock")
        before.pop("log.sqlite.lock", None)
        assert left == before
        assert (data / "rinkside.toml").read_text() == SETTINGS


def test_on_a_disk_of_its_own_files_are_replaced_one_by_one_or_none(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rinkside("backup", tmp_path / "all.zip", "--data", data)
    (data / "rinkside.toml").write_text(f"# changed\n{SETTINGS}")
    before = contents(data)
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == data)
    rename, renamed = Path.rename, []

    def fails_once(path: Path, target: Path) -> Path:
        renamed.append(path.name)
        if len(renamed) == 9:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", fails_once)
        said = refusal(rinkside("restore", tmp_path / "all.zip", "--data", data))
    assert "nothing was changed" in said
    left = contents(data)
    left.pop("log.sqlite.lock")
    before.pop("log.sqlite.lock", None)
    assert left == before
    assert {path.name for path in data.iterdir() if path.is_dir()} == set()
    said = rinkside("restore", tmp_path / "all.zip", "--data", data)
    assert said.exit_code == 0, said.output
    assert (data / "rinkside.toml").read_text() == SETTINGS
    kept = contents(data / "before-restore-1")
    assert {name: kept[name] for name in before} == before


def test_files_from_elsewhere_are_kept_under_the_service_s_names(tmp_path: Path) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    save_table(demo_setup(), desk / "garden.json")
    (desk / "lamps.toml").write_text(SETTINGS)
    (desk / "before.PNG").write_bytes(jpeg())
    words = ["--table", desk / "garden.json", "--settings", desk / "lamps.toml"]
    words += ["--empty", desk / "before.PNG", "--data", tmp_path / "no folder"]
    said = rinkside("backup", tmp_path / "all.zip", *words)
    assert said.exit_code == 0, said.output
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert set(archive.namelist()) == {MANIFEST, "table.json", "rinkside.toml", "empty.png"}
        made = json.loads(archive.read(MANIFEST))["made_utc"]
    assert abs((datetime.now(UTC) - datetime.fromisoformat(made)).days) < 2


def test_a_game_that_is_played_is_not_replaced(data: Path, tmp_path: Path) -> None:
    rinkside("backup", tmp_path / "all.zip", "--data", data)
    with Log(data / "log.sqlite"):
        before = contents(data)
        said = refusal(rinkside("restore", tmp_path / "all.zip", "--data", data))
        assert "is writing to this log" in said
        assert contents(data) == before


def test_a_folder_with_other_things_is_not_replaced(data: Path, tmp_path: Path) -> None:
    rinkside("backup", tmp_path / "all.zip", "--data", data)
    home = tmp_path / "people"
    home.mkdir()
    (home / "letter.txt").write_text("dear")
    said = refusal(rinkside("restore", tmp_path / "all.zip", "--data", home))
    assert "'letter.txt'" in said
    assert contents(home) == {"letter.txt": b"dear"}


def test_a_damaged_log_is_not_backed_up_as_if_it_were_whole(data: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(data / "log.sqlite")) as database:
        database.execute("UPDATE records SET event = replace(event, 'input 7', 'input 8')")
        database.commit()
    said = refusal(rinkside("backup", tmp_path / "all.zip", "--data", data))
    assert "rinkside log rescue" in said
    assert not (tmp_path / "all.zip").exists()


def test_nothing_to_keep_and_bad_names_are_one_line(data: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = refusal(rinkside("backup", tmp_path / "all.zip", "--data", tmp_path / "empty"))
    assert "there are none" in said
    assert ".zip" in refusal(rinkside("backup", tmp_path / "all.tar", "--data", data))
    assert "folder" in refusal(rinkside("backup", tmp_path / "no" / "all.zip", "--data", data))
    assert "No such file" in refusal(rinkside("restore", tmp_path / "no.zip", "--data", data))
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "here"}


def packed(files: dict[str, bytes], listed: dict[str, bytes] | None = None) -> io.BytesIO:
    """An archive whose manifest says the truth of its files, or of those that are `listed`."""
    manifest = {
        "format": "rinkside-backup/1",
        "made_utc": "2026-11-28T00:00:00+00:00",
        "version": "0.2.0",
        "files": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in (files if listed is None else listed).items()
        },
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
        archive.writestr(MANIFEST, json.dumps(manifest))
    return file


TOML = SETTINGS.encode()


def linked(_: Path) -> bytes:
    """A file of the manifest that is a symbolic link in the archive."""
    file = packed({}, {"rinkside.toml": b"/etc/passwd"})
    info = zipfile.ZipInfo("rinkside.toml")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(info, b"/etc/passwd")
    return file.getvalue()


def twice(_: Path) -> bytes:
    file = packed({"rinkside.toml": TOML})
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as archive:
        archive.writestr("rinkside.toml", b"other")
    return file.getvalue()


def lying(_: Path) -> bytes:
    """The archive holds more than its manifest says."""
    return packed({"a.json": b"[" + b" " * 10_000_000 + b"]"}, {"a.json": b"[]"}).getvalue()


def log_with(folder: Path, statement: str) -> bytes:
    """A log that somebody changed."""
    path = folder / "log.sqlite"
    with Log(path) as log:
        log.append(SessionStarted(game="ice_boule", players=("red", "blue")), 0)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute(statement)
        database.commit()
    return packed({"log.sqlite": path.read_bytes()}).getvalue()


HOSTILE: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "nothing": (lambda _: b"", "damaged or something else"),
    "no zip": (lambda _: b"PK" + bytes(1000), "damaged or something else"),
    "no manifest": (lambda _: zipped_plain(), MANIFEST),
    "folder above": (lambda _: packed({"../x.json": b"{}"}).getvalue(), "not a regular file"),
    "from the root": (lambda _: packed({"/etc/x.json": b"{}"}).getvalue(), "not a regular file"),
    "folder": (lambda _: packed({"a/x.json": b"{}"}).getvalue(), "not a regular file"),
    "hidden": (lambda _: packed({".x.json": b"{}"}).getvalue(), "not a regular file"),
    "backslash": (lambda _: packed({"a\\x.json": b"{}"}).getvalue(), "not a regular file"),
    "program": (lambda _: packed({"x.py": b"1"}).getvalue(), "does not belong there"),
    "link": (linked, "not a regular file"),
    "twice": (twice, "duplicate names"),
    "not listed": (lambda _: packed({"x.json": b"{}"}, {}).getvalue(), "differ"),
    "only listed": (lambda _: packed({}, {"x.json": b"{}"}).getvalue(), "differ"),
    "other bytes": (
        lambda _: packed({"x.json": b"[1]"}, {"x.json": b"[2]"}).getvalue(),
        "checksum of x.json",
    ),
    "more bytes than it says": (lying, "checksum of a.json"),
    "cut off": (lambda _: packed({"x.json": b"{}"}).getvalue()[:-30], "damaged"),
    "bad settings": (lambda _: packed({"rinkside.toml": b"[x"}).getvalue(), "TOML"),
    "bad table": (lambda _: packed({"table.json": b"{}"}).getvalue(), "table.json"),
    "bad codes": (lambda _: packed({"access.json": b"{}"}).getvalue(), "access.json"),
    "no log": (lambda _: packed({"log.sqlite": b"x" * 9000}).getvalue(), "log"),
    "log with a trigger": (
        lambda folder: log_with(
            folder, "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records; END"
        ),
        "contains programs",
    ),
    "log with another record": (
        lambda folder: log_with(folder, "UPDATE records SET at_ms = 7"),
        "record 1 is wrong",
    ),
    "log of a newer version": (lambda folder: log_with(folder, "PRAGMA user_version = 99"), "99"),
}


def zipped_plain() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.json", b"{}")
    return file.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_in_one_line_and_nothing_is_written(
    tmp_path: Path, data: Path, name: str
) -> None:
    make, expected = HOSTILE[name]
    (tmp_path / "bad.zip").write_bytes(make(tmp_path))
    before = contents(data), {path.name for path in data.parent.iterdir()}
    said = refusal(rinkside("restore", tmp_path / "bad.zip", "--data", data))
    assert expected in said
    assert (contents(data), {path.name for path in data.parent.iterdir()}) == before


def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_is_unpacked(
    data: Path, tmp_path: Path
) -> None:
    bomb = packed({"a.json": b" " * 3_000_000})
    (tmp_path / "bomb.zip").write_bytes(bomb.getvalue())
    said = refusal(rinkside("restore", tmp_path / "bomb.zip", "--data", data, "--max-mb", "2"))
    assert "--max-mb" in said


@pytest.mark.parametrize("step", range(1, 12))
def test_a_cut_off_archive_of_any_length_is_refused(data: Path, tmp_path: Path, step: int) -> None:
    rinkside("backup", tmp_path / "all.zip", "--data", data)
    whole = (tmp_path / "all.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) * step // 12])
    before = contents(data)
    refusal(rinkside("restore", tmp_path / "cut.zip", "--data", data))
    assert contents(data) == before
