"""A table made ready before a game, through a camera that looks at it: what is known of it, and
what people have done about it.
"""

from __future__ import annotations

import threading

import msgspec
import numpy as np
import pytest

from calibration import wizard
from calibration.lens.synthetic_views import random_lens, random_pose, simulated_view
from calibration.lens.views import Views
from calibration.wizard import TableWizard
from simulation.players.ice_boule_table import demo_place, demo_setup, demo_stage
from simulation.render.renderer import Renderer
from simulation.render.scene import Scene, ScenePiece
from table.errors import InputError
from table.solids import lying, upright
from table.table_config import load_table, save_table
from table.table_file import TableFile
from vision.cameras.base import CameraLost
from vision.cameras.frame import Frame

pytestmark = pytest.mark.slow


class Film:
    """A camera of pictures, of errors, and of what people do between them; each is told the steps
    that it leads to.
    """

    name, simulated = "film", True

    def __init__(self, *shots):
        self.shots, self.count, self.closed = list(shots), 0, False

    def read(self):
        while self.shots and callable(self.shots[0]):
            self.shots.pop(0)()
        if not self.shots:
            return None
        shot = self.shots.pop(0)
        if isinstance(shot, Exception):
            raise shot
        self.count += 1
        return Frame(self.count, 500 * self.count, shot)

    def close(self):
        self.closed = True


@pytest.fixture(scope="module")
def images():
    """The demo's table with a piece of each colour, and the same with card 2 moved by 6 mm."""
    setup = demo_setup()
    (size,) = setup.sizes
    solids = {
        "red": lying(size, 150, 200, 0),
        "blue": lying(size, 280, 200, 40),
        "yellow": upright(size, 410, 200, 80),
    }
    scene = Scene(
        demo_stage(5), tuple(ScenePiece(solid, colour) for colour, solid in solids.items())
    )
    pictures = [
        Renderer(lies, demo_place()).picture(scene, np.random.default_rng(7))
        for lies in (setup, moved(setup))
    ]
    return dict(zip(("as it was", "moved"), pictures, strict=True))


def moved(setup):
    markers = [
        (
            msgspec.structs.replace(
                marker, corners_mm=tuple((x + 6.0, y) for x, y in marker.corners_mm)
            )
            if marker.id == 2
            else marker
        )
        for marker in setup.fiducials.markers
    ]
    return msgspec.structs.replace(
        setup, fiducials=msgspec.structs.replace(setup.fiducials, markers=tuple(markers))
    )


@pytest.fixture
def make(tmp_path, monkeypatch):
    """make(film): a table made ready through it, kept in a file."""
    monkeypatch.setattr(wizard, "LOOK_S", 0.0)
    save_table(demo_setup(), tmp_path / "table.json")
    file = TableFile(tmp_path / "table.json", demo_setup())
    return lambda film, **more: TableWizard(file, lambda _setup: film, **more)


def watch(film, table, *jobs):
    """Run it: each job is wished for once there was a picture; in the end it is stopped.  Gives the
    steps before each and at the end.
    """
    steps = []

    def between(job):
        def act():
            steps.append(table.steps())
            if job:
                table.request_job(job)
            else:
                table.stop()

        return act

    image = next(shot for shot in reversed(film.shots) if not callable(shot))
    for job in (*jobs, None):
        film.shots += [between(job), image]
    table.run()
    assert film.closed
    return steps


def test_what_is_known_of_a_table_is_told(make, images):
    film = Film(images["as it was"])
    table = make(film)
    assert {name: step.good for name, step in table.steps().items()} == {
        "camera": None,
        "lens": None,
        "table": None,
        "colours": None,
    }
    (steps,) = watch(film, table)
    assert steps["camera"].message == ("film, 1280 × 960 px.",)
    assert steps["lens"].message == ("Lens not calibrated here (no ± given); results may be off.",)
    assert steps["table"].good
    assert steps["table"].when
    assert steps["table"].message[0] == "The corner cards and the board are where table.json says."
    assert steps["table"].message[1].startswith("Gaps are accurate to ± 0.")
    assert table.jpeg().startswith(b"\xff\xd8")


def test_a_card_that_was_moved_is_told_and_measured_anew_on_the_same_page(make, images, tmp_path):
    film = Film(images["moved"])
    table = make(film)
    before, after = watch(film, table, "table")
    assert not before["table"].good
    assert before["table"].message[0].startswith("Corner card 2 is 5.9 mm")
    assert after["table"].good
    assert (after["table"].doing, after["table"].refusal) == (False, "")
    assert load_table(tmp_path / "table.json") == table.setup != demo_setup()
    assert load_table(tmp_path / "table.json.bak") == demo_setup()


def test_a_card_that_is_moved_meanwhile_is_seen_and_when_it_lies_there_again(make, images):
    film = Film(*[images["as it was"]] * 2)
    table = make(film)
    steps = []
    for now in ("moved", "as it was"):
        film.shots += [*[images[now]] * 5, lambda: steps.append(table.steps()["table"])]
    watch(film, table)
    assert [step.good for step in steps] == [False, True]


def test_colours_are_learned_from_what_lies_there(make, images, tmp_path):
    film = Film(images["as it was"])
    table = make(film)
    before, after = watch(film, table, "colours")
    assert before["colours"].good is None
    assert after["colours"].good
    assert "red, blue and yellow" in after["colours"].message[0]
    assert len(after["colours"].message) == 2
    assert [one.colour for one in load_table(tmp_path / "table.json").learned_colours] == [
        one.colour for one in table.setup.learned_colours
    ]


def test_what_cannot_be_done_is_said_and_changes_nothing(make, images, tmp_path):
    bare = np.full_like(images["moved"], 120)
    film = Film(bare)
    table = make(film)
    *_, after = watch(film, table, "colours", "table")
    assert after["colours"].refusal
    assert after["table"].refusal
    assert not after["table"].good
    assert not table.busy
    assert table.setup == load_table(tmp_path / "table.json") == demo_setup()


def test_a_lens_that_is_calibrated_counts_once_the_table_is_measured_through_it(
    make, images, monkeypatch, tmp_path
):
    rng, setup = np.random.default_rng(3), demo_setup()
    true = random_lens(rng)
    views = tuple(
        simulated_view(f"view-{k:02d}", true, random_pose(true, rng), 0.1, rng) for k in range(14)
    )
    given = Views((true.width, true.height), views, (), None)
    monkeypatch.setattr(wizard, "take_views", lambda *_: given)
    monkeypatch.setattr(
        wizard,
        "lens_file",
        lambda *words: msgspec.structs.replace(lens_file(*words), camera=setup.camera),
    )
    film = Film(images["as it was"])
    table = make(film)
    assert table.lens is None
    before, calibrated, after = watch(film, table, "lens", "table")
    assert table.lens.look().stage == "done"
    assert (
        "It will be used once the corner cards and the board are measured again."
        in calibrated["lens"].message
    )
    assert calibrated["lens"].when > before["lens"].when
    assert not calibrated["table"].good
    assert (tmp_path / "lens.json").exists()
    assert after["table"].good
    assert after["lens"].message == before["lens"].message


lens_file = wizard.lens_file


def test_a_camera_that_is_lost_is_told_and_what_was_wanted_of_it_ends(make, images):
    film = Film(images["as it was"])
    lost = []
    table = make(film, pause=lambda _s: lost.append(table.steps()))
    film.shots += [lambda: table.request_job("table"), CameraLost("no cable"), images["as it was"]]
    watch(film, table)
    lost_steps = next(steps for steps in lost if steps["camera"].good is False)
    assert "no cable" in lost_steps["camera"].message[1]
    assert "camera lost" in lost_steps["table"].refusal


def test_one_thing_after_the_other(make, images):
    film = Film(images["as it was"])
    table = make(film)
    table.request_job("lens")
    assert table.steps()["lens"].doing
    with pytest.raises(InputError, match="another job is running"):
        table.request_job("colours")
    table.stop()
    table.run()
    assert film.closed


def test_what_nobody_foresaw_is_told_and_the_page_goes_on(make, images, monkeypatch):
    """A picture that cannot be looked at, a wish that fails, a camera that cannot be used: the
    thread that looks does not end.
    """
    film = Film(
        images["as it was"],
        images["as it was"],
        images["as it was"],
        InputError("frame 4: expected 96 x 80 px"),
    )
    table, message = make(film), []
    check, errors = wizard.recheck, [ValueError("odd\nnumber")]

    def failing(*words):
        if errors:
            raise errors.pop(0)
        return check(*words)

    def fail(*_):
        raise ZeroDivisionError("no length")

    monkeypatch.setattr(wizard, "recheck", failing)
    monkeypatch.setattr(wizard, "remeasure_cards", fail)

    def after_the_first():
        message.append(table.steps()["camera"].message[-1])
        table.request_job("table")

    def after_the_second():
        message.append(table.steps()["table"].refusal)
        message.append(table.steps()["camera"].good)

    film.shots[1:1] = [after_the_first]
    film.shots[3:3] = [after_the_second]
    looking = threading.Thread(target=table.run)
    looking.start()
    while (
        table.steps()["camera"].message[-1]
        != "The camera cannot be used: frame 4: expected 96 x 80 px"
    ):
        assert looking.is_alive()
    table.stop()
    looking.join(60)
    assert message == [
        "The picture could not be checked (ValueError: odd number).",
        "something went wrong: ZeroDivisionError: no length",
        True,
    ]
    assert film.closed
