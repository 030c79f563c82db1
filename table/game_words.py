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
"""Context of everything that is not written on a page itself."""
Words = Mapping[tuple[str, str], str]
"""Texts of a language by their context and their English text."""


class GameWords(gettext.NullTranslations):
    """The texts of all installed games in a language."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code

    def pgettext(self, context: str, message: str) -> str:
        """As `gettext`; the English text where no game has it."""
        return game_words(self._code).get((context, message), message)


@cache
def game_words(code: str) -> Words:
    """What games say in a language; a file that cannot be used is logged and left out."""
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
    """The translations in a file, by context and English text, then by language.

    Raises ValueError where it is no TOML, or an entry has not the fields of its English text.
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
