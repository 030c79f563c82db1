"""The legal moves of a state, as a collection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

S = TypeVar("S")
M = TypeVar("M")


@dataclass(frozen=True)
class Legal(ABC, Generic[S, M]):
    """Moves that are legal in a state: iterates, counts, answers `in`, and prints.

    They are listed once, on first use.
    """

    state: S

    @abstractmethod
    def _list(self) -> Iterator[M]:
        """Yield every move to be listed."""

    @cached_property
    def _moves(self) -> tuple[M, ...]:
        return tuple(self._list())

    @abstractmethod
    def __contains__(self, move: object) -> bool: ...

    def __iter__(self) -> Iterator[M]:
        return iter(self._moves)

    def __len__(self) -> int:
        return len(self._moves)

    def __str__(self) -> str:
        return " | ".join(map(str, self)) or "nothing: the game is over"
