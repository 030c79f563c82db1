"""A broker of a home's automation, a real one: what reaches it, what is wrong with it in a line,
and that nobody waits for it.
"""

from __future__ import annotations

import builtins
import errno
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib

import pytest

pytest.importorskip("paho.mqtt.client")

from paho.mqtt import client as paho

from cli.device_report import connected
from hardware.backends import mqtt as backend
from hardware.backends.mqtt import MOST_BYTES, MqttBroker
from hardware.mqtt_settings import MqttSettings
from hardware.settings import load_settings, parse_settings
from hardware.testing.fakes import FakeBroker
from table.errors import InputError
from tests.support.mosquitto import Mosquitto, Somebody, until
from tests.support.threads import ShortWaits

STATUS = "rinkside/v1/table/status"


@pytest.fixture
def at(monkeypatch):
    """at(url, ...): a connection, or an attempt at one, without long pauses."""
    monkeypatch.setattr(backend, "AGAIN_S", 0.02)
    monkeypatch.setattr(backend, "LONGEST_AGAIN_S", 0.1)
    opened = []

    def make(url, **more):
        opened.append(MqttBroker(MqttSettings(url=url, **more)))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def broker(tmp_path):
    with Mosquitto(tmp_path) as broker:
        yield broker


def test_what_is_sent_is_kept_for_whoever_comes_later(broker, at):
    mqtt = at(broker.url)
    until(lambda: mqtt.connected)
    with Somebody(broker) as somebody:
        mqtt.send("rinkside/v1/table/state", '{"turn": "Gelb: 3 mm ± 1"}')
        mqtt.send("rinkside/v1/table/verdict", "{}", retain=False)
        somebody.until(lambda: somebody.said("rinkside/v1/table/verdict"))
    with Somebody(broker) as later:
        later.until(lambda: len(later.kept) == 2)
        assert later.kept["rinkside/v1/table/state"] == '{"turn": "Gelb: 3 mm ± 1"}'
        assert later.kept[STATUS] == "online"
        assert later.heard == []
    assert (mqtt.error, mqtt.connections) == ("", 1)


@pytest.fixture(params=["fake", "real"])
def either(request):
    """A connection, and somebody who publishes there; of the real one and of the fake."""
    if request.param == "fake":
        fake = FakeBroker()
        yield fake, fake.publish, lambda topic: fake.kept.get(topic)
        return
    broker, make = request.getfixturevalue("broker"), request.getfixturevalue("at")
    mqtt = make(broker.url)
    until(lambda: mqtt.connected)
    with Somebody(broker) as somebody:
        yield mqtt, somebody.publish, lambda topic: (somebody.said(topic) or [None])[-1]


def test_what_every_broker_does(either):
    mqtt, publish, newest = either
    received = queue.Queue()
    assert (mqtt.connected, mqtt.connections, mqtt.error) == (True, 1, "")
    mqtt.send("state", "one")
    mqtt.send("state", "two")
    until(lambda: newest("state") == "two")
    mqtt.listen(["asked"], lambda topic, payload: received.put((topic, payload)))
    publish("asked", b"first")
    # The subscription takes a moment.
    until(lambda: not received.empty() or publish("asked", b"first"))
    publish("other", b"second")
    publish("asked", b"third")
    heard = [received.get(timeout=20)[1]]
    while heard[-1] == b"first":
        heard.append(received.get(timeout=20)[1])
    assert heard[-1] == b"third"
    mqtt.close()
    assert not mqtt.connected
    mqtt.send("state", "three")


def _published(somebody, topic, heard):
    """Publish once more, as the broker may not have taken the subscription yet; was it heard?"""
    somebody.publish(topic, "")
    return heard.wait(0.1)


class Unhurried(MqttBroker):
    """Has heard all that the broker says of its goodbye before it goes."""

    def send(self, topic, payload, retain=True):
        super().send(topic, payload, retain)
        heard, somebody = threading.Event(), self.somebody
        somebody.until(lambda: somebody.said(STATUS)[-1:] == ["offline"])
        self.listen(["later"], lambda _topic, _payload: heard.set())
        assert any(_published(somebody, "later", heard) for _ in range(200))


def test_it_says_goodbye_and_does_not_contradict_itself(broker):
    mqtt = Unhurried(MqttSettings(url=broker.url))
    until(lambda: mqtt.connected)
    with Somebody(broker) as somebody:
        mqtt.somebody = somebody
        mqtt.close()
        with Somebody(broker) as later:
            later.until(lambda: later.said(STATUS))
            assert later.said(STATUS) == ["offline"]


PROGRAM = """
import sys, time
from hardware.backends.mqtt import MqttBroker
from hardware.mqtt_settings import MqttSettings
mqtt = MqttBroker(MqttSettings(url=sys.argv[1]))
while not mqtt.connected:
    time.sleep(0.01)
print("connected", flush=True)
time.sleep(60)
"""


def test_a_rinkside_that_is_killed_is_unavailable(broker):
    """By its last will: the broker says what it cannot say any more."""
    words = [sys.executable, "-c", PROGRAM, broker.url]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ) as process:
        try:
            assert process.stdout.readline() == b"connected\n"
            with Somebody(broker) as somebody:
                somebody.until(lambda: somebody.said(STATUS) == ["online"])
                process.send_signal(signal.SIGKILL)
                somebody.until(lambda: somebody.said(STATUS) == ["online", "offline"])
        finally:
            process.kill()


def test_only_new_messages_of_a_fair_size_are_told_of(broker, at):
    with Somebody(broker) as somebody:
        somebody.publish("a", "old", retain=True)
        mqtt, received = at(broker.url), queue.Queue()
        mqtt.listen(["a", "b"], lambda topic, payload: received.put((topic, payload)))
        until(lambda: mqtt.connected)
        somebody.publish("a", "x" * (MOST_BYTES + 1))
        somebody.publish("c", "not asked for")
        somebody.publish("a", b"\xff\x00")
        somebody.publish("b", "new")
    assert [received.get(timeout=20), received.get(timeout=20)] == [
        ("a", b"\xff\x00"),
        ("b", b"new"),
    ]
    assert received.empty()


def test_a_listener_that_fails_hears_the_next_message(broker, at):
    mqtt, received = at(broker.url), queue.Queue()

    def fail_first(_topic, payload):
        if payload == b"one":
            raise ValueError("a mistake")
        received.put(payload)

    mqtt.listen(["a"], fail_first)
    until(lambda: mqtt.connected)
    with Somebody(broker) as somebody:
        somebody.publish("a", "one")
        somebody.publish("a", "two")
        assert received.get(timeout=20) == b"two"


def test_a_connection_that_is_lost_is_made_again(broker, at):
    mqtt = at(broker.url)
    until(lambda: mqtt.connected)
    broker.kill()
    until(lambda: mqtt.error != "", lambda: mqtt.error)
    assert broker.url in mqtt.error
    began_s = time.monotonic()
    mqtt.send("a", "dropped")
    assert time.monotonic() - began_s < 1, "nobody waits for a broker that is away"
    broker.start()
    until(lambda: mqtt.connected)
    assert (mqtt.error, mqtt.connections) == ("", 2)


@pytest.fixture
def closed(tmp_path):
    """A broker that asks for a password, which is `right`."""
    passwords = tmp_path / "passwords"
    words = ["mosquitto_passwd", "-b", "-c", str(passwords), "rinkside", "right"]
    try:
        subprocess.run(words, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("mosquitto_passwd is not installed")
    with Mosquitto(tmp_path, f"password_file {passwords}", anonymous=False) as broker:
        yield broker


def test_a_wrong_password_is_said_and_the_right_one_is_good(closed, at):
    wrong = at(closed.url, username="rinkside", password="wrong")
    right = at(closed.url, username="rinkside", password="right", table="other")
    until(lambda: wrong.error and right.connected)
    assert wrong.error.startswith(f"the broker at {closed.url} refuses (")
    assert wrong.error.endswith("check hardware.mqtt.username and hardware.mqtt.password")
    assert "wrong" not in wrong.error


def test_a_broker_that_is_not_there_is_said(at):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    mqtt = at(f"mqtt://127.0.0.1:{port}")
    until(lambda: "reached" in mqtt.error, lambda: mqtt.error)
    assert mqtt.error == (
        f"expected a broker at mqtt://127.0.0.1:{port} (hardware.mqtt.url), but it cannot be"
        " reached (Connection refused); it is tried again"
    )


def test_a_name_that_nobody_has_is_said(at, monkeypatch):
    def unknown(*_words, **_named):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "create_connection", unknown)
    mqtt = at("mqtt://nobody.invalid")
    until(lambda: "Name or service not known" in mqtt.error, lambda: mqtt.error)


def test_a_broker_that_never_answers_is_said_and_waits_for_nobody(at, monkeypatch):
    monkeypatch.setattr(backend, "KEEPALIVE_S", 1)
    monkeypatch.setattr(backend, "PATIENT_S", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"mqtt://127.0.0.1:{server.getsockname()[1]}"
        mqtt = at(url)
        assert mqtt.error.startswith(f"no answer from {url} (hardware.mqtt.url)")
        server.accept()[0].close()
        until(lambda: mqtt.error.startswith("no answer"), lambda: mqtt.error)
        began_s = time.monotonic()
        mqtt.send("a", "dropped")
        mqtt.close()
        assert time.monotonic() - began_s < 5


def test_nothing_is_said_while_it_is_too_early():
    """A broker in the same house answers within a second or so."""
    now_s = [0.0]
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"mqtt://127.0.0.1:{server.getsockname()[1]}"
        mqtt = MqttBroker(MqttSettings(url=url), clock=lambda: now_s[0])
        now_s[0] = 1.9
        assert mqtt.error == ""
        now_s[0] = 5.0
        assert mqtt.error.startswith("no answer")
        mqtt.close()


class PlayedTime:
    """The module `time` for paho: its pauses take no time, and are added up."""

    def __init__(self):
        self.now_s = 0.0

    def sleep(self, seconds):
        self.now_s += seconds

    def monotonic(self):
        return self.now_s


def test_a_broker_that_is_gone_is_tried_as_docs_say(broker, monkeypatch):
    """After 1, 2, 4 and 8 seconds, then every 15 (docs/MQTT.md); no attempt takes for long."""
    played, tried, enough = PlayedTime(), [], threading.Event()
    monkeypatch.setattr(paho, "time", played)
    monkeypatch.setattr(paho, "time_func", played.monotonic)

    def gone(_address, timeout, **_more):
        tried.append((played.now_s, timeout))
        if len(tried) > 6:
            enough.set()
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    mqtt = MqttBroker(MqttSettings(url=broker.url))
    until(lambda: mqtt.connected)
    monkeypatch.setattr(socket, "create_connection", gone)
    broker.kill()
    assert enough.wait(20)
    mqtt.close()
    assert [at_s for at_s, _ in tried[:6]] == [1, 3, 7, 15, 30, 45]
    assert all(3 <= timeout <= 10 for _, timeout in tried)


def test_a_broker_is_told_how_much_is_taken_and_how_long_it_may_be_silent(at):
    """Its first message, byte by byte as MQTT 5 has it (section 3.1)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        mqtt = at(f"mqtt://127.0.0.1:{server.getsockname()[1]}")
        wire = server.accept()[0]
        hello = wire.recv(4096)
        wire.close()
        mqtt.close()
    version = hello.index(b"\x00\x04MQTT\x05") + 6
    assert 8 <= int.from_bytes(hello[version + 2 : version + 4], "big") <= 30, "seconds"
    maximum_packet_size = b"\x27" + (16 << 10).to_bytes(4, "big")
    assert maximum_packet_size in hello[version + 4 :]


def test_what_a_broker_sends_all_the_same_is_dropped_above_16_kib(broker, at, monkeypatch):
    monkeypatch.setattr(paho.Properties, "pack", lambda _properties: b"\x00")
    mqtt, received = at(broker.url), queue.Queue()
    until(lambda: mqtt.connected)
    mqtt.listen(["a"], lambda _topic, payload: received.put(len(payload)))
    with Somebody(broker) as somebody:
        until(lambda: not received.empty() or somebody.publish("a", "first"))
        for size in ((16 << 10) + 1, 16 << 10):
            somebody.publish("a", "x" * size)
        found = {received.get(timeout=20)}
        while 16 << 10 not in found:
            found.add(received.get(timeout=20))
    assert found == {5, 16 << 10}


def test_goodbye_is_over_in_a_few_seconds_whatever_the_broker_does(broker, monkeypatch):
    sent_s, wait = [], paho.MQTTMessageInfo.wait_for_publish

    def noted(message, timeout=None):
        sent_s.append(timeout)
        wait(message, timeout)

    class Waits(ShortWaits):
        RLock = threading.RLock

    waits = Waits()
    monkeypatch.setattr(paho.MQTTMessageInfo, "wait_for_publish", noted)
    monkeypatch.setattr(backend, "threading", waits)
    mqtt = MqttBroker(MqttSettings(url=broker.url))
    until(lambda: mqtt.connected)
    mqtt.close()
    assert len(sent_s) == len(waits.left_s) == 1
    assert all(1 <= seconds <= 4 for seconds in (*sent_s, *waits.left_s))


def test_of_two_tables_of_one_name_the_later_one_stays(broker, at):
    first = at(broker.url)
    until(lambda: first.connected)
    second = at(broker.url)
    until(lambda: second.connected and not first.connected)
    assert first.error == (
        "another program is at the broker as table table: give each table a hardware.mqtt.table of"
        " its own, and start Rinkside again"
    )
    broker.kill()
    broker.start()
    until(lambda: second.connections == 2)
    assert (first.connected, first.connections) == (False, 1)
    with Somebody(broker) as somebody:
        somebody.until(lambda: somebody.said(STATUS) == ["online"])


def test_an_old_last_will_is_put_right(broker, at):
    """After a power cut the broker notices late that the one before is gone."""
    mqtt = at(broker.url)
    until(lambda: mqtt.connected)
    with Somebody(broker) as somebody:
        somebody.publish(STATUS, "offline", retain=True)
        somebody.until(lambda: somebody.said(STATUS)[-2:] == ["offline", "online"])


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """Files ca.pem and other.pem, and server.pem and server.key for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(words):
        subprocess.run(["openssl", *words.split()], cwd=folder, check=True, capture_output=True)

    try:
        for name in ("ca", "other"):
            files = f"-keyout {name}.key -out {name}.pem"
            openssl(f"req -x509 -newkey rsa:2048 -nodes -subj /CN=ca {files}")
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    openssl("req -newkey rsa:2048 -nodes -subj /CN=127.0.0.1 -keyout server.key -out server.csr")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    signed = "-CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out server.pem"
    openssl(f"x509 -req -in server.csr {signed}")
    return folder


# paho leaves the socket of a handshake that fails to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_tls_lets_only_a_broker_in_that_can_prove_its_name(tmp_path, certificates, at):
    lines = (f"certfile {certificates}/server.pem", f"keyfile {certificates}/server.key")
    with Mosquitto(tmp_path, *lines) as broker:
        url = broker.url.replace("mqtt:", "mqtts:")
        good = at(url, ca_file=str(certificates / "ca.pem"))
        bad = at(url, ca_file=str(certificates / "other.pem"), table="other")
        until(lambda: good.connected and bad.error, lambda: (good.error, bad.error))
        assert "certificate verify failed" in bad.error
        assert not bad.connected


def test_certificates_that_are_none_are_said_before_anything_starts(tmp_path):
    (tmp_path / "ca.pem").write_text("none")
    for path in (tmp_path / "ca.pem", tmp_path / "not-there.pem"):
        with pytest.raises(InputError, match=r"^hardware\.mqtt\.ca_file: expected certificates"):
            MqttBroker(MqttSettings(url="mqtts://127.0.0.1", ca_file=str(path)))


def test_without_paho_one_line_says_what_to_do(monkeypatch):
    real = builtins.__import__

    def no_paho(name, *words, **named):
        if name.startswith("paho"):
            raise ImportError(name)
        return real(name, *words, **named)

    monkeypatch.setattr(builtins, "__import__", no_paho)
    with pytest.raises(InputError, match=r"run: pip install 'rinkside\[mqtt\]'$"):
        MqttBroker(MqttSettings(url="mqtt://127.0.0.1"))


def test_the_report_says_what_is_so_and_disturbs_nobody(broker, at):
    mqtt = at(broker.url)
    until(lambda: mqtt.connected)
    text = f'[hardware.mqtt]\nkind = "broker"\nurl = "{broker.url}"\n'
    settings = parse_settings(tomllib.loads(text), "rinkside.toml")
    with Somebody(broker) as somebody:
        (state,) = [one for one in connected(settings, time.sleep) if one.part == "mqtt"]
        assert state == ("mqtt", "broker", broker.url, "connected", "")
        somebody.until(lambda: somebody.said(STATUS))
        assert somebody.said(STATUS) == ["online"]
    assert mqtt.connected
    broker.kill()
    (state,) = [one for one in connected(settings, time.sleep) if one.part == "mqtt"]
    assert state.wrong.startswith(f"expected a broker at {broker.url}")


SECRET = """
[hardware.mqtt]
kind = "broker"
url = "mqtts://box.lan"
username = "rinkside"
password = "s3cret"
"""


def test_a_password_stays_where_only_its_owner_reads(tmp_path):
    path = tmp_path / "rinkside.toml"
    path.write_text(SECRET)
    path.chmod(0o644)
    with pytest.raises(InputError) as caught:
        load_settings(path)
    assert str(caught.value) == (
        "rinkside.toml: hardware.mqtt.password: expected a file that only its owner can read; run:"
        f" chmod 600 {path}"
    )
    path.chmod(0o600)
    settings = load_settings(path).mqtt
    assert (settings.host, settings.port, settings.tls) == ("box.lan", 8883, True)
    assert "s3cret" not in repr(load_settings(path))


def test_addresses():
    for url, host, port in (
        ("mqtt://box", "box", 1883),
        ("mqtt://box:1884/", "box", 1884),
        ("mqtt://[::1]:1885", "::1", 1885),
    ):
        text = f'[hardware.mqtt]\nkind = "broker"\nurl = "{url}"\n'
        settings = parse_settings(tomllib.loads(text), "rinkside.toml").mqtt
        assert (settings.host, settings.port, settings.tls) == (host, port, False)
