"""Exceptions whose text is one line made for people."""

from __future__ import annotations

from typing import Any

import msgspec

from table.messages import Message, Value, as_message, msg


class MessageError(Exception):
    """An error in one line for people; `message` is the line as a message, for other languages.

    The line often quotes what was found: line ends and other characters that do not print are
    replaced by spaces. The error's own text is English.
    """

    message: Message

    def __init__(self, message: str) -> None:
        message = as_message(message)
        if not message.isprintable():
            document = _printable(msgspec.to_builtins(message.content))
            message = Message(msgspec.convert(document, Value), message.sentence)
        super().__init__(_printable(message))
        self.message = message


class InputError(MessageError, ValueError):
    """What was expected, what was found, where, and what to do.

    The command line exits with 2 on it.
    """


class LogFailed(InputError):  # noqa: N818 - a fact about the disk, not a mistake of the program
    """An event could not be written to disk; the log is unchanged, the ruling must not be shown."""


def message_of(error: Exception) -> Message:
    """The text of an error, as the message that it was made of if there is one."""
    return as_message(getattr(error, "message", str(error)))


def error_summary(error: Exception) -> str:
    """An unexpected error in one line: its type and its text."""
    kind = type(error).__name__
    if isinstance(error, MessageError):
        return msg("{kind}: {text}", kind=kind, text=error.message)
    text = _printable(str(error))
    return f"{kind}: {text}" if text else kind


def _printable(document: Any) -> Any:
    """Text, or a message's document, with spaces for characters that do not print."""
    if isinstance(document, str):
        return "".join(letter if letter.isprintable() else " " for letter in document)
    if isinstance(document, dict):
        return {name: _printable(value) for name, value in document.items()}
    return [_printable(value) for value in document] if isinstance(document, list) else document
