"""Check text from outside.

Invalid Unicode is refused, and control characters are removed for terminals.
"""

from __future__ import annotations

import re

from table.errors import InputError
from table.messages import msg

SHOWN = 40
"""Most characters quoted of a refused text."""

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}\t\n]")
_UNSAFE_IN_LINES = re.compile(f"[{_CONTROLS}]")


def check_unicode(value: object, where: str) -> None:
    """Check every text in `value`.

    A str, or lists, tuples and dicts (their keys too) inside one another, as deep as they go.

    Raises InputError, `where` first, for text that no encoding can write: JSON lets a lone
    surrogate such as `"\\ud83d"` through.
    """
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            try:
                node.encode()
            except UnicodeEncodeError as error:
                first = max(0, error.start - SHOWN // 2)
                raise InputError(
                    msg(
                        "{where}: expected valid Unicode text, got {raw}",
                        where=where,
                        raw=ascii(node[first : first + SHOWN]),
                    )
                ) from None
        elif isinstance(node, dict):
            stack.extend(node.keys())
            stack.extend(node.values())
        elif isinstance(node, list | tuple):
            stack.extend(node)


def printable(text: str, keep_lines: bool = False) -> str:
    """Replace everything in `text` that would control a terminal by spaces.

    That is C0, C1, ESC and changes of direction. Line ends and tabs become spaces too unless
    `keep_lines`.
    """
    return (_UNSAFE_IN_LINES if keep_lines else _UNSAFE).sub(" ", text)
