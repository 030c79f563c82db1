"""Bluetooth that is not there: the part of BlueZ that bleak uses, on a bus of its own.

The bus is a real dbus-daemon; what BlueZ would say is said by `BlueZ`, which is told by the test
what is broadcast and sent.  Interfaces and properties as in BlueZ's `doc/org.bluez.*.rst`.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from hardware.backends import bluetooth

ADAPTER = "/org/bluez/hci0"
BTHOME = "0000fcd2-0000-1000-8000-00805f9b34fb"
PATIENCE_S, ANNOUNCED_S = 20.0, 0.02
DAEMON = shutil.which("dbus-daemon")
CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path={socket}</listen>
  <policy context="default">
    <allow user="*"/><allow own="*"/><allow send_destination="*"/><allow receive_sender="*"/>
    <allow send_type="method_call"/>
  </policy>
</busconfig>
"""


def pressed(packet, *events):
    """What a button broadcasts: the number of the broadcast, its battery, and its events."""
    return bytes([0x44, 0x00, packet, 0x01, 95, *(byte for one in events for byte in (0x3A, one))])


class Bus:
    """A dbus-daemon of its own, while the test lasts."""

    def __init__(self, folder: Path):
        socket, config = folder / "bus", folder / "bus.conf"
        config.write_text(CONFIG.format(socket=socket))
        self.address = f"unix:path={socket}"
        self._daemon = subprocess.Popen(
            [DAEMON, f"--config-file={config}", "--nofork", "--print-address"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._daemon.stdout.readline()

    def close(self):
        self._daemon.terminate()
        self._daemon.wait(PATIENCE_S)
        self._daemon.stdout.close()


def device_path(address):
    return f"{ADAPTER}/dev_{address.replace(':', '_')}"


class BlueZ:
    """A computer's Bluetooth with devices around it; use as a context manager."""

    def __init__(self, address: str, powered: bool = True):
        self._address = address
        self._objects = {
            ADAPTER: {
                "org.bluez.Adapter1": {
                    "Address": Variant("s", "00:00:00:00:00:01"),
                    "Powered": Variant("b", powered),
                    "Roles": Variant("as", ["central"]),
                }
            }
        }
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bluez", daemon=True)
        self._scanned, self._notified = threading.Event(), threading.Event()
        self._there: dict[str, str] = {}

    def __enter__(self):
        self._thread.start()
        self._do(self._appear())
        return self

    def __exit__(self, *_exc):
        self._do(self._vanish())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()

    def broadcast(self, address, data, name=""):
        """A device broadcasts service data; waits until somebody scans."""
        assert self._scanned.wait(PATIENCE_S)
        sent = {"ServiceData": Variant("a{sv}", {BTHOME: Variant("ay", data)})}
        self._do(self._change(address, name, sent))

    def appear(self, address, name="", characteristics=()):
        """A device that can be connected broadcasts again and again that it is there.

        Its characteristics notify.
        """
        self._do(self._serve(address, name, tuple(characteristics)))

    def say(self, address, data):
        """A connected device notifies; waits until somebody listens."""
        assert self._notified.wait(PATIENCE_S)
        path = f"{device_path(address)}/service0001/char0002"
        value = {"Value": Variant("ay", data)}
        self._do(self._changed(path, "org.bluez.GattCharacteristic1", value))

    def leave(self, address):
        """A connected device goes to sleep."""
        self._notified.clear()
        del self._there[address]
        self._do(self._connection(device_path(address), False))

    def switch(self, powered):
        """Bluetooth is switched on or off."""
        if not powered:
            self._scanned.clear()
        self._do(self._changed(ADAPTER, "org.bluez.Adapter1", {"Powered": Variant("b", powered)}))

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _appear(self):
        self._bus = await MessageBus(bus_address=self._address, bus_type=BusType.SYSTEM).connect()
        self._bus.add_message_handler(self._answer)
        await self._bus.request_name("org.bluez")
        self._announcing = asyncio.ensure_future(self._announce())

    async def _vanish(self):
        self._announcing.cancel()
        self._bus.disconnect()
        await self._bus.wait_for_disconnect()

    async def _change(self, address, name, properties):
        path = device_path(address)
        properties = {"RSSI": Variant("n", -50), **properties}
        if path in self._objects:
            return await self._changed(path, "org.bluez.Device1", properties)
        self._objects[path] = {
            "org.bluez.Device1": {
                "Adapter": Variant("o", ADAPTER),
                "Address": Variant("s", address),
                "AddressType": Variant("s", "random"),
                "Alias": Variant("s", name or address.replace(":", "-")),
                **({"Name": Variant("s", name)} if name else {}),
                "Connected": Variant("b", False),
                "Paired": Variant("b", False),
                "ServicesResolved": Variant("b", False),
                "UUIDs": Variant("as", []),
                **properties,
            }
        }
        return await self._added(path)

    async def _announce(self):
        """Devices broadcast that they are there while somebody scans."""
        while True:
            for address, name in self._there.items() if self._scanned.is_set() else ():
                await self._change(address, name, {})
            await asyncio.sleep(ANNOUNCED_S)

    async def _serve(self, address, name, characteristics):
        self._there[address] = name
        path = device_path(address)
        service = f"{path}/service0001"
        self._objects[service] = {
            "org.bluez.GattService1": {
                "UUID": Variant("s", "00001234-0000-1000-8000-00805f9b34fb"),
                "Device": Variant("o", path),
                "Primary": Variant("b", True),
                "Includes": Variant("ao", []),
            }
        }
        for number, uuid in enumerate(characteristics, 2):
            self._objects[f"{service}/char{number:04}"] = {
                "org.bluez.GattCharacteristic1": {
                    "UUID": Variant("s", uuid),
                    "Service": Variant("o", service),
                    "Flags": Variant("as", ["notify"]),
                    "Notifying": Variant("b", False),
                    "Value": Variant("ay", b""),
                }
            }

    async def _added(self, path):
        await self._bus.send(
            Message.new_signal(
                "/",
                "org.freedesktop.DBus.ObjectManager",
                "InterfacesAdded",
                "oa{sa{sv}}",
                [path, self._objects[path]],
            )
        )

    async def _changed(self, path, interface, properties):
        self._objects[path][interface].update(properties)
        await self._bus.send(
            Message.new_signal(
                path,
                "org.freedesktop.DBus.Properties",
                "PropertiesChanged",
                "sa{sv}as",
                [interface, properties, []],
            )
        )

    async def _connection(self, path, on):
        """A device is connected, and tells its services; or it is gone."""
        properties = {"Connected": Variant("b", on), "ServicesResolved": Variant("b", on)}
        if on:
            for inner in [other for other in self._objects if other.startswith(f"{path}/")]:
                await self._added(inner)
        await self._changed(path, "org.bluez.Device1", properties)

    def _answer(self, message):
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        match message.member:
            case "GetManagedObjects":
                return Message.new_method_return(message, "a{oa{sa{sv}}}", [self._objects])
            case "StartDiscovery":
                if not self._objects[ADAPTER]["org.bluez.Adapter1"]["Powered"].value:
                    return Message.new_error(message, "org.bluez.Error.NotReady", "not ready")
                self._scanned.set()
            case "StopDiscovery":
                self._scanned.clear()
            case "Connect":
                asyncio.ensure_future(self._connection(message.path, True))  # noqa: RUF006
            case "Disconnect":
                asyncio.ensure_future(self._connection(message.path, False))  # noqa: RUF006
            case "StartNotify":
                self._notified.set()
        return Message.new_method_return(message)


@pytest.fixture
def bus(tmp_path, monkeypatch):
    if DAEMON is None:
        pytest.skip("dbus-daemon is not installed")
    bus = Bus(tmp_path)
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", bus.address)
    monkeypatch.setattr(bluetooth, "RETRY_S", 0.01)
    monkeypatch.setattr(bluetooth, "STARTED_S", 0.0)
    yield bus
    bus.close()


@pytest.fixture
def bluez(bus):
    with BlueZ(bus.address) as bluez:
        yield bluez
