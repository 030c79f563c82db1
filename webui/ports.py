"""What the pages need of a session, of the referee at work, of a calibration; `referee` has it (session, loop, guides, ruler)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from referee.command import Command
from referee.events import Choice as Alternative
from referee.events import Record, SeatFreed, SeatTaken
from referee.guides import CornersNow, LensNow
from referee.live import Live
from referee.moved import Wish
from referee.preparing import Job, Step
from referee.reread import Reread, Told
from referee.ruler import RulerNow
from referee.secret import Touched
from referee.setting_up import Choice
from table.observation import Observation
from table.setup import Setup


class SessionPort(Protocol):
    """Records, their fold as plain data (`referee.view.view`), and the one way to change anything."""

    @property
    def closed(self) -> bool: ...

    @property
    def seq(self) -> int: ...

    def view(self) -> dict[str, Any]: ...

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]: ...

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]: ...

    def frame(self, seq: int) -> bytes | None: ...

    def command(self, command: Command, allow: Callable[[Command], Command] | None = None) -> Record: ...

    def touched(self, command: Command) -> Touched: ...

    def seat(self, event: SeatTaken | SeatFreed) -> None: ...

    def alternatives(self, seq: int) -> tuple[Alternative, ...]: ...


class LivePort(Protocol):
    """What the referee sees at this moment."""

    @property
    def setup(self) -> Setup: ...

    @property
    def latest(self) -> Live: ...

    def jpeg(self) -> bytes | None: ...

    def wish(self, wish: Wish) -> None: ...

    def last_table(self) -> tuple[int, Observation]: ...

    def reread(self, pieces: Sequence[Told]) -> Reread: ...


class SetUpPort(Protocol):
    """A session that people set up."""

    def look(self) -> bool: ...

    def begin(self, choice: Choice) -> None: ...


class TablePort(Protocol):
    """A table that is made ready for it."""

    @property
    def setup(self) -> Setup: ...

    @property
    def lens(self) -> LensPort | None: ...

    @property
    def frame_seq(self) -> int: ...

    def jpeg(self) -> bytes | None: ...

    def steps(self) -> Mapping[str, Step]: ...

    def wish(self, job: Job) -> None: ...


class LensPort(Protocol):
    """A lens that is being calibrated."""

    def look(self) -> LensNow: ...

    def jpeg(self) -> bytes | None: ...

    def end(self) -> None: ...


class CornersPort(Protocol):
    """A table whose board's corners people put by hand."""

    def look(self) -> CornersNow: ...

    def jpeg(self) -> bytes: ...

    def put(self, corners_px: Sequence[tuple[float, float]]) -> bool: ...


class RulerPort(Protocol):
    """What is measured at this moment, with no game running."""

    @property
    def setup(self) -> Setup: ...

    @property
    def latest(self) -> RulerNow: ...

    def jpeg(self) -> bytes | None: ...
