"""Every page by axe-core, in both themes, narrow and wide: nothing that is hard to use without eyes, mouse or young eyes."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe

from referee.guides import CornersGuide, LensGuide
from webui import create_app, create_corners_app, create_lens_app
from webui.serve import listen, serving

CARDS = [[[x, y], [x + 40, y], [x + 40, y + 40], [x, y + 40]] for x, y in ((20, 20), (580, 20), (580, 420), (20, 420))]
SIZES = ((390, 844), (1024, 768))
MOMENTS = {  # where it is, and who looks at it
    "table": ("", ""),
    "table close": ("?view=near", ""),
    "table of a host": ("", "host"),
    "question to a host": ("", "host"),
    "camera lost": ("", ""),
    "phone of nobody": ("play", ""),
    "phone without a seat": ("play", "table"),
    "phone": ("play", "seat"),
    "host": ("host", "host"),
    "door": ("join", ""),
    "nothing there": ("nowhere", ""),
}


def violations(page, url):
    """What axe-core finds, each as its rule and the elements; in both themes and sizes."""
    page.goto(url)
    page.evaluate("for (const folded of document.querySelectorAll('details')) folded.open = true")
    found = set()
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            for rule in Axe().run(page).response["violations"]:
                found |= {f"{rule['id']} at {width} px in {theme}: {node['html'][:160]} ({node['failureSummary'][:240]})" for node in rule["nodes"]}
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
            return f"http://127.0.0.1:{listening.getsockname()[1]}/"

        yield serve


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_panel_has_no_violations(page, served, session, live, question, moment):
    path, who = MOMENTS[moment]
    if moment == "question to a host":
        session.shown |= {"question": question, "phase": "asking", "next": None}
        live.point_at(question["seq"], question["choices"][1]["label"])
    if moment == "camera lost":
        live.become(status="camera lost", said="The camera is lost (no cable).", moved=("card 2 lies 4.1 mm from where it was",))
    session.served = True
    app = create_app(session, live)
    url = served(app)
    codes = app.extensions["access"].codes.now
    if who:
        page.goto(f"{url}join#{codes.host if who == 'host' else codes.table}")
        page.wait_for_url(lambda now: "join" not in now)
    if who == "seat":
        page.locator("button[name=seat]").first.click()
        page.get_by_text("Give the seat back").wait_for(state="attached")
    assert violations(page, url + path) == []


def lens():
    return create_lens_app(LensGuide())


def corners():
    return create_corners_app(CornersGuide(np.full((480, 640, 3), 120, np.uint8), np.array(CARDS, float)))


@pytest.mark.parametrize("create", [lens, corners])
def test_the_pages_of_calibrations_have_no_violations(page, served, create):
    assert violations(page, served(create())) == []
