"""Moves as short lines, parsed by a table of forms.

A form is a line with field names in braces, `coin {player} {coin} to {to}`. It is mapped to the
function that creates the move. Several forms may begin with the same word. Forms that begin with a
field are tried if no form begins with the first word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any, Generic, TypeVar

from engines.errors import InvalidNotation
from table.messages import Message, in_a_row, msg
from table.pieces import COLOURS

M = TypeVar("M")
_FIELD = re.compile(r"\{(\w+)\}")


class Notation(Generic[M]):
    """The notation of a game's moves.

    `examples` are shown in error messages. `forms` maps each form to the function that creates its
    move, called with the fields by name. `fields` parses one field each and raises InvalidNotation.
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
        """Parse a line of notation, with any spaces between its words.

        Raises InvalidNotation, which quotes the text.
        """
        words = " ".join(text.split())
        begun = [form for form in self._forms if _first_word(form) == _first_word(words)]
        why = None
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
                        raise InvalidNotation(
                            msg("{text}; in the move {raw}", text=error.message, raw=repr(text))
                        ) from None
                    why = error.message
                    break
        expected = _forms_text(begun) if begun else msg("a move such as {raw}", raw=self._examples)
        raise InvalidNotation(
            msg("expected {text}, got {raw} ({text2})", text=expected, raw=repr(text), text2=why)
            if why
            else msg("expected {text}, got {raw}", text=expected, raw=repr(text))
        )


def parse_colour(text: str) -> str:
    """Return the text if it is a colour of pieces; raises InvalidNotation."""
    if text not in COLOURS:
        raise InvalidNotation(
            msg(
                "expected a colour ({text}), got {raw}",
                text=in_a_row(COLOURS, "colour"),
                raw=repr(text),
            )
        )
    return text


def _forms_text(forms: Sequence[str]) -> Message:
    """Format forms for people: `'fire COLOUR'`."""
    first, *others = forms
    written = f"'{_FIELD.sub(lambda field: field[1].upper(), first)}'"
    if not others:
        return Message(written)
    return msg("{raw} or {text}", raw=written, text=_forms_text(others))


def _first_word(words: str) -> str:
    return re.split("[ :]", words, maxsplit=1)[0]


def _pattern(form: str) -> re.Pattern[str]:
    """The regular expression of a form.

    Fields hold no space or colon; one at the end of the form takes the rest of the line.
    """
    parts = _FIELD.split(form)
    signs, fields = parts[::2], [f"(?P<{name}>[^ :]+)" for name in parts[1::2]]
    if form.endswith("}"):
        fields[-1] = f"(?P<{parts[-2]}>.+)"
    return re.compile(
        "".join(chain.from_iterable(zip_longest(map(re.escape, signs), fields, fillvalue="")))
    )
