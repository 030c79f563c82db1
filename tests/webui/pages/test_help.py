"""The guide at /help: every page is there, links lead somewhere, nothing comes from elsewhere."""

from __future__ import annotations

import re

import pytest

from tests.support.home_standins import StandInHome
from webui.pages.help import GUIDE, PAGES
from webui.pages.home import create_home_app
from webui.security.codes import Codes
from webui.security.permissions import Access


@pytest.fixture
def browser():
    return create_home_app(StandInHome(), Access(Codes())).test_client()


def test_every_page_of_the_guide_is_listed_and_none_that_is_not_there():
    assert sorted(PAGES) == sorted(path.stem for path in GUIDE.glob("*.md"))


@pytest.mark.parametrize("name", PAGES)
def test_links_and_drawings_of_a_page_are_there(browser, name):
    answer = browser.get(f"/help/{name}")
    assert answer.status_code == 200
    text = answer.text.partition("<main")[2]
    assert "<h2>" in text
    assert "](" not in text
    for link in re.findall(r'(?:href|src)="([^"]+)"', text):
        if link.startswith("http://localhost:8000"):
            continue
        assert link.startswith("/"), f"{link} leads out of Rinkside"
        assert browser.get(link.partition("#")[0]).status_code == 200, link


def test_help_begins_with_the_first_game_and_home_leads_there(browser):
    assert browser.get("/help").text == browser.get("/help/first-game").text
    assert 'href="/help"' in browser.get("/").text


def test_nothing_outside_the_guide_is_served(browser):
    for path in ("/help/%2e%2e/app", "/help/nothing", "/help/..%2fapp.py"):
        assert browser.get(path).status_code in (302, 303, 404), path
    assert browser.get("/help/mark.svg").status_code in (303, 404)
