"""Measure every page in Chromium (time to paint on a slow machine, bytes), and take screenshots.

The game is simulated and refereed as `rinkside demo` does, then stands still. Paint is timed with
the processor four times slower. `make pictures` takes the pictures only.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import cv2
import msgspec
import numpy as np
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from calibration.progress import CornersGuide, LensGuide
from calibration.wizard import TableWizard
from referee.live.game_setup import Choice, SettingUp
from referee.live.live_measurement import Ruler
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.statistics.history import HistoryCache
from simulation.players.ice_boule import simulated_table
from simulation.players.ice_boule_table import demo_setup
from table.errors import InputError
from table.messages import phrase
from table.table_file import TableFile
from tools.chromium import chromium
from vision.cameras.base import CameraPort, open_camera
from vision.cameras.frame import Frame
from vision.change_gate import Watch
from webui import (
    create_app,
    create_corners_app,
    create_lens_app,
    create_ruler_app,
    create_set_up_app,
)
from webui.api.openapi import BASE
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.security.seats import Seats
from webui.server import listen, serving

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures" / "pages"
SIZES = {390: 844, 1024: 768, 1920: 1080}
DARK_WIDTH = 1024
"""Width of screenshots in the dark theme; light ones are taken at all widths."""
WEBP_QUALITY = 50
SLOWER, LOADS = 4, 5
PICTURES_LOADED = (
    "Promise.all([...document.images].filter((image) => image.loading !== 'lazy')"
    ".map((image) => image.decode().catch(() => 0)))"
)
"""Waits for the pictures of a page, except lazy ones, which may never load."""
FOR_PROGRAMS = ("/healthz", "/metrics")
"""Paths for programs, which are not pages."""
RULINGS = 5
"""Number of rulings after which a game is frozen."""
RULING = 3
"""Record of the ruling whose page is opened."""


Theme = Literal["light", "dark"]


class Stopping:
    """A camera that blocks after enough rulings."""

    def __init__(self, camera: CameraPort, view: Callable[[], dict[str, object]]) -> None:
        self._camera, self._view = camera, view
        self.name, self.simulated, self.close = camera.name, camera.simulated, camera.close
        self.enough, self.over = threading.Event(), threading.Event()
        self.last: Frame | None = None

    def read(self) -> Frame | None:
        view = self._view()
        rulings = [verdict for verdict in view.verdicts if verdict.kind in ("ruled", "noted")]
        if len(rulings) >= RULINGS and view.phase == "playing":
            self.enough.set()
            self.over.wait()
            return None
        self.last = self._camera.read()
        return self.last


class Film:
    """A camera that plays back these pictures."""

    name, simulated = "film", True

    def __init__(self, *frames: Frame) -> None:
        self._frames = list(frames)

    def read(self) -> Frame | None:
        return self._frames.pop(0) if self._frames else None

    def close(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True)
class Place:
    """A page to open: its name, server and path, the code to log in with, and seats.

    The visitor takes the first of the seats.
    """

    name: str
    server: str
    path: str
    code: str
    seats: Seats | None = None


@contextmanager
def game(seed: int) -> Iterator[tuple[Flask, Frame]]:
    """The panel of a game of Ice Boule after several rulings, and its last picture."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        setup = demo_setup()
        log = stack.enter_context(Log(folder / "rinkside.log"))
        session = Session.begin(
            log,
            opening(
                "ice_boule",
                setup.game.colours,
                {},
                setup,
                phrase("simulated table {n}", n=seed),
                datetime.now(UTC),
                simulated=True,
            ),
        )
        stack.callback(session.close)
        camera = Stopping(simulated_table(session, seed), session.view)
        referee = Referee(camera, setup, Watch(), session)
        thread = threading.Thread(target=referee.run)
        thread.start()
        stack.callback(thread.join)
        stack.callback(camera.over.set)
        camera.enough.wait()
        assert camera.last is not None
        yield create_app(session, referee, histories=HistoryCache(log.path)), camera.last


def all_pages(app: Flask) -> list[str]:
    """Paths of all pages of an application.

    Pages of a session use the first session, pages of a ruling one of its rulings.
    """
    rules = [
        rule
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and rule.arguments <= {"session", "seq"}
    ]
    paths = {
        rule.rule.replace("<seq:session>", "1").replace("<seq:seq>", str(RULING))
        for rule in rules
        if not rule.rule.startswith((BASE, "/static", *FOR_PROGRAMS))
    }
    return sorted(path for path in paths if "." not in path)


def guides(frame: Frame, path: Path) -> tuple[dict[str, Flask], TableWizard]:
    """Applications with one page that guides through a task before play.

    Also the table that the set-up would write to `path`.
    """
    cards = np.array(
        [
            [[x, y], [x + 90, y], [x + 90, y + 90], [x, y + 90]]
            for x, y in ((60, 60), (1100, 60), (1100, 800), (60, 800))
        ],
        float,
    )
    ruler = Ruler(Film(frame, frame), demo_setup(), Watch())
    ruler.run()
    table = TableWizard(
        TableFile(path, demo_setup()), lambda setup: open_camera("simulated:3", setup)
    )
    apps = {
        "lens": create_lens_app(LensGuide()),
        "corners": create_corners_app(CornersGuide(frame.image, cards)),
        "ruler": create_ruler_app(ruler),
        "set-up": create_set_up_app(SettingUp(_never), table, Access(Codes())),
    }
    return apps, table


@contextmanager
def places() -> Iterator[list[Place]]:
    """All pages, served."""
    with ExitStack() as stack:
        found: list[Place] = []

        def add(app: Flask, name: str, *only: str) -> None:
            listening = stack.enter_context(listen(port=0))
            stack.enter_context(serving(app, listening))
            server = f"http://127.0.0.1:{listening.getsockname()[1]}"
            code = app.extensions["access"].codes.now.host if "access" in app.extensions else ""
            for path in only or all_pages(app):
                seats = app.extensions["seats"] if path == "/play" else None
                found.append(
                    Place(f"{name}{path.replace('/', '-')}".rstrip("-"), server, path, code, seats)
                )

        boule, frame = stack.enter_context(game(3))
        add(boule, "panel")
        apps, table = guides(frame, Path("table.json"))
        looking = threading.Thread(target=table.run)
        looking.start()
        stack.callback(looking.join)
        stack.callback(table.stop)
        for name, app in apps.items():
            add(app, name, "/")
        yield found


def _never(_choice: Choice) -> SessionStarted:
    raise InputError("nothing begins here")


@contextmanager
def visit(
    browser: Browser, place: Place, width: int = 1024, theme: Theme = "light"
) -> Iterator[Page]:
    """A fresh browser, logged in, before it opens the page."""
    viewport: ViewportSize = {"width": width, "height": SIZES[width]}
    context: BrowserContext = browser.new_context(
        viewport=viewport, color_scheme=theme, extra_http_headers={"Accept": "text/html"}
    )
    page = context.new_page()
    if place.code and place.path != "/join":
        page.goto(f"{place.server}/join#{place.code}")
        page.wait_for_url(lambda url: "join" not in url)
    if place.seats:
        place.seats.free(*place.seats.held())
        page.goto(place.server + place.path)
        page.locator("button[name=seat]").first.click()
        page.locator("#leaving").wait_for(state="attached")
    yield page
    context.close()


class PageLoad(msgspec.Struct, frozen=True):
    """Loading of a page: first contentful paint with a slowed processor, kB without pictures."""

    name: str
    paint_ms: float
    fetched_kb: float


def measure_loads(browser: Browser, place: Place) -> PageLoad:
    """The median of several loads with an empty cache."""
    paints, sizes = [], []
    for _ in range(LOADS):
        with visit(browser, place) as page:
            protocol = page.context.new_cdp_session(page)
            pictures: set[str] = set()
            fetched: list[float] = []
            protocol.send("Network.enable")
            protocol.send("Network.setCacheDisabled", {"cacheDisabled": True})
            protocol.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            protocol.on(
                "Network.requestWillBeSent",
                lambda event, pictures=pictures: (
                    pictures.add(event["requestId"]) if event["type"] == "Image" else None
                ),
            )
            protocol.on(
                "Network.loadingFinished",
                lambda event, pictures=pictures, fetched=fetched: fetched.append(
                    0 if event["requestId"] in pictures else event["encodedDataLength"]
                ),
            )
            page.goto(place.server + place.path, wait_until="load")
            paints.append(page.evaluate(FIRST_PAINT))
            sizes.append(sum(fetched) / 1000)
    return PageLoad(place.name, statistics.median(paints), statistics.median(sizes))


FIRST_PAINT = """() => new Promise((good) => {
  const look = () => {
    const [first] = performance.getEntriesByName("first-contentful-paint");
    first ? good(first.startTime) : setTimeout(look, 20);
  };
  look();
})"""


@contextmanager
def browser_and_places() -> Iterator[tuple[Browser, list[Place]]]:
    """The installed Chromium, and all pages to open in it."""
    with places() as all_places, chromium() as browser:
        yield browser, all_places


def open_all() -> tuple[PageLoad, ...]:
    """Load every page several times."""
    with browser_and_places() as (browser, all_places):
        return tuple(measure_loads(browser, place) for place in all_places)


def photograph_all() -> None:
    """Take the pictures of all pages."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with browser_and_places() as (browser, all_places):
        for place in all_places:
            for width in SIZES:
                photograph(browser, place, width)
            photograph(browser, place, DARK_WIDTH, "dark")


def photograph(browser: Browser, place: Place, width: int, theme: Theme = "light") -> None:
    """Take a full-page screenshot for docs/pictures/pages."""
    name = f"{place.name}-{width}{'-dark' if theme == 'dark' else ''}.webp"
    with visit(browser, place, width, theme) as page:
        page.goto(place.server + place.path, wait_until="load")
        page.evaluate(PICTURES_LOADED)
        save_screenshot(page, PICTURES / name)


def save_screenshot(page: Page, path: Path) -> None:
    """Write the whole page as a small picture."""
    image = cv2.imdecode(np.frombuffer(page.screenshot(full_page=True), np.uint8), cv2.IMREAD_COLOR)
    path.write_bytes(
        cv2.imencode(".webp", image, [cv2.IMWRITE_WEBP_QUALITY, WEBP_QUALITY])[1].tobytes()
    )


if __name__ == "__main__":
    photograph_all()
