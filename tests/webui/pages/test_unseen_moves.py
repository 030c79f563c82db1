"""Moves that end where they began, and other things that no camera sees, through the panel and by
phone.
"""

from __future__ import annotations

import html
import json
import re

import pytest

import engines
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from webui import create_app

OWN = {"Sec-Fetch-Site": "same-origin"}
ICEFLOE = (
    "players red blue yellow; round 2; phase {}; mover {}; scores 3 0 7; coins a2 2 -; muted -;"
    " value -; votes - - -; laid 0 0 0; done -; tile {}; sunk -; winners -; board a2=A2+AA+FA"
    " a3=Mn+ES b2=A3 c2=Ma+EC c4=Aa+DA d1=C4+BC e3=An+AS e4=M5; rulings done=stands."
)
ZAMBONI = (
    "players yellow red blue; zambonis e5 E 3, e2 N 3, f1 W 3; to_move red; phase {}; dice -; "
    "board yellow=SE red=SW green=NE blue=NW; rulings warp=off."
)


@pytest.fixture
def table(tmp_path, live, as_host, as_player):
    """table(game, line): a session in this state, its host's browser, and a phone for every
    player.
    """
    opened = []

    def begin(game, line):
        class Begun:
            set_up = staticmethod(lambda *_: engines.GAMES[game].State.parse(line))

            def __getattr__(self, name):
                return getattr(engines.GAMES[game], name)

        log = Log(tmp_path / "log.sqlite")
        players = tuple(line.removeprefix("players ").partition(";")[0].split(" "))
        session = Session.begin(
            log,
            SessionStarted(game=game, players=players, camera="folder frames"),
            games={game: Begun()},
        )
        opened.extend((session, log))
        app = create_app(session, live)
        return session, as_host(app), {player: as_player(app, player) for player in players}

    yield begin
    for one in opened:
        one.close()


def buttons(browser, page):
    """What the buttons of a page say, by their labels."""
    found = re.findall(r'name="said" value="([^"]+)">([^<]+)<', browser.get(page).text)
    return {html.unescape(label): json.loads(html.unescape(value)) for value, label in found}


def press(browser, page, label):
    message = json.dumps(buttons(browser, page)[label])
    reply = browser.post(
        "/play" if page == "/play" else "/command",
        data={"command": "hear", "said": message},
        headers=OWN,
    )
    assert reply.status_code == 303


@pytest.mark.parametrize(
    ("game", "line", "player", "label", "moves"),
    [
        (
            "icefloe",
            ICEFLOE.format("move", "yellow", "-"),
            "yellow",
            "Pyramid E of crowns comes back to c2",
            ["EC:c2-c2"],
        ),
        (
            "icefloe",
            ICEFLOE.format("remove", "-", "A3"),
            "blue",
            "Blue has removed the 3 of arms",
            ["remove A3"],
        ),
        (
            "zamboni_wars",
            ZAMBONI.format("move 4"),
            "red",
            "Red ends the move where it began",
            ["e2 N"],
        ),
        ("zamboni_wars", ZAMBONI.format("move 4"), "red", "Die 5", ["early red 5"]),
        ("zamboni_wars", ZAMBONI.format("fire yellow"), "red", "Fire at yellow", ["fire yellow"]),
        ("zamboni_wars", ZAMBONI.format("fire yellow"), "red", "Do not fire", ["hold"]),
        ("zamboni_wars", ZAMBONI.format("hit yellow"), "blue", "Die 2", ["take yellow", "roll 2"]),
        ("zamboni_wars", ZAMBONI.format("roll"), "red", "Die 6", ["roll 6"]),
    ],
)
def test_a_phone_says_what_no_camera_sees(table, game, line, player, label, moves):
    session, host, phones = table(game, line)
    wanted = buttons(phones[player], "/play")[label]
    assert wanted in buttons(host, "/").values()
    for other in (one for one in phones if one != player):
        assert wanted not in buttons(phones[other], "/play").values()
        assert (
            phones[other]
            .post("/api/v1/command", json={"command": "hear", "said": wanted})
            .status_code
            == 403
        )
    press(phones[player], "/play", label)
    assert [move for entry in session.ledger.standing for move in entry.moves] == moves


def test_the_host_says_it_on_the_panel(table):
    session, host, _ = table("zamboni_wars", ZAMBONI.format("move 4"))
    press(host, "/", "Red ends the move where it began")
    assert (
        session.view().verdicts[0].message
        == "Red ends the move where it began. Red may fire at yellow, or not."
    )


def test_dice_that_nobody_waits_for_are_set_aside(table):
    """Nothing is rolled electronically before its time."""
    _, host, phones = table("zamboni_wars", ZAMBONI.format("move 4"))
    for browser, page in ((host, "/"), (phones["red"], "/play")):
        assert "electronic die" not in browser.get(page).text
        assert "Something else to say" in browser.get(page).text


def test_what_may_be_said_is_in_the_language_of_the_page(table):
    """On the host's page with the colour before it, on a player's own without."""
    _, host, phones = table("zamboni_wars", ZAMBONI.format("move 4"))
    german = {"Accept-Language": "de"}
    assert "Rot: Würfel 5</button>" in host.get("/", headers=german).text
    page = phones["red"].get("/play", headers=german).text
    assert "Rot: " not in page
    assert '">Würfel 5</button>' in page
    assert '<span lang="en">' not in page
