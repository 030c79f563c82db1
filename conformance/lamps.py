"""Contract tests of lamps. The fixture `lamps` gives newly opened ones."""

from hardware.cues import DARK, SIGNALS, Cue

PLAYERS = ("red", "blue")


def test_lamps_show_every_signal_and_go_dark(lamps):
    for signal in SIGNALS:
        for of in ((), PLAYERS[:1], PLAYERS):
            lamps.show(Cue(signal, PLAYERS, of=of, leader="blue", then=DARK))
    assert lamps.error == ""
    lamps.close()
    lamps.close()
