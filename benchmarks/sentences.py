"""Find what is to be translated outside of templates, for `make words`; Babel calls these functions (see [tool.babel] in pyproject.toml)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

CONTEXT = "said"
"""Of everything that comes from below and passes through the filters `said` and `word`; what a template says itself has none."""

Found = tuple[int, str, tuple[str, str], list[str]]
"""Line, marking function, its arguments, comments for translators."""


def listed_words(file: BinaryIO, keywords: Any, comment_tags: Any, options: Any) -> Iterator[Found]:  # noqa: ARG001  # as Babel calls it
    """Every line of a list of words but comments."""
    for number, line in enumerate(file.read().decode().splitlines(), 1):
        if line and not line.startswith("#"):
            yield number, "pgettext", (CONTEXT, line), []
