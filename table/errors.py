"""Exceptions whose text is one line made for people."""

from __future__ import annotations

from typing import Any

import msgspec

from table.messages import Message, Value, as_message, msg


class MessageError(Exception):
    """An error in one line for people; `message` is translatable.

    Line ends and other unprintable characters, often from quoted input, are replaced by spaces. The
    error's own text is English.
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
    """Wrong input: what was expected, what was found, where, and what to do.

    The command line exits with 2.
    """


class LogFailed(InputError):  # noqa: N818 - a fact about the disk, not a mistake of the program
    """An event was not written to disk. The log is unchanged; the ruling must not be shown."""


def message_of(error: Exception) -> Message:
    """Return the text of an error, as its message if it has one."""
    return as_message(getattr(error, "message", str(error)))


def error_summary(error: Exception) -> str:
    """Describe an unexpected error in one line: its type and its text."""
    kind = type(error).__name__
    if isinstance(error, MessageError):
        return msg("{kind}: {text}", kind=kind, text=error.message)
    text = _printable(str(error))
    return f"{kind}: {text}" if text else kind


def _printable(document: Any) -> Any:
    """Replace unprintable characters by spaces, in text or in a message's document."""
    if isinstance(document, str):
        return "".join(letter if letter.isprintable() else " " for letter in document)
    if isinstance(document, dict):
        return {name: _printable(value) for name, value in document.items()}
    return [_printable(value) for value in document] if isinstance(document, list) else document
