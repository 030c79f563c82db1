"""Simulated players of Ice Boule: they watch the session, throw in turn, and answer questions.

Only the scene before the lens is simulated. The script depends only on the seed and the frame
times, so the same ones give the same game. It runs as fast as frames are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from engines.ice_boule.layout import Layout, Lie
from engines.ice_boule.moves import Stop, Void, parse_move
from engines.ice_boule.moves import Throw as ThrowMove
from engines.ice_boule.state import PROJECTILES
from referee.presentation.session_view import Question, SessionView
from referee.sessions.commands import Answer, Command, Hear
from simulation.camera import PERIOD_MS, Pace, SimulatedCamera, no_wait
from simulation.generate.rest_poses import flush_deg
from simulation.players.driver import ByHand
from simulation.players.hands import WHO, PlayerHands, Steps
from simulation.players.ice_boule_table import Tabletop, Throw, demo_place, demo_setup, demo_stage
from simulation.players.laying import Bodies, middle_mm
from simulation.render.scene import Scene, ScenePiece
from table.errors import InputError
from table.messages import msg
from table.solids import Array, Solid, leaning, on_top, upright
from table.table_config import Setup

FLIGHT_MS, SWEEP_MS = 400, 300
"""Time of a piece's flight, and time to gather a handful of pieces."""
THINK_MS, LOOK_MS = 2500, 2000
"""Time for a reading, and for a look at an end before it is cleared away."""
PATIENCE_MS, PATIENCE_FRAMES = 12_000, 12
"""Time, and number of pictures, after both of which a throw without a ruling is repeated."""
EQUAL_MM = 0.05
"""Difference of distances below which the players' calliper shows them as equal."""
ACCIDENTS = {"touch": 0.08, "knock": 0.08, "on target": 0.04, "off": 0.02}
"""Probability of each accident of a throw, if the table allows it."""
TOPPLES = 0.2
"""Probability that a throw topples the stack on the target, if there is one."""
NEVER = 1000
"""Penalty of an impossible choice over a possible one."""
LINE_MM = 8.0
"""Distance of the catapults from the near edge."""


class ObservedSession(Protocol):
    """The players' view of the session: a `referee.sessions.session.Session`."""

    def view(self) -> SessionView:
        """The state of the session as plain data (`referee.presentation.view_model.view`)."""

    def command(self, command: Command) -> Any:
        """Send a command to the referee."""


def simulated_table(
    session: ObservedSession,
    seed: int,
    period_ms: int = PERIOD_MS,
    start_ms: int = 0,
    pace: Pace = no_wait,
) -> SimulatedCamera:
    """A camera over the table of `demo_setup`, at which simulated players play for `session`."""
    players = Players(session, demo_setup(), seed)
    return SimulatedCamera(
        players.setup, demo_place(), players.scene_at, seed, period_ms, start_ms, pace
    )


class Players(ByHand):
    """All players at the table, which people may join: `driver.SeatedPlayers`.

    The camera calls `scene_at` in order of time. `taken_back` counts throws without a right ruling.
    """

    stacks = throws = True

    def __init__(self, session: ObservedSession, setup: Setup, seed: int) -> None:
        """Raises InputError for a table on which Ice Boule is not played."""
        if setup.game.target is None:
            raise InputError(
                msg(
                    "simulation: game.target: expected a colour for the target, got none;"
                    " the simulated players play Ice Boule"
                )
            )
        self.setup, self._session = setup, session
        self.bodies: Bodies = {}
        self.people: frozenset[str] = frozenset()
        self.busy = self.waits = False
        self.taken_back, self._named = 0, 0
        self._rng = np.random.default_rng([seed, 77])
        self._stage = demo_stage(seed)
        self._skill_mm = {colour: float(self._rng.uniform(38, 75)) for colour in setup.game.colours}
        self._before = self.table
        """The table before the last throw."""
        self._lay_at: dict[str, Bodies] = {}
        self._state = ""
        """The last record state that the players followed; `_lay_at` has the bodies of each."""
        self._ruled = ""
        self._lay_then: Bodies = {}
        """The bodies when the newest state of the record, `_ruled`, was ruled on."""
        self._cleared = 0
        """The last game for which the table was once empty."""
        self._seen: Bodies = {}
        """Bodies in the newest picture."""
        self._loose: tuple[ScenePiece, ...] = ()
        self._people = PlayerHands(session, setup)
        self.arm = self._people.arm
        self._script = self._play()

    @property
    def ready(self) -> bool:
        """As `SeatedPlayers.ready`."""
        return self._cleared == self._session.view().game_number

    @property
    def table(self) -> Tabletop:
        """Pieces on the table."""
        return Tabletop(self.setup, tuple(self.bodies.values()))  # type: ignore[arg-type]

    @table.setter
    def table(self, table: Tabletop) -> None:
        names = {id(body): name for name, body in self.bodies.items()}
        self.bodies = {
            names.get(id(piece)) or self._new(piece.colour): piece for piece in table.pieces
        }

    def _new(self, colour: str) -> str:
        self._named += 1
        return f"{colour} {self._named}"

    def spares(self) -> Bodies:
        """As `ByHand.spares`: the projectiles of every player, and the target."""
        flat = upright(self.setup.sizes[-1], 0.0, 0.0, 0.0)
        counts = dict.fromkeys(self.setup.game.colours, PROJECTILES)
        target = self.setup.game.target
        assert target is not None, "checked when they sat down"
        return {
            f"{colour} in hand {number}": self.table.piece(colour, flat)
            for colour, count in {**counts, target: 1}.items()
            for number in range(1, count + 1)
        }

    def recorded(self) -> Bodies | None:
        """As `SeatedPlayers.recorded`, also for a record that these players have yet to follow."""
        self._note()
        return self._lay_at.get(self._ruled, self._lay_then)

    def _note(self) -> None:
        """Store the bodies of a new state of the record, because the next throw may have begun."""
        if (state := _state_of(self._session.view())) != self._ruled:
            self._ruled, self._lay_then = state, self._seen

    def scene_at(self, at_ms: int) -> Scene:
        """The scene at a time; times must not go back."""
        self._people.look_up(at_ms)
        self._note()
        self._script = self._people.go_on(self._script, self._resume)
        self._seen = self.bodies
        if not self.bodies:
            self._cleared = self._session.view().game_number
        return Scene(self._stage, self.table.pieces + self._loose, self._people.limbs)

    def _resume(self) -> Steps:
        """Play on after THINK_MS."""
        self._loose = ()
        yield from self._people.wait(THINK_MS)
        yield from self._play()

    def _play(self) -> Steps:
        """All acts of the players, one step a frame."""
        yield
        while True:
            self.busy = False
            while self.waits:
                yield
            view = self._session.view()
            if self.people and self._asks_people(view.question):
                yield
            elif view.phase == "asking":
                yield from self._answer(view)
            elif view.phase != "playing":
                yield
            elif (state := _state_of(view)) != self._state:
                yield from self._follow(state)
            elif view.next is None and len(self.table.pieces) > (
                view.state["starter"] in self.people
            ):
                lay = self.bodies
                yield from self._people.wait(LOOK_MS)
                if self.bodies is lay and not self.waits:  # else a person has begun the next end
                    yield from self._clear(view)
            elif (view.next or view.state["starter"]) in self.people:
                yield
            elif self.people and self._lay_at[state] != self.bodies:
                yield from self._lay(self._lay_at[state])
            elif view.next is None:
                yield from self._await_ruling(view, self._throw_target)
            elif self.table.target is not None:
                yield from self._await_ruling(view, self._throw)
            else:
                yield

    def _asks_people(self, question: Question | None) -> bool:
        """True if a person answers the question, and not the simulated player who threw."""
        simulated = {*self.setup.game.colours} - self.people
        return question is not None and question.player not in simulated

    def _follow(self, state: str) -> Steps:
        """Continue from another state of the record; an earlier one is laid again."""
        earlier, self._state = self._lay_at.get(state), state
        if earlier is None:
            self._lay_at[state] = self._lay_then if self.people else self.bodies
        elif earlier != self.bodies:
            yield from self._lay(earlier)

    def _lay(self, bodies: Bodies) -> Steps:
        """A hand comes and lays these bodies."""
        player, self.busy = self.setup.game.colours[0], True
        changed = [*(bodies.items() ^ self.bodies.items())]
        yield from self._people.reach(player, np.array([*middle_mm(changed[0][1]), 30.0]))
        self.bodies = bodies
        yield
        yield from self._people.reach(player, None)

    def _await_ruling(self, view: SessionView, act: Callable[[SessionView], Steps]) -> Steps:
        """Act, then wait for the referee.

        An act that is not ruled on in time, or not accepted, is undone.
        """
        self._before, self.busy = self.table, True
        yield from act(view)
        rested_ms, frames = self._people.now_ms, 0
        while self._people.now_ms - rested_ms < PATIENCE_MS or frames < PATIENCE_FRAMES:
            now = self._session.view()
            if now.seq != view.seq and now.phase != "paused":
                if not now.verdicts or now.verdicts[0].verdict not in ("refused", "cannot_see"):
                    return
                break
            if now.phase != "playing":
                rested_ms, frames = self._people.now_ms, 0
            frames += 1
            yield
        yield from self._take_back(self._before)

    def _throw(self, view: SessionView) -> Steps:
        """The next player throws a piece from the line towards the target."""
        target, colour = self.table.target, view.next
        assert target is not None, "nobody throws before the target lies there"
        assert colour is not None, "it is somebody's throw"
        aim = middle_mm(target.solid)
        accident = str(
            self._rng.choice(
                [*ACCIDENTS, "none"], p=[*ACCIDENTS.values(), 1 - sum(ACCIDENTS.values())]
            )
        )
        accident = "topple" if self.table.stack and self._rng.random() < TOPPLES else accident
        throw = Throw((float(aim[0]), float(aim[1])), self._skill_mm[colour], accident)
        after = self.table.after_throw(colour, throw, self._rng)
        yield from self._centrifice(colour, colour, after)
        yield from self._people.reach(colour, None)
        if not self.table.in_play(self.table.pieces[-1]):
            yield from self._people.wait(THINK_MS)
            self._people.say(Hear(heard={"player": colour, "out": True}, decided_by=WHO))

    def _throw_target(self, view: SessionView) -> Steps:
        """The starting player throws the target and stands it up at its place."""
        player, colour = view.state["starter"], self.setup.game.target
        assert player is not None, "somebody throws every target"
        assert colour is not None, "checked when they sat down"
        low, high = self.setup.outline_mm().min(axis=0), self.setup.outline_mm().max(axis=0)
        aim = low + (high - low) * self._rng.uniform([0.3, 0.45], [0.7, 0.72])
        lands = self.table.after_throw(
            colour, Throw((float(aim[0]), float(aim[1])), 20.0), self._rng
        )
        yield from self._centrifice(player, colour, lands)
        target = self.table.target
        assert target is not None, "it was thrown just now"
        x, y = middle_mm(target.solid)
        yield from self._people.reach(player, np.array([x, y, 40.0]))
        self.table = self.table.with_target(
            upright(self.setup.sizes[-1], float(x), float(y), float(self._rng.uniform(0, 90)))
        )
        yield
        yield from self._people.reach(player, None)

    def _centrifice(self, player: str, colour: str, after: Tabletop) -> Steps:
        """Throw: an arm sets up a catapult on the line, and the projectile flies off it.

        It lands where `after` has it.
        """
        size, place = self.setup.sizes[-1], self._people.seat_mm(player)
        centrifuge = upright(size, float(place[0]), LINE_MM, float(self._rng.uniform(-10, 10)))
        projectile = on_top(size, centrifuge, flush_deg(centrifuge, self._rng))
        yield from self._people.reach(player, np.array([place[0], LINE_MM - 12, 25.0]))
        catapult = self.table.piece(player, centrifuge)
        self._loose = (catapult, self.table.piece(colour, projectile))
        began_ms, lands = self._people.now_ms, middle_mm(after.pieces[-1].solid)
        yield
        while (share := (self._people.now_ms - began_ms) / FLIGHT_MS) < 1:
            self._loose = (
                catapult,
                self.table.piece(colour, self._flying_solid(middle_mm(projectile), lands, share)),
            )
            yield
        self.table, self._loose = after, (catapult,)
        yield
        self._loose = ()

    def _flying_solid(self, start_mm: Array, end_mm: Array, share: float) -> Solid:
        """The tumbling projectile at a share of its flight, 90 mm up in the middle."""
        turn = np.linalg.qr(self._rng.normal(size=(3, 3)))[0]
        rotation = turn * np.sign(np.linalg.det(turn))
        x, y = start_mm + share * (end_mm - start_mm)
        return leaning(
            self.setup.sizes[-1], rotation, np.array([x, y, 60 + 120 * share * (1 - share)])
        )

    def _take_back(self, before: Tabletop) -> Steps:
        """The last thrower restores the table."""
        player = self.setup.game.colours[0]
        self.taken_back += 1
        changed = [piece for piece in self.table.pieces if piece not in before.pieces]
        for piece in changed:
            yield from self._people.reach(player, np.array([*middle_mm(piece.solid), 30.0]))
        self.table = before
        yield
        yield from self._people.reach(player, None)

    def _clear(self, view: SessionView) -> Steps:
        """The starter of the next end gathers all pieces, a handful at a time."""
        player = view.state["starter"]
        assert player is not None, "somebody throws every target"
        hand, self.busy = np.array([self._people.seat_mm(player)[0], 0.0]), True
        while self.table.pieces:
            nearest = min(
                (middle_mm(piece.solid) for piece in self.table.pieces),
                key=lambda place: float(np.hypot(*(place - hand))),
            )
            yield from self._people.reach(player, np.array([*nearest, 30.0]), SWEEP_MS)
            for piece in self.table.pieces:
                if np.hypot(*(middle_mm(piece.solid) - nearest)) < 60:
                    self.table = self.table.without(piece)
            hand = nearest
            yield
        self._lay_at[self._state] = self.bodies
        yield from self._people.reach(player, None)

    def _answer(self, view: SessionView) -> Steps:
        """Measure with a calliper and answer, unless a person at the panel was faster."""
        yield from self._people.wait(THINK_MS)
        now = self._session.view()
        question = now.question
        if question is None or question != view.question:
            return
        truth, target = true_layout(self.table), self.table.target
        left = target is None or not self.table.in_play(target)
        choice = max(
            question.choices, key=lambda choice: _agreement_score(choice.moves, truth, left)
        )
        readings: dict[str, float] = {}
        for lie in truth.lies:
            readings.setdefault(lie.colour, lie.gap_mm)
        how: Any = "calliper" if readings else "order"
        self._people.say(
            Answer(
                question=question.seq,
                label=choice.label,
                how=how,
                readings_mm=readings,
                decided_by=WHO,
            )
        )
        yield
        if not choice.moves:
            yield from self._take_back(self._before)


def _state_of(view: SessionView) -> str:
    """Key of the record's state, for the bodies in it."""
    return str(view.state.get("state", view.seq))


def true_layout(table: Tabletop) -> Layout:
    """True layout of the projectiles in play about the target, as measured with a calliper."""
    gaps = sorted(table.gaps_mm().items(), key=lambda item: item[1])
    relations: list[str] = []
    lies: list[Lie] = []
    for piece, gap_mm in gaps:
        on_target = gap_mm < 0
        gap_mm = 0.0 if gap_mm <= EQUAL_MM else gap_mm  # -1 on the target
        if lies:
            near = lies[-1]
            equal = near.on_target == on_target and gap_mm - near.gap_mm < EQUAL_MM
            relations.append("=" if equal else "<")
            gap_mm = near.gap_mm if equal else gap_mm
        lies.append(Lie(piece.colour, gap_mm, on_target))
    return Layout.sorted(lies, relations)


def agrees(layout: Layout, truth: Layout) -> bool:
    """True if a record agrees with the truth.

    Pieces in play, leader and points are compared. What the record calls too close is left open.
    """
    pieces, leaders = sorted(lie.colour for lie in layout.lies), layout.leaders
    if pieces != sorted(lie.colour for lie in truth.lies):
        return False
    if layout.lead_in_doubt:
        return True
    return leaders == truth.leaders and all(
        layout.points_in_doubt(one) or layout.points(one) == truth.points(one) for one in leaders
    )


def _agreement_score(moves: Sequence[str], truth: Layout, left: bool) -> tuple[int, ...]:
    """Agreement of a choice's moves with the truth; greater is better.

    `left`: the target is no longer in play. A choice that records points other than the true ones
    is worse than one that rules nothing.
    """
    played = [parse_move(move) for move in moves]
    void = any(isinstance(move, Void) for move in played)
    if void or (left and moves):
        return (1 if void and left else -NEVER,)
    layouts = [
        move.layout
        for move in played
        if isinstance(move, ThrowMove | Stop) and move.layout is not None
    ]
    if not layouts:
        return (-len(truth.lies),)
    recorded = layouts[-1]
    if not agrees(recorded, truth):
        return (-NEVER,)
    order = sum(a.colour == b.colour for a, b in zip(recorded.lies, truth.lies, strict=False))
    return (not recorded.lead_in_doubt, order)


class OpenTable:
    """The table of a seed on open ground, and all its players."""

    def __init__(self, seed: int) -> None:
        self.setup, self._seed = demo_setup(), seed
        self.stage, self.place = demo_stage(seed), demo_place()
        self.rulings: dict[str, str] = {}
        self.empty = None

    def seated(self, session: ObservedSession, setup: Setup) -> Players:
        """As `DemoTable.seated`."""
        return Players(session, setup, self._seed)


PLAYERS = OpenTable
