"""Extract translatable texts of a package; the functions have Babel's extractor interface."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from typing import Any, BinaryIO

CONTEXT = "message"
"""Context of all texts from other packages, which pass through the filters `localized` and `word`.
A template's own texts have none.
"""

Found = tuple[int, str, tuple[str, str], list[str]]
"""Line, marking function, its arguments, comments for translators."""


def words(
    file: BinaryIO,
    keywords: Any,  # noqa: ARG001
    comment_tags: Any,  # noqa: ARG001
    options: Any,  # noqa: ARG001
) -> Iterator[Found]:  # as Babel calls it
    """Every line of words.txt except comments.

    The form of a word, which is its context, follows an @.
    """
    for number, line in enumerate(file.read().decode().splitlines(), 1):
        if line and not line.startswith("#"):
            text, _, form = line.partition(" @")
            yield number, "pgettext", (form or CONTEXT, text), []


def clauses(
    file: BinaryIO,
    keywords: Any,  # noqa: ARG001
    comment_tags: Any,  # noqa: ARG001
    options: Any,  # noqa: ARG001
) -> Iterator[Found]:  # as Babel calls it
    """Texts of a game's clauses."""
    for name, meaning in tomllib.loads(file.read().decode()).items():
        yield 1, "pgettext", (CONTEXT, meaning), [name]


def code(
    file: BinaryIO,
    keywords: Any,  # noqa: ARG001
    comment_tags: Any,  # noqa: ARG001
    options: Any,  # noqa: ARG001
) -> Iterator[Found]:  # as Babel calls it
    """Texts of a module.

    These are message templates, `msg("{player} throws next.", ...)`; names, values and meaning of a
    game's options, `HouseRule(name, cites, values, description)`; and texts on its sheet,
    `BoardPrint(name, title, purpose, sizes)`.
    """
    for node in ast.walk(ast.parse(file.read())):
        match node:
            case ast.Call(func=ast.Name(id="msg" | "phrase"), args=[template]):
                for text in ast.walk(template):
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        yield node.lineno, "pgettext", (CONTEXT, text.value), []
            case ast.Call(func=ast.Name(id="BoardPrint"), args=[_, *printed]):
                for text in printed:
                    if isinstance(text, ast.Constant) and isinstance(text.value, str):
                        yield node.lineno, "pgettext", (CONTEXT, text.value), []
            case ast.Call(
                func=ast.Name(id="HouseRule"),
                args=[ast.Constant(str(name)), _, values, ast.Constant(str(meaning))],
            ):
                yield node.lineno, "pgettext", ("ruling", name), []
                yield node.lineno, "pgettext", (CONTEXT, meaning), []
                for value in ast.walk(values):
                    if isinstance(value, ast.Constant):
                        yield node.lineno, "pgettext", (f"ruling {name}", str(value.value)), []
