"""Exceptions whose text is one line made for people."""

from __future__ import annotations


class InputError(ValueError):
    """What was expected, what came, where, and what to do, in one line.

    The command line exits with 2 on it.

    It often quotes what came: line ends and other signs that do not print are spaces in it.
    """

    def __init__(self, said: str) -> None:
        super().__init__("".join(letter if letter.isprintable() else " " for letter in said))


class LogFailed(InputError):  # noqa: N818 - a fact about the disk, not a mistake of the program
    """An event could not be brought to disk; the log is as it was, the ruling must not be shown."""


def said_of(error: Exception) -> str:
    """An error that nobody foresaw, in one line: its kind and its text."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
