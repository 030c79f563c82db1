"""Recorded inputs (dice, votes, words): `inputs.jsonl` beside the frames, one JSON object a line.

`{"t_ms": 5200, "player": "red", "die": 5}`: the camera's clock, and what the game's `hear`
understands.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from table.errors import InputError
from table.files import convert, read_json_lines, shown
from table.text import check_unicode


class Input(NamedTuple):
    """An input at a time of the camera's clock; `where` names its line in messages."""

    at_ms: int
    said: dict[str, Any]
    where: str


def read_inputs(path: Path) -> tuple[Input, ...]:
    """The inputs in a file, by time; those of the same time stay in order.

    Raises InputError with the line of the first mistake.
    """
    inputs = [
        _input(said, where) for where, said in read_json_lines(path, "one JSON object a line")
    ]
    return tuple(sorted(inputs, key=lambda heard: heard.at_ms))


def _input(said: Any, where: str) -> Input:
    if not isinstance(said, dict) or "t_ms" not in said:
        raise InputError(
            f"{where}: expected a JSON object with its time as t_ms, got {shown(said)}"
        )
    check_unicode(said, where)
    return Input(convert(said.pop("t_ms"), int, where, "t_ms"), said, where)
