"""Secret votes, for games that have none."""

from __future__ import annotations

from typing import Any


def no_hidden_voters(_state: Any) -> tuple[str, ...]:
    """Return no players: there are no hidden votes."""
    return ()


def no_secret_voter(_spoken: Any) -> str | None:
    """Return None: no move and no announcement casts a secret vote."""
    return None
