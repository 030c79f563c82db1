"""Access codes, the key for signing browsers' tickets, and the holders of seats.

They are stored beside the log.
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
"""Alphabet of codes, without easily confused characters (0 and O, 1, I and L)."""
HOST_LENGTH, TABLE_LENGTH = 10, 8
"""Length of the host's code (31^10, 49 bits) and of the table's (31^8, 39 bits), without the dash.
docs/PANEL.md ("Guessing codes") estimates the success of guessing.
"""
OWNER_ONLY = 0o600


class StoredCodes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The stored document; `seats` are visitor ids by colour, in session `session`."""

    format: Literal["rinkside-access/1"] = "rinkside-access/1"
    key: str
    host: str
    table: str
    session: int = 0
    seats: dict[str, str] = {}


class Codes:
    """The document in memory and, with a path, in a file that only its owner can read.

    Thread-safe.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Read the file, or create it with fresh codes.

        Raises InputError for a damaged file.
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
        """The current document."""
        return self._now

    def reload(self) -> None:
        """Read the file again, since another process may have changed it.

        Raises InputError, with the codes unchanged, for a damaged file.
        """
        with self._lock:
            if self._path is not None and self._path.exists():
                self._now = _read_codes(self._path)

    def put(self, **changed: Any) -> None:
        """Change fields, on disk first.

        Raises Refusal, with nothing changed, if they cannot be stored.
        """
        with self._lock:
            before, self._now = self._now, msgspec.structs.replace(self._now, **changed)
            try:
                self._write()
            except InputError as error:
                self._now = before
                raise Refusal(507, "not_kept", message_of(error)) from error

    def renew(self, which: Literal["host", "table"]) -> str:
        """Replace a code by a fresh one, and return it."""
        code = new_code(HOST_LENGTH if which == "host" else TABLE_LENGTH)
        self.put(**{which: code})
        return code

    def _write(self) -> None:
        if self._path is not None:
            write_whole(
                self._path, msgspec.json.format(msgspec.json.encode(self._now)) + b"\n", OWNER_ONLY
            )


def _read_codes(path: Path) -> StoredCodes:
    document = read_json(path)  # first, as it refuses other programs' files
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
    """A random code from the operating system's generator, formatted as `K7QX2-MBD4T`."""
    text = "".join(secrets.choice(LETTERS) for _ in range(length))
    return f"{text[: length // 2]}-{text[length // 2 :]}"


def plain(code: str) -> str:
    """Normalise a typed code: `k7qx2 mbd4t` becomes `K7QX2MBD4T`."""
    return "".join(letter for letter in code.upper() if letter.isalnum())
