"""Codes to join by, the key that signs browsers' tickets, and the holders of seats.

They are kept beside the log.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import msgspec

from table.errors import InputError, message_of
from table.files import convert, read_json, write_whole
from table.messages import msg
from webui.security.requests import Refusal

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Characters of codes, without those that are misread (0 and O, 1, I and L)."""
HOST_LENGTH, TABLE_LENGTH = 10, 8
"""Characters of the host's code (31^10, 49 bits) and of the table's (31^8, 39 bits), without the
dash in the middle. docs/PANEL.md ("Guessing codes") says how far guessing gets.
"""
OWNER_ONLY = 0o600


class StoredCodes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must last: `seats` are visitors' ids by colour, in session `session`."""

    format: Literal["rinkside-access/1"] = "rinkside-access/1"
    key: str
    host: str
    table: str
    session: int = 0
    seats: dict[str, str] = {}


class Codes:
    """The document, in memory and, where it has a path, in a file that only its owner can read.

    Safe to use from many threads.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Read the file, or make it with fresh codes if there is none.

        Raises InputError for one that is damaged.
        """
        self._path, self._lock = path, RLock()
        if path is not None and path.exists():
            self._now = _read_codes(path)
        else:
            self._now = StoredCodes(
                key=secrets.token_hex(32), host=new_code(HOST_LENGTH), table=new_code(TABLE_LENGTH)
            )
            self._write()

    @property
    def now(self) -> StoredCodes:
        """The document as it is."""
        return self._now

    def reload(self) -> None:
        """Read the file again: another process may have changed it.

        Raises InputError for one that is damaged; the codes then stay as they were.
        """
        with self._lock:
            if self._path is not None and self._path.exists():
                self._now = _read_codes(self._path)

    def put(self, **changed: Any) -> None:
        """Change some of its fields, on disk first.

        Raises Refusal where they cannot be kept, and then nothing is changed.
        """
        with self._lock:
            before, self._now = self._now, msgspec.structs.replace(self._now, **changed)
            try:
                self._write()
            except InputError as error:
                self._now = before
                raise Refusal(507, "not_kept", message_of(error)) from error

    def renew(self, which: Literal["host", "table"]) -> str:
        """Put a fresh code in the place of one, and give it."""
        code = new_code(HOST_LENGTH if which == "host" else TABLE_LENGTH)
        self.put(**{which: code})
        return code

    def _write(self) -> None:
        if self._path is not None:
            write_whole(
                self._path, msgspec.json.format(msgspec.json.encode(self._now)) + b"\n", OWNER_ONLY
            )


def _read_codes(path: Path) -> StoredCodes:
    document = read_json(path)  # first: it refuses what is no file of its own
    try:
        path.chmod(OWNER_ONLY)
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a file that belongs to this user and holds the codes"
                " ({raw}); delete it to get new codes",
                path=path,
                raw=error.strerror,
            )
        ) from error
    return convert(document, StoredCodes, str(path))


def new_code(length: int) -> str:
    """A code by the operating system's chance, as people read it: `K7QX2-MBD4T`."""
    text = "".join(secrets.choice(LETTERS) for _ in range(length))
    return f"{text[: length // 2]}-{text[length // 2 :]}"


def plain(code: str) -> str:
    """A code as typed, without what people add or leave out: `k7qx2 mbd4t` is `K7QX2MBD4T`."""
    return "".join(letter for letter in code.upper() if letter.isalnum())
