"""Simulated players of the games that are played on a board.

They move, roll and vote; they make mistakes, cheat, and correct it. One driver serves all games.
The contents of the table are a value, `Bodies`. An act makes a new one, and states the ruling that
the referee has to make. A game only knows its states and their possible acts: see `Play`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Protocol

import numpy as np

from engines import Rules
from referee.sessions.commands import Answer, Command, Declare, Hear, Undo
from referee.sessions.events import (
    Answered,
    Corrected,
    Event,
    InputRecorded,
    QuestionAsked,
    Record,
    Undone,
    VerdictReached,
)
from referee.sessions.state import SessionState
from simulation.players.acts import (
    Act,
    JudgedAct,
    act_verdict,
    agrees_up_to_doubt,
    is_heard,
    may_lead_to_question,
    rests_on_table,
)
from simulation.players.hands import WHO, PlayerHands, Steps
from simulation.players.laying import Bodies, middle_mm, names_of_stack, without
from simulation.render.scene import Body, Limb, Scene, SceneDie, ScenePiece, Slab, Stage
from table.observation import Camera
from table.solids import Array
from table.table_config import Setup
from vision.cameras.frame import Frame

MISTAKES = 0.25
"""Probability of a mistake before a move, if the game has a possible one."""
THINK_MS = 1200
"""Time before an answer, and after the table was corrected."""
SAY_MS = 500
"""Time for a spoken word."""
SHAKE_MS = 800
"""Time for which a die is shaken before it is rolled."""
SEEN_MS, SEEN_FRAMES = 1200, 4
"""Time, and number of pictures, for which players do not touch what they laid back."""
PATIENCE_MS, PATIENCE_FRAMES = 6000, 16
"""Time, and number of pictures, after both of which an act without a ruling is undone."""
IN_VAIN = 5
"""Number of lawful acts in a row without a right ruling after which the act is declared."""
SET_UPS = 2
"""Number of repeated set-ups of a board before its position is declared."""


class Play(Protocol):
    """A game for simulated players."""

    @property
    def engine(self) -> Rules:
        """Its rules."""

    def begin(self, state: Any) -> Act | None:
        """Set up the board; None if it begins empty."""

    def laid(self, state: Any) -> Bodies | None:
        """As `ByHand.laid`."""

    def turn(self, state: Any, bodies: Bodies) -> Act:
        """A random act that the rules allow."""

    def mistake(self, state: Any, bodies: Bodies) -> Act | None:
        """A random act that the rules forbid, or None."""

    def same(self, state: Any, other: Any) -> bool:
        """Whether two states are equivalent."""

    def spares(self) -> Bodies:
        """As `ByHand.spares`."""

    def named(self, bodies: Bodies) -> Bodies:
        """As `ByHand.named`."""

    def taken(self, bodies: Bodies, name: str) -> Bodies:
        """As `ByHand.taken`."""

    def completed(self, state: Any, bodies: Bodies) -> Bodies:
        """As `ByHand.completed`."""

    def mover(self, state: Any) -> str | None:
        """As `ByHand.mover`."""


class ByHand:
    """Default methods of `Play`."""

    def laid(self, _state: Any) -> Bodies | None:
        """The table in any state of a game; None if only that of the beginning is known."""
        return None

    def spares(self) -> Bodies:
        """Pieces in players' hands before the game."""
        return {}

    def named(self, bodies: Bodies) -> Bodies:
        """The bodies by the names that the game gives them at their present places."""
        return bodies

    def taken(self, bodies: Bodies, name: str) -> Bodies:
        """The table without a body and all that stands on it."""
        return without(bodies, *names_of_stack(bodies, name))

    def completed(self, _state: Any, bodies: Bodies) -> Bodies:
        """The table with the bodies of a state that no move brings along."""
        return bodies

    def mover(self, state: Any) -> str | None:
        """Who acts next; None if it is nobody's turn."""
        waited = (getattr(state, name, None) for name in ("next", "attacker", "to_move"))
        return next((player for player in waited if player), None)


def _unchanged_setup(setup: Setup, _rng: np.random.Generator, _seed: int) -> Setup:
    return setup


def _no_rulings(_setup: Setup) -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPlayers:
    """Simulated play of a game on a board.

    It is an entry point of the group `rinkside.players`, under the game's name. `random_setup`
    makes a random table, `play` is the game's `Play`. `finish` adds the game's further needs to the
    table, from chance or its seed, and names the players. `rulings` are the options on that table
    that differ from the usual ones. Lessons are given on the table of `lessons_seed`.
    """

    random_setup: Callable[[np.random.Generator], Setup]
    play: Callable[[Setup, np.random.Generator], Play]
    finish: Callable[[Setup, np.random.Generator, int], Setup] = _unchanged_setup
    rulings: Callable[[Setup], dict[str, str]] = _no_rulings
    lessons_seed: int = 1


class DemoTable(Protocol):
    """A simulated table before its game, with all its players."""

    @property
    def setup(self) -> Setup:
        """Its table.json: lens, cards, board and game."""

    @property
    def place(self) -> Camera:
        """Its camera's pose."""

    @property
    def rulings(self) -> dict[str, str]:
        """Options of the game that differ from the usual ones."""

    @property
    def empty(self) -> Frame | None:
        """A picture of it before play, None if tiles are the board."""

    @property
    def stage(self) -> Stage:
        """Its surface and light."""

    def seated(self, session: Any, setup: Setup) -> SeatedPlayers:
        """Its players at a table with a setup for their game; their commands go to `session`."""


class SeatedPlayers(Protocol):
    """Players at a table, which people may join.

    `bodies` are the contents of the table. `people` are the colours that people play: no simulated
    player moves, rolls or votes for these. `stacks` is true if pieces may stand on each other,
    `throws` if they come on the table by throws. While `waits` is true, no simulated player begins
    an act.
    """

    bodies: Bodies
    people: frozenset[str]
    waits: bool
    stacks: bool
    throws: bool

    @property
    def busy(self) -> bool:
        """True while one of them acts."""

    @property
    def ready(self) -> bool:
        """True if the table is set up for the game on record."""

    def scene_at(self, at_ms: int) -> Scene:
        """The scene at a time; times must not go back."""

    def arm(self, player: str, tip_mm: Array) -> tuple[Limb, ...]:
        """The arm of a player from the player's seat, with the hand at a place (3,)."""

    def spares(self) -> Bodies:
        """As `ByHand.spares`."""

    def taken(self, bodies: Bodies, name: str) -> Bodies:
        """As `ByHand.taken`."""

    def recorded(self) -> Bodies | None:
        """The bodies as they lay when the referee last agreed; None before."""


class ObservedSession(Protocol):
    """The players' view of the session: a `referee.sessions.session.Session`."""

    @property
    def ledger(self) -> SessionState:
        """The state after the last record."""

    def records(self, after: int = 0) -> tuple[Record, ...]:
        """Records with seq > `after`."""

    def command(self, command: Command) -> Any:
        """Send a command to the referee."""


class Players:
    """All players at a board.

    The camera calls `scene_at` in order of time; `done` lists all acts in order. `state` is the
    truth: it follows the players, who correct the referee where it errs.
    """

    def __init__(
        self,
        session: ObservedSession,
        setup: Setup,
        stage: Stage,
        play: Play,
        rng: np.random.Generator,
        mistakes: float = MISTAKES,
    ) -> None:
        self.state: Any = session.ledger.state
        self.done: list[JudgedAct] = []
        self._session, self._stage, self._play, self._rng, self._mistakes = (
            session,
            stage,
            play,
            rng,
            mistakes,
        )
        self._game_seq, self._set_up = session.ledger.game_seq, -1
        """The game that is played, and the last one for which the table was set up."""
        self.bodies: Bodies = {}
        self._seen: Bodies = {}
        self.people: frozenset[str] = frozenset()
        self.stacks, self.waits, self._acting = False, False, False
        self._followed = 0
        """The newest record whose table the players have laid."""
        self.spares, self.taken = play.spares, play.taken
        self.throws = bool(play.spares())
        self._lay_at: dict[str, Bodies] = {}
        """Bodies in each state of this game's record, if known."""
        self._noted, self._noted_state = session.ledger.seq, str(self.state)
        """The newest record in `_lay_at`, and the state after it."""
        self._in_vain = 0
        """Number of lawful acts in a row without a right ruling."""
        self._people = PlayerHands(session, setup)
        self.arm = self._people.arm
        self._script = self._play_evening()

    @property
    def busy(self) -> bool:
        """True while one of them acts, or is about to lay back what was undone."""
        return self._acting or self._has_undone_moves()

    @property
    def ready(self) -> bool:
        """As `SeatedPlayers.ready`."""
        return self._set_up == self._session.ledger.game_seq

    def scene_at(self, at_ms: int) -> Scene:
        """The scene at a time; times must not go back."""
        self._people.look_up(at_ms)
        self._note()
        self._script = self._people.go_on(self._script, self._resume)
        self._seen = self.bodies
        bodies = self.bodies.values()
        pieces = tuple(body for body in bodies if isinstance(body, ScenePiece))
        slabs = tuple(body for body in bodies if isinstance(body, Slab))
        return Scene(
            self._stage,
            pieces,
            self._people.limbs,
            slabs,
            tuple(body for body in bodies if isinstance(body, SceneDie)),
        )

    @property
    def over(self) -> bool:
        """Whether the game is over, in truth and in the record."""
        return self._play.engine.outcome(self.state) is not None and self._play.same(
            self._session.ledger.state, self.state
        )

    def _resume(self) -> Steps:
        """Play on from the recorded state, after THINK_MS."""
        self.state = self._session.ledger.state
        yield from self._people.wait(THINK_MS)
        yield from self._play_turns()

    def _play_evening(self) -> Steps:
        """All acts of the players, one step a frame."""
        yield
        yield from self._begin()
        yield from self._play_turns()

    def _play_turns(self) -> Steps:
        """All acts after the board is set up."""
        while True:
            self._acting = False
            while self.waits:
                yield
            ledger, lay = self._session.ledger, self.recorded()
            if ledger.game_seq != self._game_seq:
                self._game_seq, self.state, self.bodies = ledger.game_seq, ledger.state, {}
                self._lay_at, self._noted_state = {}, ""
                yield from self._begin()
            elif ledger.question is not None:
                if self.people:
                    yield
                    continue
                yield from self._people.wait(THINK_MS)
                self._answer((), confirms_record=True)
                yield
            elif ledger.paused:
                yield
            elif self._has_undone_moves() or not self._play.same(ledger.state, self.state):
                yield from self._follow()
            elif self._play.engine.outcome(self.state) is not None:
                yield
            elif self._play.mover(self.state) in self.people:
                due = self._play.completed(self.state, self.bodies)
                if brought := {name: due[name] for name in due.keys() - self.bodies.keys()}:
                    yield from self._lay(due)
                    self._lay_at[str(self.state)] = {**(lay or self.bodies), **brought}
                yield
            elif self.people and lay is not None and lay != self.bodies:
                yield from self._lay(self._with_dice(lay))
                self._remember()
            else:
                yield from self._act()

    def _act(self) -> Steps:
        """Do the next act, or a mistake before it; people do their own acts."""
        self._remember()
        if self._rng.random() < self._mistakes * (not self.people) and (
            wrong := self._play.mistake(self.state, self.bodies)
        ):
            yield from self._perform(wrong)
        act = self._play.turn(self.state, self.bodies)
        if act.heard is not None and act.heard.get("player") in self.people:
            yield
            return
        before = self.state
        if act.ruling != "declared":
            yield from self._perform(act)
            self._in_vain = self._in_vain + 1 if self._play.same(before, self.state) else 0
        if act.ruling == "declared" or self._in_vain >= IN_VAIN:
            self._in_vain = 0
            yield from self._declare(act)

    def _begin(self) -> Steps:
        """Set up the board, also that of a game that was declared to have begun already."""
        laid = self._play.laid(self.state) if self._session.ledger.standing else None
        if laid is None:
            yield from self._set_up_board()
        else:
            yield from self._lay(laid)
            self._remember()
        self._set_up = self._game_seq

    def _set_up_board(self) -> Steps:
        """Set up the board for the beginning of a game.

        If the camera cannot read it, it stays as it is, and its moves are declared.
        """
        begin = self._play.begin(self.state)
        for _ in range(SET_UPS):
            if begin is None:
                return
            yield from self._perform(begin)
            if self.done[-1].verdict in ("right", "asked"):
                return
            begin = self._play.begin(self.state)
        if begin is not None:
            yield from self._declare(begin)

    def _declare(self, act: Act) -> Steps:
        """Do an act that the referee cannot see, and declare it."""
        yield from self._lay(act.bodies)
        if act.moves:
            self._people.say(Declare(moves=act.moves, decided_by=WHO))
            self.state = self._session.ledger.state
        self._remember()

    def _follow(self) -> Steps:
        """Follow people: those at the table, and those who changed the record at the panel.

        Undone moves are laid back. Nothing is laid if the players never laid that state, and no
        person plays.
        """
        ledger = self._session.ledger
        self._followed = ledger.seq
        bodies, newest = self.recorded(), self._session.records(ledger.seq - 1)
        if bodies is not None and not (self.people and _shows_play(newest)):
            self.state, self._acting = ledger.state, True
            yield from self._lay(self._with_dice(bodies))
            if self.people:  # the referee rules again only on a change that it sees
                yield from repeat(None, SEEN_FRAMES)
                yield from self._people.wait(SEEN_MS)
        elif self.people:
            self.state, self.bodies = ledger.state, self._play.named(self.bodies)
        yield

    def _has_undone_moves(self) -> bool:
        """True if the players have yet to lay back what people undid or corrected at the panel."""
        ledger = self._session.ledger
        if not self.people or ledger.seq == self._followed:
            return False
        newest = self._session.records(ledger.seq - 1)
        if not newest or _shows_play(newest):
            return False
        lay = self.recorded()
        return lay is not None and self._with_dice(lay) != self.bodies

    def recorded(self) -> Bodies | None:
        """As `SeatedPlayers.recorded`, also for a record that these players have yet to follow."""
        self._note()
        return self._lay_at.get(str(self._session.ledger.state))

    def _remember(self) -> None:
        self._lay_at[str(self.state)] = self.bodies

    def _note(self) -> None:
        """Store the bodies for the states of new records.

        They are those that the referee saw, because by now the next piece may have been taken up.
        For a record of something said, they are those of the state before, because pieces may lie
        wrongly then.
        """
        ledger = self._session.ledger
        if ledger.seq == self._noted or ledger.game_seq != self._game_seq:
            return
        counted = {entry.by: entry.state for entry in ledger.standing}
        lay, since = self._lay_at.get(self._noted_state), self._session.records(self._noted)
        for record in since:
            if record.seq in counted:
                if lay is None or rests_on_table(record.event):
                    lay = self._play.named(self._seen)
                self._lay_at[str(counted[record.seq])] = lay
        if lay is not None and not isinstance(since[-1].event, Undone):
            self._lay_at.setdefault(str(ledger.state), lay)
        self._noted, self._noted_state = ledger.seq, str(ledger.state)

    def _with_dice(self, bodies: Bodies) -> Bodies:
        """These bodies, with the dice as they lie now: to lay them back would be another roll."""
        return {**bodies, **{name: self.bodies[name] for name in _rolled(bodies, self.bodies)}}

    def _perform(self, act: Act) -> Steps:
        """Do an act, wait for the ruling, and undo it if it does not stand."""
        before, mark, self._acting = self.bodies, self._session.ledger.seq, True
        after = self.state
        for move in act.moves if act.lawful else ():
            after = self._play.engine.play(after, self._play.engine.parse_move(move))
        if act.heard is None:
            yield from self._lay(act.bodies)
            yield from self._await_ruling(mark, act)
        else:
            yield from self._say(act.heard)
        typed = act.typed is not None and all(
            isinstance(record.event, QuestionAsked | Answered)
            for record in self._session.records(mark)
        )
        if act.typed is not None and typed:
            yield from self._say(act.typed)
        events = tuple(record.event for record in self._session.records(mark))
        stands = self._stands(act, after, events)
        verdict = act_verdict(act, events, stands)
        self.done.append(
            JudgedAct(
                act, str(self.state), events, "asked" if typed and verdict == "right" else verdict
            )
        )
        if act.lawful and stands:
            self.state = self._session.ledger.state
            self._remember()
            return
        if act.heard is not None and self.people:
            return  # a person was faster; what people say stays
        self._take_back(mark)
        before = self._with_dice(before)
        if self.bodies != before:
            yield from self._lay(before)
        yield from self._people.wait(THINK_MS)
        if act.lawful or any(
            isinstance(event, VerdictReached) and event.verdict == "out_of_sync" for event in events
        ):
            yield from self._look_at_the_panel()

    def _stands(self, act: Act, after: Any, events: Sequence[Event]) -> bool:
        """True if the record agrees with the act.

        People may have said something at the same time, such as their vote.
        """
        return self._play.same(self._session.ledger.state, after) or (
            bool(self.people and act.moves)
            and any(
                isinstance(event, VerdictReached | InputRecorded) and event.moves == act.moves
                for event in events
            )
        )

    def _look_at_the_panel(self) -> Steps:
        """Wait until the referee accepts the restored table.

        Its questions are answered with "as recorded".
        """
        began_ms = self._people.now_ms
        while self._people.now_ms - began_ms < PATIENCE_MS:
            if self._session.ledger.question is not None:
                yield from self._people.wait(THINK_MS)
                self._answer((), confirms_record=True)
                yield
                return
            yield

    def _say(self, heard: Mapping[str, Any]) -> Steps:
        yield from self._people.wait(SAY_MS)
        self._people.say(Hear(heard=dict(heard), decided_by=WHO))
        yield

    def _take_back(self, mark: int) -> None:
        """Appeal against all rulings since record `mark` that still count.

        Statements of people at the table are left to them.
        """
        heard = {
            record.seq
            for record in self._session.records(mark)
            if self.people and is_heard(record.event)
        }
        for entry in reversed(self._session.ledger.standing):
            if entry.seq > mark and entry.moves and entry.seq not in heard:
                self._people.say(Undo(record=entry.seq, decided_by=WHO))
        if (question := self._session.ledger.question) is not None:
            self._people.say(Undo(record=question.seq, decided_by=WHO))

    def _lay(self, bodies: Bodies) -> Steps:
        """A hand comes, changes what differs, and goes.

        A die that is rolled is first taken out of its corner and shaken.
        """
        now, self._acting = self.bodies, True
        changed = [
            bodies.get(name) or now[name]
            for name in {**now, **bodies}
            if bodies.get(name) is not now.get(name)
        ]
        player = self._session.ledger.state.next or self._session.ledger.players[0]
        if rolled := _rolled(now, bodies):
            yield from self._reach_and_lay(player, now[rolled[0]], without(now, *rolled))
            yield from self._people.wait(SHAKE_MS)
        yield from self._reach_and_lay(player, changed[0] if changed else None, bodies)

    def _reach_and_lay(self, player: str, to: Body | None, bodies: Bodies) -> Steps:
        """An arm reaches for a body. When it leaves, `bodies` lie on the table."""
        yield from self._people.reach(
            player, None if to is None else np.array([*middle_mm(to), 45.0])
        )
        self.bodies = bodies
        yield
        yield from self._people.reach(player, None)

    def _await_ruling(self, mark: int, act: Act) -> Steps:
        """Wait for the referee's ruling on an act, and answer its questions.

        "As recorded" and "cannot be made out" are no rulings on the act. Nor is "the table is not
        as it was", if the act is lawful.
        """
        began_ms, frames = self._people.now_ms, 0
        while self._people.now_ms - began_ms < PATIENCE_MS or frames < PATIENCE_FRAMES:
            ledger = self._session.ledger
            if ledger.question is not None:
                yield from self._people.wait(THINK_MS)
                self._answer(
                    act.moves if act.lawful else (),
                    confirms_record=act.lawful and (act.ruling == "heard" or not act.moves),
                )
                answered = self._session.records(self._session.ledger.seq - 1)[-1]
                if not (
                    act.moves
                    and isinstance(answered.event, Answered)
                    and answered.event.confirms_record
                ):
                    return
                mark = answered.seq
            since = self._session.records(mark)
            if (
                since
                and not ledger.paused
                and not all(may_lead_to_question(record.event, act) for record in since)
            ):
                return
            frames += not ledger.paused
            yield

    def _answer(self, truth: tuple[str, ...], confirms_record: bool) -> None:
        """Answer the question with the truth, if it is among the choices.

        Otherwise with a choice that leaves the true squares open. `truth` is empty if no act
        counts; with `confirms_record` the table is as recorded. If neither fits, a choice without
        moves is taken.
        """
        question = self._session.ledger.question
        if question is None or not isinstance(question.event, QuestionAsked):
            return
        choices = question.event.choices
        label = next(
            (
                choice.label
                for choice in choices
                if truth and self._lead_to_same_state(choice.moves, truth)
            ),
            None,
        )
        label = label or next(
            (
                choice.label
                for choice in choices
                if truth and agrees_up_to_doubt(choice.moves, truth)
            ),
            None,
        )
        label = label or next(
            (
                choice.label
                for choice in choices
                if not choice.moves and choice.confirms_record == confirms_record
            ),
            None,
        )
        label = label or next((choice.label for choice in choices if not choice.moves), None)
        if label is not None:
            self._people.say(Answer(question=question.seq, label=label, decided_by=WHO))

    def _lead_to_same_state(self, moves: tuple[str, ...], truth: tuple[str, ...]) -> bool:
        """True if the moves lead to the true state.

        Pieces that look alike may exchange numbers.
        """
        if moves == truth or not moves:
            return moves == truth
        try:
            after, true_after = (self._state_after(each) for each in (moves, truth))
        except ValueError:
            return False
        return self._play.same(after, true_after)

    def _state_after(self, moves: tuple[str, ...]) -> Any:
        state = self._session.ledger.state
        for move in moves:
            state = self._play.engine.play(state, self._play.engine.parse_move(move))
        return state


def _rolled(before: Bodies, after: Bodies) -> list[str]:
    """Names of dice that lie differently than before."""
    return [
        name
        for name, body in after.items()
        if isinstance(body, SceneDie) and before.get(name, body) is not body
    ]


def _shows_play(records: tuple[Record, ...]) -> bool:
    """True if the newest of these records is of an act at the table, or of something said."""
    return bool(records) and not isinstance(records[-1].event, Undone | Corrected)
