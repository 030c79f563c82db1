"""Chromium installed on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def path() -> str | None:
    """Path of the executable; None if it is not installed."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The headless browser.  Exits with a one-line message if it is not installed."""
    if (found := path()) is None:
        raise SystemExit(f"expected a browser, one of {', '.join(NAMES)}: install it")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()
