"""A broker that is killed again and again beside a game: each time the table is right there, and
nothing that anybody asked for is done twice.
"""

from __future__ import annotations

import json
import time

import pytest

pytest.importorskip("paho.mqtt.client")

from hardware.backends import mqtt as backend
from hardware.backends.mqtt import MqttBroker
from hardware.factory import Devices
from hardware.mqtt_settings import MqttSettings
from referee.devices.controller import Companion
from referee.sessions.events import Paused, Resumed, Undone
from tests.support.beside_a_session import BOARD, PLAYERS, put
from tests.support.mosquitto import Mosquitto, Somebody, until

STATE, STATUS, COMMAND, ANSWER = (
    f"rinkside/v1/table/{name}" for name in ("state", "status", "command", "answer")
)
PERSISTENT = ("persistence true", "autosave_on_changes true", "autosave_interval 1")
"""Lines for a broker that keeps what is retained on disk: it comes back with old states."""


@pytest.fixture
def beside(session, eyes, monkeypatch):
    """beside(broker): devices beside a session that know this broker."""
    monkeypatch.setattr(backend, "AGAIN_S", 0.02)
    monkeypatch.setattr(backend, "LONGEST_AGAIN_S", 0.1)
    opened = []

    def make(broker, **more):
        mqtt = MqttBroker(MqttSettings(url=broker.url, **more))
        companion = Companion(Devices(mqtt=mqtt), session, eyes, BOARD)
        companion.start()
        opened.append((companion, mqtt))
        return mqtt

    yield make
    for companion, mqtt in opened:
        companion.stop()
        mqtt.close()


def play_on(session):
    """The next ruling; a game that is over goes on with a ruling taken back."""
    view = session.view()
    if view.outcome is None:
        put(session, view.next)
    else:
        put(session, PLAYERS[0], "refused")
    return session.view()


def right(somebody, view):
    """Does the broker keep what this view says?"""
    if STATE not in somebody.kept or somebody.kept.get(STATUS) != "online":
        return False
    state = json.loads(somebody.kept[STATE])
    points = {one["player"]: one["points"] for one in state["scores"]}
    return (
        state["ruling"]["seq"] == (view.verdicts[0].seq if view.verdicts else 0)
        and points == view.scores
        and state["phase"] == view.phase
        and state["player"] == ("" if view.phase == "over" else view.next)
    )


def fresh(broker, view):
    """Wait until somebody who comes now is told by the broker what this view says."""
    kept = {}

    def check():
        with Somebody(broker) as somebody:
            nonlocal kept
            kept = somebody.kept
            end_s = time.monotonic() + 0.2
            while not (is_right := right(somebody, view)) and time.monotonic() < end_s:
                time.sleep(0.005)
            return is_right

    until(check, lambda: (view, kept))


@pytest.mark.slow
@pytest.mark.parametrize("lines", [(), PERSISTENT], ids=["forgets", "keeps on disk"])
def test_fifty_kills(tmp_path, session, beside, lines):
    place = (f"persistence_location {tmp_path}/",) if lines else ()
    broker = Mosquitto(tmp_path, *lines, *place)
    broker.start()
    mqtt = beside(broker)
    try:
        fresh(broker, session.view())
        for kill in range(25):
            if kill % 5 == 4:
                commands_once(broker, session, mqtt)
            broker.kill()
            view = play_on(session)
            broker.start()
            fresh(broker, view)
            assert mqtt.error == ""
        assert mqtt.connections >= 26
    finally:
        broker.kill()


def commands_once(broker, session, mqtt):
    """Pause and resume, asked for just before the broker is killed: each is done once."""
    for wanted, event in (("pause", Paused), ("resume", Resumed)):
        before = done(session, event)
        until(lambda: mqtt.connected)
        with Somebody(broker) as somebody:
            somebody.publish(COMMAND, wanted)
            somebody.until(lambda: somebody.said(ANSWER))
        assert json.loads(somebody.said(ANSWER)[0]) == {"command": wanted, "done": True, "text": ""}
        broker.kill()
        broker.start()
        fresh(broker, session.view())
        assert done(session, event) == before + 1


def done(session, event):
    return sum(isinstance(one.event, event) for one in session.records())


def test_a_command_that_the_broker_kept_is_one_of_the_past(tmp_path, session, beside):
    put(session, "red")
    with Mosquitto(tmp_path) as broker:
        with Somebody(broker) as somebody:
            somebody.publish(COMMAND, "appeal", retain=True)
        beside(broker)
        fresh(broker, session.view())
        assert done(session, Undone) == 0
        with Somebody(broker) as somebody:
            somebody.publish(COMMAND, "appeal")
            somebody.until(lambda: somebody.said(ANSWER))
        assert done(session, Undone) == 1
