"""WLED over serial: bytes as the firmware reads them, whatever is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.backends.led_strip import Strip
from hardware.backends.wled import COMMANDS, StripInfo, WledPresets, WledStrip, adalight, identify
from hardware.cues import LAMP_RGB, Cue
from hardware.interfaces import DeviceLost
from hardware.testing.fake_serial import WledFirmware

PLAYERS = ("blue", "yellow")
TURN = Cue("turn", PLAYERS, of=("yellow",))


def reads(firmware, data):
    return b"".join(map(firmware.feed, data))


def colours(lamps):
    return st.binary(min_size=3 * lamps, max_size=3 * lamps).map(
        lambda data: np.frombuffer(data, np.uint8).reshape(-1, 3)
    )


def test_a_frame_is_as_adalight_has_it():
    frame = np.array([[255, 0, 1], [2, 3, 4]], np.uint8)
    assert adalight(frame) == b"Ada\x00\x01\x54\xff\x00\x01\x02\x03\x04"


@given(st.integers(1, 400).flatmap(colours))
def test_the_firmware_shows_what_was_sent_for_any_number_of_lamps(frame):
    firmware = WledFirmware(len(frame))
    reads(firmware, adalight(frame))
    assert firmware.shown == 1
    shown = np.array(firmware.pixels)
    assert ((shown <= frame) & (frame - shown <= 8)).all()


def test_no_byte_of_a_frame_is_a_command():
    for lamps in (*range(1, 700), 1500):
        frame = np.arange(3 * lamps).astype(np.uint8).reshape(-1, 3)
        assert not COMMANDS & set(adalight(frame)[3:]), lamps


@given(st.data())
def test_lost_bytes_spoil_two_frames_at_most_and_never_change_the_speed(data):
    """183 lamps is a number whose plain head has 0xB6 in it, which would set the port to 1
    Mbaud.
    """
    lamps = data.draw(st.sampled_from([1, 20, 183]))
    firmware = WledFirmware(lamps)
    sent = b"".join(adalight(data.draw(colours(lamps))) for _ in range(2))
    lost = data.draw(st.sets(st.integers(0, len(sent) - 1), max_size=40))
    reads(firmware, bytes(byte for at, byte in enumerate(sent) if at not in lost))
    last = adalight(np.full((lamps, 3), 9, np.uint8))
    for _ in range(3):
        reads(firmware, last)
    assert firmware.pixels == [(9, 9, 9)] * lamps
    assert (firmware.baud, firmware.streaming) == (115200, False)


@given(st.integers(0, 400), st.sampled_from([1, 50, 120]))
def test_a_frame_that_was_left_unfinished_is_ended_when_the_port_is_opened(cut, lamps):
    firmware = WledFirmware(lamps)
    frame = adalight(np.full((lamps, 3), 7, np.uint8))
    reads(firmware, frame[:cut])
    reads(firmware, bytes(len(frame)))
    reads(firmware, frame)
    assert firmware.pixels == [(7, 7, 7)] * lamps
    assert firmware.baud == 115200


@pytest.fixture
def sender(wled, opened, outline):
    def make(dice=(), **more):
        return WledStrip(
            opened(wled),
            115200,
            Strip(100 - 7 * len(dice), outline),
            lambda: dice,
            **{"brightness": 1.0, "supply_ma": 1e9} | more,
        )

    return make


def test_a_strip_shows_the_scene(wled, sender, outline):
    device = sender()
    device.step(TURN, 1800)
    wled.pump()
    assert np.array(wled.firmware.pixels).tolist() == Strip(100, outline).frame(TURN, 1800).tolist()
    assert LAMP_RGB["yellow"] in wled.firmware.pixels


def test_brightness_and_supply_are_kept(wled, sender):
    white = Cue("asking")
    half = sender(brightness=0.5)
    half.step(white, 0)
    wled.pump()
    half.close()
    assert set(wled.firmware.pixels) == {(127, 127, 127)}
    sender(supply_ma=700).step(white, 0)
    wled.pump()
    assert set(wled.firmware.pixels) == {(25, 25, 25)}


def test_dice_are_the_lamps_behind_those_round_the_board(wled, sender):
    sender(dice=(5, None)).step(Cue("dark"), 0)
    wled.pump()
    lit = [at for at, rgb in enumerate(wled.firmware.pixels) if any(rgb)]
    assert lit == [86, 88, 89, 90, 92]


@pytest.mark.parametrize(
    ("baud", "lamps", "frames_per_s"),
    [(115200, 100, 30), (115200, 300, 11.5), (1_000_000, 300, 30)],
)
def test_no_more_frames_are_sent_than_the_wire_carries(
    wled, opened, outline, baud, lamps, frames_per_s
):
    device = WledStrip(opened(wled), baud, Strip(lamps, outline), tuple, 1.0, 1e9)
    wled.pump()
    device.step(TURN, 0)
    assert wled.waiting * 10 / baud < device.interval_s
    assert 1 / device.interval_s == pytest.approx(frames_per_s, rel=0.02)


def test_a_strip_that_chatters_is_not_listened_to_but_read(wled, sender):
    device = sender()
    for _ in range(50):
        wled.say(b"ets Jun  8 2016 00:22:57 rst:0x1 \xff\x00 Ada{\r\n" * 30)
        device.step(TURN, 0)
        wled.pump()
    assert wled.firmware.shown == 50


def test_a_strip_that_takes_nothing_is_lost(sender, monkeypatch):
    monkeypatch.setattr("hardware.backends.serial_port.WRITE_S", 0.01)

    def send():
        device = sender()
        for _ in range(1000):
            device.step(TURN, 0)

    with pytest.raises(DeviceLost, match="no longer accepts data"):
        send()


def test_a_strip_that_is_unplugged_is_lost(wled, sender):
    device = sender()
    wled.unplug()
    with pytest.raises(DeviceLost, match="connection lost"):
        device.step(TURN, 0)


PRESETS = {"turn": 1, "refused": 7}


@pytest.fixture
def presets(wled, opened):
    """play(cue, seconds): steps of a strip with presets, the firmware reading after each."""
    device = WledPresets(opened(wled), PRESETS, brightness=0.5)

    def play(cue, steps=1):
        for _ in range(steps):
            device.step(cue, 0)
            wled.pump()

    return play


def test_a_preset_is_sent_when_it_changes(wled, presets):
    presets(TURN, 30)
    assert wled.firmware.states == [{"on": True, "bri": 128, "ps": 1}] * 2, (
        "once at first, and once when it is known that somebody listens"
    )
    wled.firmware.states.clear()
    presets(Cue("refused"), 5)
    presets(Cue("hand"), 5)
    assert wled.firmware.states == [{"on": True, "bri": 128, "ps": 7}, {"on": False}]


def test_a_preset_is_sent_again_to_a_strip_that_began_anew_or_was_busy(wled, presets):
    presets(TURN, 25)
    wled.firmware.restart()
    wled.firmware.uptime_s = 0
    presets(TURN, 25)
    assert wled.firmware.states[-1] == {"on": True, "bri": 128, "ps": 1}
    wled.firmware.states.clear()
    wled.firmware.busy = True
    presets(Cue("refused"), 3)
    assert wled.firmware.states == []
    wled.firmware.busy = False
    presets(Cue("refused"), 3)
    assert wled.firmware.states == [{"on": True, "bri": 128, "ps": 7}]


def test_half_an_answer_is_no_answer(wled, presets):
    wled.say(b'{"state":{"on":tr')
    wled.say(b'[]\n{"info":[1]}\n{"info":{"uptime":"x"}}\n{"state":\xff}\n[[[[\n')
    presets(TURN, 3)
    assert wled.firmware.states[-1]["ps"] == 1


def test_what_answers_is_told(wled, opened):
    port = opened(wled)
    assert identify(port, wled.pump) == StripInfo("0.15.0", 100)
    assert identify(port, lambda _: None) is None


def test_a_strip_that_plays_presets_is_asked_every_few_seconds(wled, presets):
    """Whether it has started anew: ten seconds, at ten steps a second."""
    presets(TURN, 100)
    assert 3 <= wled.sent.count(b'{"v":true}') <= 10


def test_dice_on_a_strip_are_warm_white(wled, sender):
    sender(dice=(1,)).step(Cue("dark"), 0)
    wled.pump()
    [red, green, blue] = next(rgb for rgb in wled.firmware.pixels if any(rgb))
    assert red == 255
    assert 180 <= green <= 220
    assert 80 <= blue <= 150


COMMANDS_OF_WLED = {*b"AIXLOlov^{", 0xC9, *range(0xB0, 0xB8)}


def test_every_colour_is_sent_nearly_as_it_is_and_never_as_a_command():
    """As `wled_serial.cpp` has them."""
    frame = np.repeat(np.arange(256, dtype=np.uint8), 3).reshape(-1, 3)
    sent = adalight(frame)[6:]
    assert not COMMANDS_OF_WLED & set(sent)
    for value, byte in enumerate(sent[: 3 * 256 : 3]):
        assert 0 <= value - byte <= 8
        assert value == byte or value in COMMANDS_OF_WLED
