"""Contract tests of buzzers. The fixture `buzzer` gives a newly opened one."""

from hardware.cues import SIGNALS, Cue

PLAYERS = ("red", "blue")


def test_a_buzzer_takes_every_signal_at_once(buzzer):
    for signal in SIGNALS:
        buzzer.play(Cue(signal, PLAYERS))
    assert buzzer.error == ""
    buzzer.close()
