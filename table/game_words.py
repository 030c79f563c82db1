"""What games say in other languages, where their packages have `translations.toml`.

Each table is one English text, with its translations by language:

    ["{player} moves next."]
    de = "{player} ist am Zug."
    es = "Ahora mueve {player}."

After ` @` stands the context of a word, `["goal @ruling"]`. The project's catalogues come first.
"""

from __future__ import annotations

import gettext
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache

from table.games import found_games, package_of, package_text
from table.messages import FIELD
from table.plugins import log_broken

TRANSLATIONS = "translations.toml"
MESSAGE = "message"
"""Context of texts that are not written on a page itself."""
Words = Mapping[tuple[str, str], str]
"""Translations of a language by (context, English text)."""


class GameWords(gettext.NullTranslations):
    """Texts of all installed games in a language."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def pgettext(self, context: str, message: str) -> str:
        """As `gettext`; the English text if no game has a translation."""
        return game_words(self._code).get((context, message), message)


@cache
def game_words(code: str) -> Words:
    """Games' texts in a language; an unusable file is logged and left out."""
    found: dict[tuple[str, str], str] = {}
    for name, game in found_games().games.items():
        try:
            words = read_words(package_text(game, TRANSLATIONS))
        except ValueError as error:
            log_broken("the translations of", name, package_of(game), error)
            continue
        for key, texts in words.items():
            if code in texts:
                found.setdefault(key, texts[code])
    return found


def read_words(text: str) -> dict[tuple[str, str], dict[str, str]]:
    """Parse the translations in a file, by (context, English text), then by language.

    Raises ValueError if it is no TOML, or a translation has other fields than its English text.
    """
    return dict(_entries(tomllib.loads(text)))


def _entries(document: Mapping[str, object]) -> Iterator[tuple[tuple[str, str], dict[str, str]]]:
    for key, texts in document.items():
        english, _, context = key.partition(" @")
        if not isinstance(texts, dict):
            raise ValueError(f"{key!r}: expected translations by language, got {texts!r:.60}")
        for code, text in texts.items():
            if not isinstance(text, str) or _fields(text) != _fields(english):
                raise ValueError(
                    f"{key!r}: {code}: expected a text with the same fields, got {text!r:.60}"
                )
        yield (context or MESSAGE, english), texts


def _fields(text: str) -> set[str]:
    return {name for name, _, _ in FIELD.findall(text)}
