"""How colours are named, lettered and written on the panel; the RGB values are in static/panel.css, one class a colour."""

from __future__ import annotations

LETTERS = {
    "red": "R",
    "yellow": "Y",
    "green": "G",
    "blue": "B",
    "black": "K",
    "purple": "P",
    "orange": "O",
    "cyan": "C",
    "white": "W",
    "clear": "Cl",
    "pink": "Pk",
    "grey": "Gy",
}
"""A letter for every colour that pyramids are sold in, so that nobody needs to tell colours apart to read the panel."""


def letter(colour: str) -> str:
    """The colour's letter; the first letter of a colour nobody sells."""
    return LETTERS.get(colour, colour[:1].upper())
