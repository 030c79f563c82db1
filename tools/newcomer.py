"""Take screenshots of a first use: home page, first set-up, first ruling, on a simulated table.

`make pictures` puts the pictures into docs/pictures/pages.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.support.home_process import WAIT_S, HomeProcess
from tools.chromium import chromium
from tools.pages import PICTURES, PICTURES_LOADED, SIZES, save_screenshot

CAMERA = "simulated:mat:2"
STEPS = (
    ("home", "Set up the table", "Which camera shows the table?"),
    ("camera", "Use this camera", "What will you play?"),
    ("game", "Ice Boule", "Print the board for Ice Boule"),
    ("print", "It is printed", "Put the board under the camera"),
    ("lay", "Measure the table", "Does the orange line lie on the edge of the board?"),
    ("check", "Yes: save and play", "Set up a game"),
    ("begin", "Begin", "Ice Boule"),
)
"""Name of a screenshot, the button to tap next, and the heading that follows."""
SEEN = {
    "camera": "img.thumbnail.is-live",
    "game": "#seen.is-live",
    "print": "#seen.is-live",
    "lay": "button#measure:not([disabled])",
}
"""Selector to wait for before a screenshot."""


def walk(page: Page, home: HomeProcess) -> Iterator[str]:
    """Tap through the steps; yields the name of each before leaving it."""
    page.set_default_timeout(1000 * WAIT_S)
    page.goto(home.link)
    page.wait_for_url(lambda url: "join" not in url)
    for name, button, heading in STEPS:
        if name in SEEN:
            page.locator(SEEN[name]).first.wait_for()
        yield name
        page.get_by_role("button", name=button).first.click()
        page.get_by_role("heading", name=heading).first.wait_for()
    page.get_by_text("target is upright").first.wait_for()
    yield "ruling"


def photograph(browser: Browser, width: int) -> None:
    """Take a screenshot of every step at one width."""
    with (
        tempfile.TemporaryDirectory() as folder,
        HomeProcess(Path(folder), "--camera", CAMERA) as home,
    ):
        context = browser.new_context(
            viewport={"width": width, "height": SIZES[width]}, locale="en-GB"
        )
        page = context.new_page()
        for number, name in enumerate(walk(page, home), 1):
            page.evaluate(PICTURES_LOADED)
            save_screenshot(page, PICTURES / f"newcomer-{number}-{name}-{width}.webp")
        context.close()


def photograph_all() -> None:
    """Take the screenshots at every width."""
    with chromium() as browser:
        for width in SIZES:
            photograph(browser, width)


if __name__ == "__main__":
    photograph_all()
