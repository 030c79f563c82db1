"""A table at a broker: what is kept there, what is announced, and what messages may ask for."""

from __future__ import annotations

import json
import re
import threading
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from engines.verdict import Ambiguous, Choice
from hardware.factory import Devices
from hardware.interfaces import Press
from hardware.mqtt_settings import COMMANDS, MqttSettings
from hardware.testing.fakes import FakeBroker
from referee.devices import controller, mqtt
from referee.devices.controller import Companion
from referee.devices.home_assistant import discovery, discovery_topic
from referee.devices.mqtt import MOST_ANSWERS, MOST_COMMANDS, TableAtBroker
from referee.devices.table_state import table_state
from referee.sessions.event_store import Log
from referee.sessions.events import Paused, Resumed, SessionStarted, Undone
from referee.sessions.session import Session
from referee.sessions.status import RefereeStatus
from referee.sessions.verdict_events import event_from_verdict
from table.messages import msg
from tests.support.beside_a_session import BOARD, put
from tests.support.mosquitto import until
from tests.support.panel_standins import FakeLive, keep_sessions

RULES = json.loads(Path(__file__).with_name("home_assistant.json").read_text(encoding="utf-8"))
STATE, VERDICT, COMMAND, ANSWER = (
    f"rinkside/v1/table/{name}" for name in ("state", "verdict", "command", "answer")
)
CONFIG = "homeassistant/device/rinkside_table/config"
ZIGBEE = {"zigbee2mqtt/Knob": {"single": "appeal", "hold": "pause"}}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(mqtt, "POLL_S", 0.005)
    monkeypatch.setattr(controller, "POLL_S", 0.005)


@pytest.fixture
def beside(session, eyes):
    """beside(...): devices beside a session, with a broker that has these settings."""
    opened = []

    def make(**settings):
        broker = FakeBroker(
            MqttSettings(url="mqtt://fake", **settings), connected=settings.pop("there", True)
        )
        companion = Companion(Devices(mqtt=broker), session, eyes, BOARD)
        companion.start()
        opened.append(companion)
        return broker

    yield make
    for one in opened:
        one.stop()


def state_of(broker):
    return json.loads(broker.kept.get(STATE, '{"ruling": {"seq": -1}, "phase": ""}'))


def answers(broker):
    return [json.loads(text) for topic, text in broker.passed if topic == ANSWER]


def events(broker):
    return [json.loads(text) for topic, text in broker.passed if topic == VERDICT]


def asked_for(broker, payload):
    """Ask for something; the answer."""
    before = len(answers(broker))
    broker.publish(COMMAND, payload)
    until(lambda: len(answers(broker)) > before, lambda: broker.passed)
    return answers(broker)[-1]


def test_the_state_is_kept_in_the_tables_language(session, beside):
    broker = beside(language="de")
    seq = put(session, "red").seq
    until(lambda: state_of(broker)["ruling"]["seq"] == seq)
    state = state_of(broker)
    assert state["version"] == 1
    assert (state["player"], state["turn"], state["phase"]) == ("blue", "Blau", "playing")
    assert state["scores"] == [
        {"player": "red", "name": "Rot", "points": 1},
        {"player": "blue", "name": "Blau", "points": 0},
    ]
    assert state["ruling"]["verdict"] == "accepted"


def test_players_are_called_by_name_only_if_that_is_asked_for(log, games, eyes):
    names = {"red": "Anna"}
    session = Session.begin(
        log, SessionStarted(game="pegs", players=("red", "blue"), names=names), games=games
    )
    for asked, called in ((False, "Red"), (True, "Anna")):
        state = table_state(session.view(), eyes.latest, "en", asked)
        assert (state.turn, state.scores[0].name) == (called, called)


def test_every_ruling_is_announced_once_and_none_of_the_past(session, beside):
    put(session, "red")
    broker = beside()
    until(lambda: STATE in broker.kept)
    seqs = [put(session, colour).seq for colour in ("blue", "red")]
    until(lambda: len(events(broker)) == 2)
    assert [event["seq"] for event in events(broker)] == seqs
    assert {event["event_type"] for event in events(broker)} == {"accepted"}
    assert STATE not in [topic for topic, _ in broker.passed]


def test_a_ruling_while_the_broker_is_away_is_no_news_when_it_is_back(session, beside):
    broker = beside()
    until(lambda: STATE in broker.kept)
    broker.cut()
    seq = put(session, "red").seq
    passes = threading.Event()
    passes.wait(0.05)
    broker.connect()
    until(lambda: state_of(broker)["ruling"]["seq"] == seq)
    assert events(broker) == []
    assert json.loads(broker.kept[CONFIG])["origin"]["name"] == "Rinkside"


def test_trouble_and_questions_are_told_while_they_last(session, eyes, beside):
    broker = beside()
    until(lambda: STATE in broker.kept)
    lost = msg("No picture from the camera.")
    eyes.latest = replace(eyes.latest, status="camera lost", message=lost, stamp=1)
    until(lambda: state_of(broker)["trouble"] == str(lost))
    eyes.latest = replace(eyes.latest, status="settling", stamp=2)
    until(lambda: state_of(broker)["trouble"] == "")
    eyes.latest = replace(eyes.latest, error="The disk is full.", stamp=3)
    until(lambda: state_of(broker)["trouble"] == "The disk is full.")
    choices = (Choice("red", ("red",)), Choice("blue", ()))
    session.append(
        event_from_verdict(Ambiguous(code="pegs.which", message=msg("Which?"), choices=choices))
    )
    until(lambda: state_of(broker).get("question") == "Which?")
    assert state_of(broker)["phase"] == "asking"


def test_nothing_of_a_vote_that_is_not_revealed_leaves_the_table(tmp_path):
    with Log(tmp_path / "log") as log:
        *_, floe = keep_sessions(log, FakeLive())
        assert floe.view().hidden == {"red": floe.seq}
        broker = FakeBroker()
        beside = TableAtBroker(broker, floe, Still(), lambda _press: None)
        beside.start()
        until(lambda: STATE in broker.kept)
        beside.stop()
        assert state_of(broker)["ruling"]["text"] == "Red has voted."
        assert "vote red 4" not in json.dumps([broker.kept, broker.passed])


class Still:
    latest = RefereeStatus("waiting", "")


def test_commands_are_buttons(session, beside):
    broker = beside()
    put(session, "red")
    assert asked_for(broker, b"appeal") == {"command": "appeal", "done": True, "text": ""}
    assert asked_for(broker, b"pause")["done"]
    assert asked_for(broker, b" resume \n")["done"]
    assert asked_for(broker, b"rule")["done"]
    made = [record.event for record in session.records()[2:]]
    assert [type(event) for event in made] == [Undone, Paused, Resumed, Paused, Resumed]
    assert {event.decided_by for event in made} == {"a button over MQTT"}


@pytest.mark.parametrize(
    ("payload", "command", "why"),
    [
        (b"appeal", "appeal", "undo: nothing has been ruled yet, so there is nothing to undo"),
        (b"resume", "resume", "that is not possible now; nothing was done"),
        (b"next", "", "expected rule, appeal, pause or resume as a command, got 'next'"),
        (b"", "", "expected rule, appeal, pause or resume as a command, got ''"),
        (b"\xff\x00{", "", "expected rule, appeal, pause or resume as a command, got "),
        (b"rule" + b" " * 10_000, "", "expected rule, appeal, pause or resume as a command, got "),
        (b'{"command": "undo"}', "", "expected rule, appeal, pause or resume as a command, got "),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_what_cannot_be_done_is_refused_in_one_line(session, beside, payload, command, why):
    answer = asked_for(beside(), payload)
    assert (answer["command"], answer["done"]) == (command, False)
    assert answer["text"].lower().startswith(why.lower()), answer
    assert "\n" not in answer["text"]
    assert len(session.records()) == 1


def test_refusals_are_in_the_tables_language(beside):
    answer = asked_for(beside(language="de"), b"resume")
    assert answer["text"] != "that is not possible now; nothing was done"


def test_only_what_the_settings_allow_may_be_asked_for(session, beside):
    broker = beside(commands=())
    broker.publish(COMMAND, b"pause")
    until(lambda: answers(broker))
    assert not answers(broker)[0]["done"]
    assert len(session.records()) == 1


def test_too_many_commands_are_refused_and_answered_once(session):
    broker, pressed, now_s = FakeBroker(), [], [100.0]
    beside = TableAtBroker(broker, session, Still(), pressed.append, clock=lambda: now_s[0])
    beside.start()
    for _ in range(1000):
        broker.publish(COMMAND, b"pause")
    assert len(pressed) == MOST_COMMANDS
    until(lambda: answers(broker))
    now_s[0] += mqtt.WITHIN_S
    broker.publish(COMMAND, b"rule")
    assert [press.button for press in pressed] == ["pause"] * MOST_COMMANDS + ["rule"]
    beside.stop()
    assert len(answers(broker)) == 1
    assert answers(broker)[0]["text"].startswith(f"expected at most {MOST_COMMANDS} commands")


def test_answers_that_nobody_takes_do_not_pile_up(session):
    broker = FakeBroker()
    beside = TableAtBroker(broker, session, Still(), lambda _press: None)
    for number in range(100):
        beside.answer(Press("rule", "short", number, mqtt.BY), "no")
    beside.start()
    until(lambda: STATE in broker.kept and answers(broker))
    beside.stop()
    assert len(answers(broker)) <= MOST_ANSWERS


@pytest.mark.parametrize(
    ("payload", "does"),
    [
        (b'{"action": "single", "battery": 97, "linkquality": 120}', "appeal"),
        (b"single", "appeal"),
        (b'"hold"', "pause"),
        (b'{"action": "double"}', None),
        (b'{"action": ""}', None),
        (b'{"action": null}', None),
        (b'{"action": ["single"]}', None),
        (b'{"battery": 97}', None),
        (b"[" * 10_000, None),
        (b"\xff", None),
        (b"1e999", None),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_buttons_of_zigbee2mqtt(session, payload, does):
    broker, pressed = FakeBroker(MqttSettings(url="mqtt://fake", buttons=ZIGBEE)), []
    beside = TableAtBroker(broker, session, Still(), pressed.append)
    beside.start()
    broker.publish("zigbee2mqtt/Knob", payload)
    broker.publish("zigbee2mqtt/Other", b"single")
    beside.stop()
    assert [press.button for press in pressed] == ([does] if does else [])


def test_when_home_assistant_starts_it_is_told_again(beside):
    broker = beside()
    until(lambda: CONFIG in broker.kept)
    broker.kept.clear()
    broker.publish("homeassistant/status", b"offline")
    broker.publish("homeassistant/status", b"online")
    until(lambda: broker.kept.keys() == {CONFIG, STATE}, lambda: broker.kept)


def test_without_discovery_home_assistant_is_told_nothing(beside):
    broker = beside(discovery="")
    until(lambda: STATE in broker.kept)
    assert set(broker.kept) == {STATE}


def documents(tmp_path, session):
    """The documents of tables in all languages, of games with and without points."""
    with Log(tmp_path / "log") as log:
        for one in (session, *keep_sessions(log, FakeLive())):
            for language in ("en", "de", "es"):
                for settings in (
                    MqttSettings(url="mqtt://fake"),
                    MqttSettings(url="mqtt://fake", table="by-the_window", commands=COMMANDS),
                    MqttSettings(url="mqtt://fake", commands=()),
                ):
                    state = table_state(one.view(), Still.latest, language, names=True)
                    yield settings, state, discovery(settings, state, language)


def test_home_assistant_takes_the_documents(tmp_path, session):
    """By its own rules, with their sources: home_assistant.json."""
    validator, seen = jsonschema_rs.validator_for(RULES), 0
    for settings, state, document in documents(tmp_path, session):
        errors = [
            f"{error.instance_path}: {error.message}" for error in validator.iter_errors(document)
        ]
        assert errors == []
        parts = document["components"].values()
        ids = [part["unique_id"] for part in parts if "unique_id" in part]
        assert len(set(ids)) == len(ids)
        assert all(one.startswith(f"rinkside_{settings.table}_") for one in ids)
        points = [
            name
            for name, part in document["components"].items()
            if "score" in name and len(part) > 1
        ]
        assert len(points) == len(state.scores)
        assert set(settings.commands) == {
            part["payload_press"] for part in parts if "payload_press" in part
        }
        assert discovery_topic(settings) == f"homeassistant/device/rinkside_{settings.table}/config"
        seen += 1
    assert seen == 36


@pytest.mark.parametrize(
    ("key", "wrong"),
    [
        ("turn", {"unique_id": None}),
        ("turn", {"state_topic": None}),
        ("phase", {"device_class": None}),
        ("phase", {"state_class": "measurement"}),
        ("trouble", {"device_class": "camera"}),
        ("trouble", {"entity_category": "config"}),
        ("verdict", {"event_types": None}),
        ("rule", {"command_topic": "rinkside/#"}),
        ("rule", {"command_topic": None}),
        ("rule", {"icon": "gavel"}),
        ("rule", {"paylod_press": "rule"}),
        ("rule", {"platform": "knob"}),
    ],
)
def test_the_rules_find_what_home_assistant_would_refuse(session, key, wrong):
    settings = MqttSettings(url="mqtt://fake")
    document = discovery(settings, table_state(session.view(), Still.latest, "en", False), "en")
    changed = document["components"][key] | wrong
    document["components"][key] = {name: one for name, one in changed.items() if one is not None}
    assert not jsonschema_rs.validator_for(RULES).is_valid(document)


def test_every_value_is_in_the_state(tmp_path, session):
    """Each template names fields that the state has."""
    for _, state, document in documents(tmp_path, session):
        plain = msgspec.to_builtins(state)
        for part in document["components"].values():
            for name in ("value_template", "json_attributes_template"):
                for path in re.findall(r"value_json\.([\w.\[\]]+)", part.get(name, "")):
                    found = plain
                    for step in re.findall(r"\w+", path):
                        found = found[int(step) if step.isdigit() else step]
