"""Every translatable text by file, with its translations.

Texts are extracted as by `make words`, from the files in [tool.babel] of pyproject.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[1]
TRANSLATIONS = ROOT / "webui" / "translations"
LANGUAGES = ("de", "es")


class Text(msgspec.Struct, frozen=True):
    """A text to translate: first occurrence, context, and forms (singular and plural)."""

    path: str
    context: str | None
    forms: tuple[str, ...]

    def translations(self, catalogue: Catalog) -> tuple[str, ...]:
        """Translations of the forms in a catalogue; empty if it has none."""
        found = catalogue.get(self.forms[0], self.context)
        if found is None:
            return ()
        return (found.string,) if isinstance(found.string, str) else tuple(found.string)


def texts() -> Iterator[Text]:
    """Every text once, sorted by file and position."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]["mappings"]
    found: dict[tuple[str | None, tuple[str, ...]], Text] = {}
    methods = [(one["pattern"], one["method"]) for one in mappings]
    options = {
        one["pattern"]: {k: v for k, v in one.items() if k not in ("pattern", "method")}
        for one in mappings
    }
    extracted = extract_from_dir(str(ROOT), methods, options)
    for path, _, message, _, context in sorted(extracted, key=lambda one: (one[0], one[1])):
        forms = (message,) if isinstance(message, str) else tuple(message)
        found.setdefault((context, forms), Text(path, context, forms))
    yield from found.values()


def catalogue(language: str, domain: str = "rinkside") -> Catalog:
    """The catalogue of one language: of Rinkside's texts, or of `click`'s."""
    with (TRANSLATIONS / language / "LC_MESSAGES" / f"{domain}.po").open("rb") as file:
        return read_po(file, language)
