"""Exceptions whose text is one line made for people."""

from __future__ import annotations

from table.messages import Message, as_message


class InputError(ValueError):
    """An error in one line: what was expected, what was found, where, and what to do.

    The command line exits with 2 on it.  The line often quotes what was found: line ends and other
    characters that do not print are replaced by spaces. `message` is the line as a message, where
    it was made as one, for pages in another language.
    """

    message: Message

    def __init__(self, message: str) -> None:
        printed = "".join(letter if letter.isprintable() else " " for letter in message)
        super().__init__(printed)
        self.message = as_message(message if message == printed else printed)


class LogFailed(InputError):  # noqa: N818 - a fact about the disk, not a mistake of the program
    """An event could not be written to disk; the log is unchanged, the ruling must not be shown."""


def message_of(error: Exception) -> Message:
    """The text of an error, as the message that it was made of if there is one."""
    return as_message(getattr(error, "message", str(error)))


def said_of(error: Exception) -> str:
    """An unexpected error in one line: its type and its text."""
    text = "".join(letter if letter.isprintable() else " " for letter in str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
