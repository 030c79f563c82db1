"""The limits of what `log import` takes: what is just within them, and what is just above."""

from __future__ import annotations

import zipfile

import pytest

from referee.sessions.archive import RECORDS, BoundedZipFile, import_session
from table.errors import InputError

START = (
    b'{"seq": 1, "session": 1, "at_ms": 0, "frame": false, "schema": 6,'
    b' "fact": "session_started", "game": "pegs", "players": ["red", "blue"]}\n'
)
REFUSED = (
    b'{"seq": 2, "session": 1, "at_ms": 5, "frame": true, "schema": 6,'
    b' "fact": "ruled", "verdict": "refused", "code": "c", "said": ""}\n'
)
NO_RECORD = "line 1: expected a record as JSON"
MB = 1 << 20


def zipped(path, records, members=(), method=zipfile.ZIP_STORED, comment=b""):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(RECORDS, records)
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_STORED)
        archive.comment = comment
    return path


def said(log, path, games):
    with pytest.raises(InputError) as caught:
        import_session(log, path, games)
    assert log.records() == ()
    return str(caught.value)


def lines(count, size):
    """So many lines of so many bytes, none of which is a record."""
    return (b"x" * (size - 1) + b"\n") * count


@pytest.mark.parametrize(
    ("records", "says"),
    [
        (lines(20_000, 2), NO_RECORD),
        (lines(20_001, 2), "expected at most 20000 records and 32 MB, got more"),
        (lines(1, 262_144), NO_RECORD),
        (lines(1, 262_145), "line 1: expected a record of at most 256 kB, got more"),
        (lines(128, 262_144), NO_RECORD),
        (lines(128, 262_144) + b"x", "expected at most 20000 records and 32 MB, got more"),
    ],
    ids=["most records", "one more", "longest line", "longer", "most text", "one byte more"],
)
def test_the_text_of_a_session_has_a_limit(log, games, tmp_path, records, says):
    assert says in said(log, zipped(tmp_path / "a.zip", records), games)


@pytest.mark.parametrize(
    ("count", "says"),
    [(20_000, NO_RECORD), (20_001, "expected at most 20001 files in it, got 20002")],
)
def test_a_session_has_no_more_files_than_records_may_have_pictures(
    log, games, tmp_path, count, says
):
    members = ((f"{number:x}", b"") for number in range(count))
    assert says in said(log, zipped(tmp_path / "a.zip", b"x", members), games)


@pytest.mark.parametrize("more", [0, 1])
def test_a_picture_has_at_most_32_mb(log, games, tmp_path, more):
    jpeg = b"\xff\xd8" + bytes(32 * MB - 2 + more)
    path = zipped(tmp_path / "a.zip", START + REFUSED, [("frames/000002.jpg", jpeg)])
    if more:
        assert "000002.jpg: expected a picture of at most 32 MB, got more" in said(log, path, games)
    else:
        assert import_session(log, path, games).session == 1
        assert log.frame(2) == jpeg


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (1_000_000_000, "unpacks to at most 200 times its size"),
        (1_000_000_001, "expected at most 1000 MB unpacked, got 1000 MB; see --max-mb"),
    ],
)
def test_a_session_unpacks_to_a_gigabyte_at_most(log, games, tmp_path, stated, says):
    """What the directory states is enough: nothing is unpacked."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(RECORDS, START)
        archive.infolist()[0].file_size = stated
    assert says in said(log, path, games)


@pytest.mark.parametrize(
    ("size", "packed", "refused"),
    [
        (2_000_000, 10_000, False),
        (2_000_000, 9_999, True),
        (MB, None, False),
        (MB + 1, None, True),
        (900_000, None, False),
    ],
    ids=["200 times", "a byte less", "a megabyte", "a byte more", "small"],
)
def test_what_is_packed_more_than_records_can_be_is_refused(
    log, games, tmp_path, size, packed, refused
):
    """From a megabyte on: a small one does no harm."""
    path = zipped(tmp_path / "a.zip", bytes(size), method=zipfile.ZIP_DEFLATED)
    if packed:
        comment = bytes(packed - path.stat().st_size)
        zipped(path, bytes(size), method=zipfile.ZIP_DEFLATED, comment=comment)
        assert path.stat().st_size == packed
    says = "unpacks to at most 200 times its size" if refused else "line 1: expected a record"
    assert says in said(log, path, games)


@pytest.mark.parametrize(
    ("size", "asked", "refused"),
    [
        (3 * MB, 0, False),
        (3 * MB, 2 * MB, False),
        (3 * MB, 2 * MB + 1, True),
        (3 * MB, None, True),
        (3 * MB, -1, True),
        (2 * MB, None, False),
        (2 * MB, -1, False),
    ],
)
def test_no_directory_of_more_than_two_megabytes_is_read(tmp_path, size, asked, refused):
    (tmp_path / "a.zip").write_bytes(bytes(size))
    with BoundedZipFile(tmp_path / "a.zip") as file:
        if refused:
            with pytest.raises(InputError, match=r"whose directory is at most 2 MB, got [23] MB"):
                file.read(asked)
        else:
            assert len(file.read(asked)) == (size if asked in (None, -1) else asked)


@pytest.mark.parametrize(
    ("at_ms", "refused"), [(2**53 - 1, False), (2**53, True), (-(2**53), True)]
)
def test_numbers_are_as_large_as_every_program_reads_exactly(log, games, tmp_path, at_ms, refused):
    record = REFUSED.replace(b'"at_ms": 5', b'"at_ms": %d' % at_ms).replace(b"true", b"false")
    path = zipped(tmp_path / "a.zip", START + record)
    if refused:
        assert "line 2: expected a record with numbers seq" in said(log, path, games)
    else:
        import_session(log, path, games)
        assert log.records()[-1].at_ms == at_ms
