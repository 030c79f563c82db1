"""A real Mosquitto broker on a free local port, and another client."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

PATIENCE_S = 20.0
"""Timeout, generous for a small and busy machine."""
PROGRAM = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Mosquitto:
    """A broker that can be killed and restarted on the same port; a context manager.

    `lines` are additional lines of its configuration.
    """

    def __init__(self, folder: Path, *lines: str, anonymous: bool = True) -> None:
        if PROGRAM is None:
            pytest.skip("Mosquitto is not installed (apt install mosquitto)")
        self.port = free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        self._conf = folder / f"mosquitto-{self.port}.conf"
        self._conf.write_text(
            "\n".join(
                [
                    f"listener {self.port} 127.0.0.1",
                    f"allow_anonymous {str(anonymous).lower()}",
                    "log_dest none",
                    "user root",
                    *lines,
                    "",
                ]
            )
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        assert PROGRAM is not None
        self._process = subprocess.Popen(
            [PROGRAM, "-c", str(self._conf)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                assert self._process.poll() is None, "Mosquitto ended at once"
                time.sleep(0.005)
        raise AssertionError("Mosquitto does not listen")

    def kill(self) -> None:
        """Send SIGKILL: connections are not closed properly."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Mosquitto:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class Somebody:
    """Another program at the broker, such as Home Assistant: hears everything; a context manager.

    `kept` is what the broker had when it came, by topic, and `heard` what was said since, as
    (topic, payload).
    """

    def __init__(self, broker: Mosquitto, username: str = "", password: str = "") -> None:
        from paho.mqtt import client as paho
        from paho.mqtt.enums import CallbackAPIVersion

        self._news = threading.Condition()
        self.kept: dict[str, str] = {}
        self.heard: list[tuple[str, str]] = []
        self._there = False
        self._client = paho.Client(CallbackAPIVersion.VERSION2)
        if username:
            self._client.username_pw_set(username, password)
        self._client.on_connect = lambda client, *_: client.subscribe("#")
        self._client.on_subscribe = self._subscribed
        self._client.on_message = self._take
        self._client.connect_async("127.0.0.1", broker.port)

    def _subscribed(self, *_: object) -> None:
        with self._news:
            self._there = True
            self._news.notify_all()

    def _take(self, _client: object, _data: object, message: object) -> None:
        with self._news:
            text = message.payload.decode(errors="replace")
            if message.retain:
                self.kept[message.topic] = text
            else:
                self.heard.append((message.topic, text))
            self._news.notify_all()

    def said(self, topic: str) -> list[str]:
        """All payloads of a topic, retained ones first."""
        with self._news:
            kept = [self.kept[topic]] if topic in self.kept else []
            return kept + [text for under, text in self.heard if under == topic]

    def until(self, wanted, what: object = "") -> None:
        """Wait until `wanted()`."""
        with self._news:
            assert self._news.wait_for(wanted, PATIENCE_S), (what, self.kept, self.heard[-9:])

    def publish(self, topic: str, payload: str | bytes, retain: bool = False) -> None:
        """Publish a message, and wait until it was sent."""
        self._client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(PATIENCE_S)

    def __enter__(self) -> Somebody:
        self._client.loop_start()
        self.until(lambda: self._there)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.disconnect()
        self._client.loop_stop()


def until(wanted, what=lambda: "") -> None:
    """Wait until `wanted()`."""
    end_s = time.monotonic() + PATIENCE_S
    while not wanted():
        assert time.monotonic() < end_s, what()
        time.sleep(0.005)
