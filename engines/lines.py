"""States as one line of text: `players red black; scores 0 0; rulings size=5.`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.errors import InvalidNotation


def write_line(words: Mapping[str, object]) -> str:
    """Keys with their values, in order, and a full stop; values hold no "; "."""
    return "; ".join(f"{key} {value}" for key, value in words.items()) + "."


def read_line(text: str, keys: Sequence[str]) -> dict[str, str]:
    """The values by key; raises InvalidNotation for other keys, another order or a line cut short."""
    parts = [part.partition(" ") for part in text.removesuffix(".").split("; ")]
    got = [key for key, _, _ in parts]
    if got != list(keys) or not text.endswith("."):
        raise InvalidNotation(f"expected {'; '.join(keys)}, each with its value, and a full stop, got {'; '.join(got)}")
    return {key: value for key, _, value in parts}
