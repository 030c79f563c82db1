"""Cues that can be heard: a signal's rhythm, once, as beeps."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hardware.scenes import Scene, Signal

HEARD: frozenset[Signal] = frozenset({"accepted", "refused", "too close", "asking", "choice", "measure", "camera lost", "over"})
"""What deserves a sound; everything else is only to be seen."""


def beeps(scene: Scene) -> tuple[tuple[bool, int], ...]:
    """Sound and silence in ms; empty for a scene that is only to be seen."""
    return tuple((level >= 0.5, hold_ms) for level, hold_ms in scene.rhythm.steps) if scene.signal in HEARD else ()


class Beeps:
    """The port `Buzzer` on anything that can be switched: a thread of its own beeps, and only the latest scene counts."""

    trouble = ""

    def __init__(self, sound: Callable[[bool], object]) -> None:
        self._sound = sound
        self._changed = threading.Condition()
        self._next: tuple[tuple[bool, int], ...] = ()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="buzzer", daemon=True)
        self._thread.start()

    def play(self, scene: Scene) -> None:
        """Beep once; returns at once."""
        with self._changed:
            self._next = beeps(scene)
            self._changed.notify_all()

    def close(self) -> None:
        """Be silent."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _run(self) -> None:
        with self._changed:
            while not self._closing:
                playing, self._next = self._next, ()
                for on, hold_ms in playing:
                    self._sound(on)
                    if self._changed.wait_for(lambda: self._closing or self._next, hold_ms / 1000):
                        break
                self._sound(False)
                self._changed.wait_for(lambda: self._closing or self._next)


class TerminalBell(Beeps):
    """The bell of the terminal: it rings where a beep begins."""

    def __init__(self, write: Callable[[str], object]) -> None:
        super().__init__(lambda on: write("\a") if on else None)
