"""Plain words: what nobody says is said nowhere, sentences are short, and all of it is on one page.

The rules are in docs/STYLE.md, their data in docs/style.toml.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tools import readability
from tools.catalogues import LANGUAGES, Text, catalogue, texts
from tools.messages_page import PAGE, commands, page
from tools.readability import STYLE, prose, reading_ease, sentences, words, written_by_people

ROOT = Path(__file__).parents[1]
MOST_WORDS = 25
LEAST_EASE = 60.0
OLD = {
    "en": (
        "Whoever opens it watches.",
        "Look away",
        "It was something else",
        "Where tables differ",
        "since it was calibrated: nothing is known to have moved",
        "Taken as exact: the table does not tell its ±",
        "throws the target, of a colour that nobody plays",
        "four coasters, got a board of kind open",
        "Red holds fire.",
        "Red hits blue: 2 layers left.",
    ),
    "de": (
        "Plätze für Plättchen",
        "Scanne das mit einem Telefon",
        "Nur der Gastgeber entscheidet, wer spielt.",
        "und C5 sinkt (Auslegung icefloe.3)",
    ),
    "es": (
        "Rojo conduce a b3.",
        "Colores de tus piezas:",
        "Ningún Zamboni se mueve ahora.",
        "table: se esperaba una pirámide que esté ahí",
    ),
}
"""Sentences that Rinkside has said."""


@cache
def said() -> tuple[Text, ...]:
    return tuple(texts())


def never_said(text: str, language: str, *, guide: bool = False) -> list[str]:
    """The phrases in a text that nobody would say."""
    phrases = [*STYLE["never"][language], *({} if guide else STYLE["never_said"].get(language, {}))]
    spaced = " ".join(text.split())
    return [one for one in phrases if re.search(rf"(?<!\w){re.escape(one)}(?!\w)", spaced, re.I)]


@pytest.mark.parametrize(
    ("language", "text"), [(code, one) for code, each in OLD.items() for one in each]
)
def test_what_nobody_says_is_found(language, text):
    assert never_said(text, language)


def test_no_english_text_has_a_phrase_that_nobody_says():
    found = {
        (one.path, form): phrases
        for one in said()
        for form in one.forms
        if (phrases := never_said(form, "en"))
    }
    assert found == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translation_has_a_phrase_that_nobody_says(language):
    translations = catalogue(language)
    found = {
        form: phrases
        for one in said()
        for form in one.translations(translations)
        if (phrases := never_said(form, language))
    }
    assert found == {}


def test_no_command_has_a_phrase_that_nobody_says():
    found = {name: phrases for name, text in commands() if (phrases := never_said(text, "en"))}
    assert found == {}


@pytest.mark.parametrize("name", STYLE["guide"])
def test_no_page_of_the_guide_has_a_phrase_that_nobody_says(name):
    assert never_said((ROOT / name).read_text(encoding="utf-8"), "en", guide=True) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_translated_sentences_have_at_most_25_words(language):
    translations = catalogue(language)
    long = {
        sentence
        for one in said()
        for form in one.translations(translations)
        for sentence in sentences(form)
        if len(words(sentence)) > MOST_WORDS
    }
    assert long == set()


def test_sentences_have_at_most_25_words():
    long = {
        (one.path, sentence)
        for one in said()
        for form in one.forms
        for sentence in sentences(form)
        if len(words(sentence)) > MOST_WORDS
    }
    assert long == set()


@pytest.mark.parametrize("name", STYLE["guide"])
def test_the_guide_is_easy_to_read(name):
    text = written_by_people((ROOT / name).read_text(encoding="utf-8"))
    assert reading_ease(prose(text)) >= LEAST_EASE


@pytest.mark.parametrize("name", STYLE["guide"])
def test_sentences_of_the_guide_have_at_most_25_words(name):
    text = prose(written_by_people((ROOT / name).read_text(encoding="utf-8")))
    assert [one for one in sentences(text) if len(words(one)) > MOST_WORDS] == []


def test_the_page_says_how_easy_the_guide_is_to_read():
    style = readability.PAGE.read_text(encoding="utf-8")
    assert style == readability.page(style), "run: python -m tools.readability"


def test_reading_ease_is_flesch_s():
    """Two sentences, ten words, eleven syllables."""
    text = "The red ship takes the ice. Blue moves next today."
    assert reading_ease(text) == pytest.approx(206.835 - 1.015 * 5 - 84.6 * 11 / 10, abs=0.01)


def test_the_page_of_all_sentences_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: make messages"
