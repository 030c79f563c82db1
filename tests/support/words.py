"""Words common to two texts, to find English left in a translation."""

from __future__ import annotations

import re


def same_words(one: str, other: str) -> set[str]:
    """Lower-case words of four or more letters that are in both texts.

    Options, names of files and folders, and words with digits are excluded.
    """
    first, second = (
        {
            word.casefold()
            for part in text.split()
            if not re.search(r"^--|[/_\d]|\.\w", part)
            for word in re.findall(r"[^\W\d_]{4,}", part)
        }
        for text in (one, other)
    )
    return first & second
