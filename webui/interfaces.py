"""Interfaces that the pages use: session, referee, calibration, ruler.

They are implemented in `referee` (session, loop, ruler) and `calibration` (guides).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # they import OpenCV, and every page imports this module
    from calibration.first_setup import BoardChoice, FirstSetUpNow
    from calibration.first_setup import Step as FirstStep
    from calibration.progress import CornersNow, LensNow
    from calibration.wizard import Job, Step
    from referee.live.correction import CorrectedVerdict, PieceCorrection
    from referee.live.game_setup import Choice
    from referee.live.live_measurement import RulerNow
    from referee.live.table_monitor import TableRequest
    from referee.presentation.session_view import Mark, Ranked, SessionView
    from referee.sessions.commands import Command
    from referee.sessions.events import Choice as Alternative
    from referee.sessions.events import Record, SeatFreed, SeatTaken
    from referee.sessions.secret_votes import AffectedVotes
    from referee.sessions.status import RefereeStatus, Seen
    from table.messages import Message
    from table.observation import Observation
    from table.solids import Array
    from table.table_config import Setup


CARRY = "rinkside.carry"
"""Key in `environ` of a function that hands a listener to the server's stream thread. The function
returns the rest of the response body.
"""


class SessionPort(Protocol):
    """A session: its records, its view for pages, and commands as the only way to change it.

    Implemented by `referee.sessions.session.Session`.
    """

    @property
    def closed(self) -> bool:
        """True once the session is closed."""

    @property
    def seq(self) -> int:
        """The number of the newest record."""

    def view(self) -> SessionView:
        """Contents of a page; the same object until something happens."""

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]:
        """As `Session.records`."""

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]:
        """As `Session.wait`."""

    def frame(self, seq: int) -> bytes | None:
        """The JPEG kept with a record of this session, or None."""

    def command(
        self, command: Command, allow: Callable[[Command], Command] | None = None
    ) -> Record:
        """As `Session.command`."""

    def touched(self, command: Command) -> AffectedVotes:
        """Effect of a command on votes that are still hidden."""

    def seat(self, event: SeatTaken | SeatFreed) -> None:
        """Record which visitor holds a player's seat."""

    def alternatives(self, seq: int) -> tuple[Alternative, ...]:
        """Alternative rulings at record `seq`."""


class LivePort(Protocol):
    """The referee's live state."""

    @property
    def setup(self) -> Setup:
        """The watched table."""

    @property
    def latest(self) -> RefereeStatus:
        """Current observation and status of the referee."""

    @property
    def seen(self) -> Seen:
        """Number of frames so far."""

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG; None before the first."""

    def request_table(self, request: TableRequest) -> None:
        """As `Referee.request_table`."""

    def last_table(self) -> tuple[int, Observation]:
        """As `Referee.last_table`."""

    def reread(self, pieces: Sequence[PieceCorrection]) -> CorrectedVerdict:
        """As `Referee.reread`."""


class VirtualBody(Protocol):
    """As `simulation.virtual_table.LyingBody`."""

    @property
    def name(self) -> str:
        """Name that identifies it in actions."""

    @property
    def kind(self) -> Literal["piece", "slab", "die"]:
        """Kind: pyramid, counter or tile, or die."""

    @property
    def label(self) -> str:
        """Description in words."""

    @property
    def colour(self) -> str:
        """The colour of a pyramid; else empty."""

    @property
    def text(self) -> str:
        """Printed text."""

    @property
    def rgb(self) -> tuple[float, float, float]:
        """Linear reflectance, 0..1."""

    @property
    def vertices_mm(self) -> Array:
        """The vertices of a pyramid, (5, 3), else an outline (n, 2)."""

    @property
    def may(self) -> tuple[str, ...]:
        """Permitted actions."""


class VirtualNow(Protocol):
    """As `simulation.virtual_table.VirtualNow`."""

    @property
    def bodies(self) -> Sequence[VirtualBody]:
        """Bodies on the table, lowest first."""

    @property
    def reserve(self) -> Sequence[VirtualBody]:
        """Bodies off the table."""

    @property
    def people(self) -> frozenset[str]:
        """Colours that people play."""


class VirtualTablePort(Protocol):
    """A table on which people move simulated pieces: `simulation.virtual_table.VirtualTable`."""

    def look(self) -> VirtualNow:
        """The table as it is now."""

    def act(
        self, what: str, piece: str = "", x_mm: float = 0, y_mm: float = 0, turn_deg: float = 0
    ) -> None:
        """Apply an action to a piece; raises InputError."""

    def sit(self, colour: str, here: bool = True) -> None:
        """Take a seat, or leave it to its simulated player; raises InputError."""

    def run(self, pace: Literal["play", "slow", "pause", "step"]) -> None:
        """Set the simulated players' pace: play, play slowly, pause, or act once and pause."""


class LessonNow(Protocol):
    """As `simulation.tutor.LessonNow`."""

    @property
    def number(self) -> int:
        """Number of the lesson, from 1."""

    @property
    def count(self) -> int:
        """Number of lessons."""

    @property
    def title(self) -> Message:
        """Short title."""

    @property
    def task(self) -> Message:
        """The task."""

    @property
    def learned(self) -> Message:
        """Text shown once the task is done."""

    @property
    def state(self) -> Literal["laying", "open", "other", "done"]:
        """State of the table and the task."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The example on the board."""

    @property
    def follows(self) -> bool:
        """True if the next lesson can begin now."""


class TutorPort(Protocol):
    """Lessons at a virtual table: `simulation.tutor.Tutor`."""

    def look(self) -> LessonNow:
        """The lesson as it is now."""

    def begin(self, number: int) -> None:
        """Begin a lesson; raises InputError."""


Next = Literal["home", "again", "play"]
"""Action after a game or set-up: home page, same again, or a game."""


class DoorPort(Protocol):
    """A game's connection to the home page that started it."""

    def leave(self, then: Next = "home") -> None:
        """End the game; `then` is the home page's next action."""


Activity = Literal["play", "match", "resume", "demo", "lessons", "set-up"]
"""Things that the home page starts: a game on the real table, an event's next match, the
interrupted game, a simulated game, lessons at a simulated table, the set-up of a table.
"""


@dataclass(frozen=True, slots=True)
class TableInUse:
    """The table in use: the game it was made for, its size in mm, its camera.

    `rough` is True while its lens is only a first estimate.
    """

    game: str
    size_mm: tuple[float, float]
    camera: str
    rough: bool


@dataclass(frozen=True, slots=True)
class MatchHere:
    """The match assigned by a hub: the table's name there, the game and its players.

    `players` are names in order of play; `terms` is a few words such as "to 13".
    """

    number: int
    table: str
    event: str
    game: str
    terms: str
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HomeNow:
    """State of the home page.

    `starting` is the activity being started; `notice` is why the last one failed to start, or ended
    by itself. `trouble` is why the stored table cannot be used. `over` is set once Rinkside ends.
    `cut_off`: an interrupted game can be resumed. `can_end`: it does not restart at once. `match`
    is this table's next match.
    """

    starting: Activity | None = None
    notice: str = ""
    table: TableInUse | None = None
    trouble: str = ""
    over: bool = False
    cut_off: bool = False
    can_end: bool = True
    match: MatchHere | None = None


class HomePort(Protocol):
    """State and actions of the home page."""

    def look(self) -> HomeNow:
        """Current state."""

    def games(self) -> Sequence[str]:
        """Names of games that simulated players can play."""

    def taught(self) -> Sequence[str]:
        """Names of games with lessons."""

    def devices(self) -> Sequence[DeviceFound]:
        """Detect cameras, lamps, dice and other parts; takes seconds."""

    def picture(self, camera: str) -> bytes | None:
        """A JPEG from a camera that `devices` found; None if it gives none."""

    def start(self, activity: Activity, game: str = "") -> None:
        """Start an activity; raises InputError if another one is starting.

        For a match `game` is its number.
        """

    def cancel(self) -> None:
        """Cancel the activity being started."""

    def shut_down(self) -> None:
        """End Rinkside, and switch the machine off if it was started with that option."""


@dataclass(frozen=True, slots=True)
class DeviceFound:
    """A camera or another part: kind, place, and fault (empty if it works).

    `camera` is a camera's value for --camera.
    """

    part: str
    name: str
    trouble: str = ""
    camera: str = ""


class FirstSetUpPort(Protocol):
    """First set-up of a table."""

    def look(self) -> FirstSetUpNow:
        """Progress of the set-up."""

    def jpeg(self, spec: str = "") -> bytes | None:
        """The newest picture of camera `spec`, by default the chosen one."""

    def checked(self) -> bytes | None:
        """The measured picture with the board drawn in."""

    def choose_camera(self, spec: str) -> None:
        """As `FirstSetUp.choose_camera`."""

    def choose_sheet(self, sheet: str) -> None:
        """As `FirstSetUp.choose_sheet`."""

    def printed(self, board: BoardChoice) -> None:
        """As `FirstSetUp.printed`."""

    def measure(self) -> None:
        """As `FirstSetUp.measure`."""

    def back(self, step: FirstStep) -> None:
        """As `FirstSetUp.back`."""


class SetUpPort(Protocol):
    """Set-up of a session."""

    def look(self) -> bool:
        """True if the game has begun; polled by the page."""

    def begin(self, choice: Choice) -> None:
        """As `SettingUp.begin`."""


class TablePort(Protocol):
    """Preparation of a table for a session."""

    @property
    def setup(self) -> Setup:
        """The table as known so far."""

    @property
    def lens(self) -> LensPort | None:
        """The most recent lens calibration; None before the first."""

    @property
    def frame_seq(self) -> int:
        """The number of the newest picture; -1 before the first."""

    def jpeg(self) -> bytes | None:
        """The newest picture as a JPEG; None before the first."""

    def steps(self) -> Mapping[str, Step]:
        """Progress of each part: camera, lens, table, colours."""

    def request_job(self, job: Job) -> None:
        """As `TableWizard.request_job`."""


class LensPort(Protocol):
    """A running lens calibration."""

    def look(self) -> LensNow:
        """The calibration's state, for a page that shows it now."""

    def jpeg(self) -> bytes | None:
        """The newest frame with the guidance drawn in, as a JPEG; None before the first."""

    def end(self) -> None:
        """As `LensGuide.end`."""


class CornersPort(Protocol):
    """Manual placement of a board's corners."""

    def look(self) -> CornersNow:
        """The calibration's state, for a page that shows it now."""

    def jpeg(self) -> bytes:
        """The photograph as a JPEG."""

    def put(self, corners_px: Sequence[tuple[float, float]]) -> bool:
        """As `CornersGuide.put`."""


class RulerPort(Protocol):
    """Live measurement without a game."""

    @property
    def setup(self) -> Setup:
        """The table used for measuring."""

    @property
    def latest(self) -> RulerNow:
        """The newest measurement."""

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG; None before the first."""


@dataclass(frozen=True, slots=True)
class InPhoto:
    """Pieces on the mat as entered by people; empty fields are read off the photograph."""

    target: str = ""
    colours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredPhoto:
    """Result of measuring a photograph.

    `sentence` says who leads, `jpeg` is the photograph with the gaps drawn in, and `found` are the
    pieces. `assumed`: some of these were read off the photograph instead of entered.
    """

    sentence: str
    ranking: tuple[Ranked, ...]
    jpeg: bytes
    found: InPhoto
    assumed: bool


PhotoReader = Callable[[bytes, str, InPhoto], MeasuredPhoto]
"""Measures a photograph; arguments are the file's content, its name for messages, and its pieces.

Raises InputError.  Implemented by `cli.photo_page`.
"""
