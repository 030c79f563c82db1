"""Recorded inputs (dice, votes, announcements): `inputs.jsonl`, one JSON object a line.

`{"t_ms": 5200, "player": "red", "die": 5}` has the camera's time, and an input of the game's
`hear`. The file lies beside the frames.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from table.errors import InputError
from table.files import convert, read_json_lines, shown
from table.json_data import JsonObject
from table.messages import msg, phrase
from table.text import check_unicode


class Input(NamedTuple):
    """An input at a time of the camera's clock; `where` names its line in messages."""

    at_ms: int
    heard: JsonObject
    where: str


def read_inputs(path: Path) -> tuple[Input, ...]:
    """Read the inputs in a file, sorted by time; those of equal time keep their order.

    Raises InputError with the line of the first error.
    """
    inputs = [
        _input(message, where)
        for where, message in read_json_lines(path, phrase("one JSON object a line"))
    ]
    return tuple(sorted(inputs, key=lambda heard: heard.at_ms))


def _input(message: Any, where: str) -> Input:
    if not isinstance(message, dict) or "t_ms" not in message:
        raise InputError(
            msg(
                "{where}: expected a JSON object with its time as t_ms, got {raw}",
                where=where,
                raw=shown(message),
            )
        )
    check_unicode(message, where)
    return Input(convert(message.pop("t_ms"), int, where, "t_ms"), message, where)
