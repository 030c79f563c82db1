"""Text from outside: valid Unicode only, and nothing in it that moves a terminal's cursor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from table.errors import InputError

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 and C1 control characters, line and paragraph separators, bidirectional controls (Unicode, UAX 9), lone surrogates."""


def check_unicode(value: Any, where: str) -> None:
    """Raises InputError for a lone surrogate in any text of plain data: a str, or lists and dicts of them, keys included.

    JSON can spell one (`"\\ud800"`), but no file and no database can hold it.
    """
    for text in _texts(value):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            got = printable(text[max(0, error.start - 20) : error.start + 20])
            code = f"U+{ord(text[error.start]):04X}"
            raise InputError(f"{where}: expected valid Unicode text, got half a character ({code}) in {got!r}") from error


def printable(text: str) -> str:
    """The text with every control character, and what turns the direction of writing, as U+FFFD; line ends too."""
    return _UNSAFE.sub("\ufffd", text)


def _texts(value: Any) -> Iterator[str]:
    """Every text in plain data; a stack of its own, as data can be nested deeper than Python's."""
    stack = [value]
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            stack.extend(value.keys())
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(value)
