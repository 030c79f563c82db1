"""A newcomer's way in a browser, from the home page to the first ruling, on a simulated table."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Browser, Page

from table.table_config import load_table
from tests.support.home_process import WAIT_S, HomeProcess

MOST_TAPS = 12
WHOLE = "(it) => it.naturalWidth > 0 || getComputedStyle(it).visibility === 'hidden'"
"""Whether a picture is there, or nothing is seen of it."""


class Taps:
    """A page, and how often it was tapped."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def tap(self, button: str, then: str) -> None:
        """Tap a button, and wait for a heading."""
        self.page.get_by_role("button", name=button).first.click()
        self.count += 1
        self.page.get_by_role("heading", name=then).first.wait_for(timeout=1000 * WAIT_S)


def test_from_nothing_to_the_first_ruling_in_a_few_taps(chromium: Browser, tmp_path: Path) -> None:
    with HomeProcess(tmp_path, "--camera", "simulated:mat:2") as home:
        context = chromium.new_context(viewport={"width": 390, "height": 844})
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(home.link)
        page.wait_for_url(lambda url: "join" not in url)
        way = Taps(page)
        way.tap("Set up the table", "Which camera shows the table?")
        way.tap("Use this camera", "What will you play?")
        assert page.locator("#seen").evaluate(WHOLE), "no broken picture"
        way.tap("Ice Boule", "Print the board for Ice Boule")
        assert page.locator("#seen").evaluate(WHOLE)
        way.tap("It is printed", "Put the board under the camera")
        page.get_by_text("4 of 4 markers").wait_for(timeout=1000 * WAIT_S)
        way.tap("Measure the table", "Does the orange line lie on the edge of the board?")
        way.tap("Yes: save and play", "Set up a game")
        way.tap("Begin", "Ice Boule")
        page.get_by_text("target is upright").first.wait_for(timeout=1000 * WAIT_S)
        context.close()
        assert way.count <= MOST_TAPS
        assert errors == []
        setup = load_table(tmp_path / "table.json")
        assert (setup.game.name, setup.camera.first_estimate) == ("ice_boule", True)
        kept = json.loads((tmp_path / "home.json").read_text())
        assert kept == {"format": "rinkside-home/1", "camera": "simulated:mat:2"}
        home.get("/end-game", {"then": "home"})
        assert "Your table: Ice Boule, 440 × 360 mm." in home.until("Choose game and players")
        assert "Ice Boule" in home.get("/sessions")
