"""Zamboni Wars on a simulated table: nests that lie where hands put them, dice, shots, and what may go wrong."""

from __future__ import annotations

import math
from random import Random

import numpy as np

from engines import zamboni_wars as engine
from engines.zamboni_wars.board import FACINGS, SPACES, Space
from engines.zamboni_wars.driving import reachable
from engines.zamboni_wars.moves import Drive, Take
from engines.zamboni_wars.phases import Aiming, Hit, Moving
from engines.zamboni_wars.state import LAYER_SIZES, State, Zamboni
from referee.simulated_games import Act, Bodies, without
from table.boards import Coasters
from table.setup import Setup
from table.solids import Array, lying
from vision.scene import Rgb, SceneDie, ScenePiece
from vision.scene_dice import die_at
from vision.scene_ground import table_z_mm
from vision.scene_poses import is_free
from vision.scene_throws import Thrower

MOVE, HIT, ROLL, SYNC = "zamboni.move", "zamboni.hit", "zamboni.roll", "zamboni.out_of_sync"
SLOPPY_MM, SLOPPY_DEG = 4.0, 6.0
"""Hands lay nests so far from the middle of a space, and so far from a compass point, at most."""
RELAID_MM, RELAID_DEG = 0.5, 1.0
"""And so far from where a nest lay that lost a layer."""
TRIES, HOLDS_FIRE = 40, 0.1
DICE: tuple[tuple[Rgb, Rgb], ...] = (
    ((0.75, 0.74, 0.70), (0.02, 0.02, 0.02)),
    ((0.50, 0.04, 0.03), (0.80, 0.80, 0.80)),
    ((0.02, 0.02, 0.025), (0.80, 0.80, 0.78)),
)
"""Dice and their pips: ivory, red, black."""


class ZamboniPlay:
    """`Play` of Zamboni Wars.  A nest is named by its player."""

    engine = engine

    def __init__(self, setup: Setup, rng: np.random.Generator) -> None:
        board = setup.board
        assert isinstance(board, Coasters), "Zamboni Wars is played on coasters"
        self._rng, self._chance, self._board = rng, Random(int(rng.integers(1 << 30))), board
        self._thrower, self._sizes = Thrower(setup, rng), {size.name: size for size in setup.sizes}
        self._corner, self._table_mm = setup.dice_corner, table_z_mm(setup)
        self._rgb, self._ink = DICE[int(rng.integers(len(DICE)))]

    def begin(self, state: State) -> Act:
        """Every nest in its corner."""
        bodies: Bodies = {}
        for player, nest in state.left.items():
            bodies = self._driven(bodies, player, nest) or bodies
        return Act("set up", {**bodies, **self._rolled(1)}, "accepted", "zamboni.start")

    def turn(self, state: State, bodies: Bodies) -> Act:
        """Roll, drive, fire or hold fire, and take off what was hit."""
        who, pips = state.to_move, self._chance.randint(1, 6)
        match state.phase:
            case Moving(points):
                drive, driven = self._drive(state, bodies, points)
                return Act("drive", driven, "accepted", MOVE, (str(drive),))
            case Hit(target):
                return Act("hit", self._stripped_of(state, bodies, target), "accepted", HIT, (str(Take(target)),))
            case Aiming() if self._chance.random() < HOLDS_FIRE:
                return Act("hold", bodies, "heard", "", ("hold",), {"player": who, "hold": True})
            case Aiming(target):
                moves = (f"fire {target}", f"die {pips}") if state.left[target].layers > 1 else (f"fire {target}",)
                if state.left[target].layers == 1 or self._corner is None:
                    return Act("shot", bodies, "heard", "", moves, {"player": who, "die": pips})
                return Act("shot", {**bodies, **self._rolled(pips)}, "heard", "", moves, typed={"player": who, "die": pips})
            case _ if self._corner is None:
                return Act("roll", bodies, "heard", ROLL, (f"roll {pips}",), {"player": who, "die": pips})
            case _:
                return Act("roll", {**bodies, **self._rolled(pips)}, "heard", ROLL, (f"roll {pips}",), typed={"player": who, "die": pips})

    def mistake(self, state: State, bodies: Bodies) -> Act | None:
        """One of those below, if it can be made."""
        every = [self._two_driven, self._stripped, self._armoured]
        if isinstance(state.phase, Moving):
            every += [self._wrong_drive, self._others_drive]
        if not isinstance(state.phase, Moving | Hit | Aiming):
            every += [self._out_of_turn]
        return self._chance.choice(every)(state, bodies)

    def same(self, state: State, other: State) -> bool:
        """As they stand."""
        return state == other

    def _drive(self, state: State, bodies: Bodies, points: int) -> tuple[Drive, Bodies]:
        """A legal drive for which there is room, rather one that aims at somebody; raises ValueError where there is none."""
        here = state.mover
        drives = [drive for drive in reachable(state, points) if (drive.space, drive.facing) != (here.space, here.facing)]
        self._chance.shuffle(drives)
        drives.sort(key=lambda drive: not isinstance(engine.play(state, drive).phase, Aiming))
        for drive in drives:
            if driven := self._driven(bodies, state.to_move, Zamboni(drive.space, drive.facing, here.layers)):
                return drive, driven
        raise ValueError(f"expected room for a drive of {points}, got {state}")

    def _wrong_drive(self, state: State, bodies: Bodies) -> Act | None:
        """The player whose turn it is drives where no roll of the kind leads."""
        legal = set(reachable(state, state.phase.points)) if isinstance(state.phase, Moving) else set()
        drive = self._chance.choice([drive for space in _free(state) for facing in FACINGS if (drive := Drive(space, facing)) not in legal])
        driven = self._driven(bodies, state.to_move, Zamboni(drive.space, drive.facing, state.mover.layers))
        tried = str(drive) if any(end.space == drive.space for end in legal) else str(drive.space)
        return Act("wrong drive", driven, "refused", MOVE, (tried,)) if driven else None

    def _others_drive(self, state: State, bodies: Bodies) -> Act | None:
        """Somebody else's nest is driven."""
        player = self._chance.choice([player for player in state.left if player != state.to_move])
        drive = Drive(self._chance.choice(_free(state)), self._chance.choice(FACINGS))
        driven = self._driven(bodies, player, Zamboni(drive.space, drive.facing, state.left[player].layers))
        return Act("other's drive", driven, "refused", MOVE, (str(drive),)) if driven else None

    def _two_driven(self, state: State, bodies: Bodies) -> Act | None:
        """Two nests are driven at once."""
        driven: Bodies | None = bodies
        for player, space in zip(self._chance.sample(list(state.left), 2), self._chance.sample(_free(state), 2), strict=True):
            driven = driven and self._driven(driven, player, Zamboni(space, self._chance.choice(FACINGS), state.left[player].layers))
        return Act("two drives", driven, "out_of_sync", SYNC) if driven else None

    def _stripped(self, state: State, bodies: Bodies) -> Act | None:
        """A layer is taken off a nest that nobody hit."""
        target = state.phase.target if isinstance(state.phase, Hit) else None
        hurt = [player for player, nest in state.left.items() if nest.layers > 1 and player != target]
        if not hurt:
            return None
        player = self._chance.choice(hurt)
        return Act("wrong piece taken", self._stripped_of(state, bodies, player), "refused", HIT, (str(Take(player)),))

    def _armoured(self, state: State, bodies: Bodies) -> Act | None:
        """A larger piece is put over a nest."""
        hurt = [player for player, nest in state.left.items() if nest.layers < max(LAYER_SIZES)]
        if not hurt:
            return None
        player = self._chance.choice(hurt)
        layered = self._relaid(bodies, player, state.left[player].layers + 1)
        solids = [body.solid for body in without(layered, player).values() if isinstance(body, ScenePiece)]
        piece = layered[player]
        return Act("piece put over", layered, "out_of_sync", SYNC) if isinstance(piece, ScenePiece) and is_free(piece.solid, solids) else None

    def _out_of_turn(self, state: State, bodies: Bodies) -> Act:
        """Somebody rolls whose turn it is not."""
        player = self._chance.choice([player for player in state.left if player != state.to_move])
        return Act("roll out of turn", bodies, "refused", ROLL, (), {"player": player, "die": self._chance.randint(1, 6)})

    def _rolled(self, pips: int) -> Bodies:
        """The die somewhere in its corner, if there is one."""
        if self._corner is None:
            return {}
        outline = np.array(self._corner.outline_mm)
        x, y = outline.min(axis=0) + self._rng.uniform(0.25, 0.75, 2) * np.ptp(outline, axis=0)
        middle, rotation = die_at(pips, (float(x), float(y)), float(self._rng.uniform(0, 90)), self._corner.edge_mm, self._table_mm)
        return {"die": SceneDie(middle, rotation, self._corner.edge_mm, self._rgb, self._ink)}

    def _stripped_of(self, state: State, bodies: Bodies, player: str) -> Bodies:
        """The outermost piece is taken off, and what is left laid down where it lay, nearly."""
        layers = state.left[player].layers - 1
        return self._relaid(bodies, player, layers) if layers else without(bodies, player)

    def _relaid(self, bodies: Bodies, player: str, layers: int) -> Bodies:
        """The nest with so many layers nearly where it lies."""
        contact = bodies[player].vertices_mm[[1, 2, 4], :2]
        ahead = contact[2] - contact[:2].mean(axis=0)
        heading_deg = math.degrees(math.atan2(ahead[1], ahead[0])) + float(self._rng.normal(0, RELAID_DEG))
        return {**bodies, player: self._nest(player, contact.mean(axis=0) + self._rng.normal(0, RELAID_MM, 2), heading_deg, layers)}

    def _driven(self, bodies: Bodies, player: str, to: Zamboni) -> Bodies | None:
        """The nest somewhere in a space, looking somewhere near a compass point; None where others are in the way."""
        rest = without(bodies, player)
        solids = [body.solid for body in rest.values() if isinstance(body, ScenePiece)]
        for _ in range(TRIES):
            turn, away_mm = self._rng.uniform(0, 2 * np.pi), SLOPPY_MM * np.sqrt(self._rng.random())
            middle = np.asarray(self._board.origin_mm) + self._board.cell_mm * (np.array([to.space.file, to.space.row]) + 0.5)
            heading_deg = 90 - 45 * FACINGS.index(to.facing) + float(self._rng.uniform(-SLOPPY_DEG, SLOPPY_DEG))
            nest = self._nest(player, middle + away_mm * np.array([np.cos(turn), np.sin(turn)]), heading_deg, to.layers)
            if is_free(nest.solid, solids):
                return {**rest, player: nest}
        return None

    def _nest(self, player: str, middle_mm: Array, heading_deg: float, layers: int) -> ScenePiece:
        """A nest of which the middle of what it stands on is at a place (2,)."""
        size = self._sizes[LAYER_SIZES[layers]]
        ahead = np.array([math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))])
        x, y = middle_mm - size.slant_mm / 3 * ahead
        return self._thrower.piece(player, lying(size, float(x), float(y), heading_deg % 360), size, layers)


def _free(state: State) -> list[Space]:
    """Spaces on which no nest lies."""
    taken = {nest.space for nest in state.left.values()}
    return [space for space in SPACES if space not in taken]
