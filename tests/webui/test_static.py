"""What is sent to browsers: all of it ours, all of it here, and legible."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import webui
from table.pieces import COLOURS
from webui.svg.palette import LETTERS, letter

ROOM = Path(webui.__file__).parent
SENT = sorted(
    path for name in ("templates", "static") for path in (ROOM / name).rglob("*") if path.is_file()
)
NAMES_OF_LANGUAGES = {"http://www.w3.org/2000/svg"}
"""Addresses that name a language and are never fetched."""


def test_there_is_something_to_look_at():
    assert {path.suffix for path in SENT} == {".html", ".svg", ".css", ".js"}


@pytest.mark.parametrize("path", SENT, ids=lambda path: path.name)
def test_nothing_is_fetched_from_elsewhere(path):
    text = path.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:https?|wss?|ftp)://[^\s\"'<>)]*", text)) <= NAMES_OF_LANGUAGES
    assert not re.search(
        r"(?:src|href|action)\s*=\s*[\"']//|url\(\s*[\"']?//|@import|\bimport\b[^\"'\n]*[\"'][^./]",
        text,
    )


@pytest.mark.parametrize(
    "path", [path for path in SENT if path.suffix in (".html", ".svg")], ids=lambda path: path.name
)
def test_nothing_needs_a_looser_policy(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle\s*=|\son[a-z]+\s*=\s*[\"']|javascript:|\|\s*safe\b", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


def test_every_colour_has_a_letter_of_its_own():
    assert set(LETTERS) == set(COLOURS)
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert letter("mauve") == "M"


def luminance(colour: str) -> float:
    """Relative luminance of #rgb or #rrggbb (WCAG 2.2)."""
    digits = colour.lstrip("#")
    digits = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    bright, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


CSS = (ROOM / "static" / "panel.css").read_text(encoding="utf-8")
LIGHT, DARK = (
    dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6});", block))
    for block in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
)


@pytest.mark.parametrize("colour", COLOURS)
def test_letters_are_legible_on_their_colours(colour):
    fill, on = re.search(rf"\.c-{colour} {{ --fill: (#\w+); --on: (#\w+); }}", CSS).groups()
    assert contrast(fill, on) >= 4.0


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("ink", "paper"),
        ("ink", "card"),
        ("ink", "ask-ground"),
        ("ink", "ground"),
        ("quiet", "card"),
        ("quiet", "ask-ground"),
        ("accent", "card"),
        ("accent-ink", "accent"),
        ("warn", "warn-ground"),
    ],
)
def test_words_are_legible_in_both_themes(theme, ink, ground):
    assert contrast(theme[ink], theme[ground]) >= 4.5
