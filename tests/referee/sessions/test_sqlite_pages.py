"""Rows found page by page are those that SQLite has, whatever their sizes."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from referee.sessions.sqlite_pages import rows

MOST = 1 << 20
PAGES = (512, 1024, 4096, 65536)
INTEGERS = sorted(
    {
        sign * (2**bits + more)
        for bits in (0, 6, 7, 15, 23, 31, 47, 62)
        for sign in (1, -1)
        for more in (-1, 0, 1)
    }
    | {2**63 - 1, -(2**63)}
)


def written(path, values, page=4096, numbers=None):
    """A table with a row of two columns for each value: it, and a number of its own."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(f"PRAGMA page_size = {page}")
        db.execute("CREATE TABLE t (seq INTEGER PRIMARY KEY, value, other INTEGER)")
        numbers = numbers or range(1, len(values) + 1)
        db.executemany("INSERT INTO t VALUES (?, ?, ?)", zip(numbers, values, numbers, strict=True))
    return path


def found(path, most=MOST):
    """Values by row; those of SQLite's own table of tables have five columns."""
    return {seq: values[1] for seq, values in rows(path, most) if len(values) == 3}


@pytest.mark.parametrize("page", PAGES)
def test_rows_of_every_length_are_found_at_every_page_size(tmp_path, page):
    """On overflow pages as well, and up to the last byte that fits on one."""
    chance = random.Random(page)
    lengths = {0, 1, 100, *range(page - 60, page + 8), 2 * page, 2 * page - 8, 5 * page + 3}
    lengths |= {(page - 12) * 32 // 255 - 23 + more for more in (-2, -1, 0, 1, 2)}
    values = [chance.randbytes(max(0, length)) for length in sorted(lengths)]
    assert found(written(tmp_path / "db", values, page)) == dict(enumerate(values, 1))


def test_values_of_every_kind_are_read(tmp_path):
    values = [None, 0, 1, *INTEGERS, "", "a", "ä" * 70, b"", b"\x00\xff", "x" * 9000]
    assert found(written(tmp_path / "db", values)) == dict(enumerate(values, 1))


def test_rows_keep_their_numbers_however_large(tmp_path):
    numbers = [-(2**63), -1, 0, *(2**bits - more for bits in (7, 14, 21, 56, 63) for more in (1,))]
    numbers += [2**bits for bits in (7, 14, 21, 28, 35, 42, 49, 56, 62)]
    path = written(tmp_path / "db", numbers, numbers=numbers)
    assert found(path) == {number: number for number in numbers}


@pytest.mark.parametrize("most", [1000, 9000])
def test_rows_of_more_bytes_than_asked_for_are_left_out(tmp_path, most):
    """A row's bytes are those of its columns and of what says their types."""
    values = [bytes(length) for length in range(most - 12, most + 3)]
    path = written(tmp_path / "db", values)
    # Before the values stand their length and types, that of a long one in three bytes; the number
    # of the first row, 1, takes none.
    head = 5 if most < 8186 else 6
    left = [value for seq, value in enumerate(values, 1) if len(value) + head + (seq > 1) <= most]
    assert list(found(path, most).values()) == left
    assert 0 < len(left) < len(values)


def test_rows_are_found_though_the_start_of_the_file_is_lost(tmp_path):
    """Pages are taken for those that every log has."""
    values = [bytes([number]) * 3000 for number in range(40)]
    path = written(tmp_path / "db", values)
    data = path.read_bytes()
    for head in (
        bytes(100),
        b"SQLite format 3\0" + bytes(84),
        data[:16] + b"\x01\x80" + data[18:100],
    ):
        path.write_bytes(head + data[100:])
        assert found(path) == dict(enumerate(values, 1))


def test_what_is_no_database_has_no_rows(tmp_path):
    path = tmp_path / "db"
    for data in (b"", b"SQLite", b"\x0d" * 99, b"\x0d" * 5000, b"SQLite format 3\0" + b"\x0d" * 90):
        path.write_bytes(data)
        assert found(path) == {}


def test_overflow_pages_that_go_round_end(tmp_path):
    """Each page belongs to one row: a file that says otherwise is not read for ever."""
    path = written(tmp_path / "db", [b"x" * 900_000, b"y" * 10])
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_master").fetchone()
    first = root * 4096
    data[first : first + 4] = (first // 4096 + 1).to_bytes(4, "big")
    path.write_bytes(data)
    assert found(path)[2] == b"y" * 10
    path.write_bytes(bytes(data[: len(data) // 2]))
    assert found(path).get(1) is None or len(found(path)[1]) == 900_000


@pytest.mark.parametrize("seed", range(30))
def test_damage_loses_rows_and_nothing_else(tmp_path, seed):
    """What is found is as it was written, or is not what SQLite wrote: its checksum tells."""
    chance = random.Random(seed)
    values = [chance.randbytes(chance.randrange(6000)) for _ in range(20)]
    path = written(tmp_path / "db", values)
    data = bytearray(path.read_bytes())
    at = chance.randrange(4096, len(data) - 300)
    data[at : at + 300] = chance.randbytes(300)
    path.write_bytes(data)
    right = {seq for seq, value in found(path).items() if 0 < seq < 21 and value == values[seq - 1]}
    assert len(right) >= 10 or at // 4096 == 1
