"""Names, letters and values of colours on the panel.

The RGB values are in static/panel.css, one class a colour.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

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
"""A letter for every colour that pyramids are sold in, so that nobody needs to tell colours apart
to read the panel.
"""


def letter(colour: str) -> str:
    """The colour's letter; the first letter of a colour nobody sells."""
    return LETTERS.get(colour, colour[:1].upper())


@cache
def paint(colour: str) -> tuple[str, str]:
    """The fill of a colour and what is legible on it, `#rrggbb` each, as static/panel.css has them.

    A grey for a colour nobody sells.
    """
    css = (resources.files("webui") / "static" / "panel.css").read_text(encoding="utf-8")
    found = re.search(rf"\.c-{re.escape(colour)} \{{ --fill: (#\w+); --on: (#\w+); \}}", css)
    fill, on = found.groups() if found else ("#d5dfe6", "#12202b")
    return fill, "#" + "".join(2 * digit for digit in on[1:]) if len(on) == 4 else on
