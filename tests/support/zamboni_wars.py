"""Tables of Zamboni Wars at random, and what the printed rules say about them, worked out the slow
way.
"""

from random import Random

import numpy as np
import pytest

from engines import zamboni_wars as game
from engines.zamboni_wars.board import FACINGS, SPACES
from engines.zamboni_wars.state import LAYER_SIZES
from table.boards import Coasters
from table.observation import Camera, Observation, SeenDie, SeenPiece
from table.pieces import load_piece_set
from table.solids import lying
from tests.support.paths import ROOT
from tests.support.sentences import untemplated

COLOURS = ["yellow", "red", "blue", "green"]
"""Clockwise round the usual board."""
WAYS = {
    "N": (0, 1),
    "NE": (1, 1),
    "E": (1, 0),
    "SE": (1, -1),
    "S": (0, -1),
    "SW": (-1, -1),
    "W": (-1, 0),
    "NW": (-1, 1),
}
MIDDLES = [(1, 1), (4, 1), (1, 4), (4, 4)]


def arrows():
    """By (file, row) from 0, the ways in which a space of the usual board may be left."""
    lines = (ROOT / "tests/engines/zamboni_wars/data/arrows.txt").read_text().splitlines()[1:]
    return {
        (file, 5 - down): ways
        for down, line in enumerate(lines)
        for file, ways in enumerate(line.split())
    }


class Slow:
    """One table, by plain numbers; knows nothing of the package."""

    ARROWS = arrows()

    def __init__(self, space, facing, others, dice, warp):
        self.space, self.facing, self.others, self.dice, self.warp = (
            space,
            facing,
            set(others),
            tuple(sorted(dice)),
            warp,
        )

    def act(self, space, facing, dice, action):
        """What one point does: `go`, a facing, or the middle space to warp to; None if the rules
        forbid it.
        """
        if action == "go":
            if len(facing) != 1 or facing not in self.ARROWS[space]:
                return None
            dx, dy = WAYS[facing]
            there, beyond = (space[0] + dx, space[1] + dy), (space[0] + 2 * dx, space[1] + 2 * dy)
            if there not in self.ARROWS or there in self.others:
                return None
            if there in dice:
                free = beyond in self.ARROWS and beyond not in self.others and beyond not in dice
                if not free or facing not in self.ARROWS[there]:
                    return None
                dice = tuple(sorted({*dice, beyond} - {there}))
            return there, facing, dice
        if action in WAYS:
            return (space, action, dice) if action != facing else None
        allowed = self.warp and space in MIDDLES and action in MIDDLES and action != space
        return (
            (action, facing, dice)
            if allowed and action not in self.others and action not in dice
            else None
        )

    def ends(self, points):
        """(space, facing, dice) after every sequence of exactly so many points, one by one, nothing
        remembered.
        """

        def play(space, facing, dice, left, turned):
            if left == 0:
                yield space, facing, dice
                return
            for action in ["go", *MIDDLES, *([] if turned else WAYS)]:
                then = self.act(space, facing, dice, action)
                if then:
                    yield from play(*then, left - 1, action in WAYS)

        return set(play(self.space, self.facing, self.dice, points, False))

    def target(self):
        """The space of the Zamboni that the laser would hit, or None."""
        seen = []
        for other in self.others:
            dx, dy = other[0] - self.space[0], other[1] - self.space[1]
            far = max(abs(dx), abs(dy))
            if far <= 4 and (dx, dy) == (far * WAYS[self.facing][0], far * WAYS[self.facing][1]):
                between = {
                    (self.space[0] + k * dx // far, self.space[1] + k * dy // far)
                    for k in range(1, far)
                }
                if not between & (self.others | set(self.dice)):
                    seen.append(other)
        assert len(seen) < 2
        return seen[0] if seen else None


def name(space):
    """`c6` for (2, 5)."""
    return f"{'abcdef'[space[0]]}{space[1] + 1}"


class Table(Slow):
    """A random table of 2 to 4 players, who may be crowded, and its line of state in a phase."""

    def __init__(self, seed, warp, cover):
        dice = Random(seed)
        self.players = dice.choice([COLOURS, COLOURS[:3], COLOURS[::2], COLOURS[1::2]])
        crowd = dice.choice(
            [list(self.ARROWS), [(file, row) for file in range(3) for row in range(2)]]
        )
        count = len(self.players) // 2 if cover else 0
        spaces = dice.sample(crowd, len(self.players) + count)
        self.nests = [
            (space, dice.choice(list(WAYS)), dice.randint(1, 3)) for space in spaces[count:]
        ]
        mover = dice.randrange(len(self.players))
        self.to_move, self.cover = self.players[mover], cover
        others = [space for seat, (space, _, _) in enumerate(self.nests) if seat != mover]
        super().__init__(self.nests[mover][0], self.nests[mover][1], others, spaces[:count], warp)

    def state(self, phase):
        """The line of the state."""
        nests = ", ".join(
            f"{name(space)} {facing} {layers}" for space, facing, layers in self.nests
        )
        return (
            f"players {' '.join(self.players)}; zambonis {nests}; to_move {self.to_move}; phase"
            f" {phase}; dice {' '.join(map(name, self.dice)) or '-'}; board yellow=SE red=SW"
            f" green=NE blue=NW; rulings warp={'on' if self.warp else 'off'}"
            f" cover={'on' if self.cover else 'off'} fire=may."
        )


@pytest.fixture(scope="session")
def table():
    """Makes a table: `table(seed, warp, cover)`."""
    return Table


@pytest.fixture(scope="session")
def slow_arrows():
    """The arrows of the usual board as they were written down for the tests."""
    return {name(space): ways for space, ways in Slow.ARROWS.items()}


BOARD = Coasters(cell_mm=33.9, coaster_mm=101.6, layout=(("yellow", "red"), ("green", "blue")))
CAMERA = Camera(np.eye(3), -np.array([100.0, 60.0, 500.0]), np.eye(6) * 1e-6, 0.1, (0, 1, 2, 3))
SIZES = load_piece_set("looney")
SLOPPY_MM, SLOPPY_DEG = 6.0, 8.0
"""Hands lay nests so far from the middle of a space, and so far from a compass point, at most."""
READ_MM, READ_DEG = 0.4, 1.5
"""What a reading errs, 1 sigma."""


class RealTable:
    """A real table: by player where the middle of the nest's contact lies, how it looks in degrees,
    and its layers.
    """

    BOARD = BOARD

    def __init__(self, state, rng):
        self.rng = rng
        self.nests = {
            player: (*self.place(nest.space, nest.facing), nest.layers)
            for player, nest in state.remaining_zambonis.items()
        }
        self.spare = []
        self.dice = {space: self.place(space, "N")[0] for space in state.dice}

    def place(self, space, facing, mm=SLOPPY_MM, deg=SLOPPY_DEG):
        """Somewhere in a space, looking somewhere near a compass point."""
        turn, away_mm = self.rng.uniform(0, 2 * np.pi), mm * np.sqrt(self.rng.random())
        middle = BOARD.cell_mm * (np.array([space.file, space.row]) + 0.5)
        heading_deg = 90 - 45 * FACINGS.index(facing) + self.rng.uniform(-deg, deg)
        return middle + away_mm * np.array([np.cos(turn), np.sin(turn)]), heading_deg

    def drive(self, player, space, facing):
        """A hand drives a nest."""
        self.nests[player] = (*self.place(space, facing), self.nests[player][2])

    def strip(self, player, layers=1):
        """A hand takes the outermost layers off a nest; what is left is laid where it lay,
        nearly.
        """
        at, heading_deg, left = self.nests.pop(player)
        if left > layers:
            self.nests[player] = (
                at + self.rng.normal(0, 0.5, 2),
                heading_deg + self.rng.normal(0, 1),
                left - layers,
            )

    def push(self, space, there):
        """A hand pushes a cover die."""
        del self.dice[space]
        self.dice[there] = self.place(there, "N")[0]

    def copy(self):
        """A table that may be spoilt."""
        other = object.__new__(RealTable)
        other.__dict__.update(
            self.__dict__, nests=dict(self.nests), spare=list(self.spare), dice=dict(self.dice)
        )
        return other

    def seen(self, **more):
        """What a camera reads."""
        pieces = [self.read(player, *nest) for player, nest in [*self.nests.items(), *self.spare]]
        self.rng.shuffle(pieces)
        dice = tuple(
            SeenDie(*(at + self.rng.normal(0, READ_MM, 2)), READ_MM) for at in self.dice.values()
        )
        return Observation(0, 0, CAMERA, tuple(pieces), **{"dice": dice, **more})

    def read(self, colour, at, heading_deg, layers, **more):
        """A nest as it is read: the base edge lies a third of the slant height behind the middle of
        the contact.
        """
        size = SIZES[LAYER_SIZES[layers]]
        heading_deg = (heading_deg + self.rng.normal(0, READ_DEG)) % 360
        ahead = np.array([np.cos(np.radians(heading_deg)), np.sin(np.radians(heading_deg))])
        base_mm = at + self.rng.normal(0, READ_MM, 2) - size.slant_mm / 3 * ahead
        covariance = np.diag([READ_MM, READ_MM, READ_DEG]) ** 2
        return SeenPiece(
            colour,
            size.name,
            "lying",
            base_mm,
            heading_deg,
            lying(size, *base_mm, heading_deg),
            covariance,
            **more,
        )


NOTHING = Observation(0, 0, None)
"""An observation before the one that is judged, with nothing on it that could be compared."""


def _checked(verdict):
    """The verdict, every sentence of which is a template with its values."""
    assert untemplated(verdict) == []
    return verdict


class Evening:
    """A game on a table, its record, and what may go wrong between two moves."""

    def __init__(self, seed, players="yellow red blue"):
        self.chance, self.rng = Random(seed), np.random.default_rng(seed)
        self.state = game.start(players.split(), {})
        self.table = RealTable(self.state, self.rng)
        self.message = []
        self.before = self.seen = NOTHING

    def judge(self, table=None):
        self.seen = (table or self.table).seen()
        return _checked(game.judge(self.state, self.seen, self.before, self.table.BOARD))

    def count(self, verdict):
        """Play what a verdict says."""
        for move in verdict.moves:
            self.state = game.play(self.state, game.parse_move(move))
        self.message.append(verdict)
        self.before = self.seen
        return verdict

    def roll(self, player=None):
        heard = {"player": player or self.state.to_move, "die": self.chance.randint(1, 6)}
        return _checked(game.hear(self.state, heard))

    def drive(self):
        """A legal drive, those that aim preferred, and the verdict on it."""
        drives = [
            drive
            for drive in game.legal_moves(self.state)
            if (drive.space, drive.facing) != (self.state.mover.space, self.state.mover.facing)
        ]
        aimed = [
            drive for drive in drives if str(game.play(self.state, drive).phase).startswith("fire")
        ]
        drive = self.chance.choice(aimed or drives)
        self.table.drive(self.state.to_move, drive.space, drive.facing)
        return drive, self.judge()

    @property
    def phase(self):
        return game.state_document(self.state)["phase"]

    def others(self):
        return [player for player in self.state.remaining_zambonis if player != self.state.to_move]

    def free(self):
        taken = {nest.space for nest in self.state.remaining_zambonis.values()}
        return [space for space in SPACES if space not in taken]


def set_at(line, seed=0):
    """An evening in the state `zambonis ...; to_move ...; phase ...`."""
    evening = Evening(seed)
    evening.state = game.State.parse(
        f"players yellow red blue; {line}; dice -; board yellow=SE red=SW green=NE blue=NW; rulings"
        " warp=off cover=off roll_off=each fire=may."
    )
    evening.table = RealTable(evening.state, evening.rng)
    return evening


@pytest.fixture(scope="session")
def begin():
    """Begins an evening: `begin(seed, players)`."""
    return Evening


@pytest.fixture(scope="session")
def at():
    """Begins one in the middle of a game: `at("zambonis ...; to_move ...; phase ...")`."""
    return set_at


@pytest.fixture(scope="session")
def real_table():
    """Makes a table as a camera reads it: `real_table(state, rng)`; it lies on
    `real_table.BOARD`.
    """
    return RealTable
