"""Check that a session continues at the table that it was played on.

Another board or piece set is refused, another lens needs consent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from referee.sessions.events import Record, Reopened, SessionStarted, TableChecked
from table.json_data import JsonObject
from table.messages import NONE, Number, Value, in_a_row, phrase
from table.solids import signed_area
from table.table_config import Setup, table_document

BOARD_SHARE, BOARD_MM = 0.01, 0.5
"""Lengths of a board that was measured again differ by less: by this share, or this much."""
GROUND_SHARE = 0.1
"""Areas of open ground between newly placed cards differ by less than this share."""
PLACES = {"origin_mm", "outline_mm"}
"""Fields that are ignored: the place of a board does not identify it."""
PIECES = {
    "pieces": phrase("the piece set"),
    "sizes": phrase("the sizes in play"),
    "target": phrase("the target"),
    "counters": phrase("the counters"),
}
"""Fields of the game in `table.json` that have to be equal, and their names for people."""
LENS = ("model", "width", "height", "matrix", "distortion")


def last_table(records: tuple[Record, ...]) -> JsonObject:
    """Return the table by which a session was read last, as recorded.

    Empty if none was (old logs).
    """
    tables = (
        record.event.table
        for record in reversed(records)
        if isinstance(record.event, SessionStarted | Reopened | TableChecked)
    )
    return next((table for table in tables if table), {})


def table_difference(before: Mapping[str, Any], setup: Setup) -> str:
    """Describe how board or pieces differ from a recorded table, as `expected ..., got ...`.

    Empty if they do not.
    """
    now = table_document(setup)
    return _another_board(before["board"], now["board"]) or _other_pieces(
        before["game"], now["game"]
    )


def lens_difference(before: Mapping[str, Any], setup: Setup) -> str:
    """Describe briefly how the lens differs from a recorded table's; empty if it does not."""
    old, new = before["camera"], table_document(setup)["camera"]
    if all(_plain(old.get(name)) == _plain(new.get(name)) for name in LENS):
        return ""
    was, now = (
        phrase(
            "{width} x {height} px, focal length {mm} px",
            width=lens["width"],
            height=lens["height"],
            mm=f"{lens['matrix'][0][0]:.1f}",
        )
        for lens in (old, new)
    )
    if was != now:
        return phrase("{text} before, {text2} now", text=was, text2=now)
    return phrase("{text}, but a different centre or distortion", text=was)


def _another_board(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    if old["kind"] != new["kind"]:
        return phrase(
            "expected the board of that session ({raw}), got {raw2}",
            raw=old["kind"],
            raw2=new["kind"],
        )
    if old["kind"] == "open":
        was, now = (
            abs(signed_area(np.array(board["outline_mm"], float))) / 1e6 for board in (old, new)
        )
        same = abs(now - was) <= GROUND_SHARE * was
        return (
            ""
            if same
            else phrase(
                "expected the ground of that session ({mm} m²), got {mm2} m²",
                mm=f"{was:.2f}",
                mm2=f"{now:.2f}",
            )
        )
    for name in sorted((old.keys() | new.keys()) - PLACES):
        if not _alike(name, old.get(name), new.get(name)):
            return phrase(
                "expected the board of that session (board.{field} {text}), got {text2}",
                field=name,
                text=_value_text(old.get(name)),
                text2=_value_text(new.get(name)),
            )
    return ""


def _other_pieces(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    for name, called in PIECES.items():
        was, now = (
            tuple(sorted(game["sizes"])) if name == "sizes" else game.get(name)
            for game in (old, new)
        )
        if was != now:
            return phrase(
                "expected {text} of that session ({text2}), got {text3}",
                text=called,
                text2=_value_text(was),
                text3=_value_text(now),
            )
    return ""


def _alike(name: str, old: Any, new: Any) -> bool:
    if name.endswith("_mm") and old is not None and new is not None:
        return bool(abs(old - new) <= max(BOARD_MM, BOARD_SHARE * old))
    return bool(_plain(old) == _plain(new))


def _plain(thing: object) -> object:
    """Convert tuples to lists, as JSON has them."""
    return [_plain(part) for part in thing] if isinstance(thing, list | tuple) else thing


def _value_text(thing: object) -> Value:
    if isinstance(thing, list | tuple):
        return in_a_row(map(_value_text, thing))
    if thing is None:
        return NONE
    return Number(f"{thing:g}") if isinstance(thing, float) else str(thing)
