"""Take screenshots of the interactive virtual table: every game's demo, a person in the first seat.

`make pictures` puts the pictures into docs/pictures/pages.
"""

from __future__ import annotations

from playwright.sync_api import Browser

from engines import GAMES
from tests.support.virtual_hand import virtual_hand
from tools.chromium import chromium
from tools.pages import PICTURES, PICTURES_LOADED, SIZES, save_screenshot

SEED, RULINGS = 5, 2
"""Seed of the game, and number of rulings before the screenshot."""


def photograph(browser: Browser, game: str) -> None:
    """Let the simulated players begin, take a seat, and take a screenshot at every width."""
    with virtual_hand(browser, game, SEED) as hand:
        hand.until(
            lambda view: sum(row["verdict"] == "accepted" for row in view["verdicts"]) >= RULINGS
        )
        hand.press(f'[data-sit="{hand.setup.game.colours[0]}"]')
        for width, height in SIZES.items():
            hand.page.set_viewport_size({"width": width, "height": height})
            hand.page.evaluate(PICTURES_LOADED)
            save_screenshot(hand.page, PICTURES / f"table-{game.replace('_', '-')}-{width}.webp")


def photograph_all() -> None:
    """Take the screenshots of every game."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for game in GAMES:
            photograph(browser, game)


if __name__ == "__main__":
    photograph_all()
