"""Languages for people: gettext catalogues, and the formatting of numbers.

Texts are English, also in the log. A `Message` is translated from its template and values; other
texts are looked up as a whole.
"""

from __future__ import annotations

import gettext
import re
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar, get_args

from table.game_words import MESSAGE, GameWords
from table.messages import NUMBER, PLAIN, SENTENCES, Listing, Message, Plain, written

Language = Literal["en", "de", "es"]
"""Language codes; the first is that of the source texts."""
CODES: tuple[Language, ...] = get_args(Language)
TRANSLATIONS = Path(__file__).parents[1] / "webui" / "translations"
"""Folder of the catalogues, for pages and sentences."""
Text = TypeVar("Text", bound=str)


@cache
def catalogue(code: str) -> gettext.NullTranslations:
    """Return a language's catalogue, with those of the games as fallback."""
    if code == "en":
        return gettext.NullTranslations()
    own = gettext.translation("rinkside", TRANSLATIONS, [code])
    own.add_fallback(GameWords(code))
    return own


def translated(text: str, code: str, context: str = MESSAGE) -> str | None:
    """Translate sentences or a word; None if a part has no translation."""
    if code == "en" or not text:
        return text
    words = catalogue(code)

    def say(english: str, form: str) -> str:
        if form == PLAIN:
            return translation(english, code)
        return (
            decimals(english, code) if form == NUMBER else words.pgettext(form or MESSAGE, english)
        )

    if isinstance(text, Message) and not isinstance(text.content, Plain):
        if isinstance(text.content, Listing) and text.content.joint == SENTENCES:
            each = [translated(Message(one), code) or "" for one in text.content.items]
            return " ".join(each)
        whole = written(text.content, say)
        return capital(whole) if text[0].isupper() else whole
    if (whole := words.pgettext(context, text)) != text or context != MESSAGE:
        return whole
    if not re.search("[A-Za-z]{2}", text):
        return text
    parts = split_sentences(text)
    found = [words.pgettext(MESSAGE, part) for part in parts]
    missing = any(part == there for part, there in zip(parts, found, strict=True))
    return None if missing else " ".join(found)


def translation(text: str, code: str, context: str = MESSAGE) -> str:
    """Translate sentences or a word; unchanged if a part has no translation."""
    return str(translated(text, code, context) or text)


def split_sentences(text: str) -> list[str]:
    """Split a text without a template into sentences: one of an old log, or a person's."""
    return re.split(r"(?<=[.!?]) (?=\S)", str(text))


def decimals(text: str, code: str) -> str:
    """Format a number in a text for a language; it may have a ± or a unit.

    `12.3 ± 0.2` is `12,3 ± 0,2` in German and Spanish.
    """
    return text if code == "en" else text.replace(".", ",")


def capital(text: Text) -> Text:
    """Capitalize the first letter; the rest stays."""
    return type(text)(
        re.sub(r"^((?:<[^>]*>)?)(\w)", lambda found: found[1] + found[2].upper(), str(text))
    )
