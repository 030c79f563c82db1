"""An MQTT broker, by paho-mqtt (`rinkside[mqtt]`): retained state out, messages in.

Everything is sent with quality of service 0. TCP keeps the order during a connection, and each new
connection is sent the whole state. With 1 or 2, paho would resend messages of the previous
connection. An old state would then replace a newer one, and a repeated command would be executed
twice.
"""

from __future__ import annotations

import logging
import re
import ssl
import sys
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from secrets import token_hex
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any

from hardware.mqtt_settings import MqttSettings
from table.errors import InputError
from table.languages import Language
from table.messages import Message, msg

if TYPE_CHECKING:
    from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
    from paho.mqtt.properties import Properties
    from paho.mqtt.reasoncodes import ReasonCode

logger = logging.getLogger(__name__)

INSTANCE = re.compile(r"\d{20}-[0-9a-f]{8}")
"""Id of a running program: its start time in ns, and a random number."""

Tell = Callable[[str, bytes], object]
"""Receives the topic and the payload of a message."""

ONLINE, OFFLINE = "online", "offline"
"""Payloads of the topic `status`: Home Assistant's words for available and unavailable."""
KEEPALIVE_S = 15
"""A broker silent for this long is disconnected, and tried again."""
AGAIN_S, LONGEST_AGAIN_S = 1, 15
"""Delay before the first reconnection; it doubles up to the second value."""
CONNECT_S = 5.0
"""Time limit of connecting, TLS handshake included."""
PATIENT_S = 3.0
"""Time after the start during which a missing connection is not an error."""
SEND_S = 2.0
"""Time limit for a message to leave this computer."""
LEAVE_S = 2.0
"""Time limit of closing. After it the connection's thread is left to end with the program."""
MOST_BYTES = 16_384
"""Largest packet accepted. Brokers hold larger ones back; any that still arrive are dropped."""


class MqttBroker:
    """The interface `Broker` on an MQTT broker; paho connects and reconnects in its own thread."""

    def __init__(
        self,
        settings: MqttSettings,
        language: Language = "en",
        try_only: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Start to connect, without waiting; `clock` in seconds.

        With `try_only` it only checks whether the broker can be reached: it publishes nothing, and
        replaces no other program. Raises InputError where paho-mqtt is not installed or `ca_file`
        cannot be used.
        """
        self.settings, self.language = settings, settings.language or language
        self._says = not try_only
        self._instance = f"{time_ns():020d}-{token_hex(4)}"
        """Id of this program. Of two programs with the same table name, the one with the greater id
        stays.
        """
        self._clock, self._begun_s = clock, clock()
        self._lock = threading.RLock()
        """Held while sending, connecting and disconnecting, so that nothing interleaves with the
        start of a connection.
        """
        self._topics: tuple[str, ...] = ()
        self._tell: Tell = lambda _topic, _payload: None
        self._up, self._closing, self._error = False, False, ""
        self._refused = False
        self._connections = 0
        self._client = self._new_client()
        self._client.loop_start()

    def _new_client(self) -> Client:
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties
        except ImportError as error:
            raise InputError(
                msg(
                    "hardware.mqtt.kind: expected paho-mqtt in this environment, but it is not"
                    " installed; run: pip install '{program}'",
                    program="rinkside[mqtt]",
                )
            ) from error
        settings = self.settings
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=f"rinkside-{settings.table}-{token_hex(4)}",
            protocol=paho.MQTTv5,
        )
        client.suppress_exceptions = True  # an exception would end paho's thread for good
        client.connect_timeout = CONNECT_S
        client.reconnect_delay_set(AGAIN_S, LONGEST_AGAIN_S)
        if settings.username:
            client.username_pw_set(settings.username, settings.password or None)
        if settings.tls:
            self._secure(client)
        if self._says:
            client.will_set(settings.topic("status"), OFFLINE, retain=True)
        client.on_connect = self._connected
        client.on_connect_fail = self._on_connect_failure
        client.on_disconnect = self._disconnected
        client.on_message = self._on_message
        limits = Properties(PacketTypes.CONNECT)
        limits.MaximumPacketSize = MOST_BYTES
        client.connect_async(
            settings.host, settings.port, KEEPALIVE_S, clean_start=True, properties=limits
        )
        return client

    def _secure(self, client: Client) -> None:
        try:
            client.tls_set(ca_certs=self.settings.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise InputError(
                msg(
                    "hardware.mqtt.ca_file: expected certificates in PEM that can be read, got"
                    " {path} ({raw})",
                    path=self.settings.ca_file,
                    raw=getattr(error, "strerror", None) or error,
                )
            ) from error

    @property
    def error(self) -> str:
        """Reason why there is no connection; empty if there is one, or shortly after the start."""
        with self._lock:
            if self._up or self._error:
                return "" if self._up else self._error
            early = self._clock() - self._begun_s < PATIENT_S
        return "" if early else self._silent()

    @property
    def connections(self) -> int:
        """Number of connections made so far. After each, the whole state has to be sent again."""
        with self._lock:
            return self._connections

    @property
    def connected(self) -> bool:
        """True while the broker is connected."""
        with self._lock:
            return self._up

    def listen(self, topics: Collection[str], tell: Tell) -> None:
        """Call `tell` from paho's thread for each new message under these topics."""
        with self._lock:
            self._topics, self._tell = tuple(topics), tell
            if self._up:
                self._subscribe()

    def send(self, topic: str, payload: str, retain: bool = True) -> None:
        """Send a message and wait, at most SEND_S, until it has left.

        Without a connection it is dropped; the caller sends the whole state to the next one.
        """
        with self._lock:
            if not self._up:
                return
            sent = self._client.publish(topic, payload, qos=0, retain=retain)
        with suppress(RuntimeError, ValueError):  # connection lost meanwhile
            sent.wait_for_publish(SEND_S)

    def close(self) -> None:
        """Publish `offline` and disconnect; returns after SEND_S and LEAVE_S at the latest."""
        with self._lock:
            self._closing = True
        if self._says:
            self.send(self.settings.topic("status"), OFFLINE)
        with self._lock:
            self._up = False
        self._client.disconnect()
        ending = threading.Thread(target=self._client.loop_stop, name="mqtt ends", daemon=True)
        ending.start()
        ending.join(LEAVE_S)

    def _subscribe(self) -> None:
        own = [self.settings.topic(name) for name in ("status", "instance") if self._says]
        if topics := [(topic, 0) for topic in (*own, *self._topics)]:
            self._client.subscribe(topics)

    def _connected(
        self,
        client: Client,
        _data: Any,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        with self._lock:
            if reason.is_failure:
                self._refused, self._error = True, self._refusal(str(reason))
                logger.info("mqtt: %s", self._error)
                return
            self._refused, self._error = False, ""
            self._up, self._connections = True, self._connections + 1
            self._subscribe()
            if self._says:
                client.publish(self.settings.topic("status"), ONLINE, retain=True)
                client.publish(self.settings.topic("instance"), self._instance)

    def _on_connect_failure(self, _client: Client, _data: Any) -> None:
        error = sys.exc_info()[1]  # paho calls this within its except block, and passes no error
        why = getattr(error, "strerror", None) or error or "?"
        with self._lock:
            self._error = msg(
                "expected a broker at {raw} (hardware.mqtt.url), but it cannot be reached"
                " ({raw2}); it is tried again",
                raw=self.settings.url,
                raw2=why,
            )

    def _disconnected(
        self,
        _client: Client,
        _data: Any,
        _flags: DisconnectFlags,
        _reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        with self._lock:
            was_up, self._up = self._up, False
            if self._closing or self._refused:
                return
            if was_up:
                self._error = msg(
                    "the connection to {raw} is lost; it is tried again", raw=self.settings.url
                )
            else:
                self._error = self._silent()

    def _on_message(self, client: Client, _data: Any, message: MQTTMessage) -> None:
        if message.retain or len(message.payload) > MOST_BYTES:
            return
        topic, payload = message.topic, bytes(message.payload)
        try:
            if self._says and topic == self.settings.topic("status"):
                self._contradict(client, payload)
            elif self._says and topic == self.settings.topic("instance"):
                self._on_duplicate_table(client, payload.decode(errors="replace"))
            else:
                self._tell(topic, payload)
        except Exception:  # paho would swallow it
            logger.warning("mqtt: a message was skipped", exc_info=True)

    def _contradict(self, client: Client, status: bytes) -> None:
        """Publish `online` again after the last will of an earlier connection.

        The broker may notice the end of that connection late.
        """
        with self._lock:
            if status == OFFLINE.encode() and self._up and not self._closing:
                client.publish(self.settings.topic("status"), ONLINE, retain=True)

    def _on_duplicate_table(self, client: Client, other: str) -> None:
        """Resolve a conflict with another program that has the same table name: one has to go."""
        if not INSTANCE.fullmatch(other):
            return
        if other < self._instance:
            client.publish(self.settings.topic("instance"), self._instance)
        elif other > self._instance:
            with self._lock:
                self._up, self._closing = False, True
                self._error = msg(
                    "another program is at the broker as table {raw}: give each table a"
                    " hardware.mqtt.table of its own, and start Rinkside again",
                    raw=self.settings.table,
                )
            client.disconnect()

    def _silent(self) -> Message:
        return msg(
            "no answer from {raw} (hardware.mqtt.url): is an MQTT 5 broker there? It is tried"
            " again",
            raw=self.settings.url,
        )

    def _refusal(self, reason: str) -> Message:
        return msg(
            "the broker at {raw} refuses ({raw2}): check hardware.mqtt.username and"
            " hardware.mqtt.password",
            raw=self.settings.url,
            raw2=reason,
        )
