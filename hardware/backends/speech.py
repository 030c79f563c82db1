"""Speak short sentences by a program of the machine."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress

from hardware.step_player import StepPlayer
from table.errors import InputError
from table.languages import Language
from table.messages import msg

PROGRAM = "espeak-ng"
LONGEST_MS = 15_000
"""Time limit of a sentence, longer than any announcement. After it the program's exit code is
checked.
"""
ENDS_S = 2.0
"""Time limit for the program to end after SIGTERM."""


class Espeak(StepPlayer[str]):
    """The interface `Voice` by espeak-ng, through the machine's loudspeaker.

    A new sentence interrupts the current one.
    """

    def __init__(self, words_a_minute: int, language: Language = "en") -> None:
        """Raises InputError where espeak-ng is not installed."""
        if (path := shutil.which(PROGRAM)) is None:
            raise InputError(
                msg(
                    "hardware.voice.kind: expected {program} on this machine, but it is not"
                    " installed; run: sudo apt install {program}",
                    program=PROGRAM,
                )
            )
        self._error = ""
        self.language = language
        self._command = [path, "-v", language, "-s", str(words_a_minute), "--stdin"]
        self._speaking: subprocess.Popen[bytes] | None = None
        super().__init__("voice", self._speak, self._hush)

    @property
    def error(self) -> str:
        """Reason why nothing is heard; empty if it works."""
        return self.failed or self._error

    def say(self, words: str) -> None:
        """Speak this now; returns at once."""
        self.begin([(words, LONGEST_MS)])

    def _speak(self, words: str) -> None:
        try:
            self._speaking = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            assert self._speaking.stdin is not None
            with suppress(BrokenPipeError), self._speaking.stdin as ear:
                ear.write(words.encode())
        except OSError as error:
            self._error = msg(
                "{program} cannot be run ({raw})", program=PROGRAM, raw=error.strerror
            )

    def _hush(self) -> None:
        """Stop the current sentence, or check whether the previous one succeeded."""
        speaking, self._speaking = self._speaking, None
        if speaking is None:
            return
        if speaking.poll() is not None:
            self._error = (
                msg(
                    "{program} failed with exit code {n}; is there a loudspeaker?",
                    program=PROGRAM,
                    n=speaking.returncode,
                )
                if speaking.returncode
                else ""
            )
            return
        speaking.terminate()
        try:
            speaking.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            speaking.kill()
            speaking.wait()
