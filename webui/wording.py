"""Sentences of the house read back into a template and its values, so that they can be said in
another language.

Engines and referee speak English, and the log keeps what they said: one sentence, with colours,
squares and lengths filled in.  A page in another language needs the template and the values.
`translations/said.txt` lists the templates, `{player} throws next.`; the one that a sentence was
made from says the same words at the same places, so that nothing can be read into it that was not
said.  What fits none stays English.

The name of a field says what may stand there, a number behind it tells two apart: `player` and
`colour` a colour; `size`, `pose`, `way` (of eight), `corner`; `n` a whole number; `mm` a number
with its ±, `share` one in percent; `touch` whether a square is touched; `cell` a square, tile or
move; `piece` a piece with its number, as in `red2`; `rule` a ruling, `clauses` what a verdict rests
on; `players`, `sizes`, `cells` and `pieces` lists; `lines` lines of fire; `layout` pieces in the
game's notation; `text` what fits a template, or a list of such; `who` people, by whatever name;
`raw` anything, which stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from table.messages import NUMBER, Number
from table.pieces import COLOURS

TEMPLATES = Path(__file__).with_name("translations") / "said.txt"
FIELD = re.compile(r"\{(([a-z]+)\d*)(?::([a-z]+))?\}")
"""A field of a template: its name, its kind and, in a translation, the form that its word takes
there.
"""

_COLOUR = f"(?:{'|'.join(COLOURS)})"
_SIZE = "(?:small|medium|large)"
_CELL = r"(?:#?\d+|[A-Z]{1,2}|[A-Z][a-z2-9]|[A-Za-z][\d?][^\s,;.()]*|[A-Z]\d\d|[A-Za-z]{1,2}:[a-i]\d[^\s,;.()]*|[A-Z]\d+-[A-Z]\d+)"  # noqa: E501
_WAY = "(?:(?:north|south)(?:east|west)?|east|west)"
_LINE = f"(?:{_WAY}|at home) on {_CELL}"
_NUMBER = r"-?\d+(?:\.\d+)?"


def _list_of(one: str) -> str:
    return rf"{one}(?:, {one})*(?:,? (?:and|or) {one})?"


KINDS = {
    "player": f"(?i:{_COLOUR})",
    "colour": f"(?i:{_COLOUR})",
    "players": f"(?i:{_list_of(_COLOUR)})",
    "size": _SIZE,
    "sizes": _list_of(_SIZE),
    "lines": _list_of(_LINE),
    "layout": ".+?",
    "n": r"-?\d+",
    "mm": rf"{_NUMBER}(?: ± {_NUMBER})?",
    "cell": _CELL,
    "cells": _list_of(_CELL),
    "piece": rf"{_COLOUR}\d+",
    "pieces": _list_of(rf"{_COLOUR}\d+"),
    "way": _WAY,
    "pose": "(?:upright|lying|leaning)",
    "corner": "(?:far|near) (?:left|right)",
    "touch": "(?:touched|clear|too close)",
    "share": rf"{_NUMBER} %",
    "rule": r"[a-z_]+\.\d+",
    "clauses": ".+?",
    "who": ".+?",
    "text": ".+?",
    "raw": ".+?",
}
OPEN = {"text": 1, "who": 2, "clauses": 3, "layout": 3, "raw": 4}
"""Kinds that anything fits, and how little each says of it."""
_SAME = rf"(?:{_CELL}|[-+]?{_NUMBER}%?|[^A-Za-z]+|mm²?|px|s|ms|min|[a-z_]+\.[a-z_.]+)"
_PLAIN = re.compile(rf"{_SAME}(?:[ ,]+{_SAME})*")
"""Numbers, units, squares and codes for programs: the same in every language, but for the decimal
point.
"""
_JOINT, _WIDE = re.compile(r"(, and | and | or |, )"), re.compile("(; )")
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Filled:
    """A template, and what stands in its fields by their names."""

    template: str
    values: tuple[tuple[str, Words], ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """Several things, and what stands between each two."""

    things: tuple[Words, ...]
    joints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that has forms, a colour or a size; `form` is the one that it has by itself."""

    english: str
    form: str = ""


Words = Filled | Listed | Word | Number | str
"""What was said; a text alone is the same in every language."""

Say = Callable[[str, str], str]
"""What is said in a language for an English text, in a form (empty for the usual one)."""


@dataclass(frozen=True)
class Template:
    """One that sentences are made from."""

    text: str

    @cached_property
    def literal(self) -> str:
        """The longest part that every sentence of it has."""
        return max(FIELD.sub("\0", self.text).split("\0"), key=len)

    @cached_property
    def weight(self) -> tuple[int, int]:
        """What fits more words comes before what fits fewer, and what fits less into its fields
        before what fits anything.
        """
        return len(FIELD.sub("", self.text)), -sum(
            OPEN.get(field[2], 0) for field in FIELD.finditer(self.text)
        )

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        parts = FIELD.split(self.text)
        fields = (
            f"(?P<{name}>{KINDS[kind]})"
            for name, kind in zip(parts[1::4], parts[2::4], strict=True)
        )
        return re.compile("".join(re.escape(part) + next(fields, "") for part in parts[::4]))


def sentences(said: str) -> list[str]:
    """The sentences of a text; one where only a template that says several together reads it."""
    each = re.split(r"(?<=[.!?]) (?=\S)", said)
    return each if all(map(read, each)) or not read(said) else [said]


@lru_cache(maxsize=4096)
def read(said: str, deep: int = 0) -> Words | None:
    """The template that a text was made from, with its values; None where it fits none."""
    exact, templates = _templates()
    if said in exact:
        return Filled(said)
    if colour := _colour(said):
        return colour
    if _PLAIN.fullmatch(said):
        return Number(said) if re.search(r"\d\.\d", said) else said
    if deep > _DEEPEST:
        return None
    for template in templates:
        if (
            template.literal in said
            and (found := template.pattern.fullmatch(said))
            and (filled := _filled(template, found, deep + 1))
        ):
            return filled
    return _listed(said, deep + 1)


def _filled(template: Template, found: re.Match[str], deep: int) -> Filled | None:
    values = []
    for name, text in found.groupdict().items():
        value = _value(name.rstrip("0123456789"), text, deep)
        if value is None:
            return None
        values.append((name, value))
    return Filled(template.text, tuple(values))


def _value(kind: str, text: str, deep: int) -> Words | None:
    match kind:
        case "player" | "colour" | "size" | "way" | "pose" | "corner":
            return Word(text.lower())
        case "touch":
            return Word(text, "touch")
        case "piece":
            return Listed(
                (Word(text.rstrip("0123456789")), text.lstrip("abcdefghijklmnopqrstuvwxyz")), (" ",)
            )
        case "players" | "pieces" | "sizes":
            return _each(text, lambda one: _value(kind.removesuffix("s"), one, deep))
        case "cells":
            return _each(text, lambda one: one)
        case "lines":
            return _each(text, lambda one: read(one, deep))
        case "layout":
            return _each(text, lambda one: _colour(one) or one, re.compile("( )"))
        case "clauses":
            return _each(
                text,
                lambda one: (read(one, deep) if one.startswith("ruling") else None) or one,
                _WIDE,
            )
        case "mm" | "share":
            return Number(text)
        case "text":
            return read(text, deep)
        case "who":
            return read(text, deep) or text
        case _:
            return text


def _listed(said: str, deep: int) -> Listed | None:
    """A list of things that can be read each; a semicolon parts what has commas."""
    joint = _WIDE if _WIDE.search(said) else _JOINT
    return _each(said, lambda one: read(one, deep), joint) if joint.search(said) else None


def _colour(text: str) -> Word | None:
    return Word(text.lower()) if re.fullmatch(KINDS["player"], text) else None


def _each(
    text: str, reading: Callable[[str], Words | None], joint: re.Pattern[str] = _JOINT
) -> Listed | None:
    parts = joint.split(text)
    things = [reading(part) for part in parts[::2]]
    return (
        Listed(tuple(thing for thing in things if thing is not None), tuple(parts[1::2]))
        if None not in things
        else None
    )


def write(words: Words, say: Say, form: str = "") -> str:
    """What was said, in another language."""
    match words:
        case str():
            return words
        case Number(text):
            return say(text, NUMBER)
        case Word(english, own):
            return say(english, form or own)
        case Listed(things, joints):
            between = [re.sub(r"\w+", lambda found: say(found[0], ""), joint) for joint in joints]
            return "".join(
                f"{write(thing, say, form)}{joint}"
                for thing, joint in zip(things, [*between, ""], strict=True)
            )
        case Filled(template, values):
            parts = dict(values)
            return FIELD.sub(
                lambda field: write(parts[field[1]], say, field[3] or ""), say(template, "")
            )


def listed_templates() -> Iterator[str]:
    """Every line of the list but comments."""
    for line in TEMPLATES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line


@cache
def _templates() -> tuple[frozenset[str], tuple[Template, ...]]:
    """Texts without fields, and templates, the most telling first."""
    texts = [line for line in listed_templates() if " @" not in line]
    with_fields = [Template(text) for text in texts if FIELD.search(text)]
    return frozenset(texts), tuple(
        sorted(with_fields, key=lambda template: template.weight, reverse=True)
    )
