"""What the pages need of a session, of the referee at work, of a calibration; `referee` has it
(session, loop, guides, ruler).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from calibration.progress import CornersNow, LensNow
from calibration.wizard import Job, Step
from referee.live.correction import PieceCorrection, Reread
from referee.live.game_setup import Choice
from referee.live.live_measurement import RulerNow
from referee.live.table_monitor import TableRequest
from referee.presentation.session_view import SessionView
from referee.sessions.commands import Command
from referee.sessions.events import Choice as Alternative
from referee.sessions.events import Record, SeatFreed, SeatTaken
from referee.sessions.secret_votes import Touched
from referee.sessions.status import Live
from table.observation import Observation
from table.table_config import Setup


class SessionPort(Protocol):
    """Records, what pages show of them, and the one way
    to change anything.
    """

    @property
    def closed(self) -> bool: ...

    @property
    def seq(self) -> int: ...

    def view(self) -> SessionView: ...

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]: ...

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]: ...

    def frame(self, seq: int) -> bytes | None: ...

    def command(
        self, command: Command, allow: Callable[[Command], Command] | None = None
    ) -> Record: ...

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

    def wish(self, wish: TableRequest) -> None: ...

    def last_table(self) -> tuple[int, Observation]: ...

    def reread(self, pieces: Sequence[PieceCorrection]) -> Reread: ...


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
