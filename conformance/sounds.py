"""Buzzers: what every kind of them must do. The fixture `buzzer` gives one that was just opened."""

from hardware.cues import SIGNALS, Cue

PLAYERS = ("red", "blue")


def test_a_buzzer_takes_every_signal_at_once(buzzer):
    for signal in SIGNALS:
        buzzer.play(Cue(signal, PLAYERS))
    assert buzzer.error == ""
    buzzer.close()
