"""Zamboni Wars on a simulated table: nests placed by hand, dice, shots, and mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from random import Random

import msgspec
import numpy as np

from engines import zamboni_wars as engine
from engines.zamboni_wars.board import FACINGS, SPACES, Space
from engines.zamboni_wars.board import Board as Arrows
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.moves import Drive, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving, RollOff
from engines.zamboni_wars.state import LAYER_SIZES, State, Zamboni
from simulation.generate.tables import random_setup
from simulation.generate.throws import Thrower
from simulation.players.acts import Act
from simulation.players.driver import BoardPlayers, ByHand
from simulation.players.laying import Bodies, gap_mm, named_by_cell, place_bodies, size_of, without
from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.scene import Body, Rgb, SceneDie, ScenePiece
from table.boards import Coasters
from table.clearance import is_free
from table.solids import Array, lying
from table.table_config import CoverDice, DiceCorner, Setup

MOVE, HIT, ROLL, SYNC = "zamboni.move", "zamboni.hit", "zamboni.roll", "zamboni.out_of_sync"
SLOPPY_MM, SLOPPY_DEG = 4.0, 6.0
"""Largest errors of nests laid by hand: from the middle of a space, and from a compass point."""
RELAID_MM, RELAID_DEG = 0.5, 1.0
"""Largest errors of a nest that is laid down again after losing a layer."""
TRIES, HOLDS_FIRE = 40, 0.1
PUSHES = 0.4
"""Probability that a player prefers to push a cover die over aiming at a player."""
COVER_MM, COVER_CLEAR_MM = 7.0, 1.5
"""Largest distance of cover dice from the middle of a space, and least gap to everything else."""
DICE: tuple[tuple[Rgb, Rgb], ...] = (
    ((0.75, 0.74, 0.70), (0.02, 0.02, 0.02)),
    ((0.50, 0.04, 0.03), (0.80, 0.80, 0.80)),
    ((0.02, 0.02, 0.025), (0.80, 0.80, 0.78)),
)
"""Dice and their pips: ivory, red, black."""


class ZamboniPlay(ByHand):
    """`Play` of Zamboni Wars.

    A nest is named by its player, a cover die by its space: `cover b5`.
    """

    engine = engine

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        board = setup.board
        assert isinstance(board, Coasters), "Zamboni Wars is played on coasters"
        self._rng, self._chance, self._board = rng, Random(int(rng.integers(1 << 30))), board
        self._setup = setup
        self._thrower, self._sizes = Thrower(setup, rng), {size.name: size for size in setup.sizes}
        self._corner, self._table_mm = setup.dice_corner, table_z_mm(setup)
        self._rgb, self._ink = DICE[int(rng.integers(len(DICE)))]
        self._cover, (self._cover_rgb, self._cover_ink) = (
            setup.cover_dice,
            DICE[int(rng.integers(len(DICE)))],
        )

    def begin(self, state: State) -> Act:
        """Every nest in its corner."""
        bodies: Bodies = {}
        for player, nest in state.remaining_zambonis.items():
            bodies = self._drive_nest(bodies, player, nest) or bodies
        return Act("set up", {**bodies, **self._rolled_die(1)}, "accepted", "zamboni.start")

    def laid(self, state: State) -> Bodies:
        """As `ByHand.laid`."""
        return self.completed(state, self.begin(state).bodies)

    def turn(self, state: State, bodies: Bodies) -> Act:
        """Roll, drive, fire or hold fire, and take off the layers that were hit."""
        who, pips = state.to_move, self._chance.randint(1, 6)
        match state.phase:
            case Moving(points) if not _drives(state, points):
                still = str(Drive(state.mover.space, state.mover.facing))
                said = {"player": who, "stays": True}
                return Act("stay", bodies, "heard", MOVE, (still,), said)
            case Moving(points):
                drive, driven = self._drive(state, bodies, points)
                return Act("drive", driven, "accepted", MOVE, (str(drive),))
            case Hit(target):
                return Act(
                    "hit",
                    self._take_layer(state, bodies, target),
                    "accepted",
                    HIT,
                    (str(Take(target)),),
                )
            case Aiming() if self._chance.random() < HOLDS_FIRE:
                return Act("hold", bodies, "heard", "", ("hold",), {"player": who, "hold": True})
            case Aiming(target):
                moves = (
                    (f"fire {target}", f"die {pips}")
                    if state.remaining_zambonis[target].layers > 1
                    else (f"fire {target}",)
                )
                if state.remaining_zambonis[target].layers == 1 or self._corner is None:
                    return Act("shot", bodies, "heard", "", moves, {"player": who, "die": pips})
                return Act(
                    "shot",
                    {**bodies, **self._rolled_die(pips)},
                    "heard",
                    "",
                    moves,
                    typed={"player": who, "die": pips},
                )
            case _ if self._corner is None:
                return Act(
                    "roll", bodies, "heard", ROLL, (f"roll {pips}",), {"player": who, "die": pips}
                )
            case _:
                bodies = self._cover_spaces(bodies, state.dice) or bodies
                return Act(
                    "roll",
                    {**bodies, **self._rolled_die(pips)},
                    "heard",
                    ROLL,
                    (f"roll {pips}",),
                    typed={"player": who, "die": pips},
                )

    def mistake(self, state: State, bodies: Bodies) -> Act | None:
        """One of the mistakes below, if possible."""
        every = [self._drive_two, self._strip_nest, self._armour_nest]
        if state.dice and not isinstance(
            state.phase, RollOff
        ):  # while their places are rolled, cover dice may lie anywhere
            every += [self._carry_cover_die]
        if isinstance(state.phase, Moving):
            every += [self._wrong_drive, self._others_drive]
        if not isinstance(state.phase, Moving | Hit | Aiming):
            every += [self._out_of_turn]
        return self._chance.choice(every)(state, bodies)

    def same(self, state: State, other: State) -> bool:
        """True if the states are equal."""
        return state == other

    def named(self, bodies: Bodies) -> Bodies:
        """As `ByHand.named`: cover dice by their spaces."""
        return named_by_cell(
            bodies,
            self._setup,
            lambda body: "cover" if isinstance(body, SceneDie) and body.worded else "",
        )

    def completed(self, state: State, bodies: Bodies) -> Bodies:
        """As `ByHand.completed`: the cover dice as soon as they are on the board."""
        lie = any(name.startswith("cover ") for name in bodies)
        return bodies if lie else self._cover_spaces(bodies, state.dice) or bodies

    def taken(self, bodies: Bodies, name: str) -> Bodies:
        """As `ByHand.taken`: the outermost piece of a nest; the rest stays nearly at its place."""
        nest = bodies[name]
        if not isinstance(nest, ScenePiece):
            return without(bodies, name)
        layers = next(
            count for count, size in LAYER_SIZES.items() if size == size_of(nest, self._setup).name
        )
        return self._lay_again(bodies, name, layers - 1) if layers > 1 else without(bodies, name)

    def _drive(self, state: State, bodies: Bodies, points: int) -> tuple[Drive, Bodies]:
        """A legal drive for which there is room, preferably one that aims at a player.

        If there is room for none, the nest is put as near to its space as possible.
        """
        here, drives = state.mover, _drives(state, points)
        self._chance.shuffle(drives)
        pushes = self._chance.random() < PUSHES
        drives.sort(
            key=lambda drive: (
                not (pushes and drive.dice),
                not isinstance(engine.play(state, drive).phase, Aiming),
            )
        )
        for drive in drives:
            if driven := self._drive_nest(
                bodies,
                state.to_move,
                Zamboni(drive.space, drive.facing, here.layers),
                drive.dice or state.dice,
            ):
                return drive, driven
        drive, layers = drives[0], here.layers
        heading_deg = 90.0 - 45 * FACINGS.index(drive.facing)
        nest = self._nest(state.to_move, self._middle_mm(drive.space), heading_deg, layers)
        rest = without(bodies, state.to_move)
        return drive, place_bodies(rest, {state.to_move: nest}, self._setup, stacks=False) or bodies

    def _wrong_drive(self, state: State, bodies: Bodies) -> Act | None:
        """The next player drives to a space that no roll of the kind allows."""
        legal = (
            set(reachable(state, state.phase.points)) if isinstance(state.phase, Moving) else set()
        )
        drive = self._chance.choice(
            [
                drive
                for space in _free(state)
                for facing in FACINGS
                if (drive := Drive(space, facing)) not in legal
            ]
        )
        driven = self._drive_nest(
            bodies, state.to_move, Zamboni(drive.space, drive.facing, state.mover.layers)
        )
        tried = str(drive) if any(end.space == drive.space for end in legal) else str(drive.space)
        return Act("wrong drive", driven, "refused", MOVE, (tried,)) if driven else None

    def _others_drive(self, state: State, bodies: Bodies) -> Act | None:
        """A nest is driven that is not the next player's."""
        player = self._chance.choice(
            [player for player in state.remaining_zambonis if player != state.to_move]
        )
        drive = Drive(self._chance.choice(_free(state)), self._chance.choice(FACINGS))
        driven = self._drive_nest(
            bodies,
            player,
            Zamboni(drive.space, drive.facing, state.remaining_zambonis[player].layers),
        )
        return Act("other's drive", driven, "refused", MOVE, (str(drive),)) if driven else None

    def _drive_two(self, state: State, bodies: Bodies) -> Act | None:
        """Two nests are driven at once."""
        driven: Bodies | None = bodies
        for player, space in zip(
            self._chance.sample(list(state.remaining_zambonis), 2),
            self._chance.sample(_free(state), 2),
            strict=True,
        ):
            driven = driven and self._drive_nest(
                driven,
                player,
                Zamboni(
                    space, self._chance.choice(FACINGS), state.remaining_zambonis[player].layers
                ),
            )
        return Act("two drives", driven, "out_of_sync", SYNC) if driven else None

    def _carry_cover_die(self, state: State, bodies: Bodies) -> Act | None:
        """A hand moves a cover die to a space to which no drive pushes it."""
        pushed = {
            die
            for points in range(1, 7)
            for drive in reachable(state, points)
            for die in drive.dice
        }
        free = [space for space in _free(state) if space not in pushed]
        if not free:
            return None
        gone = self._chance.choice(state.dice)
        carried = self._cover_spaces(
            bodies, tuple(self._chance.choice(free) if die == gone else die for die in state.dice)
        )
        return Act("cover die carried", carried, "out_of_sync", SYNC) if carried else None

    def _strip_nest(self, state: State, bodies: Bodies) -> Act | None:
        """A layer is taken off a nest that was not hit."""
        target = state.phase.target if isinstance(state.phase, Hit) else None
        hurt = [
            player
            for player, nest in state.remaining_zambonis.items()
            if nest.layers > 1 and player != target
        ]
        if not hurt:
            return None
        player = self._chance.choice(hurt)
        return Act(
            "wrong piece taken",
            self._take_layer(state, bodies, player),
            "refused",
            HIT,
            (str(Take(player)),),
        )

    def _armour_nest(self, state: State, bodies: Bodies) -> Act | None:
        """A larger piece is put over a nest."""
        hurt = [
            player
            for player, nest in state.remaining_zambonis.items()
            if nest.layers < max(LAYER_SIZES)
        ]
        if not hurt:
            return None
        player = self._chance.choice(hurt)
        layered = self._lay_again(bodies, player, state.remaining_zambonis[player].layers + 1)
        solids = [
            body.solid for body in without(layered, player).values() if isinstance(body, ScenePiece)
        ]
        piece = layered[player]
        free = (
            isinstance(piece, ScenePiece)
            and is_free(piece.solid, solids)
            and _clear_of_dice(piece, layered)
        )
        return Act("piece put over", layered, "out_of_sync", SYNC) if free else None

    def _out_of_turn(self, state: State, bodies: Bodies) -> Act:
        """A player whose turn it is not rolls."""
        player = self._chance.choice(
            [player for player in state.remaining_zambonis if player != state.to_move]
        )
        return Act(
            "roll out of turn",
            bodies,
            "refused",
            ROLL,
            (),
            {"player": player, "die": self._chance.randint(1, 6)},
        )

    def _rolled_die(self, pips: int) -> Bodies:
        """The die somewhere in its corner, if there is one."""
        if self._corner is None:
            return {}
        outline = np.array(self._corner.outline_mm)
        x, y = outline.min(axis=0) + self._rng.uniform(0.25, 0.75, 2) * np.ptp(outline, axis=0)
        middle, rotation = die_at(
            pips,
            (float(x), float(y)),
            float(self._rng.uniform(0, 90)),
            self._corner.edge_mm,
            self._table_mm,
        )
        return {"die": SceneDie(middle, rotation, self._corner.edge_mm, self._rgb, self._ink)}

    def _take_layer(self, state: State, bodies: Bodies, player: str) -> Bodies:
        """The outermost piece is taken off; the rest is laid down nearly at its place."""
        layers = state.remaining_zambonis[player].layers - 1
        return self._lay_again(bodies, player, layers) if layers else without(bodies, player)

    def _lay_again(self, bodies: Bodies, player: str, layers: int) -> Bodies:
        """The nest with this number of layers nearly at its place."""
        contact = bodies[player].vertices_mm[[1, 2, 4], :2]
        ahead = contact[2] - contact[:2].mean(axis=0)
        heading_deg = math.degrees(math.atan2(ahead[1], ahead[0])) + float(
            self._rng.normal(0, RELAID_DEG)
        )
        return {
            **bodies,
            player: self._nest(
                player,
                contact.mean(axis=0) + self._rng.normal(0, RELAID_MM, 2),
                heading_deg,
                layers,
            ),
        }

    def _cover_spaces(self, bodies: Bodies, spaces: Sequence[Space]) -> Bodies | None:
        """Cover dice in these spaces; dice that are already there stay.

        None if other bodies are in the way.
        """
        wanted = {f"cover {space}": space for space in spaces}
        bodies = without(
            bodies, *(name for name in bodies if name.startswith("cover ") and name not in wanted)
        )
        for name, space in wanted.items():
            if name not in bodies:
                lies = (self._cover_die(space) for _ in range(TRIES))
                die = next(
                    (
                        die
                        for die in lies
                        if all(gap_mm(die, body) > COVER_CLEAR_MM for body in bodies.values())
                    ),
                    None,
                )
                if die is None:
                    return None
                bodies = {**bodies, name: die}
        return bodies

    def _cover_die(self, space: Space) -> SceneDie:
        """A die somewhere in a space, any face up."""
        assert self._cover is not None, "the table tells of cover dice"
        x, y = self._middle_mm(space) + self._rng.uniform(-COVER_MM, COVER_MM, 2)
        top, turn_deg = int(self._rng.integers(1, 7)), float(self._rng.uniform(0, 90))
        middle, rotation = die_at(top, (float(x), float(y)), turn_deg, self._cover.edge_mm, 0.0)
        return SceneDie(
            middle, rotation, self._cover.edge_mm, self._cover_rgb, self._cover_ink, worded=True
        )

    def _middle_mm(self, space: Space) -> Array:
        middle: Array = np.asarray(self._board.origin_mm) + self._board.cell_mm * (
            np.array([space.file, space.row]) + 0.5
        )
        return middle

    def _drive_nest(
        self, bodies: Bodies, player: str, to: Zamboni, dice: Sequence[Space] | None = None
    ) -> Bodies | None:
        """The nest somewhere in its space, roughly at its compass point, with cover dice pushed.

        None if other bodies are in the way.
        """
        rest = without(bodies, player)
        if dice is not None:
            rest = without(
                rest,
                *(
                    name
                    for name in rest
                    if name.startswith("cover ")
                    and name.removeprefix("cover ") not in map(str, dice)
                ),
            )
        solids = [body.solid for body in rest.values() if isinstance(body, ScenePiece)]
        for _ in range(TRIES):
            turn, away_mm = self._rng.uniform(0, 2 * np.pi), SLOPPY_MM * np.sqrt(self._rng.random())
            middle = self._middle_mm(to.space)
            heading_deg = (
                90
                - 45 * FACINGS.index(to.facing)
                + float(self._rng.uniform(-SLOPPY_DEG, SLOPPY_DEG))
            )
            nest = self._nest(
                player,
                middle + away_mm * np.array([np.cos(turn), np.sin(turn)]),
                heading_deg,
                to.layers,
            )
            if is_free(nest.solid, solids) and _clear_of_dice(nest, rest):
                driven = {**rest, player: nest}
                covered = driven if dice is None else self._cover_spaces(driven, dice)
                if covered is not None:
                    return covered
        return None

    def _nest(self, player: str, middle_mm: Array, heading_deg: float, layers: int) -> ScenePiece:
        """A nest whose footprint is centred at a place (2,)."""
        size = self._sizes[LAYER_SIZES[layers]]
        ahead = np.array([math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))])
        x, y = middle_mm - size.slant_mm / 3 * ahead
        return self._thrower.piece(
            player, lying(size, float(x), float(y), heading_deg % 360), size, layers
        )


def _drives(state: State, points: int) -> list[Drive]:
    """Legal drives that the camera can see: they end elsewhere, or push a cover die."""
    drives, here = reachable(state, points), (state.mover.space, state.mover.facing)
    away = [drive for drive in drives if (drive.space, drive.facing) != here]
    return away or [drive for drive in drives if drive.dice]


def _free(state: State) -> list[Space]:
    """Spaces without a nest."""
    taken = {nest.space for nest in state.remaining_zambonis.values()} | {*state.dice}
    return [space for space in SPACES if space not in taken]


def _clear_of_dice(nest: Body, bodies: Bodies) -> bool:
    return all(
        gap_mm(nest, body) > COVER_CLEAR_MM
        for name, body in bodies.items()
        if name.startswith("cover ")
    )


DICE_BESIDE_MM, DICE_CORNER_MM = 8.0, 50.0
"""Distance of the dice corner from the board, and length of its sides."""


def _finish(setup: Setup, rng: np.random.Generator, seed: int) -> Setup:
    return _with_dice(_seated(setup, rng), cover=seed % 2 == 1)


def _seated(setup: Setup, rng: np.random.Generator) -> Setup:
    """Assign some of the coasters' colours to players, clockwise, two of them opposite."""
    assert isinstance(setup.board, Coasters)
    colours = tuple(Arrows.usual(setup.board.layout).colours.values()) if setup.board.layout else ()
    count = int(rng.integers(2, 5))
    players = colours[::2] if count == 2 else colours[:count]
    return msgspec.structs.replace(setup, game=msgspec.structs.replace(setup.game, colours=players))


def _with_dice(setup: Setup, cover: bool) -> Setup:
    """Add a dice corner right of the board, between the cards, and with `cover` cover dice."""
    low, high = setup.outline_mm().min(axis=0), setup.outline_mm().max(axis=0)
    x, y = float(high[0]) + DICE_BESIDE_MM, float(low[1] + high[1]) / 2
    half = DICE_CORNER_MM / 2
    outline = ((x, y - half), (x + 2 * half, y - half), (x + 2 * half, y + half), (x, y + half))
    return msgspec.structs.replace(
        setup, dice_corner=DiceCorner(outline_mm=outline), cover_dice=CoverDice() if cover else None
    )


def _rulings(setup: Setup) -> dict[str, str]:
    return {} if setup.cover_dice is None else {"cover": "on"}


PLAYERS = BoardPlayers(
    random_setup=partial(random_setup, "zamboni"),
    play=ZamboniPlay,
    finish=_finish,
    rulings=_rulings,
    lessons_seed=2,
)
