"""Files are written whole or not at all, whatever the disk does."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from table.errors import InputError
from table.files import convert, write_whole

OLD, NEW = b"old and whole\n", b"new\n" * 50_000

FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from table.files import convert, write_whole
from table.errors import InputError

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
try:
    write_whole(Path(sys.argv[1]), b"new" * 50_000)
except InputError as error:
    print(error)
"""


def test_the_new_file_takes_the_place_of_the_old(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    for content in (OLD, NEW):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_disk_that_takes_no_more_leaves_the_old_file(tmp_path: Path) -> None:
    """A process of its own may write 64 KiB a file and no more: the write fails in the middle, as
    on a full disk.
    """
    path = tmp_path / "table.json"
    path.write_bytes(OLD)
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{path}: could not be written (File too large); nothing was changed\n"
    assert path.read_bytes() == OLD
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.json"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_error_at_the_last_moment_leaves_the_old_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "table.json"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, step, full)
    with pytest.raises(InputError) as error:
        write_whole(path, NEW)
    assert (
        str(error.value)
        == f"{path}: could not be written (No space left on device); nothing was changed"
    )
    assert path.read_bytes() == OLD
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.json"]


def test_the_content_is_on_disk_before_it_takes_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renamed first, an unlucky moment would leave an empty file under the good name."""
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (steps.append("flush"), fsync(handle)))
    monkeypatch.setattr(
        os, "replace", lambda source, target: (steps.append("rename"), replace(source, target))
    )
    write_whole(tmp_path / "table.json", NEW)
    assert steps == ["flush", "rename"]


@pytest.mark.parametrize(
    ("folder", "reason"),
    [("missing", "No such file or directory"), ("file.txt", "Not a directory")],
)
def test_a_folder_that_is_none(folder: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_bytes(OLD)
    with pytest.raises(InputError) as error:
        write_whole(tmp_path / folder / "table.json", NEW)
    assert (
        str(error.value)
        == f"{tmp_path / folder / 'table.json'}: expected a folder that can be written to"
        f" ({reason})"
    )


def test_a_folder_does_not_become_a_file(tmp_path: Path) -> None:
    (tmp_path / "table.json").mkdir()
    with pytest.raises(
        InputError, match=r"could not be written \(Is a directory\); nothing was changed$"
    ):
        write_whole(tmp_path / "table.json", NEW)
    assert [entry.name for entry in tmp_path.iterdir()] == ["table.json"]


def test_a_write_that_is_interrupted_leaves_no_file_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    path = tmp_path / "table.json"
    path.write_bytes(OLD)
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, NEW)
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [
        ("table.json", OLD)
    ]


@pytest.mark.parametrize(
    "raw", [{"x" * 5000: 1}, {"x" * 5000: float("nan")}, {"y": {"x" * 5000: "text"}}]
)
def test_a_message_stays_short_however_long_the_name_of_a_field_is(raw: object) -> None:
    with pytest.raises(InputError) as error:
        convert(raw, dict[str, dict[str, int]], "table.json")
    assert len(str(error.value)) < 200
