"""What tells players apart."""

from __future__ import annotations


def name_key(name: str) -> str:
    """A name, whatever its capitals and spaces."""
    return " ".join(name.split()).casefold()
