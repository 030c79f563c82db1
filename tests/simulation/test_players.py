"""The simulated players: they play whole games by themselves, and what they lay down could lie on a
real table.
"""

from __future__ import annotations

from contextlib import closing
from itertools import combinations
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from engines.ice_boule import hear
from engines.ice_boule.moves import Target, Throw, parse_move
from engines.ice_boule.rules import outcome, play, start
from referee.live.referee import Referee
from referee.sessions.commands import Hear
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from simulation.players.ice_boule import (
    PATIENCE_FRAMES,
    PATIENCE_MS,
    Players,
    simulated_table,
    true_layout,
)
from simulation.players.ice_boule_table import Tabletop, demo_place, demo_setup, demo_stage, nest_in
from simulation.players.ice_boule_table import Throw as Thrown
from simulation.players.laying import middle_mm, stands_on
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene
from table.clearance import clearance
from table.errors import InputError
from table.observation import Observation, SeenPiece
from table.solids import Solid, lying, on_top, upright
from vision.cameras.frame import Frame
from vision.geometry.camera_model import project

pytestmark = pytest.mark.slow

PERIOD_MS = 250
SETUP = demo_setup()
LARGE = SETUP.sizes[-1]


class Umpire:
    """A referee that sees through the players' eyes: it rules by the printed rules as soon as
    nothing has moved for 500 ms.
    """

    def __init__(self):
        self.state = start(SETUP.game.colours, {})
        self.ends, self.verdicts, self.question, self.seq = [], [], None, 1
        self.answers, self.heard = [], 0
        self.blind = False
        self._lay, self._still = (), 0

    def view(self):
        over = outcome(self.state) is not None
        phase = "asking" if self.question else "over" if over else "playing"
        players = list(self.state.players)
        return SimpleNamespace(
            game_number=1,
            seq=self.seq,
            phase=phase,
            next=self.state.next,
            ends=self.ends,
            players=players,
            verdicts=self.verdicts,
            question=self.question,
            state={"starter": self.state.starter, "pieces": str(self.state.layout)},
        )

    def command(self, command):
        self.seq += 1
        if isinstance(command, Hear):
            self._play(parse_move(*hear(self.state, command.heard).moves))
            self.heard += 1
        else:
            self.answers.append(command)
            self.question = None

    def watch(self, players, scene):
        self._still = self._still + 1 if not scene.limbs and scene.pieces == self._lay else 0
        self._lay = scene.pieces
        if self._still == 2 and not self.blind and (move := self._move(players.table)):
            self._play(move)
            self.seq += 1

    def _play(self, move):
        self.state = play(self.state, move)
        self.verdicts.insert(0, SimpleNamespace(verdict="accepted"))
        if self.state.end and self.state.target is None:
            self.ends.append({"winner": self.state.end.winner, "points": self.state.end.points})

    def _move(self, table):
        if self.state.target is None:
            return Target(SETUP.game.target) if table.target and len(table.pieces) == 1 else None
        thrown = sum(self.state.thrown)
        if table.target is None or len(table.pieces) != thrown + 2:
            return None
        newest, layout = table.pieces[-1], true_layout(table)
        if not table.in_play(newest):
            return None
        ranked = [piece for piece, _ in sorted(table.gaps_mm().items(), key=lambda item: item[1])]
        return Throw(newest.colour, "large", layout.lies[ranked.index(newest)], layout)


def film(seed, umpire, most=6000):
    """Scenes of a whole game with the table at that time, four a second."""
    players = Players(umpire, SETUP, seed)
    for frame in range(most):
        scene = players.scene_at(frame * PERIOD_MS)
        yield players, scene
        umpire.watch(players, scene)
        if outcome(umpire.state) and not scene.limbs:
            return


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_game_left_alone_reaches_thirteen(seed):
    umpire = Umpire()
    frames = sum(1 for _ in film(seed, umpire))
    assert outcome(umpire.state) is not None
    assert max(umpire.state.scores) >= 13
    assert frames * PERIOD_MS < 15 * 60_000


def test_an_end_takes_less_than_a_minute():
    umpire = Umpire()
    frames = next(frame for frame, _ in enumerate(film(5, umpire)) if umpire.ends)
    assert frames * PERIOD_MS < 60_000


def test_pieces_at_rest_never_share_space_and_stand_on_something():
    seen = set()
    for players, scene in film(4, Umpire()):
        if scene.limbs or players.table.pieces in seen:
            continue
        seen.add(players.table.pieces)
        for piece in players.table.pieces:
            held = any(stands_on(piece, other) or nests_in(piece, other) for other in scene.pieces)
            assert piece.solid.vertices_mm[:, 2].min() == pytest.approx(0, abs=1e-6) or held
        for a, b in combinations(players.table.pieces, 2):
            nested = stands_on(a, b) or stands_on(b, a) or nests_in(a, b) or nests_in(b, a)
            assert nested or clearance(a.solid, b.solid).mm > 0.005
    assert len(seen) > 30


def nests_in(piece, shell):
    """Does a piece lie in another one that fell over it?"""
    return np.allclose(piece.solid.vertices_mm, nest_in(LARGE, shell.solid).vertices_mm)


def test_a_stack_on_the_target_is_pushed_over_and_pieces_are_knocked_any_distance():
    """The target too: slid, knocked over or off; what stood on it nests with it, touches it or lies
    free.
    """
    rng = np.random.default_rng(3)
    start = Tabletop(SETUP).with_target(upright(LARGE, 300, 240, 10))
    aim, fell, went = (300.0, 240.0), set(), []
    for _ in range(40):
        one = start.after_throw("red", Thrown(aim, 40.0, "on target"), rng)
        two = one.after_throw("blue", Thrown(aim, 40.0, "on target"), rng)
        assert [piece.colour for piece in two.stack] == ["red", "blue"]
        assert str(true_layout(two)) == "red on = blue on"
        after = two.after_throw("red", Thrown(aim, 40.0, "topple"), rng)
        assert after.stack == ()
        target, *others = (
            after.target,
            *(piece for piece in after.pieces[:-1] if piece is not after.target),
        )
        gaps = after.gaps_mm()
        fell |= {
            "nests" if nests_in(target, piece) else "touches" if gaps[piece] < 0.05 else "free"
            for piece in others
        }
        knocked = start.after_throw("red", Thrown(aim, 40.0, "knock"), rng).target
        went.append(float(np.hypot(*(middle_mm(knocked.solid) - middle_mm(start.target.solid)))))
    assert fell == {"nests", "touches", "free"}
    assert min(went) < 10
    assert max(went) > 150
    assert any(
        not start.in_play(start.after_throw("red", Thrown(aim, 40.0, "knock"), rng).target)
        for _ in range(40)
    )


def test_hands_come_for_every_change_and_leave_before_the_ruling():
    before, hands = (), 0
    for players, scene in film(1, Umpire()):
        if players.table.pieces != before:
            assert scene.limbs, "nothing moves by itself"
            hands += 1
        before = players.table.pieces
    assert hands > 20


def test_the_same_seed_plays_the_same_game():
    def story(seed):
        umpire = Umpire()
        return [
            scene.pieces[-1].solid.vertices_mm
            for _, scene in film(seed, umpire, 400)
            if scene.pieces
        ], umpire.state

    first, again, other = story(8), story(8), story(9)
    assert all(map(np.array_equal, first[0], again[0]))
    assert first[1] == again[1] != other[1]


def test_a_throw_that_nobody_rules_on_is_taken_back_and_thrown_again():
    umpire = Umpire()
    for players, scene in film(6, umpire):
        umpire.watch(players, scene)
        if umpire.state.target:
            break
    umpire.blind = True
    counts = []
    start_ms = 1_000_000
    for frame in range(PATIENCE_MS // PERIOD_MS + PATIENCE_FRAMES + 20):
        players.scene_at(start_ms + frame * PERIOD_MS)
        counts.append(len(players.table.pieces))
    assert max(counts) == 2, "never a second piece while the first is not ruled on"
    assert 1 in counts[counts.index(2) :], "the first one is taken back"


def test_a_throw_that_rolls_off_is_told_to_the_referee_and_counts():
    umpire = next(umpire for umpire in map(played, range(10, 20)) if umpire.heard)
    assert max(umpire.state.scores) >= 13


def played(seed):
    umpire = Umpire()
    for _ in film(seed, umpire):
        pass
    return umpire


def question(choices):
    return SimpleNamespace(
        seq=7,
        code="boule.too_close",
        choices=[SimpleNamespace(label=label, moves=moves) for label, moves in choices],
    )


def test_asked_they_measure_and_tell_the_truth():
    umpire = Umpire()
    players = Players(umpire, SETUP, 1)
    table = Tabletop(SETUP).with_target(upright(LARGE, 300, 200, 0))
    near, far = lying(LARGE, 340, 200, 0), lying(LARGE, 240.5, 200, 180)
    players.table = Tabletop(
        SETUP, (*table.pieces, table.piece("blue", near), table.piece("red", far))
    )
    choices = [
        ("red is nearer", ["throw red large 27.1: red 27.1 < blue 27.3"]),
        ("blue is nearer", ["throw red large 27.3: blue 27.3 < red 27.3"]),
        ("equal", ["throw red large 27.3: red 27.3 = blue 27.3"]),
    ]
    umpire.question = question(choices)
    frames = 0
    while umpire.question:
        players.scene_at(frames * PERIOD_MS)
        frames += 1
    (answer,) = umpire.answers
    assert answer.label == "blue is nearer"
    assert answer.how == "calliper"
    assert answer.readings_mm["blue"] < answer.readings_mm["red"]
    assert frames * PERIOD_MS > 2000, "measuring takes a moment"


@pytest.mark.parametrize(
    "wrong",
    ["blue on < blue 16.1 < red 20.0", "red 0.0 < blue 2.2 < blue 16.1", "blue 16.1 < red 20.0"],
)
def test_they_never_confirm_what_would_score_other_points(wrong):
    umpire = Umpire()
    players = Players(umpire, SETUP, 1)
    table = Tabletop(SETUP).with_target(upright(LARGE, 300, 200, 0))
    for colour, x_mm in (("blue", 326), ("red", 350), ("blue", 240)):
        piece = table.piece(colour, upright(LARGE, x_mm, 200, 0))
        table = Tabletop(SETUP, (*table.pieces, piece))
    players.table = table
    umpire.question = question(
        [("the camera is right", [f"throw blue large 16.1: {wrong}"]), ("show it more clearly", [])]
    )
    for frame in range(40):
        players.scene_at(frame * PERIOD_MS)
    (answer,) = umpire.answers
    assert answer.label == "show it more clearly"


def test_what_is_equal_on_the_calliper_is_said_to_be_equal():
    table = Tabletop(SETUP).with_target(upright(LARGE, 300, 200, 0))
    for colour, solid in (
        ("blue", upright(LARGE, 350, 200, 0)),
        ("red", upright(LARGE, 250.02, 200, 0)),
        ("red", on_top(LARGE, table.target.solid, 20)),
    ):
        table = Tabletop(SETUP, (*table.pieces, table.piece(colour, solid)))
    assert str(true_layout(table)) == "red on < red 24.58 = blue 24.58"


def test_people_at_the_panel_may_be_faster_than_the_simulated_players():
    umpire = Umpire()
    umpire.question = question([("yes", []), ("no", [])])
    players = Players(umpire, SETUP, 1)
    for frame in range(4):
        players.scene_at(frame * PERIOD_MS)
    umpire.question = None
    for frame in range(4, 40):
        players.scene_at(frame * PERIOD_MS)
    assert umpire.answers == []


def test_knocks_touches_and_pieces_on_the_target_happen_and_are_lawful():
    rng = np.random.default_rng(0)
    start_table = Tabletop(SETUP).with_target(upright(LARGE, 300, 240, 10))
    for accident, expected in (
        ("touch", "touch"),
        ("on target", "on"),
        ("off", "off"),
        ("knock", "knock"),
        ("none", "free"),
    ):
        table = start_table
        if accident == "knock":
            table = Tabletop(
                SETUP, (*table.pieces, table.piece("blue", lying(LARGE, 250, 180, 30)))
            )
        after = table.after_throw("red", Thrown((300.0, 240.0), 40.0, accident), rng)
        newest = after.pieces[-1]
        gap = after.gaps_mm().get(newest)
        happened = (
            "off"
            if gap is None
            else "on"
            if gap < 0
            else "touch"
            if gap < 0.05
            else "knock"
            if any(piece not in after.pieces for piece in table.pieces)
            else "free"
        )
        assert happened == expected


def test_the_simulated_camera_shows_the_players_table():
    umpire = Umpire()
    camera = simulated_table(umpire, seed=2, period_ms=500)
    frame = camera.read()
    assert frame.image.shape == (SETUP.camera.height, SETUP.camera.width, 3)
    assert frame.at_ms == 0
    assert camera.simulated


def test_every_fiducial_and_the_whole_ground_are_in_view():
    corners = np.array([marker.corners_mm for marker in SETUP.fiducials.markers]).reshape(-1, 2)
    pixels = project(np.column_stack([corners, np.zeros(len(corners))]), demo_place(), SETUP.camera)
    assert pixels.min() > 10
    assert (pixels < np.array([SETUP.camera.width, SETUP.camera.height]) - 10).all()


def test_nothing_of_the_demo_is_over_exposed():
    image = Renderer(SETUP, demo_place()).picture(Scene(demo_stage(1)), np.random.default_rng(0))
    assert np.percentile(image, 99.9) < 250
    assert np.median(image) > 60


def test_a_table_without_a_target_is_refused():
    game = msgspec.structs.replace(SETUP.game, target=None)
    with pytest.raises(
        InputError, match=r"game\.target: expected a colour for the target, got none"
    ):
        Players(Umpire(), msgspec.structs.replace(SETUP, game=game), 1)


class TruthCamera:
    """A camera without pictures: what its frames would show is in `scene`."""

    name, simulated = "truth", True

    def __init__(self, session):
        self.session, self.players, self.seq, self.scene = (
            session,
            Players(session, SETUP, 1),
            0,
            None,
        )

    def read(self):
        if self.session.view().phase == "over" or self.seq > 4000:
            return None
        at_ms = self.seq * PERIOD_MS
        self.scene = self.players.scene_at(at_ms)
        self.seq += 1
        return Frame(self.seq - 1, at_ms, np.zeros((8, 8, 3), np.uint8))

    def close(self):
        pass


def seen_piece(piece, others, rng, sigma_mm=0.08):
    vertices = piece.solid.vertices_mm
    stands = np.ptp(vertices[:4, 2]) < 0.01
    base = vertices[:4, :2].mean(axis=0) if stands else vertices[1:3, :2].mean(axis=0)
    along = (vertices[1] - vertices[0])[:2] if stands else vertices[4, :2] - base
    error = np.array([*rng.normal(0, sigma_mm, 2), 0.0])
    on = next(
        (
            index
            for index, other in enumerate(others)
            if other is not piece and stands_on(piece, other)
        ),
        None,
    )
    return SeenPiece(
        piece.colour,
        "large",
        "upright" if stands else "lying",
        base + error[:2],
        float(np.degrees(np.arctan2(along[1], along[0]))),
        Solid(vertices + error),
        np.diag([sigma_mm**2, sigma_mm**2, 0.01]),
        on=on,
    )


def test_the_whole_way_to_thirteen_is_refereed_truly(tmp_path):
    """Players, session, judge and log as they are; only the pictures are left out: pieces are read
    with an error of 0.08 mm.
    """
    rng = np.random.default_rng(3)
    place = demo_place()
    with closing(Log(tmp_path / "log.sqlite")) as log:
        session = Session.begin(
            log, SessionStarted(game="ice_boule", players=SETUP.game.colours, simulated=True)
        )
        camera = TruthCamera(session)
        truths = {}

        def observe(frame, setup, reference=None, previous=None):  # noqa: ARG001 - vision's signature
            inside = [piece for piece in camera.scene.pieces if camera.players.table.in_play(piece)]
            outside = [piece for piece in camera.scene.pieces if piece not in inside]
            truths[frame.at_ms] = camera.players.table.gaps_mm()
            pieces = (
                tuple(seen_piece(piece, lot, rng) for piece in lot) for lot in (inside, outside)
            )
            return Observation(
                frame.seq, frame.at_ms, place, *pieces, hand=bool(camera.scene.limbs)
            )

        Referee(camera, SETUP, observe, session).run()
        view, records = session.view(), session.records()
    assert view.phase == "over"
    assert max(view.scores.values()) >= 13
    ruled = [
        record
        for record in records
        if isinstance(record.event, VerdictReached) and record.event.code == "boule.throw"
    ]
    assert len(ruled) > 30
    assert all(record.event.verdict == "accepted" for record in ruled)
    for record in ruled:
        if record.event.observation is None:
            continue  # said
        gaps = sorted(max(gap, 0.0) for gap in truths[record.at_ms].values())
        assert [gap["gap_mm"] for gap in record.event.observation["gaps"]] == pytest.approx(
            gaps, abs=0.6
        )
