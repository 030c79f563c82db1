"""Sentences as data: a template and the values in its fields.

They are written out in the language of who reads them.

`msg("{player} throws next.", player="red")` is the English sentence, a string, and remembers in
`content` what it was made from.  `written` makes the sentence of any language from that.  Templates
are literals in the code, where `make words` finds them, and are the keys of the catalogues.

The name of a field says what may stand in it; digits behind it tell two of a kind apart:

| field | value | example |
|---|---|---|
| `player`, `colour`, `size`, `pose`, `way`, `corner` | a word that is translated | `red` |
| `touch` | whether a square is touched | `too close` |
| `piece` | colour and number | `red2` |
| `players`, `sizes`, `pieces`, `cells` | several of those, or a list by `any_of` | `red and blue` |
| `mm`, `share` | a number as text, with its ± | `57.5 ± 0.4` |
| `n` | a whole number | `3` |
| `text` | a message, or several | `red2 lies on c4` |
| `cell`, `layout`, `who`, `raw`, `clauses`, `rule` and others | as it is in every language | `c4` |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Self

import msgspec

FIELD = re.compile(r"\{(([a-z]+)\d*)(?::([a-z]+))?\}")
"""A field of a template: its name, its kind and, in a translation, the form of its word."""
Joint = Literal["and", "or", ";", ",", " "]
SENTENCES: Joint = " "
WORDS = ("player", "colour", "size", "pose", "way", "corner", "touch")
SEVERAL = ("players", "pieces", "sizes", "cells")
DECIDERS = ("players", "the players", "host", "simulated players", "the tutor")
"""Texts for who decided if nobody gave a name. They are translated; names are not."""


class Word(msgspec.Struct, frozen=True, tag="word"):
    """A word that has forms, such as a colour; `form` is the one that it has by itself."""

    english: str
    form: str = ""


class Number(msgspec.Struct, frozen=True, tag="number"):
    """A number as text, `57.5 ± 0.4`; languages differ in the decimal point."""

    text: str


class PieceName(msgspec.Struct, frozen=True, tag="piece"):
    """A piece of a game by colour and number: `red2`."""

    colour: str
    number: str


class Plain(msgspec.Struct, frozen=True, tag="text"):
    """An English text without a known template, such as one of a log from before 0.2."""

    text: str


class Template(msgspec.Struct, frozen=True, tag="message"):
    """An English template and what stands in its fields, by their names."""

    template: str
    fields: dict[str, Value] = {}


class Listing(msgspec.Struct, frozen=True, tag="list"):
    """Several things: `red, blue and green`, `a; b` and `a, b`, or sentences joined by spaces.

    `joint` stands before the last: `and` and `or` have commas between the others, other joints
    stand between all.
    """

    items: tuple[Value, ...]
    joint: Joint = "and"


Value = Template | Listing | Plain | Word | Number | PieceName | str
"""Content of a message, as the log keeps it; a str is the same in every language."""
Say = Callable[[str, str], str]
"""Translates an English text in a form: empty for the usual one, `PLAIN` for a text without a
template, `NUMBER` for a number.
"""
PLAIN, NUMBER = "plain", "number"


class Message(str):
    """An English sentence, or a part of one, with the content that it was made from."""

    content: Value
    sentence: bool

    def __new__(cls, content: Value, sentence: bool = True) -> Self:
        """Write the text; a whole sentence is capitalized."""
        english = written(content)
        self = super().__new__(cls, _capital(english, content) if sentence else english)
        self.content, self.sentence = content, sentence
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[Value, bool]]:
        return type(self), (self.content, self.sentence)

    @classmethod
    def restored(cls, document: Any) -> Self:
        """Restore a message from its document.

        The document is that of `msgspec.to_builtins(message.content)`, or an English sentence.

        Raises msgspec.ValidationError for anything else.
        """
        if isinstance(document, str):
            return cls(Plain(document))
        return cls(msgspec.convert(document, Value))


def msg(template: str, **fields: object) -> Message:
    """Create a message from a literal template; raises KeyError for a field without a value."""
    values = {name: _value(name.rstrip("0123456789"), value) for name, value in fields.items()}
    return Message(Template(template, values))


def phrase(template: str, **fields: object) -> Message:
    """As `msg`, for a part of a sentence: a player's colour begins with a small letter."""
    return Message(msg(template, **fields).content, sentence=False)


def plain(document: Any) -> Any:
    """Convert data to JSON types, with messages as English text."""
    return json.loads(json.dumps(document))


def as_message(text: str) -> Message:
    """Return a message unchanged, or a text as a message without a template."""
    return text if isinstance(text, Message) else Message(Plain(str(text)))


def sentences(*parts: str) -> Message:
    """Join messages with spaces; empty ones are left out."""
    each = [_content(part) for part in parts if part]
    if len(each) == 1:
        return Message(each[0])
    return Message(Listing(tuple(each), SENTENCES))


def all_of(things: Iterable[object], kind: str = "text") -> Listing:
    """List `red, blue and green` for a field; `kind` is that of each thing."""
    return Listing(tuple(_value(kind, thing) for thing in things), "and")


def any_of(things: Iterable[object], kind: str = "text") -> Listing:
    """List `red, blue or green` for a field; `kind` is that of each thing."""
    return Listing(tuple(_value(kind, thing) for thing in things), "or")


def quoted(*parts: str) -> Listing:
    """Join sentences for a field: each keeps its capital letter inside another sentence."""
    return Listing(tuple(_content(part) for part in parts if part), SENTENCES)


def in_a_row(things: Iterable[object], kind: str = "text", joint: Joint = ",") -> Listing:
    """List `red, blue, green` for a field; `kind` is that of each thing."""
    return Listing(tuple(_value(kind, thing) for thing in things), joint)


def phrases(*parts: str, joint: Joint = ";") -> Message:
    """Join parts of a sentence with semicolons; empty ones are left out."""
    each = tuple(_content(part) for part in parts if part)
    return Message(each[0] if len(each) == 1 else Listing(each, joint))


def first_sentence(text: str) -> Listing:
    """First sentence of a message, for a field."""
    content = _sentences(_content(text))[0]
    if isinstance(content, Plain):
        content = Plain(content.text.partition(". ")[0].rstrip(".") + ".")
    return Listing((content,), SENTENCES)


def split_first(text: str) -> tuple[Message, Message]:
    """Split a message into its first sentence and the others, which may be empty."""
    items = _sentences(_content(text))
    if len(items) == 1 and isinstance(items[0], Plain) and ". " in items[0].text:
        before, _, after = items[0].text.partition(". ")
        items = Plain(f"{before}."), Plain(after)
    return Message(Listing(items[:1], SENTENCES)), Message(Listing(items[1:], SENTENCES))


def _sentences(value: Value) -> tuple[Value, ...]:
    """Sentences joined in a value, at any depth; the value itself if it joins none."""
    if not (isinstance(value, Listing) and value.joint == SENTENCES):
        return (value,)
    return tuple(one for item in value.items for one in _sentences(item))


def as_sentence(part: str) -> Message:
    """Make a sentence of a part: a capital letter and a full stop."""
    return msg("{text}.", text=as_message(part))


def written(value: Value, say: Say = lambda english, _form: english, form: str = "") -> str:
    """Write a value in the language of the catalogue `say`; in English without one."""
    match value:
        case str():
            return value
        case Number(text):
            return say(text, NUMBER)
        case Plain(text):
            return say(text, PLAIN)
        case Word(english, own):
            return say(english, form or own)
        case PieceName(colour, number):
            text = say(colour, "")
            return f"{text}{number}" if text == colour else f"{text} {number}"
        case Listing(items, joint):
            parts = [written(item, say, form) for item in items]
            if joint == SENTENCES:
                return " ".join(map(_capital, parts, items))
            return _join(parts, joint, say)
        case Template(template, fields):
            return FIELD.sub(
                lambda field: written(fields[field[1]], say, field[3] or ""), say(template, "")
            )


MADE_SENTENCES = ("{text}.", "{text}; nothing was done.")
"""Templates that turn a phrase into a sentence."""


def _capital(text: str, value: Value) -> str:
    """Capitalize a text that begins with a name, a colour or words for a piece."""
    if isinstance(value, Template) and value.template in MADE_SENTENCES:
        return text[:1].upper() + text[1:]
    while isinstance(value, Template | Listing):
        if isinstance(value, Listing):
            value = value.items[0] if value.items else ""
            continue
        field = FIELD.match(value.template)
        first = value.fields[field[1]] if field else ""
        named = field and field[2] == "cell" and isinstance(first, Template)
        if named or (field and field[2] in ("player", "players", "who", "colour")):
            return text[:1].upper() + text[1:]
        value = first
    return text


def _join(parts: Sequence[str], joint: Joint, say: Say) -> str:
    if joint not in ("and", "or"):
        return f"{joint} ".join(parts)
    *first, last = parts or [say("nobody", "")]
    return f"{', '.join(first)} {say(joint, '')} {last}" if first else last


def _content(part: str) -> Value:
    return as_message(part).content


def _value(kind: str, value: object) -> Value:
    """Convert the value of a field of this kind to a message's content."""
    if isinstance(value, Template | Listing | Plain | Word | Number | PieceName):
        return value
    if isinstance(value, Message):
        return value.content
    if kind in WORDS or (kind == "who" and value in DECIDERS):
        return Word(str(value), "touch" if kind == "touch" else "")
    if kind == "piece":
        found = re.fullmatch(r"([a-z]+)(\d+)", str(value))
        return PieceName(found[1], found[2]) if found else str(value)
    if kind in SEVERAL or kind == "text":
        if isinstance(value, Iterable) and not isinstance(value, str):
            return all_of(value, kind.removesuffix("s"))
        text = str(value)  # an outcome converts to a message
        return text.content if isinstance(text, Message) else text
    return Number(str(value)) if kind in ("mm", "share") else str(value)


NOTHING = Message(Plain(""))
NONE = Word("none", "got")
"""Stands for a value that was not found."""
