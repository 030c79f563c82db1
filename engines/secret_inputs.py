"""Games without secret votes."""

from __future__ import annotations

from typing import Any


def no_hidden_voters(_state: Any) -> tuple[str, ...]:
    """Nobody has cast a vote that is still hidden."""
    return ()


def no_secret_voter(_spoken: Any) -> str | None:
    """No move and nothing that is heard casts a secret vote."""
    return None
