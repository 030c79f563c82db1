"""The languages that people are spoken to in: catalogues by gettext, numbers as they are written.

Everything is said in English, and kept so in the log; a `Message` is written in another language
from its template and values, other texts are looked up as they stand.
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
"""By their codes; the first is the one that everything is written in."""
CODES: tuple[Language, ...] = get_args(Language)
TRANSLATIONS = Path(__file__).parents[1] / "webui" / "translations"
"""The catalogues, which pages and sentences share."""
Text = TypeVar("Text", bound=str)


@cache
def catalogue(code: str) -> gettext.NullTranslations:
    """The catalogue of a language; what it does not have is looked up in those of the games."""
    if code == "en":
        return gettext.NullTranslations()
    own = gettext.translation("rinkside", TRANSLATIONS, [code])
    own.add_fallback(GameWords(code))
    return own


def translated(text: str, code: str, context: str = MESSAGE) -> str | None:
    """Sentences or a word in a language; None where nobody has translated all of it."""
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
    """Sentences or a word in a language; as they are where nobody has translated all of it."""
    return str(translated(text, code, context) or text)


def split_sentences(text: str) -> list[str]:
    """The sentences of a text that has no template: one of an old log, or a person's."""
    return re.split(r"(?<=[.!?]) (?=\S)", str(text))


def decimals(text: str, code: str) -> str:
    """A number as text as a language writes it, with a ± or a unit perhaps.

    `12.3 ± 0.2` is `12,3 ± 0,2` in German and Spanish.
    """
    return text if code == "en" else text.replace(".", ",")


def capital(text: Text) -> Text:
    """With a capital letter at its beginning; the rest stays."""
    return type(text)(
        re.sub(r"^((?:<[^>]*>)?)(\w)", lambda found: found[1] + found[2].upper(), str(text))
    )
