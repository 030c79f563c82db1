"""Interfaces of what the pages show: a session, the referee, a calibration, the ruler.

They are implemented in `referee` (session, loop, ruler) and `calibration` (guides).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # they bring OpenCV along, and interfaces are needed by every page
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
"""Key in `environ` under which a server with one thread for all streams puts a function that takes
a listener over and returns the rest of its answer's body.
"""


class SessionPort(Protocol):
    """A session: its records, what pages show of them, and the one way to change it.

    Implemented by `referee.sessions.session.Session`.
    """

    @property
    def closed(self) -> bool:
        """True once the session is closed."""

    @property
    def seq(self) -> int:
        """The number of the newest record."""

    def view(self) -> SessionView:
        """All that a page shows; the same object until something happens."""

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
        """What a command would do to votes that nobody has seen yet."""

    def seat(self, event: SeatTaken | SeatFreed) -> None:
        """Keep who speaks for a player."""

    def alternatives(self, seq: int) -> tuple[Alternative, ...]:
        """What else may have happened at record `seq`."""


class LivePort(Protocol):
    """What the referee sees at this moment."""

    @property
    def setup(self) -> Setup:
        """The table that is watched."""

    @property
    def latest(self) -> RefereeStatus:
        """What the referee sees and does now."""

    @property
    def seen(self) -> Seen:
        """How many pictures came until now."""

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
        """Its name, by which it is acted on."""

    @property
    def kind(self) -> Literal["piece", "slab", "die"]:
        """What it is: a pyramid, a counter or tile, a die."""

    @property
    def label(self) -> str:
        """What it is, in words."""

    @property
    def colour(self) -> str:
        """The colour of a pyramid; else empty."""

    @property
    def text(self) -> str:
        """What is printed on it."""

    @property
    def rgb(self) -> tuple[float, float, float]:
        """Light that comes back from it, linear, 0..1."""

    @property
    def vertices_mm(self) -> Array:
        """The vertices of a pyramid, (5, 3), else an outline (n, 2)."""

    @property
    def may(self) -> tuple[str, ...]:
        """What may be done with it."""


class VirtualNow(Protocol):
    """As `simulation.virtual_table.VirtualNow`."""

    @property
    def bodies(self) -> Sequence[VirtualBody]:
        """What lies on the table, the lowest first."""

    @property
    def reserve(self) -> Sequence[VirtualBody]:
        """What is not on the table."""

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
        """Do something with a piece; raises InputError."""

    def sit(self, colour: str, here: bool = True) -> None:
        """Take a seat, or leave it to its simulated player; raises InputError."""

    def run(self, pace: Literal["play", "slow", "pause", "step"]) -> None:
        """Let the simulated players play, play slowly, pause, or act once and pause."""


class LessonNow(Protocol):
    """As `simulation.tutor.LessonNow`."""

    @property
    def number(self) -> int:
        """Which one it is, from 1."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def title(self) -> Message:
        """A few words."""

    @property
    def task(self) -> Message:
        """What is to be done."""

    @property
    def learned(self) -> Message:
        """What is said once it is done."""

    @property
    def state(self) -> Literal["laying", "open", "other", "done"]:
        """Whether the table is ready, and the task done or something else."""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The example on the board."""

    @property
    def follows(self) -> bool:
        """Whether the next lesson can be begun now."""


class TutorPort(Protocol):
    """Who gives lessons at a virtual table: `simulation.tutor.Tutor`."""

    def look(self) -> LessonNow:
        """The lesson as it is now."""

    def begin(self, number: int) -> None:
        """Begin a lesson; raises InputError."""


Next = Literal["home", "again", "play"]
"""What comes after a game or set-up: the home page, the same again, or a game."""


class DoorPort(Protocol):
    """The way back from a game to the home page that started it."""

    def leave(self, then: Next = "home") -> None:
        """End the game; `then` says what the home page does."""


Activity = Literal["play", "match", "resume", "demo", "lessons", "set-up"]
"""What the home page starts: a game on the real table, the next match of an event, the game that
was cut off, a simulated game, lessons at a simulated table, the set-up of a table.
"""


@dataclass(frozen=True, slots=True)
class TableInUse:
    """The table that is set up: the game it was made for, its size in mm, its camera.

    `rough` is true as long as its lens is only a first estimate.
    """

    game: str
    size_mm: tuple[float, float]
    camera: str
    rough: bool


@dataclass(frozen=True, slots=True)
class MatchHere:
    """The match that a hub gave this table: what the table is called there, and who plays what.

    `players` are people's names, the one who begins first; `terms` is a few words such as "to 13".
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

    `starting` is what is being started; `notice` is why the last thing did not start, or ended by
    itself. `trouble` is why the table that is stored cannot be used. `over` is set once Rinkside
    ends. `cut_off`: a game can be gone on with. `can_end`: it does not start again at once.
    `match` is what this table plays next.
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
    """What the home page shows and starts."""

    def look(self) -> HomeNow:
        """Its state now."""

    def games(self) -> Sequence[str]:
        """Names of the games that can be tried with simulated players."""

    def taught(self) -> Sequence[str]:
        """Names of the games that have lessons."""

    def devices(self) -> Sequence[DeviceFound]:
        """Cameras, lamps, dice and other parts; looks for them, which takes seconds."""

    def picture(self, camera: str) -> bytes | None:
        """A JPEG of what a camera sees that `devices` found; None where it gives none."""

    def start(self, activity: Activity, game: str = "") -> None:
        """Start something; raises InputError where something else is starting.

        For a match `game` is its number.
        """

    def cancel(self) -> None:
        """Give up what is being started."""

    def shut_down(self) -> None:
        """End Rinkside, and switch the machine off if it was started so."""


@dataclass(frozen=True, slots=True)
class DeviceFound:
    """A camera or another part: what it is, where, and what is wrong with it (empty: it works).

    `camera` is what --camera takes, for a camera.
    """

    part: str
    name: str
    trouble: str = ""
    camera: str = ""


class FirstSetUpPort(Protocol):
    """A table that is set up from nothing."""

    def look(self) -> FirstSetUpNow:
        """How far it is."""

    def jpeg(self, spec: str = "") -> bytes | None:
        """The newest picture of a camera, the chosen one unless another is named."""

    def checked(self) -> bytes | None:
        """The picture that was measured, with the board drawn in."""

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
    """A session that people set up."""

    def look(self) -> bool:
        """True if the game has begun; called by the page that shows it."""

    def begin(self, choice: Choice) -> None:
        """As `SettingUp.begin`."""


class TablePort(Protocol):
    """A table that is being made ready for a session."""

    @property
    def setup(self) -> Setup:
        """The table as it is known now."""

    @property
    def lens(self) -> LensPort | None:
        """The calibration of a lens that was begun last; None before the first."""

    @property
    def frame_seq(self) -> int:
        """The number of the newest picture; -1 before the first."""

    def jpeg(self) -> bytes | None:
        """The newest picture as a JPEG; None before the first."""

    def steps(self) -> Mapping[str, Step]:
        """How far each part is: camera, lens, table, colours."""

    def request_job(self, job: Job) -> None:
        """As `TableWizard.request_job`."""


class LensPort(Protocol):
    """A lens that is being calibrated."""

    def look(self) -> LensNow:
        """The calibration's state, for a page that shows it now."""

    def jpeg(self) -> bytes | None:
        """The newest frame with the guidance drawn in, as a JPEG; None before the first."""

    def end(self) -> None:
        """As `LensGuide.end`."""


class CornersPort(Protocol):
    """A table whose board's corners people put by hand."""

    def look(self) -> CornersNow:
        """The calibration's state, for a page that shows it now."""

    def jpeg(self) -> bytes:
        """The photograph as a JPEG."""

    def put(self, corners_px: Sequence[tuple[float, float]]) -> bool:
        """As `CornersGuide.put`."""


class RulerPort(Protocol):
    """What is measured at this moment, with no game running."""

    @property
    def setup(self) -> Setup:
        """The table that is measured on."""

    @property
    def latest(self) -> RulerNow:
        """The newest measurement."""

    def jpeg(self) -> bytes | None:
        """The newest frame as a JPEG; None before the first."""


@dataclass(frozen=True, slots=True)
class InPhoto:
    """What people say lies on the mat; what is empty is read off the photograph."""

    target: str = ""
    colours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MeasuredPhoto:
    """A photograph that was measured.

    `sentence` says who leads, `jpeg` is the photograph with the gaps drawn in, `found` is what lay
    there.  `assumed`: some of that was read off the photograph, because nobody had named it.
    """

    sentence: str
    ranking: tuple[Ranked, ...]
    jpeg: bytes
    found: InPhoto
    assumed: bool


PhotoReader = Callable[[bytes, str, InPhoto], MeasuredPhoto]
"""Measures a photograph, the content of a file, whose name is used in messages.

Raises InputError.  Implemented by `cli.photo_page`.
"""
