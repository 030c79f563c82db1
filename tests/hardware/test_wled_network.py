"""WLED over the network: real packets and requests, read as the firmware reads them."""

from __future__ import annotations

import http.client

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.lamps import *  # noqa: F403
from hardware.backends.led_strip import Strip
from hardware.backends.wled import StripInfo
from hardware.backends.wled_network import (
    MOST_DATA,
    Address,
    NetworkPresets,
    NetworkStrip,
    address_of,
    find_strips,
    identify,
    packets,
)
from hardware.cues import LAMP_RGB, Cue
from hardware.factory import open_devices
from hardware.interfaces import DeviceLost
from hardware.settings import parse_settings
from table.errors import InputError
from tests.support.wled_in_network import PATIENCE_S, WledInNetwork

PLAYERS = ("blue", "yellow")
TURN = Cue("turn", PLAYERS, of=("yellow",))


@pytest.fixture
def wled():
    double = WledInNetwork(100)
    yield double
    double.close()


@pytest.fixture
def sender(wled, outline):
    opened = []

    def make(dice=(), **more):
        strip = Strip(100 - 7 * len(dice), outline)
        kept = {"brightness": 1.0, "supply_ma": 1e9} | more
        opened.append(NetworkStrip(wled.address, strip, lambda: dice, **kept))
        return opened[-1]

    yield make
    for device in opened:
        device.close()


def settings(wled, **more):
    host, http, ddp = wled.address
    held = {"kind": "wled-network", "host": host, "port": http, "ddp_port": ddp, "leds": 100}
    return parse_settings({"hardware": {"lamps": held | more}}, "rinkside.toml")


@pytest.fixture(params=["frames", "presets"])
def lamps(wled, outline, request):
    host, http, _ = wled.address
    presets = {"kind": "wled-network-presets", "host": host, "port": http, "presets": {"turn": 1}}
    held = {"lamps": presets} if request.param == "presets" else None
    chosen = parse_settings({"hardware": held}, "") if held else settings(wled)
    devices = open_devices(chosen, outline, lambda _text: None)
    yield devices.lamps
    devices.close()


@given(st.integers(1, 1500), st.integers(1, 15))
def test_packets_hold_the_frame_in_order_and_the_last_one_shows_it(count, number):
    frame = np.arange(3 * count).astype(np.uint8).reshape(-1, 3)
    sent = packets(frame, number)
    assert b"".join(packet[10:] for packet in sent) == frame.tobytes()
    assert [packet[0] for packet in sent] == [0x40] * (len(sent) - 1) + [0x41]
    assert {packet[1] for packet in sent} == {number}
    assert all(len(packet) <= 10 + MOST_DATA for packet in sent)


@pytest.mark.parametrize(("lamps", "packages"), [(100, 1), (480, 1), (481, 2), (960, 2), (1500, 4)])
def test_480_lamps_fit_into_a_packet_and_a_packet_into_one_of_ethernet(lamps, packages):
    """What is larger than 1500 bytes, 28 of them IP's and UDP's, is cut, and lost if a piece is."""
    sent = packets(np.zeros((lamps, 3), np.uint8), 1)
    assert len(sent) == packages
    assert max(map(len, sent)) <= 1500 - 28


def test_a_strip_shows_the_scene(wled, sender, outline):
    device = sender()
    for _ in range(20):
        device.step(TURN, 1800)
        wled.receive()
    assert wled.shown == 20
    assert wled.pixels == [tuple(rgb) for rgb in Strip(100, outline).frame(TURN, 1800).tolist()]
    assert LAMP_RGB["yellow"] in wled.pixels


def test_brightness_and_supply_are_kept(wled, sender):
    white = Cue("asking")
    sender(brightness=0.5).step(white, 0)
    wled.receive()
    assert set(wled.pixels) == {(127, 127, 127)}
    sender(supply_ma=700).step(white, 0)
    wled.receive()
    assert set(wled.pixels) == {(25, 25, 25)}


def test_dice_are_the_lamps_behind_those_round_the_board(wled, sender):
    sender(dice=(5, None)).step(Cue("dark"), 0)
    wled.receive()
    lit = [at for at, rgb in enumerate(wled.pixels) if any(rgb)]
    assert lit == [86, 88, 89, 90, 92]


def test_a_strip_that_does_not_answer_any_more_is_lost(wled, sender, monkeypatch):
    monkeypatch.setattr("hardware.backends.wled_network.ASK_S", 0.01)
    device = sender()
    wled.stop_answering()

    def send():
        while True:
            device.step(TURN, 0)

    with pytest.raises(DeviceLost, match=r"WLED at 127\.0\.0\.1 does not answer"):
        send()


@pytest.mark.parametrize(
    "answer",
    [None, b"<html>", b"[" * 30_000, b"x" * 100_000, [], {}, {"brand": "other", "ver": "1"}],
)
def test_what_is_no_wled_is_refused_in_a_line(wled, outline, answer):
    wled.answer = answer
    with pytest.raises(InputError) as raised:
        open_devices(settings(wled), outline, lambda _text: None)
    assert str(raised.value).startswith("hardware.lamps: WLED at 127.0.0.1 does not answer: ")
    assert "\n" not in str(raised.value)


def test_a_lost_strip_is_opened_again(wled, outline, monkeypatch):
    monkeypatch.setattr("hardware.backends.wled_network.ASK_S", 0.01)
    monkeypatch.setattr("hardware.lamp_thread.RETRY_S", 0.01)
    answer = wled.answer
    devices = open_devices(settings(wled, brightness=1.0), outline, lambda _text: None)
    wled.answer = None
    while "does not answer: HTTP 503" not in devices.errors.get("lamps", ""):
        assert wled.asked.acquire(timeout=PATIENCE_S)
    wled.answer = answer
    while devices.errors:
        assert wled.asked.acquire(timeout=PATIENCE_S)
    devices.lamps.show(Cue("asking"))
    while not any(map(any, wled.pixels)):
        wled.receive()
    devices.close()


def test_a_strip_has_a_moment_to_answer_and_no_more(wled, monkeypatch):
    """One that is busy with a frame takes a tenth of a second; whoever sets up lamps waits."""
    waited_s, connection = [], http.client.HTTPConnection

    def noted(host, port, timeout):
        waited_s.append(timeout)
        return connection(host, port, timeout=timeout)

    monkeypatch.setattr(http.client, "HTTPConnection", noted)
    identify(wled.address)
    [seconds] = waited_s
    assert 1 <= seconds <= 4


def test_a_strip_says_what_it_is(wled):
    assert identify(wled.address) == StripInfo("0.15.0", 100)


@pytest.fixture
def presets(wled):
    device = NetworkPresets(wled.address, {"turn": 1, "refused": 7}, brightness=0.5)

    def play(cue, steps=1):
        for _ in range(steps):
            device.step(cue, 0)

    return play


def test_a_preset_is_sent_when_it_changes(wled, presets):
    presets(TURN, 30)
    assert wled.states == [{"on": True, "bri": 128, "ps": 1}]
    presets(Cue("refused"), 5)
    presets(Cue("hand"), 5)
    assert wled.states[1:] == [{"on": True, "bri": 128, "ps": 7}, {"on": False}]


def test_a_preset_is_sent_again_to_a_strip_that_began_anew_and_not_lost_by_one_that_is_busy(
    wled, presets
):
    presets(TURN, 25)
    answer, wled.states[:] = dict(wled.answer), []
    wled.answer = answer | {"uptime": 0}
    presets(TURN, 25)
    assert wled.states == [{"on": True, "bri": 128, "ps": 1}]
    wled.answer = None
    with pytest.raises(DeviceLost, match="HTTP 503"):
        presets(Cue("refused"))
    wled.answer = answer
    presets(Cue("refused"))
    assert wled.states[-1] == {"on": True, "bri": 128, "ps": 7}


def test_a_strip_is_called_by_address_by_name_or_not_at_all():
    one = {"WLED table": "10.0.0.7"}
    two = one | {"WLED shelf": "10.0.0.8"}
    assert address_of("10.0.0.9", find=dict) == "10.0.0.9"
    assert address_of("wled.local", find=dict) == "wled.local"
    assert address_of("WLED shelf", find=lambda: two) == "10.0.0.8"
    assert address_of("", find=lambda: one) == "10.0.0.7"
    for host, there in (("", two), ("", {}), ("WLED attic", two)):
        with pytest.raises(
            InputError, match=r"expected the address or the name of one WLED"
        ) as bad:
            address_of(host, find=lambda there=there: there)
        assert all(name in str(bad.value) for name in there)


@pytest.mark.slow
def test_a_strip_is_found_by_what_it_announces():
    zeroconf = pytest.importorskip("zeroconf", reason="zeroconf is an extra: rinkside[service]")
    service = "_wled._tcp.local."
    info = zeroconf.ServiceInfo(
        service, f"WLED table.{service}", 80, addresses=[b"\x7f\x00\x00\x01"], server="wled.local."
    )
    try:
        announcing = zeroconf.Zeroconf(interfaces=["127.0.0.1"])
    except OSError as error:
        pytest.skip(f"no multicast on this machine: {error}")
    try:
        announcing.register_service(info)
        assert find_strips(4.0, ["127.0.0.1"]) == {"WLED table": "127.0.0.1"}
    finally:
        announcing.close()


def test_an_address_has_the_usual_ports():
    assert Address("10.0.0.7") == ("10.0.0.7", 80, 4048)
