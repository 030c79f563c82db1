"""`make demo-hub` in Chromium: the wall shows events, who plays in them, and what comes next."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.support.mosquitto import free_port, until
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow
PLAYERS = {
    *("Ana", "Ben", "Cleo", "Dario", "Eva", "Finn"),
    *("Greta", "Hugo", "Iris", "Jan", "Kim", "Luis"),
}
BEGUN_MS = 180_000
"""Longest time until simulated tables have begun, on a machine that does other things too."""


@pytest.fixture
def wall(tmp_path):
    """The address of a wall whose tables play."""
    port, out = free_port(), tmp_path / "said.txt"
    with out.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "tools.demo_hub", "--port", str(port)],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: "The hub is on" in out.read_text(), out.read_text)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)


def test_tables_play_events_with_the_names_of_their_players(wall, chromium):
    page = chromium.new_page(viewport={"width": 1600, "height": 1200})
    page.goto(wall)
    events = page.locator("#events .card")
    expect(events.locator("h2")).to_have_text(["Icebreaker evening 1", "Ice Boule evening 1"])
    assert set(events.locator(".who").all_inner_texts()) == PLAYERS
    upcoming = page.locator("#wall [data-part=upcoming]")
    waiting = upcoming.filter(has_text="Icebreaker").first
    expect(waiting).to_have_text(re.compile(r"^\w+ – \w+, Icebreaker$"))
    playing = page.locator("#wall .card[data-phase=playing]")
    expect(playing.first).to_be_visible(timeout=BEGUN_MS)
    assert set(playing.first.locator(".who").all_inner_texts()) < PLAYERS
    expect(waiting).to_have_text(re.compile(" – "))
    expect(page.locator("#wall .board svg").first).to_be_visible(timeout=BEGUN_MS)
    events.locator("h2 a").first.click()
    expect(page.locator("h1")).to_contain_text("Icebreaker evening 1")
    page.close()
