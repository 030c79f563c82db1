"""Exceptions whose text is one line made for people."""

from __future__ import annotations

from table.messages import Message, as_message


class InputError(ValueError):
    """What was expected, what came, where, and what to do, in one line.

    The command line exits with 2 on it.

    It often quotes what came: line ends and other signs that do not print are spaces in it.  `said`
    is the line as a message, where it was made as one, for pages in another language.
    """

    said: Message

    def __init__(self, said: str) -> None:
        printed = "".join(letter if letter.isprintable() else " " for letter in said)
        super().__init__(printed)
        self.said = as_message(said if said == printed else printed)


class LogFailed(InputError):  # noqa: N818 - a fact about the disk, not a mistake of the program
    """An event could not be brought to disk; the log is as it was, the ruling must not be shown."""


def message_of(error: Exception) -> Message:
    """What an error says, as the message that it was made of, where it was."""
    return as_message(getattr(error, "said", str(error)))


def said_of(error: Exception) -> str:
    """An error that nobody foresaw, in one line: its kind and its text."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
