"""Check that a session goes on at the table that it was played on.

Another board or piece set is refused, another lens needs consent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from referee.sessions.events import Record, Reopened, SessionStarted, TableChecked
from table.solids import signed_area
from table.table_config import Setup, table_document

BOARD_SHARE, BOARD_MM = 0.01, 0.5
"""Lengths of a board that was measured anew differ by less: by this share, or this much."""
GROUND_SHARE = 0.1
"""Open ground between cards that were laid anew differs by less than this share of its area."""
PLACES = {"origin_mm", "outline_mm"}
"""Fields that do not matter here: where a board lies is no part of which board it is."""
PIECES = {
    "pieces": "piece set",
    "sizes": "sizes in play",
    "target": "target",
    "counters": "counters",
}
"""What has to be the same of the game in `table.json`, and what people call it."""
LENS = ("model", "width", "height", "matrix", "distortion")


def last_table(records: tuple[Record, ...]) -> dict[str, Any]:
    """The table that a session was read by last, as it is recorded.

    Empty where none is (old logs).
    """
    tables = (
        record.event.table
        for record in reversed(records)
        if isinstance(record.event, SessionStarted | Reopened | TableChecked)
    )
    return next((table for table in tables if table), {})


def another_table(before: Mapping[str, Any], setup: Setup) -> str:
    """How board or pieces differ from those of a recorded table, as `expected ..., got ...`.

    Empty if they do not.
    """
    now = table_document(setup)
    return _another_board(before["board"], now["board"]) or _other_pieces(
        before["game"], now["game"]
    )


def another_lens(before: Mapping[str, Any], setup: Setup) -> str:
    """How the lens is not that of a recorded table, in a few words; empty: it is."""
    old, new = before["camera"], table_document(setup)["camera"]
    if all(_plain(old.get(name)) == _plain(new.get(name)) for name in LENS):
        return ""
    was, now = (
        f"{lens['width']} x {lens['height']} px, focal length {lens['matrix'][0][0]:.1f} px"
        for lens in (old, new)
    )
    return f"{was} before, {now} now" if was != now else f"{was}, but another middle or distortion"


def _another_board(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if old["kind"] != new["kind"]:
        return f"expected the board that it was played on ({old['kind']}), got {new['kind']}"
    if old["kind"] == "open":
        was, now = (
            abs(signed_area(np.array(board["outline_mm"], float))) / 1e6 for board in (old, new)
        )
        same = abs(now - was) <= GROUND_SHARE * was
        return (
            ""
            if same
            else f"expected the ground that it was played on ({was:.2f} m²), got {now:.2f} m²"
        )
    for name in sorted((old.keys() | new.keys()) - PLACES):
        if not _alike(name, old.get(name), new.get(name)):
            return (
                f"expected the board that it was played on (board.{name} {_shown(old.get(name))}),"
                f" got {_shown(new.get(name))}"
            )
    return ""


def _other_pieces(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    for name, called in PIECES.items():
        was, now = (
            tuple(sorted(game["sizes"])) if name == "sizes" else game.get(name)
            for game in (old, new)
        )
        if was != now:
            return (
                f"expected the {called} that it was played with ({_shown(was)}), got {_shown(now)}"
            )
    return ""


def _alike(name: str, old: Any, new: Any) -> bool:
    if name.endswith("_mm") and old is not None and new is not None:
        return bool(abs(old - new) <= max(BOARD_MM, BOARD_SHARE * old))
    return bool(_plain(old) == _plain(new))


def _plain(thing: object) -> object:
    """A value with tuples as lists, as JSON has them."""
    return [_plain(part) for part in thing] if isinstance(thing, list | tuple) else thing


def _shown(thing: object) -> str:
    if isinstance(thing, list | tuple):
        return ", ".join(map(_shown, thing))
    return "none" if thing is None else f"{thing:g}" if isinstance(thing, float) else str(thing)
