"""Sounds of cues: the signal's rhythm, once, as beeps."""

from __future__ import annotations

from collections.abc import Callable

from hardware.cues import Cue, Signal
from hardware.step_player import StepPlayer

HEARD: frozenset[Signal] = frozenset(
    {"accepted", "refused", "too close", "asking", "choice", "measure", "camera lost", "over"}
)
"""Signals that the buzzer plays. The others are only visible."""


def beeps(cue: Cue) -> tuple[tuple[bool, int], ...]:
    """(on, duration in ms) of each beep and pause; empty for a signal not in HEARD."""
    return (
        tuple((level >= 0.5, hold_ms) for level, hold_ms in cue.rhythm.steps)
        if cue.signal in HEARD
        else ()
    )


class Beeps(StepPlayer[bool]):
    """The interface `Buzzer` on anything that can be switched.

    Beeps in its own thread; a new cue replaces the current one.
    """

    def __init__(self, sound: Callable[[bool], object]) -> None:
        super().__init__("buzzer", sound, lambda: sound(False))

    @property
    def error(self) -> str:
        """Reason why the last cue was not heard; empty if it was."""
        return self.failed

    def play(self, cue: Cue) -> None:
        """Beep once; returns at once."""
        self.begin(beeps(cue))


class TerminalBell(Beeps):
    """The terminal's bell, rung at the start of each beep."""

    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__(lambda on: write("\a") if on else None)
