"""Whole simulated games, refereed.

Players move, roll and vote, err and cheat; what the referee made of each act is set beside what
truly happened.
"""

from __future__ import annotations

import datetime
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.games.misreading import BadEyes
from engines import GAMES as GAMES_OF
from engines import Rules
from engines.errors import IllegalMove
from referee.live.dice_monitor import DiceMonitor, monitor_dice
from referee.live.referee import Observe, Referee
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Answered,
    Declared,
    QuestionAsked,
    SessionStarted,
    VerdictReached,
)
from referee.sessions.session import Session
from referee.sessions.start import opening
from simulation.camera import SimulatedCamera
from simulation.players.acts import JudgedAct
from simulation.players.driver import MISTAKES, Players
from simulation.players.ice_boule import Players as BoulePlayers
from simulation.players.ice_boule import agrees, true_layout
from simulation.players.ice_boule_table import demo_place, demo_setup
from simulation.render.renderer import PicturesOf, Renderer
from simulation.render.scene import Scene
from simulation.tables import WIDTH_PX, game_table, seat
from table.errors import InputError
from table.observation import Camera
from table.table_config import Setup
from vision.cameras.base import CameraPort
from vision.cameras.frame import Frame
from vision.change_gate import Watch

GAMES = ("ice_boule", "icebreaker", "icefloe", "zamboni_wars", "ice_storm")
PERIOD_MS = 500
"""Between two pictures: as long as a table has to be at rest, so that nobody draws and reads
pictures that only pass the time.
"""
IDLE_FRAMES = 240
"""A game in which nobody did anything for so long has come to a stop: two minutes."""
COUNTS = {"ice_boule": ("leading", "next", "scores", "end", "outcome")}
"""What of a game's state an answer has to change for the question to be needed; where nothing is
named, anything.
"""
STUCK = 4
"""A game is given up after so many acts in a row on which nobody ruled rightly: people would mend
the table or the light first.
"""


class RefereedAct(msgspec.Struct, frozen=True):
    """An act, and what the referee made of it.

    `verdict` is as in `JudgedAct`, `message` what was put on record. `panel` is what the panel said
    when the players gave up waiting, empty if no more than whose turn it is. `needed`: whether the
    answers of a question would have had different consequences.
    """

    name: str
    lawful: bool
    moves: tuple[str, ...]
    verdict: str
    message: tuple[str, ...]
    panel: str = ""
    needed: bool = True


class Game(msgspec.Struct, frozen=True):
    """A game: all acts, and scores in truth and in the record.

    `failed` is the error that ended it, if one did.
    """

    game: str
    seed: int
    width_px: int
    deeds: tuple[RefereedAct, ...]
    scores: tuple[float, ...] = ()
    recorded: tuple[float, ...] = ()
    over: bool = False
    frames: int = 0
    took_s: float = 0.0
    failed: str = ""

    @property
    def unflagged(self) -> bool:
        """Do the scores differ, and nothing told of it?"""
        return (
            self.scores != self.recorded and bool(self.deeds) and self.deeds[-1].verdict == "right"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Eyes:
    """What a game is refereed with.

    Pictures, what reads them, and what reads the dice corner, if anything does.
    """

    camera: CameraPort
    observe: Observe
    dice: DiceMonitor | None = None


Seeing = Callable[[Setup, Camera, Callable[[int], Scene], int, Session], Eyes]
"""Eyes for a table, a camera's place, what lies there at a time in ms, a seed and a session."""


def seeing_pictures(before: PicturesOf) -> Seeing:
    """The eyes of the project, with what takes pictures `before` a table."""

    def see(
        setup: Setup, place: Camera, scene_at: Callable[[int], Scene], seed: int, _session: Session
    ) -> Eyes:
        return Eyes(
            SimulatedCamera(setup, place, scene_at, seed, PERIOD_MS, before=before),
            Watch(),
            monitor_dice(setup),
        )

    return see


def seeing_faults(faults: Sequence[int]) -> Seeing:
    """Vision that knows what lies there and misreads some of it.

    Each table has a number of misreadings drawn from `faults`. Dice are not read.
    """

    def see(
        setup: Setup, place: Camera, scene_at: Callable[[int], Scene], seed: int, session: Session
    ) -> Eyes:
        eyes = BadEyes(scene_at, setup, place, seed, None, faults, session.view)
        return Eyes(eyes, eyes)

    return see


def play(
    game: str,
    seed: int,
    acts: int | None = None,
    width_px: int = WIDTH_PX,
    mistakes: float = MISTAKES,
    seeing: Seeing | None = None,
    before: PicturesOf = Renderer,
) -> Game:
    """A game, or so many acts of it that the camera sees, refereed.

    What takes pictures stands `before` the table; `seeing` are other eyes than the project's before
    these pictures.

    In Ice Boule the players follow the referee, nobody makes mistakes on purpose, and what the
    referee says is set beside the table.
    """
    began_s = time.perf_counter()
    table = None if game == "ice_boule" else game_table(game, seed, width_px, before)
    setup, place = (demo_setup(), demo_place()) if table is None else (table.setup, table.place)
    with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
        started = _start_event(game, setup, {} if table is None else table.rulings)
        with closing(Session.begin(log, started)) as session:
            players = (
                BoulePlayers(session, setup, seed)
                if table is None
                else seat(session, table, mistakes)
            )
            eyes = (seeing or seeing_pictures(before))(
                setup, place, players.scene_at, seed, session
            )
            beside = (
                _Throws(eyes.camera, players, session, acts)
                if isinstance(players, BoulePlayers)
                else _Acts(game, eyes.camera, players, acts)
            )
            failed = _referee(beside, eyes, setup, session, table and table.empty)
            state: Any = session.ledger.state
        with closing(Session.reopen(log, session.id)) as again:
            if again.ledger.state != state:
                failed = failed or "a log that tells of another state than the referee had"
    return Game(
        game,
        seed,
        setup.camera.width,
        tuple(beside.deeds),
        beside.scores,
        state.scores,
        beside.over,
        beside.frames,
        time.perf_counter() - began_s,
        failed,
    )


def _start_event(game: str, setup: Setup, rulings: dict[str, str]) -> SessionStarted:
    now = datetime.datetime.now(datetime.UTC)
    return opening(game, setup.game.colours, rulings, setup, "simulated", now, simulated=True)


def _referee(
    beside: _Throws | _Acts, eyes: Eyes, setup: Setup, session: Session, empty: Frame | None
) -> str:
    """Referee the game to its end; returns the error that ended it, empty if none did."""
    referee = Referee(beside, setup, eyes.observe, session, empty, dice=eyes.dice)
    beside.panel = lambda: _message_beyond_turn(referee.latest.message, session)
    try:
        referee.run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


class _Acts:
    """A camera that ends once the game is over, the players are stuck, or have done `acts` acts."""

    def __init__(self, game: str, camera: CameraPort, players: Players, acts: int | None) -> None:
        self.name, self.simulated, self.frames = camera.name, True, 0
        self.panel: Callable[[], str] = str
        """What the panel says now that is more than whose turn it is."""
        self.deeds: list[RefereedAct] = []
        self._game, self._camera, self._players, self._acts, self._acted = (
            game,
            camera,
            players,
            acts,
            0,
        )

    @property
    def over(self) -> bool:
        return self._players.over

    @property
    def scores(self) -> tuple[float, ...]:
        """As they truly are."""
        state: Any = self._players.state
        return tuple(state.scores)

    def read(self) -> Frame | None:
        seen = sum(one.act.heard is None for one in self._players.done)
        idle = self.frames - self._acted > IDLE_FRAMES
        if (
            self.over
            or seen == self._acts
            or idle
            or is_stuck([one.verdict for one in self._players.done])
        ):
            return None
        self.frames += 1
        frame = self._camera.read()
        if done := self._players.done[len(self.deeds) :]:
            self.deeds += [_deed(self._game, one, self.panel()) for one in done]
            self._acted = self.frames
        return frame

    def close(self) -> None:
        self._camera.close()


def is_stuck(verdicts: Sequence[str]) -> bool:
    """Does nothing that is done come right any more?"""
    return len(verdicts) >= STUCK and not {"right", "asked"} & {*verdicts[-STUCK:]}


class _Throws:
    """A camera that ends with a game of Ice Boule.

    Beside it somebody measures every throw and counts the points.
    """

    def __init__(
        self, camera: CameraPort, players: BoulePlayers, session: Session, throws: int | None
    ) -> None:
        self.name, self.simulated, self.frames = camera.name, True, 0
        self.panel: Callable[[], str] = str
        self.deeds: list[RefereedAct] = []
        self._scores = [0] * len(session.ledger.players)
        self._camera, self._players, self._session, self._throws = camera, players, session, throws
        self._seq, self._taken_back, self._acted = session.ledger.seq, 0, 0
        self._asked: list[QuestionAsked] = []
        """Since the last act."""
        self._unread = False
        """Whether the throw that lies there was said to be unreadable, and counts as not seen."""

    @property
    def over(self) -> bool:
        ledger = self._session.ledger
        return ledger.engine.outcome(ledger.state) is not None

    @property
    def scores(self) -> tuple[float, ...]:
        """As they truly are."""
        return tuple(self._scores)

    def read(self) -> Frame | None:
        self._compare()
        idle = self.frames - self._acted > IDLE_FRAMES
        if (
            self.over
            or len(self.deeds) == self._throws
            or idle
            or is_stuck([one.verdict for one in self.deeds])
        ):
            return None
        self.frames += 1
        return self._camera.read()

    def close(self) -> None:
        self._camera.close()

    def _compare(self) -> None:
        """Compare the rulings since the last frame with the table as it lies.

        Nobody touches it before the next frame.
        """
        known = len(self.deeds)
        for record in self._session.records(self._seq):
            self._seq, event = record.seq, record.event
            if isinstance(event, QuestionAsked):
                self._asked.append(event)
            elif isinstance(event, VerdictReached | Answered | Declared):
                self._record_ruling(event)
        for _ in range(self._players.taken_back - self._taken_back):
            if self._unread:
                self._unread = False
                continue
            asked = tuple(event.message for event in self._asked)
            self.deeds.append(RefereedAct("throw", True, (), "nothing", asked))
            self._asked = []
        self._taken_back = self._players.taken_back
        self._acted = self.frames if len(self.deeds) > known else self._acted

    def _record_ruling(self, event: VerdictReached | Answered | Declared) -> None:
        message = (getattr(event, "message", ""),)
        if isinstance(event, VerdictReached) and event.verdict == "waiting":
            return
        if isinstance(event, VerdictReached) and event.verdict != "accepted":
            self._unread = event.verdict == "cannot_see"
            self.deeds.append(
                RefereedAct(
                    "throw",
                    True,
                    event.moves,
                    "not seen" if event.verdict == "cannot_see" else "wrong",
                    message,
                )
            )
            return
        if not event.moves:
            return
        self._unread = False
        state: Any = self._session.ledger.state
        truth = true_layout(self._players.table)
        table, name = self._players.table, event.moves[-1].partition(" ")[0]
        in_play = table.target is not None and table.in_play(table.target)
        right = (
            in_play
            if name == "target"
            else not in_play
            if name == "void"
            else agrees(state.layout, truth)
        )
        verdict = ("asked" if self._asked else "right") if right else "wrong"
        self.deeds.append(
            RefereedAct(
                name,
                True,
                event.moves,
                verdict,
                message,
                needed=_is_useful("ice_boule", self._asked),
            )
        )
        self._asked = []
        if state.end is not None and state.end.kind == "won" and len(truth.leaders) == 1:
            (leader,) = truth.leaders
            self._scores[state.players.index(leader)] += truth.points(leader)


def is_needed(game: str, asked: QuestionAsked) -> bool:
    """Whether it changes anything now which of the answers is true.

    In Ice Boule: who leads, who throws next, the score, or who wins.
    """
    engine = GAMES_OF[game]
    try:
        state = engine.State.parse(asked.state["state"])
    except InputError:
        return True  # what is secret is left out of the record
    try:
        return len({_outcome(engine, state, choice.moves) for choice in asked.choices}) > 1
    except IllegalMove:
        return (
            True  # it hangs on the throw that was ruled last, which a state in words does not keep
        )


def _outcome(engine: Rules, state: Any, moves: Sequence[str]) -> str:
    for move in moves:
        state = engine.play(state, engine.parse_move(move))
    document = engine.state_document(state)
    return repr([document[key] for key in COUNTS.get(engine.NAME, ("state",))])


def _is_useful(game: str, asked: Sequence[QuestionAsked]) -> bool:
    return not asked or any(is_needed(game, event) for event in asked)


def _deed(game: str, done: JudgedAct, panel: str) -> RefereedAct:
    message = tuple(getattr(event, "message", "") for event in done.events)
    useful = _is_useful(game, [event for event in done.events if isinstance(event, QuestionAsked)])
    return RefereedAct(
        done.act.name,
        done.act.lawful,
        done.act.moves,
        done.verdict,
        message,
        "" if done.events else panel,
        useful,
    )


def _message_beyond_turn(message: str, session: Session) -> str:
    ledger = session.ledger
    return "" if message == ledger.engine.state_document(ledger.state)["turn"] else message
