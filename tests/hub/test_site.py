"""A club or an event as plain pages: whole, in three languages, with nothing that leads outside."""

from __future__ import annotations

import html
import re
import resource
import signal
from html.parser import HTMLParser

import pytest

from hub.aliases import Aliases
from hub.app import create_hub_app
from hub.people import People
from hub.site_folder import MARK, write_folder
from referee.sessions.game_text import read_games
from table.errors import InputError
from tests.support.evenings import Evening
from webui.security.requests import Refusal

NOW_MS = 1_800_000_000_000


@pytest.fixture
def url(sqlite_url):
    return sqlite_url


@pytest.fixture
def evening(club, tmp_path):
    """Three rounds of four players: one match was played at a table, others were decided."""
    made = Evening(club, tmp_path, "swiss", ("Anna", "Ben", "Cleo <b>", "Dora/../x"), tables=2)
    made.pair()
    made.play(*made.players_of(1)[0], lost=made.players_of(1)[0][1])
    made.decide_all()
    return made


def site(evening, language="en", **more):
    app = create_hub_app(evening.club.store, (), evening.club.now_ms, evening.club.accounts)
    made = app.extensions["site"]
    return made.files(evening.actor.club_id, "Ice Club", language, NOW_MS, **more)


def text(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page.decode())))


class Leads(HTMLParser):
    """What a page leads to, and the elements that it has."""

    def __init__(self, page):
        super().__init__()
        self.addresses, self.elements, self.handlers = [], set(), []
        self.feed(page.decode())

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.addresses += [value for name, value in attrs if name in ("href", "src", "action")]
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]


def test_every_link_leads_to_a_file_of_the_folder_and_no_page_needs_a_script(evening):
    files = site(evening)
    pages = {name: Leads(data) for name, data in files.items() if name.endswith(".html")}
    assert len(pages) == 9  # the club, a game, an event, its 2 matches, 4 players
    for name, page in pages.items():
        assert set(page.addresses) <= set(files), name
        assert not page.elements & {"script", "form", "iframe", "object", "base"}, name
        assert page.handlers == [], name
    reached, new = set(), {"index.html"}
    while new:
        reached |= new
        new = {to for one in new if one in pages for to in pages[one].addresses} - reached
    assert reached == set(files)
    for style in ("panel.css", "hub.css"):
        assert not re.search(rb"url\(|@import", files[style])
    assert all(re.fullmatch(r"[a-z0-9.-]+", name.replace("_", "")) for name in files)


def test_pages_say_what_the_hub_says(evening):
    files = site(evening)
    (first, second), *_ = evening.players_of(1)
    event = text(files[f"event-{evening.id}.html"])
    assert "Direct encounter Buchholz Sonneborn-Berger" in event
    assert "Ties are broken by the columns" in event
    assert "Cross-table" in event
    assert f"{first} – {second}" in event
    match = text(files[f"event-{evening.id}-match-1.html"])
    assert "Blue resigns." in match
    assert "as the table says" in match
    assert "Cleo <b>" in text(files["player-cleo-b.html"])
    assert "1 1 0 0" in text(files["player-anna.html"])
    games = read_games(files["games.txt"].decode(), "games.txt")
    assert [(one.event, one.site) for one in games] == [("Cup", "Table 1")]
    assert games == read_games(files[f"event-{evening.id}.txt"].decode(), "event.txt")
    assert b"Cleo <b>" in files["players.csv"]
    assert "Games won" not in event
    assert text(files["standings-icebreaker.html"]).count("1662") == 1


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Standings"), ("de", "Veranstaltungen"), ("es", "Clasificación")]
)
def test_pages_are_in_the_language_that_was_asked_for(evening, language, said):
    page = site(evening, language)["index.html"]
    assert f'<html lang="{language}">'.encode() in page
    assert said in text(page)


def test_no_code_of_a_player_and_no_erased_name_is_in_any_file(evening):
    codes = [evening.player(name).code for name in ("Anna", "Ben")]
    people = People(
        evening.club.store, evening.club.now_ms, evening.results.forget, evening.events.keep_results
    )
    people.erase(evening.actor, "Anna")
    whole = b"\n".join(site(evening).values()).decode()
    assert "Anna" not in whole
    assert "somebody" in whole
    assert not any(code in whole or code[:4] in whole for code in codes)
    assert not [name for name in site(evening) if "anna" in name or "somebody" in name]


def test_a_player_of_two_names_has_one_page(evening):
    Aliases(evening.club.store, evening.club.now_ms).merge(evening.actor, "Ben", "Benjamin")
    files = site(evening)
    assert "player-benjamin.html" in files
    assert "player-ben.html" not in files


def test_a_site_of_one_event_has_nothing_of_others(evening):
    other = evening.events.make(evening.actor, "Secret cup", "icebreaker", "free")
    evening.events.add_players(evening.actor, other, ["Zoe", "Yan"])
    files = site(evening, event_id=evening.id)
    assert "Cup" in text(files["index.html"])
    assert not [name for name in files if name.startswith(("standings", "player-z"))]
    assert b"Zoe" not in b"".join(files.values())
    with pytest.raises(Refusal, match="no such event"):
        site(evening, event_id=99)


def test_players_whose_names_look_alike_have_a_file_each(club, tmp_path):
    made = Evening(club, tmp_path, "free", ("Ana B", "Ána-B", "王", "李", "x" * 40))
    files = site(made)
    assert {name for name in files if name.startswith("player-")} == {
        "player-ana-b.html",
        "player-ana-b-2.html",
        "player-player.html",
        "player-player-2.html",
        f"player-{'x' * 40}.html",
    }


def test_a_folder_is_made_and_replaced(tmp_path):
    folder = tmp_path / "a" / "site"
    write_folder(folder, {"index.html": b"old", "gone.html": b"old"})
    write_folder(folder, {"index.html": b"new"})
    assert {one.name for one in folder.iterdir()} == {"index.html", MARK}
    assert (folder / "index.html").read_bytes() == b"new"
    assert [one.name for one in folder.parent.iterdir()] == ["site"]


def test_an_empty_folder_is_used(tmp_path):
    write_folder(tmp_path, {"index.html": b"new"})
    assert (tmp_path / "index.html").read_bytes() == b"new"


def test_a_folder_of_others_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="but other files are in it"):
        write_folder(tmp_path, {"index.html": b""})
    (link := tmp_path / "link").symlink_to(tmp_path)
    for wrong in (tmp_path / "thesis.txt", link):
        with pytest.raises(InputError, match="expected a new folder"):
            write_folder(wrong, {"index.html": b""})
    assert {one.name for one in tmp_path.iterdir()} == {"thesis.txt", "link"}


def test_a_full_disk_leaves_the_folder_as_it_was(tmp_path):
    folder = tmp_path / "site"
    write_folder(folder, {"index.html": b"old"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(InputError, match="could not be written"):
            write_folder(folder, {"index.html": b"new", "large.html": b"x" * 10_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert (folder / "index.html").read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["site"]
