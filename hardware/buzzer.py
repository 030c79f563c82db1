"""Cues that can be heard: a signal's rhythm, once, as beeps."""

from __future__ import annotations

from collections.abc import Callable

from hardware.cues import Cue, Signal
from hardware.step_player import StepPlayer

HEARD: frozenset[Signal] = frozenset(
    {"accepted", "refused", "too close", "asking", "choice", "measure", "camera lost", "over"}
)
"""What deserves a sound; everything else is only to be seen."""


def beeps(cue: Cue) -> tuple[tuple[bool, int], ...]:
    """Sound and silence in ms; empty for a cue that is only to be seen."""
    return (
        tuple((level >= 0.5, hold_ms) for level, hold_ms in cue.rhythm.steps)
        if cue.signal in HEARD
        else ()
    )


class Beeps(StepPlayer[bool]):
    """The interface `Buzzer` on anything that can be switched.

    A thread of its own beeps, and only the latest cue counts.
    """

    def __init__(self, sound: Callable[[bool], object]) -> None:
        super().__init__("buzzer", sound, lambda: sound(False))

    @property
    def error(self) -> str:
        """Why the last cue was not heard; empty: it was."""
        return self.failed

    def play(self, cue: Cue) -> None:
        """Beep once; returns at once."""
        self.begin(beeps(cue))


class TerminalBell(Beeps):
    """The bell of the terminal: it rings where a beep begins."""

    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__(lambda on: write("\a") if on else None)
