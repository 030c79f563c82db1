"""A table on which people drag, turn, throw, stack and take pieces, filmed by a camera.

Simulated players play the seats that no person takes. `VirtualTable.scene_at` is the camera's view;
pages show the same bodies and act on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Literal, Protocol

import numpy as np

from referee.sessions.events import Record, SeatFreed, SeatTaken
from simulation.players.driver import SeatedPlayers
from simulation.players.laying import (
    Bodies,
    kind_of,
    lay_down,
    middle_mm,
    move_body,
    names_of_stack,
    place_bodies,
    roll_die,
    size_of,
    stand_up,
    stands,
    throw_piece,
    without,
)
from simulation.render.ground import table_z_mm
from simulation.render.scene import Body, Scene, SceneDie, ScenePiece, Slab
from table.boards import within
from table.errors import InputError
from table.messages import in_a_row, msg, phrase
from table.solids import Array
from table.table_config import Setup

Pace = Literal["play", "slow", "pause", "step"]
"""Pace of simulated players: usual, slow, paused, or one act and then paused."""
SLOW_RATE = 0.35
"""Rate of their clock at the slow pace."""
LINGER_MS = 700
"""Time for which a hand stays over a released body."""
SETTLES_MS = 1800
"""Time for which simulated players wait after a hand has gone."""
HOLDS_MS = 5000
"""Time after which a held body is released if its page no longer responds."""
BESIDE_MM = 75.0
"""Largest distance of pieces beside the board, the cards and the dice corner."""
SHAKE_MS = 1000
"""Time for which a die is shaken before it is rolled."""
LIFT_MM, HAND_MM = 25.0, 50.0
"""Heights of a body in the hand, and of the hand, above where the body lay."""
THROWS = 60
"""Number of tries to find a free place for a thrown piece, each with new scatter."""


class WatchedRecords(Protocol):
    """The records of a session."""

    def records(self, after: int = 0) -> tuple[Record, ...]:
        """Records with seq > `after`."""


@dataclass(frozen=True, slots=True)
class LyingBody:
    """A body as a page draws it.

    `vertices_mm` are the five of a pyramid, else the outline. `label` describes it, `text` is
    printed on it. `rgb` is its reflectance, linear, 0..1. `colour` is empty if no player has it.
    `may` lists the possible acts on it.
    """

    name: str
    kind: Literal["piece", "slab", "die"]
    label: str
    colour: str
    text: str
    rgb: tuple[float, float, float]
    vertices_mm: Array
    may: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VirtualNow:
    """The table at a moment.

    `reserve` are bodies that are not on the table, `people` the colours that people play. `busy` is
    true while a simulated player acts.
    """

    bodies: tuple[LyingBody, ...]
    reserve: tuple[LyingBody, ...]
    people: frozenset[str]
    pace: Pace
    busy: bool
    throws: bool


class VirtualTable:
    """A table with simulated players that people may join; thread-safe."""

    def __init__(
        self,
        players: SeatedPlayers,
        session: WatchedRecords,
        setup: Setup,
        rng: np.random.Generator,
    ) -> None:
        self._players, self._session, self._setup, self._rng = players, session, setup, rng
        self._lock = Lock()
        self._reserve: Bodies = players.spares()
        self._known: Bodies = players.bodies
        self._here: frozenset[str] = frozenset()
        self._phones: frozenset[str] = frozenset()
        self._read = self._set_up_after = 0
        self._was_ready = False
        self._pace: Pace = "play"
        self._acted = False
        """True once a simulated player acts for a requested `step`."""
        self._at_ms = self._players_ms = 0
        self._hand: tuple[Array, int] | None = None
        """Place of a hand, (3,), and until when; a held body keeps it there."""
        self._held: tuple[str, Body] | None = None
        self._shaken: tuple[str, int] = "", 0
        """The die in a person's hand, and until when."""
        outline = np.vstack([setup.outline_mm(), *(m.corners_mm for m in setup.fiducials.markers)])
        self.low_mm, self.high_mm = outline.min(axis=0), outline.max(axis=0)
        if setup.dice_corner is not None:
            self.high_mm = np.maximum(self.high_mm, np.max(setup.dice_corner.outline_mm, axis=0))
        self._acts: dict[str, Callable[[str, Array, float], None]] = {
            "hold": self._hold,
            "drop": self._drop,
            "turn": self._drop,
            "stand": self._stand,
            "lie": self._lie,
            "stack": self._stack,
            "take": self._take,
            "roll": self._roll,
            "put back": self._put_back,
            "clear": self._clear,
        }

    def scene_at(self, at_ms: int) -> Scene:
        """The scene at a time; times must not go back."""
        with self._lock:
            passed_ms, self._at_ms = max(0, at_ms - (self._at_ms or at_ms)), at_ms
            self._let_players_act(passed_ms)
            scene = self._players.scene_at(self._players_ms)
            if self._players.ready and not self._was_ready:
                self._set_up_after = self._read
            self._was_ready = self._players.ready
            self._follow()
            return self._with_hand(scene)

    def look(self) -> VirtualNow:
        """The present table."""
        with self._lock:
            bodies, players = self._players.bodies, self._players
            upwards = sorted(bodies, key=lambda name: float(bodies[name].vertices_mm[:, 2].max()))
            return VirtualNow(
                tuple(
                    self._lying_body(name, bodies[name], self._allowed_acts(name))
                    for name in upwards
                ),
                tuple(self._lying_body(name, body, ()) for name, body in self._reserve.items()),
                players.people,
                self._pace,
                players.busy,
                players.throws,
            )

    def act(
        self,
        what: str,
        piece: str = "",
        x_mm: float = 0.0,
        y_mm: float = 0.0,
        turn_deg: float = 0.0,
    ) -> None:
        """Do something with a piece.

        `hold` and `drop` bring its middle to (x, y) and turn it; `turn` turns it at its place.
        Raises InputError for a missing piece, an impossible act, or one that people may not do now.
        """
        with self._lock:
            if what not in self._acts:
                raise InputError(
                    msg(
                        "table: expected one of {raw}, got {raw2}",
                        raw=", ".join(self._acts),
                        raw2=repr(what[:40]),
                    )
                )
            if not self._players.people:
                raise InputError(msg("Take a seat first, then move the pieces."))
            if self._players.busy:
                raise InputError(msg("A simulated player is at the table: wait a moment."))
            bodies = {**self._reserve, **self._players.bodies}
            if piece not in bodies and what not in ("put back", "clear"):
                raise InputError(
                    msg("table: expected a piece that is there, got {raw}", raw=repr(piece[:40]))
                )
            if what == "turn":
                x_mm, y_mm = (float(value) for value in middle_mm(bodies[piece]))
            self._acts[what](piece, np.array([x_mm, y_mm]), turn_deg)
            self._follow()

    def sit(self, colour: str, here: bool = True) -> None:
        """Take a seat at the table, or leave it to its simulated player; raises InputError."""
        colours = self._setup.game.colours
        if colour not in colours:
            raise InputError(
                msg(
                    "table: expected a player ({players}), got {raw}",
                    players=in_a_row(colours, "colour"),
                    raw=repr(colour[:40]),
                )
            )
        with self._lock:
            self._here = self._here | {colour} if here else self._here - {colour}
            self._seat()

    def run(self, pace: Pace) -> None:
        """Let the simulated players play, play slowly, pause, or act once and pause."""
        with self._lock:
            self._pace = pace

    @property
    def set_up_after(self) -> int | None:
        """The newest record when the table was set up for the game on record; None before."""
        return self._set_up_after if self._players.ready else None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Suspend all acts and pictures meanwhile."""
        with self._lock:
            yield

    def _let_players_act(self, passed_ms: int) -> None:
        """Run the players' clock; none of them begins an act while a hand is at the table."""
        since = self._session.records(self._read)
        for record in since:
            if isinstance(record.event, SeatTaken):
                self._phones |= {record.event.player}
            elif isinstance(record.event, SeatFreed):
                self._phones -= {record.event.player}
            self._read = record.seq
        self._seat()
        players, until_ms = self._players, self._hand[1] if self._hand else -SETTLES_MS
        if self._held is not None and self._at_ms > until_ms + HOLDS_MS:
            self._held = None
        if self._pace == "step" and self._acted and not players.busy:
            self._pace = "pause"
        self._acted = players.busy and self._pace == "step"
        touched = self._held is not None or self._at_ms < until_ms + SETTLES_MS
        players.waits = touched or self._pace == "pause" or self._acted
        self._players_ms += round(passed_ms * (SLOW_RATE if self._pace == "slow" else 1))

    def _seat(self) -> None:
        self._players.people = self._here | self._phones

    def _follow(self) -> None:
        """Move bodies out of the reserve that players put on the table, and taken ones into it.

        So no body is lost.
        """
        before, now = self._known, self._players.bodies
        if before is now:
            return
        reserve = dict(self._reserve)
        came = [body for name, body in now.items() if name not in before and name not in reserve]
        gone = {name: body for name, body in before.items() if name not in now}
        for name in now.keys() & reserve.keys():
            del reserve[name]
        for body in came:
            for pool in (gone, reserve):
                alike = next((one for one in pool if kind_of(pool[one]) == kind_of(body)), None)
                if alike is not None:
                    del pool[alike]
                    break
        self._reserve, self._known = {**reserve, **gone}, now

    def _with_hand(self, scene: Scene) -> Scene:
        """The scene with the hand of the person at the page, and the body in it."""
        if self._hand is None or (self._held is None and self._at_ms > self._hand[1]):
            return scene
        who = next(iter(sorted(self._players.people)), self._setup.game.colours[0])
        pieces, slabs, dice = scene.pieces, scene.slabs, scene.dice
        shaken, until_ms = self._shaken
        if self._at_ms < until_ms:
            dice = tuple(die for die in dice if die is not self._players.bodies.get(shaken))
        if self._held is not None:
            name, body = self._held
            lies = self._players.bodies.get(name)
            pieces = tuple(piece for piece in pieces if piece is not lies)
            slabs = tuple(slab for slab in slabs if slab is not lies)
            dice = tuple(die for die in dice if die is not lies)
            pieces += (body,) if isinstance(body, ScenePiece) else ()
            slabs += (body,) if isinstance(body, Slab) else ()
            dice += (body,) if isinstance(body, SceneDie) else ()
        limbs = scene.limbs + self._players.arm(who, self._hand[0])
        return Scene(scene.stage, pieces, limbs, slabs, dice)

    def _allowed_acts(self, name: str) -> tuple[str, ...]:
        body = self._players.bodies[name]
        match body:
            case ScenePiece():
                poses = ("lie",) if stands(body) else ("stand",)
                return (*poses, *(("stack",) if self._players.stacks else ()), "turn", "take")
            case SceneDie():
                return ("take", "turn") if body.worded else ("roll",)
            case _:
                return ("turn", "take")

    def _lying_body(self, name: str, body: Body, may: tuple[str, ...]) -> LyingBody:
        match body:
            case ScenePiece():
                size = size_of(body, self._setup).name
                label = phrase("{colour} {size}", colour=body.colour, size=size)
                return LyingBody(
                    name, "piece", label, body.colour, "", body.rgb, body.vertices_mm, may
                )
            case Slab():
                tile = name.removeprefix("tile ") if name.startswith("tile ") else ""
                label = phrase("tile {raw}", raw=tile) if tile else phrase("iceberg")
                return LyingBody(name, "slab", label, "", tile, body.rgb, body.outline_mm, may)
            case SceneDie():
                top = np.argsort(body.vertices_mm[:, 2])[4:]
                corners = body.vertices_mm[top, :2]
                away = corners - corners.mean(axis=0)
                outline = corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
                label = phrase("cover die") if body.worded else phrase("die")
                text = "" if body.worded else str(_pips(body))
                return LyingBody(name, "die", label, "", text, body.rgb, outline, may)

    def _find_body(self, name: str) -> Body:
        """The body of this name, on the table or in the reserve."""
        return self._players.bodies.get(name) or self._reserve[name]

    def _check(self, place_mm: Array) -> None:
        low, high = self.low_mm - BESIDE_MM, self.high_mm + BESIDE_MM
        if not ((place_mm >= low) & (place_mm <= high)).all():
            raise InputError(
                msg(
                    "table: expected a place within {a} to {b} mm across and {c} to {d} mm away,"
                    " got {raw}",
                    a=round(low[0]),
                    b=round(high[0]),
                    c=round(low[1]),
                    d=round(high[1]),
                    raw=", ".join(f"{value:.6g}" for value in place_mm),
                )
            )

    def _hold(self, name: str, place_mm: Array, turn_deg: float) -> None:
        """A hand holds the body over a place."""
        self._check(place_mm)
        body = self._find_body(name)
        step = np.array([*(place_mm - middle_mm(body)), LIFT_MM])
        self._held = name, move_body(body, step, turn_deg)
        self._reach(place_mm)

    def _drop(self, name: str, place_mm: Array, turn_deg: float) -> None:
        """Release a body at a place, turned; a player's piece is thrown there from the hand."""
        self._check(place_mm)
        bodies, body = self._players.bodies, self._find_body(name)
        group = names_of_stack(bodies, name) if name in bodies else [name]
        step = np.array([*(place_mm - middle_mm(body)), 0.0])
        wanted = {one: move_body(self._find_body(one), step, turn_deg) for one in group[:1]}
        wanted |= {one: move_body(bodies[one], step) for one in group[1:]}
        if self._players.throws and name not in bodies and isinstance(body, ScenePiece):
            self._throw(name, wanted[name])
            return
        if isinstance(body, ScenePiece):
            bodies = without(bodies, *_counters_under(bodies, place_mm))
        self._lay(place_bodies(bodies, wanted, self._setup, self._players.stacks), place_mm)

    def _throw(self, name: str, piece: Body) -> None:
        assert isinstance(piece, ScenePiece), "nothing else is thrown"
        bodies, spot = self._players.bodies, middle_mm(piece)
        after = None
        for _ in range(THROWS):
            lands = throw_piece(bodies, piece, self._setup, self._rng)
            after = place_bodies(bodies, {name: lands}, self._setup, stacks=False)
            if after is not None and np.hypot(*(middle_mm(after[name]) - middle_mm(lands))) < 1:
                break
        self._lay(after, np.array([spot[0], self.low_mm[1]]))

    def _stand(self, name: str, _place: Array, _turn: float) -> None:
        self._pose(name, stand_up)

    def _lie(self, name: str, _place: Array, _turn: float) -> None:
        self._pose(name, lay_down)

    def _pose(self, name: str, posed: Callable[[ScenePiece, Setup], ScenePiece]) -> None:
        bodies = self._players.bodies
        body = bodies.get(name)
        if not isinstance(body, ScenePiece):
            raise InputError(msg("table: only a piece on the table stands up or lies down"))
        wanted = {name: posed(body, self._setup)}
        self._lay(place_bodies(bodies, wanted, self._setup, stacks=False), middle_mm(body))

    def _stack(self, name: str, _place: Array, _turn: float) -> None:
        """Put a piece on the nearest standing one."""
        bodies, body = self._players.bodies, self._find_body(name)
        below = [
            other
            for one, other in bodies.items()
            if one != name and isinstance(other, ScenePiece) and stands(other)
        ]
        if not (self._players.stacks and below and isinstance(body, ScenePiece)):
            raise InputError(msg("table: there is nothing that this can stand on"))
        upright = body if stands(body) else stand_up(body, self._setup)
        near = min(below, key=lambda other: float(np.hypot(*(middle_mm(other) - middle_mm(body)))))
        step = np.array([*(middle_mm(near) - middle_mm(upright)), 0.0])
        wanted = {name: move_body(upright, step)}
        self._lay(place_bodies(bodies, wanted, self._setup, stacks=True), middle_mm(near))

    def _take(self, name: str, _place: Array, _turn: float) -> None:
        """Take a body off the table, with all that stands on it."""
        bodies = self._players.bodies
        if name not in bodies:
            self._held = None
            return
        self._lay(self._players.taken(bodies, name), middle_mm(bodies[name]))

    def _roll(self, name: str, _place: Array, _turn: float) -> None:
        bodies, corner = self._players.bodies, self._setup.dice_corner
        die = bodies.get(name)
        if not isinstance(die, SceneDie) or die.worded or corner is None:
            raise InputError(msg("table: expected the die, which is rolled in its corner"))
        outline = np.array(corner.outline_mm)
        fell = roll_die(die, outline, table_z_mm(self._setup), self._rng)
        self._lay({**bodies, name: fell}, outline.mean(axis=0))
        until_ms = self._at_ms + LINGER_MS + SHAKE_MS
        self._hand, self._shaken = (
            (np.array([*outline.mean(axis=0), HAND_MM]), until_ms),
            (name, until_ms - LINGER_MS // 2),
        )

    def _put_back(self, _name: str, _place: Array, _turn: float) -> None:
        """Restore the bodies as they lay when the referee last agreed."""
        recorded = self._players.recorded()
        if recorded is None:
            raise InputError(msg("The referee has not agreed to a table yet."))
        self._lay(recorded, (self.low_mm + self.high_mm) / 2)

    def _clear(self, _name: str, _place: Array, _turn: float) -> None:
        """Take everything off the table."""
        self._lay({}, (self.low_mm + self.high_mm) / 2)

    def _lay(self, bodies: Bodies | None, place_mm: Array) -> None:
        """Set the bodies, and keep the hand over the place."""
        self._held = None
        if bodies is None:
            raise InputError(msg("There is no room for it there."))
        self._players.bodies = bodies
        self._reach(place_mm)

    def _reach(self, place_mm: Array) -> None:
        self._hand = np.array([*place_mm, HAND_MM]), self._at_ms + LINGER_MS


def _counters_under(bodies: Bodies, place_mm: Array) -> list[str]:
    """Names of the counters at a place, which are taken away when a piece is put there."""
    return [
        name
        for name, body in bodies.items()
        if isinstance(body, Slab) and body.top_mm > 0.1 and within(body.outline_mm, place_mm)
    ]


def _pips(die: SceneDie) -> int:
    """The upper face of a die."""
    axis = int(np.abs(die.rotation[2]).argmax())
    pips = (2, 3, 1)[axis]
    return pips if die.rotation[2, axis] > 0 else 7 - pips
