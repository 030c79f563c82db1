"""IceFloe's votes on the panel and on phones: a button each, and in no answer to anybody before all
have voted.
"""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace

import pytest

import engines
from engines.icefloe.state import State
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.statistics.history import HistoryCache
from webui import create_app
from webui.security.codes import Codes
from webui.security.permissions import Access

pytestmark = pytest.mark.slow

VOTING = (
    "players red blue yellow; round 2; phase vote; mover -; scores 3 0 7; coins a2 2 -; muted -;"
    " value -; votes - - -; laid 0 0 0; done -; tile -; sunk -; winners -; board a2=A2+AA+FA"
    " a3=Mn+ES b2=A3 c2=Ma+EC c4=Aa+DA d1=C4+BC e3=An+AS e4=M5; rulings done=stands stay=may"
    " corners=may muted_coins=may."
)
PATHS = (
    "/",
    "/?view=near",
    "/?view=photo",
    "/api/v1/state",
    "/api/v1/records",
    "/api/v1/me",
    "/api/v1/observation",
    "/play",
    "/host",
    "/ruling/2",
    "/api/v1/alternatives/2",
    "/sessions",
    "/sessions/1",
    "/sessions/1?at=2",
    "/sessions/1/statistics",
    "/statistics",
    "/sessions/1/session.zip",
)
OWN = {"Sec-Fetch-Site": "same-origin"}


class Begun:
    """IceFloe, from the votes of a round on."""

    set_up = staticmethod(lambda *_: State.parse(VOTING))

    def __getattr__(self, name):
        return getattr(engines.GAMES["icefloe"], name)


@pytest.fixture
def begin(tmp_path, live, as_host):
    """begin("a"): a session in its votes, on a log of its own, with its page; the codes are the
    same for all.
    """
    opened, codes = [], tmp_path / "access.json"

    def make(name):
        if not codes.exists():
            Codes(codes)
        own_codes = shutil.copy(codes, tmp_path / f"{name}.json")
        log = Log(tmp_path / f"{name}.log")
        started = SessionStarted(
            game="icefloe", players=("red", "blue", "yellow"), camera="folder frames"
        )
        games = {"icefloe": Begun()}
        session = Session.begin(log, started, games=games)
        opened.extend((session, log))
        app = create_app(
            session, live, access=Access(Codes(own_codes)), histories=HistoryCache(log.path, games)
        )
        return SimpleNamespace(session=session, app=app, client=as_host(app))

    yield make
    for one in opened:
        one.close()


def sayings(client):
    """What the buttons of the page say, by their labels."""
    buttons = re.findall(r'name="said" value="([^"]+)">([^<]+)<', client.get("/").text)
    return {label: json.loads(value.replace("&#34;", '"')) for value, label in buttons}


def say(client, label):
    return client.post(
        "/command",
        data={"command": "hear", "said": json.dumps(sayings(client)[label])},
        headers=OWN,
    )


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
    assert re.findall(r'<details id="say-(\w+)">', page) == ["red", "blue", "yellow", "aside"]
    assert "All vote" in page
    assert set(sayings(begin("b").client)) >= {"Red: 3", "Red: null", "Blue: ace", "Yellow: 5"}


def test_a_vote_is_in_no_answer_before_all_have_voted(begin):
    """Two panels on which other votes were cast answer alike, to the letter."""
    one, other = begin("a"), begin("b")
    replies = [
        [say(panel.client, label).text for label in votes]
        for panel, votes in ((one, ("Red: 3", "Blue: ace")), (other, ("Red: 5", "Blue: 4")))
    ]
    assert one.session.ledger.state.votes != other.session.ledger.state.votes
    assert replies[0] == replies[1]
    assert answers(one.client) == answers(other.client)
    assert "Blue has voted." in one.client.get("/").text
    assert not [label for label in sayings(one.client) if label.startswith(("Red: ", "Blue: "))]

    for panel in (one, other):
        say(panel.client, "Yellow: 3")
    assert answers(one.client) != answers(other.client)
    assert "red for 3" in one.client.get("/").text
    assert "red for 5" in other.client.get("/").text


def test_an_undone_vote_leaves_no_trace_either(begin):
    one, other = begin("a"), begin("b")
    for panel, label in ((one, "Red: 3"), (other, "Red: 5")):
        say(panel.client, label)
        assert (
            panel.client.post("/command", data={"command": "undo"}, headers=OWN).status_code == 303
        )
    assert answers(one.client) == answers(other.client)
    assert "Red: 2" in sayings(one.client)


def test_coins_are_buttons_once_votes_are_shown(begin):
    panel = begin("a")
    for label in ("Red: 3", "Blue: 3", "Yellow: 4"):
        say(panel.client, label)
    coins = [label for label in sayings(panel.client) if "adds" in label]
    assert coins
    assert say(panel.client, coins[0]).status_code == 303


PLAYERS = ("red", "blue", "yellow")


@pytest.fixture
def tables(begin, as_player):
    """Two tables at which everybody has a phone, and somebody watches: (session, browsers by who
    holds them).
    """
    made = []
    for name in ("a", "b"):
        panel = begin(name)
        phones = {seat: as_player(panel.app, seat) for seat in PLAYERS}
        made.append(
            (
                panel.session,
                phones
                | {
                    "host": panel.client,
                    "no seat": as_player(panel.app, ""),
                    "spectator": panel.app.test_client(),
                },
            )
        )
    return made


def vote(browser, player, value):
    return browser.post(
        "/play",
        data={"command": "hear", "said": json.dumps({"player": player, "vote_value": value})},
        headers=OWN,
    )


def all_answers(browsers):
    """What everybody at a table is answered."""
    return {who: answers(browser) for who, browser in browsers.items()}


def change(browser):
    [record] = re.findall(
        r'name="record" value="(\d+)"><div class="row"><button>Change', browser.get("/play").text
    )
    return browser.post("/play", data={"command": "undo", "record": record}, headers=OWN)


def test_phones_vote_differently_and_nobody_is_answered_differently(tables):
    """Votes, changed votes and a voter who sleeps: to the letter the same for voters, others, host
    and who watches.
    """
    (one, here), (other, there) = tables
    for votes in (("3", "5"), ("a", "2")):
        replies = [
            vote(browsers["red"], "red", value)
            for browsers, value in zip((here, there), votes, strict=True)
        ]
        assert [reply.status_code for reply in replies] == [303, 303]
        assert replies[0].text == replies[1].text
        assert all_answers(here) == all_answers(there)
        assert change(here["red"]).text == change(there["red"]).text
        assert all_answers(here) == all_answers(there)
    for browsers, red, blue in ((here, "4", "n"), (there, "n", "3")):
        vote(browsers["red"], "red", red)
        vote(browsers["blue"], "blue", blue)
    assert one.ledger.state.votes != other.ledger.state.votes
    assert all_answers(here) == all_answers(there)
    assert "Still to vote: yellow" in here["host"].get("/api/v1/state").text
    for browsers, value in ((here, "3"), (there, "3")):
        vote(browsers["yellow"], "yellow", value)
    assert "red for 4" in here["spectator"].get("/").text
    assert all_answers(here) != all_answers(there)


def test_what_a_host_tries_tells_nothing_of_a_vote(tables):
    """A host takes back, corrects and declares about hidden votes: refusals and what follows are
    the same whatever the votes were.
    """
    (session, here), (_, there) = tables
    red_voted = session.seq + 1
    tries = [
        {"command": "hear", "said": {"player": "red", "vote_value": "3"}},
        {"command": "hear", "said": {"player": "red", "vote_suit": "S"}},
        {"command": "declare", "moves": ["vote red 3"]},
        {"command": "declare", "moves": ["vote yellow x"]},
        {"command": "declare", "moves": ["done red"]},
        {"command": "correct", "record": red_voted, "moves": ["vote red 3", "vote red 5"]},
        {"command": "correct", "record": red_voted + 1, "moves": ["vote red 3"]},
        {"command": "undo", "record": 1},
        {"command": "appeal", "player": "yellow", "record": red_voted},
        {"command": "undo", "record": red_voted},
    ]
    message = []
    for browsers, red, blue in ((here, "3", "4"), (there, "5", "a")):
        vote(browsers["red"], "red", red)
        vote(browsers["blue"], "blue", blue)
        replies = [browsers["host"].post("/api/v1/command", json=document) for document in tries]
        message.append([reply.text for reply in replies])
        assert [reply.status_code for reply in replies] == [
            403,
            403,
            403,
            409,
            409,
            403,
            403,
            409,
            201,
            403,
        ]
    assert message[0] == message[1]
    assert all_answers(here) == all_answers(there)


def test_a_voter_who_is_gone_is_named_and_the_seat_freed_for_somebody_else(tables):
    (session, browsers), _ = tables
    for player in ("red", "blue"):
        vote(browsers[player], player, "3")
    yellow = {"command": "hear", "said": {"player": "yellow", "vote_value": "4"}}
    refused = browsers["host"].post("/api/v1/command", json=yellow)
    assert (refused.status_code, refused.get_json()["error"]["code"]) == (403, "secret")
    assert (
        "Still to vote: yellow"
        in browsers["host"].get("/play").text + browsers["host"].get("/api/v1/state").text
    )
    browsers["host"].post("/host/free", data={"seat": "yellow"}, headers=OWN)
    assert vote(browsers["yellow"], "yellow", "5").status_code == 403
    browsers["no seat"].post("/seat", data={"seat": "yellow"}, headers=OWN)
    assert vote(browsers["no seat"], "yellow", "5").status_code == 303
    assert session.ledger.state.votes == ("3", "3", "5")


def test_a_phone_that_slept_finds_its_seat_and_its_vote(tables):
    (_, browsers), _ = tables
    vote(browsers["red"], "red", "3")
    cookie = browsers["red"].get_cookie("rinkside").value
    awake = browsers["host"].application.test_client()
    awake.set_cookie("rinkside", cookie)
    assert "You have voted" in awake.get("/play").text
    assert (
        vote(awake, "red", "4").status_code == 303
    )  # told once more, it is refused by the rules and the vote stays
    assert "has already voted" in awake.get("/play").text


def phone_says(browser):
    """What the buttons of a phone say, by their labels."""
    buttons = re.findall(r'name="said" value="([^"]+)">([^<]+)<', browser.get("/play").text)
    return {label: json.loads(value.replace("&#34;", '"')) for value, label in buttons}


def press(browser, label):
    return browser.post(
        "/play",
        data={"command": "hear", "said": json.dumps(phone_says(browser)[label])},
        headers=OWN,
    )


def test_panel_and_phones_show_the_question_for_comments_before_each_vote(tables):
    (session, browsers), _ = tables
    asked = "Before the vote: blue, the torch bearer, asks for comments."
    for browser, page in (
        (browsers["host"], "/"),
        (browsers["spectator"], "/"),
        (browsers["yellow"], "/play"),
    ):
        assert asked in browser.get(page).text
    for player in PLAYERS:
        vote(browsers[player], player, "3")
    assert asked not in browsers["yellow"].get("/play").text
    for player in PLAYERS:
        press(browsers[player], f"{player.capitalize()} is done")
    assert asked in session.view().verdicts[0].message
    assert asked in browsers["yellow"].get("/play").text


def test_phones_object_vote_on_it_in_the_open_and_the_torch_bearer_decides_a_tie(tables):
    """Whom it is about has no say, but for a tie where they bear the torch; votes on the tile stay
    hidden until it is settled.
    """
    (session, browsers), _ = tables
    red, blue, yellow = (browsers[player] for player in PLAYERS)
    assert not [label for label in phone_says(browsers["spectator"]) if "broke" in label]
    assert press(red, "Red objects: blue broke the commentary rules").status_code == 303
    for player in PLAYERS:
        vote(browsers[player], player, "3")
    assert session.ledger.state.phase == "vote"
    assert "red for 3" not in browsers["host"].get("/").text
    assert [label for label in phone_says(blue) if "broke" in label or "admits" in label] == [
        "Blue admits it"
    ]
    for breach in (True, False):
        message = {"command": "hear", "said": {"player": "yellow", "breach": breach}}
        assert blue.post("/api/v1/command", json=message).status_code == 403
        assert browsers["spectator"].post("/api/v1/command", json=message).status_code == 403
    press(red, "Yes, blue broke the commentary rules")
    assert "yellow may openly say yes or no" in browsers["spectator"].get("/").text
    assert browsers["spectator"].get("/api/v1/state").get_json()["state"]["objection"]["said"] == {
        "red": True
    }
    press(yellow, "No, blue broke no rule")
    assert "blue, the torch bearer, decides" in yellow.get("/play").text
    press(blue, "Yes, blue broke the commentary rules")
    newest = session.view().verdicts[0]
    assert (newest.code, newest.verdict, newest.player) == ("icefloe.penalty", "accepted", "blue")
    assert newest.rests_on == "Commentary; ruling icefloe.6; Torch Bearer"
    assert newest.evidence["ballot"] == {"red": True, "yellow": False}
    assert "All votes are shown: red for 3 and yellow for 3." in newest.message
    assert session.ledger.state.muted == ("blue",)


def test_an_objection_that_the_others_do_not_share_is_recorded_and_the_vote_kept(tables):
    (session, browsers), _ = tables
    press(browsers["yellow"], "Yellow objects: red broke the commentary rules")
    press(browsers["yellow"], "No, red broke no rule")
    press(browsers["blue"], "No, red broke no rule")
    newest = session.view().verdicts[0]
    assert (newest.code, newest.verdict) == ("icefloe.cleared", "accepted")
    assert newest.message.startswith(
        "Blue says that red broke no commentary rule. Red keeps their vote."
    )
    assert vote(browsers["red"], "red", "3").status_code == 303


def test_who_broke_the_rules_says_so_by_phone_and_the_host_for_anybody(tables):
    (session, browsers), _ = tables
    press(browsers["red"], "Red broke the commentary rules, and nobody disputes it")
    say(browsers["host"], "Yellow objects: blue broke the commentary rules")
    press(browsers["blue"], "Blue admits it")
    assert session.ledger.state.muted == ("red", "blue")
    assert [label for label in phone_says(browsers["red"]) if label[0].isdigit()] == []


def test_an_objection_tells_nothing_of_votes_that_are_hidden(tables):
    """A vote that was cast is lost with the right to it, and nobody learns what it was."""
    (_, here), (_, there) = tables
    for browsers, blue in ((here, "3"), (there, "5")):
        vote(browsers["blue"], "blue", blue)
        press(browsers["red"], "Red objects: blue broke the commentary rules")
        vote(browsers["red"], "red", "4")
        press(browsers["red"], "Yes, blue broke the commentary rules")
    assert all_answers(here) == all_answers(there)
    for browsers in (here, there):
        press(browsers["yellow"], "Yes, blue broke the commentary rules")
        vote(browsers["yellow"], "yellow", "4")
    assert all_answers(here) == all_answers(there)
