"""A person at the virtual table without a browser, on a clock that runs as fast as it can.

The panel's real routes are asked; a perfect reading stands in for pictures.  What is rolled is
said, as nobody reads dice.  It has the interface of `tests.support.virtual_hand.VirtualHand`, so
that `tests.support.virtual_games` plays on it.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime

import numpy as np

from referee.live.patient_session import PatientSession
from referee.live.referee import Referee
from referee.live.supervisor import Supervisor
from referee.sessions.event_store import Log
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.sessions.status import LiveState
from simulation.tables import demo_table, lessons_table
from simulation.true_reading import PERIOD_MS, TrueEyes
from simulation.tutor import Tutor, lessons_of
from simulation.virtual_table import VirtualTable
from table.cells import cell_middle_mm
from webui import create_app
from webui.security.codes import Codes
from webui.security.permissions import Access

TRIES, LOOK_MS, PATIENCE_MS = 3, 200, 120_000
ACT_MS, HELD_MS, ROLLS_MS = 400, 500, 2500
"""Time for an act, while a piece is dragged, and until a die lies still."""
SAME_MM, NOTCH_DEG = 5.0, 15.0


class Gate:
    """A camera that releases its frames one by one on request."""

    def __init__(self, camera):
        self._camera = camera
        self.name, self.simulated = camera.name, True
        self._let, self._taken = threading.Semaphore(0), threading.Semaphore(0)
        self._waited = self.closed = False

    def read(self):
        """Wait for the next released frame; None at the end."""
        if self._waited:
            self._taken.release()
        self._waited = True
        self._let.acquire()
        return None if self.closed else self._camera.read()

    def let_through(self):
        """Release a frame, and wait until it has been processed."""
        self._let.release()
        assert self._taken.acquire(timeout=60), "the referee has stopped"

    def close(self):
        """No more pictures."""
        self.closed = True
        self._let.release()


class QuickHand:
    """See above; times are those of the table's clock."""

    def __init__(self, gate, session, virtual, client, setup):
        self.page, self.setup = self, setup
        self._gate, self._session, self._virtual, self._client = gate, session, virtual, client
        self._owed_ms = 0
        self.tutor = None

    def wait_for_timeout(self, passed_ms):
        """Let time pass."""
        self._owed_ms += passed_ms
        while self._owed_ms >= PERIOD_MS:
            self._owed_ms -= PERIOD_MS
            self._gate.let_through()

    def view(self):
        """The session's state from the API."""
        return self._client.get("/api/v1/state").json

    def state(self):
        """The engine's state, including secrets."""
        return self._session.ledger.state

    def lesson_state(self):
        """State of the lesson: `laying`, `open`, `other` or `done`."""
        return self.tutor.look().state

    def pieces(self, lies=True):
        """Bodies on the table, or off it, by name."""
        look = self._virtual.look()
        found = {}
        for body in look.bodies if lies else look.reserve:
            x, y = map(float, body.vertices_mm[:, :2].mean(axis=0))
            found[body.name] = {"name": body.name, "may": list(body.may), "x": x, "y": y}
        return found

    def _until(self, look, true):
        for _ in range(PATIENCE_MS // LOOK_MS):
            if true(seen := look()):
                return seen
            self.wait_for_timeout(LOOK_MS)
        raise AssertionError(f"it never came so; now {self.view()['live']['said']}, {seen}")

    def until_seen(self, true):
        """What lies on the table once this is true of it."""
        return self._until(self.pieces, true)

    def until(self, true):
        """The view once this is true of it."""
        return self._until(self.view, true)

    def idle(self):
        """True if no simulated player is at the table."""
        return not self._virtual.look().busy

    def until_idle(self):
        """Wait until no simulated player is at the table."""
        self._until(self.idle, bool)

    def spare(self, colour):
        """A piece of a colour that is not on the table."""
        beside = self.pieces(lies=False)
        return next((name for name in beside if name.startswith(f"{colour} ")), None)

    def cell(self, name):
        """The middle of a cell, mm."""
        return cell_middle_mm(self.setup.board, name)

    def _touch(self, do, piece="", **more):
        """Act on a piece; True if the table permits it."""
        touch = {"do": do, "piece": piece} | {key: float(value) for key, value in more.items()}
        answer = self._client.post("/virtual", json=touch)
        self.wait_for_timeout(ACT_MS)
        return answer.status_code == 204

    def _insist(self, *act, **more):
        for _ in range(TRIES):
            if self._touch(*act, **more):
                return
            self.until_idle()
        raise AssertionError(f"{act} is refused")

    def drag(self, name, x_mm, y_mm, notches=0):
        """Drag a piece to a place, and turn it; False if it is already there."""
        at = self.pieces().get(name)
        if at is not None and np.hypot(at["x"] - x_mm, at["y"] - y_mm) < SAME_MM:
            return False
        there = {"x_mm": x_mm, "y_mm": y_mm, "turn_deg": NOTCH_DEG * notches}
        self._insist("hold", name, **there)
        self.wait_for_timeout(HELD_MS)
        self._insist("drop", name, **there)
        return True

    def tap(self, name, do, times=1, turn=""):
        """Choose something in the menu of a piece; a die that is rolled is announced."""
        for _ in range(times):
            self._insist(do, name, turn_deg=float(turn or 0))
        if do == "roll":
            self.wait_for_timeout(ROLLS_MS)
            state = self._session.ledger.state
            die = next(body for body in self._virtual.look().bodies if body.name == name)
            self.command(command="hear", said={"player": state.to_move, "die": int(die.text)})

    def clear(self):
        """Gather all pieces."""
        self._insist("clear")

    def press(self, selector):
        """Press *Put it back as recorded*."""
        assert selector == "#put-back"
        self._insist("put back")

    def undo(self):
        """Undo the last ruling."""
        before = self.view()["seq"]
        self.command(command="undo")
        assert self.view()["seq"] > before
        self.wait_for_timeout(HELD_MS)

    def command(self, **document):
        """Send a command to the referee."""
        answer = self._client.post("/api/v1/command", json=document)
        assert answer.status_code < 300, answer.text
        self.wait_for_timeout(LOOK_MS)


@contextmanager
def quick_hand(folder, game, seed=None):
    """A person in the first seat at the virtual table of a game and seed.

    Without a seed, in every seat at the table of its lessons; `hand.tutor` gives them.
    """
    table = lessons_table(game) if seed is None else demo_table(game, seed)
    setup, started_utc = table.setup, datetime(2026, 11, 29, tzinfo=UTC)
    with ExitStack() as stack:
        log = stack.enter_context(closing(Log(folder / "log.sqlite")))
        begun = opening(
            game,
            setup.game.colours,
            table.rulings,
            setup,
            "quick hand",
            started_utc,
            simulated=True,
        )
        session = stack.enter_context(closing(Session.begin(log, begun, 0)))
        live, stopping, failures = LiveState(), threading.Event(), []
        patient = PatientSession(session, live, stopping)
        players = table.seated(patient, setup)
        virtual = VirtualTable(players, patient, setup, np.random.default_rng([seed or 0, 7]))
        tutor = Tutor(lessons_of(game, setup), patient, virtual) if seed is None else None
        eyes = TrueEyes(virtual.scene_at, setup, table.place)
        gate = Gate(eyes)

        def referee(*_):
            return Referee(gate, setup, eyes, patient, live=live, stopping=stopping)

        supervisor = Supervisor(referee(), referee, session, live, stopping, failures.append)
        access = Access(Codes())
        app = create_app(session, supervisor, access=access, virtual=virtual, tutor=tutor)
        client = app.test_client()
        client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {access.codes.now.host}"
        worker = threading.Thread(target=supervisor.run)
        worker.start()
        try:
            hand = QuickHand(gate, session, virtual, client, setup)
            hand.tutor = tutor
            sat = client.post("/virtual/players", json={"sit": setup.game.colours[0]})
            assert sat.status_code == 204
            yield hand
        finally:
            stopping.set()
            gate.close()
            worker.join()
        assert failures == [], "the referee never failed"
