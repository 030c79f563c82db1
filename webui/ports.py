"""What the panel needs of a session and of the referee at work; `referee.session.Session` and `referee.loop.Referee` have it."""

from __future__ import annotations

from typing import Any, Protocol

from referee.command import Command
from referee.events import Record
from referee.loop import Live
from table.setup import Setup


class SessionPort(Protocol):
    """Records, their fold as plain data (`referee.view.view`), and the one way to change anything."""

    @property
    def closed(self) -> bool: ...

    def view(self) -> dict[str, Any]: ...

    def records(self, after: int = 0) -> tuple[Record, ...]: ...

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]: ...

    def frame(self, seq: int) -> bytes | None: ...

    def command(self, command: Command) -> Record: ...


class LivePort(Protocol):
    """What the referee sees at this moment."""

    @property
    def setup(self) -> Setup: ...

    @property
    def latest(self) -> Live: ...

    def jpeg(self) -> bytes | None: ...
