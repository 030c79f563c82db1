"""A simulated game over a real broker: it is told of the game, and the game waits for nobody."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request

import pytest
from click.testing import CliRunner

from cli.main import main
from tests.support.home_process import PROGRAM, WAIT_S
from tests.support.mosquitto import Mosquitto, Somebody

pytest.importorskip("paho.mqtt.client")

STATE, STATUS, VERDICT = (f"rinkside/v1/attic/{name}" for name in ("state", "status", "verdict"))


class Demo:
    """`rinkside demo` with a broker in its settings; a context manager."""

    def __init__(self, folder, broker_url):
        settings = folder / "rinkside.toml"
        settings.write_text(
            f'[hardware.mqtt]\nkind = "broker"\nurl = "{broker_url}"\ntable = "attic"\n'
        )
        words = ("--language", "de", "demo", "--port", "0", "--seed", "3", "--settings", settings)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        first, second = self.process.stdout.readline(), self.process.stdout.readline()
        self.url = next(word for word in first.split() if word.startswith("http://"))
        self.code = second.split()[-1]

    def get(self, path):
        headers = {"Authorization": f"Bearer {self.code}", "Accept": "text/html"}
        asked = urllib.request.Request(self.url + path, headers=headers)
        with urllib.request.urlopen(asked, timeout=WAIT_S) as answer:
            return answer.read().decode()

    def seq(self):
        return json.loads(self.get("/api/v1/state"))["seq"]

    def until(self, wanted):
        end_s = time.monotonic() + WAIT_S
        while not wanted():
            assert time.monotonic() < end_s
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def hardware(tmp_path):
    """hardware("check", url): exit code and output of a command with this broker."""

    def run(command, url):
        settings = tmp_path / "rinkside.toml"
        settings.write_text(f'[hardware.mqtt]\nkind = "broker"\nurl = "{url}"\n')
        done = CliRunner().invoke(main, ["hardware", command, "--settings", str(settings)])
        return done.exit_code, done.output

    return run


def test_a_broker_is_listed_and_checked(tmp_path, hardware):
    with Mosquitto(tmp_path) as broker:
        code, output = hardware("list", broker.url)
        assert (code, "connected" in output) == (0, True), output
        code, output = hardware("check", broker.url)
        assert (code, f"The broker at {broker.url} lets Rinkside in." in output) == (0, True), (
            output
        )
        broker.kill()
        for command in ("list", "check"):
            code, output = hardware(command, broker.url)
            assert code == 1
            assert f"expected a broker at {broker.url} (hardware.mqtt.url)" in output


@pytest.mark.slow
def test_a_game_goes_on_without_its_broker_and_tells_it_again(tmp_path):
    with Mosquitto(tmp_path) as broker, Demo(tmp_path, broker.url) as demo:
        with Somebody(broker) as somebody:
            somebody.until(lambda: len(somebody.said(VERDICT)) >= 2)
            assert json.loads(somebody.said(STATE)[-1])["turn"] in ("Rot", "Blau")
        broker.kill()
        seen = demo.seq()
        demo.until(lambda: demo.seq() >= seen + 2)
        assert 'rinkside_device_up{part="mqtt"} 0.0' in demo.get("/metrics")
        assert demo.get("/healthz").startswith("ok: ")
        assert broker.url in demo.get("/host"), "the host is told what is wrong"
        broker.start()
        demo.until(lambda: 'rinkside_device_up{part="mqtt"} 1.0' in demo.get("/metrics"))
        with Somebody(broker) as somebody:
            somebody.until(lambda: somebody.said(STATE))
            assert json.loads(somebody.said(STATE)[-1])["ruling"]["seq"] > seen
            demo.process.terminate()
            somebody.until(lambda: somebody.said(STATUS)[-1:] == ["offline"])
        _, complaints = demo.process.communicate(timeout=WAIT_S)
        assert "MQTT: die Verbindung zu " in complaints
        assert "Traceback" not in complaints
