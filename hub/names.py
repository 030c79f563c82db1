"""Identity of players by name."""

from __future__ import annotations


def name_key(name: str) -> str:
    """Comparison key of a name: case-folded, spaces normalised."""
    return " ".join(name.split()).casefold()
