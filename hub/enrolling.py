"""The table's side of enrolment: show a code, wait, and store the token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Literal

import msgspec

from hub.client import HubClient, HubGone, HubRefused
from hub.wire import Asked
from table.errors import InputError
from table.files import convert, read_json, write_whole
from table.messages import msg

TOKEN_NAME = "hub.json"
ASK_S = 3.0
"""Interval for polling whether the code was entered."""


class HubToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`hub.json` in the data folder: the hub, the table's name there, and its token."""

    format: Literal["rinkside-hub/1"] = "rinkside-hub/1"
    hub: str
    table: str
    token: str


def stored_token(folder: Path, hub: str) -> str:
    """The token for a hub stored in a data folder; empty if there is none.

    Raises InputError for a damaged file.
    """
    path = folder / TOKEN_NAME
    if not path.exists():
        return ""
    kept = convert(read_json(path), HubToken, str(path))
    return kept.token if kept.hub == hub else ""


def keep_token(folder: Path, token: HubToken) -> None:
    """Write the token, readable by its owner only; raises InputError."""
    write_whole(folder / TOKEN_NAME, msgspec.json.format(msgspec.json.encode(token)) + b"\n", 0o600)


def forget_token(folder: Path) -> None:
    """Delete the token, which is no longer valid."""
    (folder / TOKEN_NAME).unlink(missing_ok=True)


def enrolled(
    hub: HubClient, show: Callable[[Asked], None], tell: Callable[[str], None], stopping: Event
) -> HubToken | None:
    """Wait until an organiser has entered the code displayed by `show`; None if stopped before.

    An expired code is replaced by a new one; an unreachable hub is retried. Raises InputError if
    the hub refuses.
    """
    asked: Asked | None = None
    while not stopping.is_set():
        try:
            if asked is None:
                asked = hub.ask()
                show(asked)
            claimed = hub.claim(asked.secret)
            if claimed.token:
                return HubToken(hub=hub.url, table=claimed.table, token=claimed.token)
        except HubGone as gone:
            tell(msg("The hub cannot be reached ({raw}); trying again.", raw=gone.why))
            stopping.wait(max(gone.retry_s, ASK_S))
        except HubRefused as refused:
            if refused.code != "no_such_enrolment":
                raise InputError(msg("The hub refuses: {text}", text=refused.message)) from refused
            asked = None
        stopping.wait(ASK_S)
    return None
