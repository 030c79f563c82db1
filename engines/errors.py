"""The three ways in which a move can be wrong: not readable, not legal, not clear."""

from __future__ import annotations

from dataclasses import dataclass

from table.errors import InputError
from table.messages import Message, as_message, msg, quoted


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a move is not legal: a stable `code`, the `clause` (section of the printed rules, or
    ruling), a sentence.

    `meant` are the moves, in notation, that it may stand for where that is all that is wrong with
    it.
    """

    code: str
    clause: str
    said: str
    meant: tuple[str, ...] = ()

    def error(self, tried: object) -> IllegalMove:
        """What `play` raises for a move."""
        return AmbiguousMove(self, tried) if self.meant else IllegalMove(self, tried)

    @property
    def message(self) -> Message:
        """The sentence, with the clause that it rests on."""
        if not self.clause:
            return as_message(self.said)
        return msg("{text} ({clauses})", text=quoted(self.said), clauses=self.clause)

    def __str__(self) -> str:
        return self.message


class InvalidNotation(InputError):  # noqa: N818 - the name that the field uses
    """Text that is no move or state of this game; the message quotes it and shows what was
    expected.
    """


class IllegalMove(ValueError):  # noqa: N818
    """A readable move that the rules forbid now; the message quotes it, `violation` says which
    rule, and `said` both for pages in another language.
    """

    said: Message

    def __init__(self, violation: Violation, tried: object) -> None:
        said = msg("'{raw}': {text}", raw=tried, text=quoted(violation.message))
        super().__init__(str(said))
        self.said = said
        self.violation = violation


class AmbiguousMove(IllegalMove, InputError):  # noqa: N818
    """What fits more than one thing that may have happened; `violation.meant` tells which."""
