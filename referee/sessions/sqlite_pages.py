"""Find rows of a SQLite file page by page, without its B-tree, where SQLite fails.

Source: "Database File Format", sqlite.org/fileformat2.html: the header (1.3), leaf pages of tables
(1.6) and records (2.1). The caller has to verify each row by its checksum.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

Value = int | str | bytes | None
Row = tuple[int, list[Value]]
"""A row's number and columns."""

PAGE = 4096
"""Page size in bytes of every log, unless the header states another one."""
LEAF = 0x0D
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def rows(path: Path, most_bytes: int) -> Iterator[Row]:
    """Yield every row of every page that reads as a leaf of a table, free pages included.

    Rows of more than `most_bytes` are left out. A row may be repeated. Raises OSError.
    """
    with path.open("rb") as file:
        pages = _Pages(file, most_bytes)
        number = 0
        while page := pages.read(number := number + 1):
            yield from pages.rows_of(page, 100 if number == 1 else 0)


class _Pages:
    """The pages of an open file."""

    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        start = file.read(100)
        whole = len(start) == 100 and start.startswith(b"SQLite format 3\0")
        size = int.from_bytes(start[16:18], "big") if whole else PAGE
        self._size = (
            65536 if size == 1 else size if size >= 512 and size & (size - 1) == 0 else PAGE
        )
        self._usable = self._size - (start[20] if whole and start[20] <= 32 else 0)
        self._file, self._most_bytes = file, most_bytes
        self._left = 4 * file.seek(0, 2)
        """Bytes that may still be read from overflow pages; in a valid file each page belongs to
        one row.
        """

    def read(self, number: int) -> bytes:
        """Read a page; empty beyond the end."""
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def rows_of(self, page: bytes, head: int) -> Iterator[Row]:
        """Yield the rows of a page with its header at `head`; none if it is no leaf."""
        if len(page) < head + 8 or page[head] != LEAF:
            return
        (cells,) = struct.unpack_from(">H", page, head + 3)
        for cell in range(min(cells, (self._size - head - 8) // 2)):
            try:
                (at,) = struct.unpack_from(">H", page, head + 8 + 2 * cell)
                length, at = _varint(page, at)
                number, at = _varint(page, at)
                row = number, _columns(self._payload(page, at, length))
            except (struct.error, IndexError, ValueError):
                continue  # not a row
            yield row

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """Bytes of a row, overflow pages included."""
        if not 0 < length <= self._most_bytes:
            raise ValueError("too long")
        most, least = self._usable - 35, (self._usable - 12) * 32 // 255 - 23
        here = length if length <= most else least + (length - least) % (self._usable - 4)
        here = here if here <= most else least
        found = bytearray(page[at : at + here])
        (overflow,) = struct.unpack_from(">I", page, at + here) if length > here else (0,)
        while len(found) < length and overflow and self._left > 0:
            page = self.read(overflow)
            self._left -= len(page)
            (overflow,) = struct.unpack_from(">I", page)
            found += page[4 : 4 + min(self._usable - 4, length - len(found))]
        if len(found) != length:
            raise ValueError("cut short")
        return bytes(found)


def _columns(payload: bytes) -> list[Value]:
    head, at = _varint(payload, 0)
    types = []
    while at < head:
        kind, at = _varint(payload, at)
        types.append(kind)
    values: list[Value] = []
    for kind in types:
        if kind in (0, 8, 9):
            values.append(None if kind == 0 else kind - 8)
            continue
        length = _INTEGERS[kind] if kind in _INTEGERS else (kind - 12) // 2
        part = payload[at : at + length]
        if length < 0 or len(part) != length:
            raise ValueError("cut short")
        at += length
        values.append(
            int.from_bytes(part, "big", signed=True)
            if kind in _INTEGERS
            else part
            if kind % 2 == 0
            else part.decode()
        )
    return values


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode a varint of 1 to 9 bytes; returns it and the next position."""
    value = 0
    for step in range(8):
        byte = data[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    value = value << 8 | data[at + 8]
    return (value - 2**64 if value >= 2**63 else value), at + 9
