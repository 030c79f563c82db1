"""Poll the hub for a table's next match, and store it in a file for the home page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Protocol

import msgspec

from hub.client import HubGone, HubRefused
from hub.wire import NextMatch, NextMatchAnswer
from table.errors import InputError
from table.files import convert, read_json, write_whole

logger = logging.getLogger(__name__)

MATCH_NAME = "match.json"
ASK_S, LONGEST_S = 5.0, 600.0
"""Shortest and longest poll interval, whatever the hub requests."""
LATER_S = 60.0
"""Shortest wait after a failure, or if the hub has no events."""
LASTS_S = 12 * 3600.0
"""Age in seconds from which a stored match is ignored."""


class MatchPort(Protocol):
    """The part of a hub's interface used here."""

    def next_match(self) -> NextMatchAnswer:
        """Fetch this table's next match; raises HubGone or HubRefused."""


def follow(hub: MatchPort, folder: Path, stopping: Event) -> None:
    """Keep the next match in the data folder up to date, until `stopping` is set.

    The hub sets the poll interval, clamped to ASK_S and LONGEST_S. After a failure the wait is at
    least the interval last set. The stored match stays while the hub cannot be reached. Returns
    when the hub rejects the table's token.
    """
    kept: NextMatch | None = None
    again_s = ASK_S
    while not stopping.is_set():
        wait_s = max(LATER_S, again_s)
        try:
            answer = hub.next_match()
            again_s = min(max(ASK_S, answer.again_s), LONGEST_S)
            found = answer.next_match
            if found != kept:
                keep_match(folder, found)
                kept = found
            wait_s = again_s
        except HubGone as gone:
            wait_s = max(wait_s, gone.retry_s)
        except HubRefused as refused:
            if refused.status == 401:
                return
            # otherwise it is a hub without events
        except InputError as error:
            logger.warning("%s", error)
        stopping.wait(wait_s)


def keep_match(folder: Path, match: NextMatch) -> None:
    """Write the match, or delete the file if there is none; raises InputError."""
    path = folder / MATCH_NAME
    if match.match:
        write_whole(path, msgspec.json.format(msgspec.json.encode(match)) + b"\n", 0o600)
    else:
        path.unlink(missing_ok=True)


def stored_match(folder: Path, now_s: Callable[[], float]) -> NextMatch | None:
    """The match stored in a data folder, or None; `now_s` is the wall clock."""
    path = folder / MATCH_NAME
    try:
        if not 0 <= now_s() - path.stat().st_mtime < LASTS_S:
            return None
        return convert(read_json(path), NextMatch, str(path))
    except OSError:
        return None
    except InputError as error:
        logger.warning("%s", error)
        return None
