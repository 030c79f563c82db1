"""What two texts have in common: what is still English in a translation."""

from __future__ import annotations

import re


def same_words(one: str, other: str) -> set[str]:
    """Words of four letters or more, in small letters, that are in both texts.

    Options and names of files and folders are left out, and words with digits.
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
