"""States as one line of text, such as `players red black; scores 0 0; rulings size=5.`.

An empty value is written `-`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from engines.errors import InvalidNotation
from table.errors import InputError

S = TypeVar("S")
NONE = "-"


def write_line(words: Mapping[str, object]) -> str:
    """Format keys and values in order, with a full stop; values must not contain "; "."""
    return "; ".join(f"{key} {value}" for key, value in words.items()) + "."


def read_line(text: str, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, str]:
    """Parse the values by key; `optional` keys may be missing.

    Raises InvalidNotation for other keys, another order or a truncated line.
    """
    parts = [part.partition(" ") for part in text.removesuffix(".").split("; ")]
    got = [key for key, _, _ in parts]
    if got != [key for key in keys if key in got or key not in optional] or not text.endswith("."):
        raise InvalidNotation(
            f"expected {'; '.join(keys)}, each with its value, and a full stop, got"
            f" {'; '.join(got)}"
        )
    return {key: value for key, _, value in parts}


def read_counts(words: Mapping[str, str], key: str, count: int) -> tuple[int, ...]:
    """Parse `count` integers under a key; raises InvalidNotation."""
    numbers = words[key].split(" ")
    if len(numbers) != count or not all(re.fullmatch("[0-9]{1,6}", number) for number in numbers):
        raise InvalidNotation(
            f"expected {key} in {count} whole number{'s' * (count > 1)}, got {words[key]!r}"
        )
    return tuple(map(int, numbers))


def read_state(parse: Callable[[str], S], text: str) -> S:
    """Parse a state by `parse`; raises InvalidNotation, which quotes the whole line."""
    try:
        return parse(text)
    except InputError as error:
        raise InvalidNotation(f"{error}; in the state {text!r}") from None
