"""Who begins, with the whole referee: pictures of a simulated table, dice that are read in their
corner, the lot, words that were recorded.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from engines import GAMES
from referee.live.dice_monitor import monitor_dice
from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.sessions.session import Session
from referee.sessions.start import opening
from simulation.camera import PERIOD_MS, SimulatedCamera
from simulation.players.hands import PlayerHands
from simulation.players.zamboni_wars import ZamboniPlay
from simulation.render.dice import die_at
from simulation.render.ground import table_z_mm
from simulation.render.scene import Scene, SceneDie, ScenePiece
from simulation.tables import game_table
from vision.change_gate import Watch

pytestmark = pytest.mark.slow

SET_UP = "set up"
SEED, WIDTH_PX, MOST_FRAMES = 16, 1024, 250
BEGUN = datetime(2026, 11, 27, tzinfo=UTC)
TABLE = game_table("zamboni_wars", SEED, WIDTH_PX)
A, B, C = TABLE.setup.game.colours


class Script:
    """What people do: a number is a die that is rolled in its corner, `SET_UP` lays the nests down,
    a document is said.

    Each is done when what was done before it counts; the camera asks `scene_at`, in order of time.
    """

    def __init__(self, session, deeds):
        self.session, self.people, self.over = session, PlayerHands(session, TABLE.setup), False
        self.pieces, self.dice, self.rolled = (), (), 0
        self.steps = self.evening(deeds)

    def scene_at(self, at_ms):
        self.people.look_up(at_ms)
        next(self.steps)
        return Scene(TABLE.stage, self.pieces, self.people.limbs, (), self.dice)

    def evening(self, deeds):
        yield from self.people.wait(2000)
        for deed in deeds:
            stood = len(self.session.ledger.standing)
            if isinstance(deed, dict):
                self.session.hear(deed)
            else:
                yield from self.people.reach(A, np.array([*self.middle(), 45.0]))
                self.dice = () if deed == SET_UP else self.dice
                yield from self.people.wait(800)
                self.lay(deed)
                yield
                yield from self.people.reach(A, None)
            while len(self.session.ledger.standing) == stood:
                yield
            yield from self.people.wait(1000)
        self.over = True
        while True:
            yield

    def lay(self, deed):
        if deed == SET_UP:
            nests = (
                ZamboniPlay(TABLE.setup, np.random.default_rng(SEED))
                .begin(GAMES["zamboni_wars"].set_up((A, B, C), {}, TABLE.setup.board))
                .bodies
            )
            self.pieces = tuple(body for body in nests.values() if isinstance(body, ScenePiece))
        else:
            self.rolled += 1
            corner = TABLE.setup.dice_corner
            middle, rotation = die_at(
                deed, self.middle(), 20.0 * self.rolled, corner.edge_mm, table_z_mm(TABLE.setup)
            )
            self.dice = (
                SceneDie(middle, rotation, corner.edge_mm, (0.80, 0.76, 0.66), (0.02, 0.02, 0.02)),
            )

    def middle(self):
        """Where the die lies: elsewhere in its corner each time."""
        outline = np.array(TABLE.setup.dice_corner.outline_mm)
        x, y = outline.min(axis=0) + (0.35 + 0.3 * (self.rolled % 2)) * np.ptp(outline, axis=0)
        return float(x), float(y)


class Film:
    """The camera over the table, until the script is over."""

    def __init__(self, script):
        self.camera = SimulatedCamera(TABLE.setup, TABLE.place, script.scene_at, SEED, PERIOD_MS)
        self.name, self.simulated, self.frames, self.script = self.camera.name, True, 0, script

    def read(self):
        self.frames += 1
        assert self.frames < MOST_FRAMES, [
            line.message for line in self.script.session.view().verdicts
        ]
        return None if self.script.over else self.camera.read()

    def close(self):
        self.camera.close()


@pytest.fixture
def played(log):
    """played(begins, deeds, inputs): what the whole referee makes of a game that begins so: the
    state, the same after a restart, and what was told.
    """

    def play(how, deeds, inputs=()):
        started = opening(
            "zamboni_wars",
            (A, B, C),
            {},
            TABLE.setup,
            "simulated",
            BEGUN,
            simulated=True,
            begins=how,
            lot=lambda among: among[1],
        )
        session = Session.begin(log, started)
        film = Film(Script(session, deeds))
        Referee(
            film,
            TABLE.setup,
            Watch(),
            session,
            TABLE.empty,
            dice=monitor_dice(TABLE.setup),
            inputs=inputs,
        ).run()
        state, lines = (
            session.ledger.state,
            [line.message for line in reversed(session.view().verdicts)],
        )
        session.close()
        again = Session.reopen(log, session.id)
        assert again.ledger.state == state
        again.close()
        return state, lines

    return play


def name(player):
    return player.capitalize()


def test_the_highest_die_in_the_corner_begins_and_those_who_tie_roll_again(played):
    state, lines = played("roll", [4, 2, 4, 3, 5, SET_UP, 6])
    assert state.players == (C, A, B)
    assert (state.to_move, str(state.phase)) == (C, "move 6")
    assert lines[:5] == [
        f"{name(A)} rolled 4. {name(B)} rolls to see who begins, then {C}.",
        f"{name(B)} rolled 2. {name(C)} rolls to see who begins.",
        (
            f"{name(C)} rolled 4. {name(A)} and {C} tie and roll again. {name(A)} rolls to see who"
            f" begins, then {C}."
        ),
        f"{name(A)} rolled 3. {name(C)} rolls to see who begins.",
        f"{name(C)} rolled 5. {name(C)} begins.",
    ]


def test_the_lot_says_who_rolls_first_for_movement(played):
    state, lines = played("lot", [SET_UP, 3])
    assert (state.players, state.to_move, str(state.phase)) == ((B, C, A), B, "move 3")
    assert lines[0] == f"Picked at random among {A}, {B} and {C}. {name(B)} begins."


@pytest.mark.parametrize(
    "deeds",
    [[SET_UP, {"begins": C}, 3], [{"begins": C}, SET_UP, 3]],
    ids=["after the set-up", "before it"],
)
def test_a_lot_is_corrected_by_a_word_before_the_first_move(played, deeds):
    state, lines = played("lot", deeds)
    assert (state.players, state.to_move, str(state.phase)) == ((C, A, B), C, "move 3")
    assert f"{name(C)} begins: set by hand." in lines


def test_a_lot_is_corrected_by_a_recorded_word_and_what_is_said_too_late_changes_nothing(played):
    message = [
        Input(500, {"begins": C}, "inputs.jsonl: line 1"),
        Input(60_000, {"begins": A}, "inputs.jsonl: line 2"),
    ]
    state, lines = played("lot", [SET_UP, 3], message)
    assert (state.players, state.to_move, str(state.phase)) == ((C, A, B), C, "move 3")
    assert lines[1] == f"{name(C)} begins: set by hand."


def test_who_was_named_begins(played):
    state, lines = played(C, [SET_UP, 2])
    assert (state.players, state.to_move, str(state.phase)) == ((C, A, B), C, "move 2")
    assert lines[0] == f"{name(C)} begins: set by hand."


def test_a_roll_is_ended_by_a_word(played):
    state, lines = played("roll", [4, 2, {"begins": B}, SET_UP, 5])
    assert (state.players, state.to_move, str(state.phase)) == ((B, C, A), B, "move 5")
    assert lines[2] == f"{name(B)} begins: set by hand."
