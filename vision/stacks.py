"""Pieces that stand on others: seen from above, a stack is one piece with its base in the air."""

from __future__ import annotations

from table.observation import SeenPiece
from table.setup import Setup


def unstack(pieces: list[SeenPiece], setup: Setup) -> list[SeenPiece]:
    return pieces
