"""IceFloe's votes on the panel: a button each, and in no answer before all have voted."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

import engines
from engines.icefloe.state import State
from referee.events import SessionStarted
from referee.log import Log
from referee.session import Session
from referee.story import Stories
from webui import create_app

VOTING = (
    "players red blue yellow; round 2; phase vote; mover -; scores 3 0 7; coins a2 2 -; muted -; value -; votes - - -; laid 0 0 0; done -; "
    "tile -; sunk -; winners -; board a2=A2+AA+FA a3=Mn+ES b2=A3 c2=Ma+EC c4=Aa+DA d1=C4+BC e3=An+AS e4=M5; "
    "rulings done=stands stay=may corners=may muted_coins=may."
)
PATHS = (
    "/",
    "/?view=near",
    "/?view=photo",
    "/api/v1/state",
    "/api/v1/records",
    "/sessions",
    "/sessions/1",
    "/sessions/1?at=2",
    "/sessions/1/session.zip",
)
OWN = {"Sec-Fetch-Site": "same-origin"}


class Begun:
    """IceFloe, from the votes of a round on."""

    set_up = staticmethod(lambda *_: State.parse(VOTING))

    def __getattr__(self, name):
        return getattr(engines.GAMES["icefloe"], name)


@pytest.fixture
def begin(tmp_path, live):
    """begin("a"): a session in its votes, on a log of its own, with its page."""
    opened = []

    def make(name):
        log = Log(tmp_path / f"{name}.log")
        started = SessionStarted(game="icefloe", players=("red", "blue", "yellow"), camera="folder frames")
        games = {"icefloe": Begun()}
        session = Session.begin(log, started, games=games)
        opened.extend((session, log))
        return SimpleNamespace(session=session, client=create_app(session, live, stories=Stories(log.path, games)).test_client())

    yield make
    for one in opened:
        one.close()


def sayings(client):
    """What the buttons of the page say, by their labels."""
    buttons = re.findall(r'name="said" value="([^"]+)">([^<]+)<', client.get("/").text)
    return {label: json.loads(value.replace("&#34;", '"')) for value, label in buttons}


def say(client, label):
    return client.post("/command", data={"command": "hear", "said": json.dumps(sayings(client)[label])}, headers=OWN)


def answers(client, *extra):
    """Everything that the panel answers now, without what is another one for each panel."""
    shown = [client.get(path).text for path in PATHS]
    with client.get("/api/v1/stream") as stream:
        lines = stream.iter_encoded()
        last = client.get("/api/v1/state").get_json()["seq"]
        while f"id: {last}\n" not in (line := next(lines).decode()):
            shown.append(line)
        shown.append(line)
    plain = "\n".join([*shown, *extra])
    return re.sub(r'data-instance="\w+"|"instance":"\w+"|name="token" value="[^"]+"', "", plain)


def test_everybody_has_buttons_of_their_own(begin):
    page = begin("a").client.get("/").text
    assert re.findall(r'<details id="say-(\w+)">', page) == ["red", "blue", "yellow"]
    assert "All vote" in page
    assert set(sayings(begin("b").client)) >= {"red: 3", "red: null", "blue: ace", "yellow: 5"}


def test_a_vote_is_in_no_answer_before_all_have_voted(begin):
    """Two panels on which other votes were cast answer alike, to the letter."""
    one, other = begin("a"), begin("b")
    told = [[say(panel.client, label).text for label in votes] for panel, votes in ((one, ("red: 3", "blue: ace")), (other, ("red: 5", "blue: 4")))]
    assert one.session.ledger.state.votes != other.session.ledger.state.votes
    assert told[0] == told[1]
    assert answers(one.client) == answers(other.client)
    assert "Blue has voted." in one.client.get("/").text
    assert not [label for label in sayings(one.client) if label.startswith(("red: ", "blue: "))]

    for panel in (one, other):
        say(panel.client, "yellow: 3")
    assert answers(one.client) != answers(other.client)
    assert "red for 3" in one.client.get("/").text
    assert "red for 5" in other.client.get("/").text


def test_an_undone_vote_leaves_no_trace_either(begin):
    one, other = begin("a"), begin("b")
    for panel, label in ((one, "red: 3"), (other, "red: 5")):
        say(panel.client, label)
        assert panel.client.post("/command", data={"command": "undo"}, headers=OWN).status_code == 303
    assert answers(one.client) == answers(other.client)
    assert "red: 2" in sayings(one.client)


def test_coins_are_buttons_once_votes_are_shown(begin):
    panel = begin("a")
    for label in ("red: 3", "blue: 3", "yellow: 4"):
        say(panel.client, label)
    coins = [label for label in sayings(panel.client) if "adds" in label]
    assert coins
    assert say(panel.client, coins[0]).status_code == 303
