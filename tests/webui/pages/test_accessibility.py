"""Every page by axe-core, in both themes, narrow and wide: nothing that is hard to use without
eyes, mouse or young eyes.
"""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

import webui
from calibration.first_setup import STEPS, BoardChoice
from calibration.progress import CornersGuide, LensGuide
from cli.photo import sample_photo
from cli.photo_page import photo_reader
from referee.live.game_setup import SettingUp
from referee.live.live_measurement import RulerNow
from referee.statistics.history import HistoryCache
from tests.support.home_standins import StandInHome, StandInSetUp
from tests.support.virtual_tables import laid_out
from webui.api.openapi import BASE
from webui.interfaces import HomeNow, TableInUse
from webui.security.codes import Codes
from webui.security.login import COOKIE
from webui.security.permissions import Access
from webui.server import listen, serving

CARDS = [
    [[x, y], [x + 40, y], [x + 40, y + 40], [x, y + 40]]
    for x, y in ((20, 20), (580, 20), (580, 420), (20, 420))
]
LOOKS = (
    (390, 844, "light", {"resultTypes": ["violations"]}),
    (1024, 768, "light", {"resultTypes": ["violations"]}),
    (1024, 768, "dark", {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}),
)
"""Width and height, theme, and what axe-core is asked: colours are all that another theme changes,
and what passes need not be described.
"""

# of each application: every page, and the moments of it that are looked at, as address and who
# looks
PAGES = {
    "create_app": {
        "/": ("/ nobody", "/?view=near nobody", "/?view=photo host", "/ host", "/ asked", "/ lost"),
        "/play": ("/play nobody", "/play table", "/play seat"),
        "/join": ("/join nobody",),
        "/host": ("/host host",),
        "/host/fix": ("/host/fix host",),
        "/ruling/<seq:seq>": ("/ruling/16 nobody", "/ruling/16 seat", "/ruling/16 host"),
        "/sessions": ("/sessions host", "/nowhere nobody"),
        "/sessions/<seq:session>": ("/sessions/1 host",),
        "/sessions/<seq:session>/statistics": ("/sessions/1/statistics host",),
        "/statistics": ("/statistics?simulated=1 host",),
        "/help": ("/help nobody",),
        "/help/<name>": ("/help/buy nobody",),
    },
    "create_history_app": {
        "/": ("/ nobody",),
        "/join": (),
        "/sessions": ("/sessions host",),
        "/sessions/<seq:session>": ("/sessions/1 nobody",),
        "/sessions/<seq:session>/statistics": ("/sessions/4/statistics nobody",),
        "/statistics": ("/statistics nobody",),
    },
    "create_set_up_app": {
        "/": ("/ nobody", "/ host"),
        "/play": ("/play table",),
        "/join": (),
        "/lens": (),
    },
    "create_lens_app": {"/": ("/ nobody", "/ host"), "/join": ()},
    "create_corners_app": {"/": ("/ host",), "/join": ()},
    "create_ruler_app": {"/": ("/ nobody",), "/ruler": ()},
    "create_photo_app": {"/": ("/ nobody",), "/measure": ()},
    "create_home_app": {
        "/": ("/ nobody", "/ host", "/ table-less", "/ starting"),
        "/devices": ("/devices host",),
        "/join": (),
        "/help": (),
        "/help/<name>": ("/help/build host",),
    },
    "create_first_set_up_app": {
        "/": ("/ nobody", "/ host", "/ game", "/ print", "/ lay", "/ check"),
        "/join": (),
    },
}
MOMENTS = [
    (app, *moment.split())
    for app, pages in PAGES.items()
    for moments in pages.values()
    for moment in moments
]


class Measured:
    """A ruler that has measured."""

    def __init__(self, live):
        self.setup, self.jpeg = live.setup, live.jpeg
        gaps = [
            {
                "colour": "blue",
                "size": "large",
                "gap_mm": 12.05,
                "sigma_mm": 0.14,
                "on_target": False,
                "touching": False,
                "base_mm": [331.8, 183.7],
            }
        ]
        self.latest = RulerNow(
            "measured",
            "Blue leads.",
            88,
            22_000,
            live.latest.observation,
            {"gaps": gaps, "call": None},
        )


@pytest.fixture
def home():
    """A home page with a table."""
    home = StandInHome()
    table = TableInUse("ice_boule", (440.0, 360.0), "v4l2:0", rough=True)
    home.now = HomeNow(table=table, notice="It stopped unexpectedly: no camera")
    return home


@pytest.fixture
def first():
    """A table that is set up from nothing."""
    return StandInSetUp()


@pytest.fixture
def apps(session, live, log, table, home, first):
    """Makers of all applications, by name."""
    session.served = True
    guide = CornersGuide(np.full((480, 640, 3), 120, np.uint8), np.array(CARDS, float))
    stories = HistoryCache(log[0].path)
    return {
        "create_app": lambda: webui.create_app(
            session, live, histories=stories, devices=lambda: {"lamps": "", "dice": "no answer"}
        ),
        "create_history_app": lambda: webui.create_history_app(stories),
        "create_set_up_app": lambda: webui.create_set_up_app(
            SettingUp(lambda _choice: None), table, Access(Codes())
        ),
        "create_lens_app": lambda: webui.create_lens_app(LensGuide()),
        "create_corners_app": lambda: webui.create_corners_app(guide),
        "create_ruler_app": lambda: webui.create_ruler_app(Measured(live)),
        "create_photo_app": lambda: webui.create_photo_app(photo_reader(), sample_photo),
        "create_home_app": lambda: webui.create_home_app(home, Access(Codes())),
        "create_first_set_up_app": lambda: webui.create_first_set_up_app(
            first, bool, print, Access(Codes())
        ),
    }


def test_every_page_of_every_application_is_looked_at(apps):
    assert set(PAGES) == set(apps) == set(webui.__all__)
    for name, pages in PAGES.items():
        rules = {
            rule.rule
            for rule in apps[name]().url_map.iter_rules()
            if "GET" in rule.methods and "." not in rule.rule
        }
        for_programs = (BASE, "/static", "/healthz", "/metrics")
        assert {rule for rule in rules if not rule.startswith(for_programs)} == set(pages), name


def violations(page, url):
    """What axe-core finds, each as its rule and the elements."""
    page.goto(url)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    found = set()
    for width, height, theme, asked in LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme)
        for rule in Axe().run(page, options=asked).response["violations"]:
            found |= {
                f"{rule['id']} at {width} px in {theme}: {node['html'][:160]}"
                f" ({node['failureSummary'][:240]})"
                for node in rule["nodes"]
            }
    return sorted(found)


@pytest.fixture
def page(chromium):
    context = chromium.new_context(extra_http_headers={"Accept": "text/html"})
    yield context.new_page()
    context.close()


@pytest.fixture
def served():
    """served(app): its address."""
    with ExitStack() as stack:

        def serve(app):
            listening = stack.enter_context(listen(port=0))
            stack.enter_context(serving(app, listening))
            return f"http://127.0.0.1:{listening.getsockname()[1]}"

        yield serve


@pytest.mark.parametrize(("name", "path", "who"), MOMENTS)
def test_no_page_has_violations(
    page, served, apps, session, live, home, first, question, name, path, who
):
    if who == "table-less":
        home.now = HomeNow(trouble="table.json: expected text, got 3")
    if who == "starting":
        home.now = HomeNow(starting="demo")
    if who in STEPS:
        first.become(
            step=who,
            board=BoardChoice("mat", 100.0, ("red", "blue"), "green"),
            guidance="Not seen yet: the marker near right.",
            refusal="the picture is blurred",
            outcome=("You can calibrate it later.",),
        )
    if who == "asked":
        session.shown |= {"question": question, "phase": "asking", "next": None}
        live.point_at(question["seq"], question["choices"][1]["label"])
    if who == "lost":
        live.become(
            status="camera lost",
            message="Camera lost (no cable).",
            moved=("corner card 2 is 4.1 mm from where it was",),
            held=True,
        )
    app = apps[name]()
    url = served(app)
    if who != "nobody":
        access = app.extensions["access"]
        ticket = access.enter(
            access.codes.now.table if who in ("table", "seat") else access.codes.now.host, "here"
        )
        page.context.add_cookies([{"name": COOKIE, "value": ticket, "url": url}])
        if who == "seat":
            app.extensions["seats"].take(access.visitor(ticket), "blue")
    assert violations(page, url + path) == []


def test_the_virtual_table_has_no_violations(session, live, page, served):
    virtual, *_ = laid_out("icebreaker")
    app = webui.create_app(session, live, virtual=virtual)
    assert violations(page, served(app) + "/") == []
