"""A disk that is really full: a small file system of memory, mounted where nobody else sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.attacks.full_disk import can_mount, write_on_full_disk

pytestmark = pytest.mark.slow


def test_what_waited_for_room_on_the_disk_is_all_there_and_was_shown_only_then(
    tmp_path: Path,
) -> None:
    if not can_mount(tmp_path):
        pytest.skip("this system lets nobody mount a file system of their own")
    done = write_on_full_disk(tmp_path, records=40, every=10)
    assert (done.returncode, done.stderr) == (0, "")
    *lines, last = done.stdout.splitlines()
    assert last == "whole 12"
    assert [line.partition("; ")[0] for line in lines[::2]] == [
        f"{tmp_path}/log.sqlite: the disk is full"
    ] * 4
    assert lines[1::2] == ["the log can be written again; the game continues"] * 4
