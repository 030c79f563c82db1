"""The three ways in which a move can be wrong: unreadable, illegal or ambiguous."""

from __future__ import annotations

from dataclasses import dataclass

from table.errors import InputError
from table.messages import Message, as_message, msg, quoted


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a move is illegal: a stable `code`, the `clause` it breaks, and a sentence.

    `clause` is a section of the printed rules, or a ruling. `meant` lists the moves, in notation,
    that an ambiguous move may stand for.
    """

    code: str
    clause: str
    message: str
    meant: tuple[str, ...] = ()

    def error(self, tried: object) -> IllegalMove:
        """Return the exception that `play` raises for a move with this violation."""
        return AmbiguousMove(self, tried) if self.meant else IllegalMove(self, tried)

    @property
    def full_message(self) -> Message:
        """The sentence, with the clause that it rests on."""
        if not self.clause:
            return as_message(self.message)
        return msg("{text} ({clauses})", text=quoted(self.message), clauses=self.clause)

    def __str__(self) -> str:
        return self.full_message


class InvalidNotation(InputError):  # noqa: N818 - the name that the field uses
    """Text that is no move or state of this game.

    The message quotes the text and shows what was expected.
    """


class IllegalMove(ValueError):  # noqa: N818
    """A readable move that the rules forbid now.

    The message quotes the move. `violation` says which rule forbids it; `message` is the whole
    message, for pages in another language.
    """

    message: Message

    def __init__(self, violation: Violation, tried: object) -> None:
        message = msg("'{raw}': {text}", raw=tried, text=quoted(violation.full_message))
        super().__init__(str(message))
        self.message = message
        self.violation = violation


class AmbiguousMove(IllegalMove, InputError):  # noqa: N818
    """A move that fits several things that may have happened; `violation.meant` lists them."""
