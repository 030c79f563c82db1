"""Moves as short lines that people would write, read by a table of forms.

A form is a line with the names of fields in braces, `coin {player} {coin} to {to}`, and stands for
what makes the move of them. Several forms may begin with the same word; those that begin with a
field are tried where no form begins with the first word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import chain, zip_longest
from typing import Any, Generic, TypeVar

from engines.errors import InvalidNotation
from table.pieces import COLOURS

M = TypeVar("M")
_FIELD = re.compile(r"\{(\w+)\}")


class Notation(Generic[M]):
    """How the moves of a game are written.

    `examples` in words; `forms` with what makes the moves, called with the fields by name;
    `fields`, which read one field each and raise InvalidNotation.
    """

    def __init__(
        self,
        examples: str,
        forms: Mapping[str, Callable[..., M]],
        fields: Mapping[str, Callable[[str], Any]],
    ) -> None:
        self._examples, self._forms, self._fields = examples, forms, fields
        self._patterns = {form: _pattern(form) for form in forms}

    def parse(self, text: str) -> M:
        """The move that a line says, however its words are spaced; raises InvalidNotation, which
        quotes the text.
        """
        words = " ".join(text.split())
        begun = [form for form in self._forms if _first(form) == _first(words)]
        why = ""
        for form in begun or [form for form in self._forms if form.startswith("{")]:
            if found := self._patterns[form].fullmatch(words):
                try:
                    return self._forms[form](
                        **{
                            name: self._fields[name](value)
                            for name, value in found.groupdict().items()
                        }
                    )
                except InvalidNotation as error:
                    if begun:
                        raise InvalidNotation(f"{error}; in the move {text!r}") from None
                    why = f" ({error})"
                    break
        expected = " or ".join(
            f"'{_FIELD.sub(lambda field: field[1].upper(), form)}'" for form in begun
        )
        raise InvalidNotation(
            f"expected {expected or f'a move such as {self._examples}'}, got {text!r}{why}"
        )


def parse_colour(text: str) -> str:
    """A colour that pieces have; raises InvalidNotation."""
    if text not in COLOURS:
        raise InvalidNotation(f"expected a colour ({', '.join(COLOURS)}), got {text!r}")
    return text


def _first(words: str) -> str:
    return re.split("[ :]", words, maxsplit=1)[0]


def _pattern(form: str) -> re.Pattern[str]:
    """Fields hold no space or colon; one at the end of the form takes all that is left."""
    parts = _FIELD.split(form)
    signs, fields = parts[::2], [f"(?P<{name}>[^ :]+)" for name in parts[1::2]]
    if form.endswith("}"):
        fields[-1] = f"(?P<{parts[-2]}>.+)"
    return re.compile(
        "".join(chain.from_iterable(zip_longest(map(re.escape, signs), fields, fillvalue="")))
    )
