"""Who begins, on the pages: chosen before a game, rolled for by everybody's phone, and told with
the rule, in every language.
"""

from __future__ import annotations

import html
import json
import re
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from referee.live.game_setup import SettingUp
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from referee.sessions.start import opening
from referee.statistics.history import HistoryCache
from table.messages import msg, sentences
from webui import create_app, create_set_up_app
from webui.security.codes import Codes
from webui.security.permissions import Access

OWN = {"Sec-Fetch-Site": "same-origin"}
PLAYERS = ("red", "blue", "yellow")
LATER = datetime(2026, 11, 27, tzinfo=UTC)
LOT_RULING = {
    "message": sentences(
        msg("Picked at random among {players}.", players=("red", "blue", "yellow")),
        msg("{player} begins.", player="blue"),
    ),
    "rests_on": "Setup",
}
FORM = {
    "game": "ice_boule",
    "plays blue": "on",
    "plays yellow": "on",
    "place blue": "2",
    "place yellow": "1",
}


@pytest.fixture
def playing(tmp_path, live, as_host, as_player):
    """playing(started, dice): a session on a log of its own, with its page, and phones in every
    seat.
    """
    opened = []

    def make(started, dice=()):
        log, drawn = Log(tmp_path / f"{len(opened)}.sqlite"), iter(dice)
        session = Session.begin(log, started, draw=lambda: next(drawn))
        opened.extend((session, log))
        app = create_app(session, live, access=Access(Codes()), histories=HistoryCache(log.path))
        phones = {player: as_player(app, player) for player in started.players}
        return SimpleNamespace(session=session, host=as_host(app), phones=phones, log=log)

    yield make
    for one in opened:
        one.close()


def rolled_for(**more):
    return SessionStarted(game="icefloe", players=PLAYERS, begins="roll", **more)


def words(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def say(browser, path, **form):
    return browser.post(path, data=form, headers=OWN)


@pytest.fixture
def setting(live):
    """A game that is set up as `rinkside play --set-up` does; its lots always fall on the last
    player.
    """

    def opened(choice):
        rulings, setup = dict(choice.rulings), live.setup
        return opening(
            choice.game,
            choice.players,
            rulings,
            setup,
            "film",
            LATER,
            begins=choice.begins,
            lot=lambda players: players[-1],
        )

    return SettingUp(opened)


@pytest.fixture
def host(setting, table):
    access = Access(Codes())
    browser = create_set_up_app(setting, table, access).test_client()
    assert browser.post("/join", data={"code": access.codes.now.host}, headers=OWN).location == "/"
    return browser


def test_the_page_offers_what_the_rules_leave_open_and_proposes_what_they_say(host):
    page = host.get("/").text
    offered = re.findall(r'name="begins" value="(\w+)" (checked)?', page)
    assert offered == [("lot", "checked"), ("roll", ""), ("hand", "")]
    assert "At random: the referee picks a player Setup" in words(page)


@pytest.mark.parametrize(
    ("begins", "expected"),
    [
        ({}, ("hand", "", ("yellow", "blue"))),
        ({"begins": "hand"}, ("hand", "", ("yellow", "blue"))),
        ({"begins": "lot"}, ("lot", "blue", ("blue", "yellow"))),
        ({"begins": "roll"}, ("roll", "", None)),
        ({"begins": "blue"}, ("hand", "blue", ("blue", "yellow"))),
    ],
)
def test_what_was_chosen_is_how_it_begins(host, setting, playing, begins, expected):
    assert host.post("/begin", data=FORM | begins, headers=OWN).status_code == 303
    started = setting.wait(0)
    assert (started.begins, started.first) == expected[:2]
    assert started.players == ("yellow", "blue"), "seats are as they were chosen"
    ledger = playing(started).session.ledger
    assert ledger.rolling if expected[2] is None else ledger.state.players == expected[2]


@pytest.mark.parametrize("begins", ["green", "LOT", "lot,roll", "x" * 4000, "<script>"])
def test_what_cannot_be_chosen_is_said_and_nothing_begins(host, begins):
    answer = host.post("/begin", data=FORM | {"begins": begins}, headers=OWN)
    assert answer.status_code == 409
    assert "expected lot, roll or a player (yellow, blue)" in html.unescape(answer.text)
    assert "<script>" not in answer.text.partition("--begins")[2][:200]
    assert "The game begins" not in host.get("/").text


def test_every_phone_rolls_for_its_own_player_and_for_nobody_else(playing):
    at = playing(rolled_for(), dice=(5, 5, 2, 6))
    for player, phone in at.phones.items():
        page = phone.get("/play").text
        message = [
            json.loads(html.unescape(one))
            for one in re.findall(r'name="said" value="([^"]+)"', page)
        ]
        assert message == [{"player": player, "die": die} for die in range(7)]
        assert ("Your turn" if player == "red" else "You can say something") in page
    assert say(at.phones["red"], "/play", command="roll", player="blue").status_code == 403
    assert (
        say(
            at.phones["red"], "/play", command="hear", said='{"player": "blue", "die": 1}'
        ).status_code
        == 403
    )
    assert (
        say(at.phones["red"], "/play", command="declare", moves="begin-with red").status_code == 403
    )
    assert say(at.phones["red"], "/play", command="roll", player="red").status_code == 303
    assert say(at.phones["yellow"], "/play", command="roll", player="yellow").status_code == 303
    assert (
        say(
            at.phones["blue"], "/play", command="hear", said='{"player": "blue", "die": 4}'
        ).status_code
        == 303
    )
    assert 'name="said"' not in at.phones["blue"].get("/play").text, "who did not tie rolls no more"
    page = words(at.host.get("/").text)
    assert (
        "Blue rolled 4. Red and yellow tie and roll again. Red rolls to see who begins,"
        " then yellow."
    ) in page
    assert say(at.phones["red"], "/play", command="roll", player="red").status_code == 303
    assert say(at.phones["yellow"], "/play", command="roll", player="yellow").status_code == 303
    state = at.host.get("/api/v1/state").get_json()
    assert state["verdicts"][0]["said"] == "Yellow rolled 6. Yellow begins."
    assert state["verdicts"][0]["rests_on"] == "Roll The Die"
    assert state["players"] == list(PLAYERS)
    assert at.session.ledger.state.players == ("yellow", "red", "blue")


def test_dice_are_typed_in_on_the_panel_shown_as_they_fall_and_hostile_ones_change_nothing(playing):
    at = playing(rolled_for())
    before = at.session.seq
    for message in (
        {"player": "red", "die": 7},
        {"player": "green", "die": 1},
        {"player": "red", "die": [6]},
        {"player": ["red"], "die": 6},
    ):
        assert say(at.host, "/command", command="hear", said=json.dumps(message)).status_code == 409
    assert at.session.seq == before
    assert (
        say(at.host, "/command", command="hear", said='{"player": "red", "die": 6}').status_code
        == 303
    )
    page = at.host.get("/").text
    assert re.search(r'<p class="rolled">.*?</p>', page, re.S), "the die that was rolled is drawn"
    assert '"Roll an electronic die for red"' not in page
    assert "Roll an electronic die for blue" in page
    assert say(at.host, "/command", command="declare", moves="begin-with blue").status_code == 303
    assert at.session.ledger.state.players == ("blue", "yellow", "red")


def test_the_host_corrects_a_lot_by_hand_before_the_first_move_and_players_do_not(playing):
    at = playing(
        SessionStarted(game="ice_boule", players=PLAYERS, begins="lot", first="blue", **LOT_RULING)
    )
    buttons = re.search(r'<form class="row" id="may-begin".*?</form>', at.host.get("/").text, re.S)[
        0
    ]
    message = [html.unescape(one) for one in re.findall(r'name="said" value="([^"]+)"', buttons)]
    assert [json.loads(one) for one in message] == [{"begins": "red"}, {"begins": "yellow"}]
    assert "Yellow begins (set by hand)" in words(buttons)
    assert say(at.phones["red"], "/play", command="hear", said=message[0]).status_code == 403
    assert at.session.ledger.state.players[0] == "blue"
    assert say(at.host, "/command", command="hear", said=message[1]).status_code == 303
    assert at.session.ledger.state.players == ("yellow", "red", "blue")
    assert "Gelb beginnt" in words(at.host.get("/", headers={"Accept-Language": "de"}).text)
    assert say(at.host, "/command", command="declare", moves="target green").status_code == 303
    assert 'id="may-begin"' not in at.host.get("/").text


def test_a_program_begins_the_next_game_by_lot(playing):
    at = playing(SessionStarted(game="ice_boule", players=PLAYERS))
    answer = at.host.post(
        "/api/v1/command", json={"command": "next_game", "begins": "lot"}, headers=OWN
    )
    assert answer.status_code in (200, 201), answer.text
    (verdict,) = at.host.get("/api/v1/state").get_json()["verdicts"]
    assert (verdict["kind"], verdict["rests_on"], verdict["player"]) == (
        "begun",
        "Setup",
        at.session.ledger.state.players[0],
    )
    assert (
        at.host.post(
            "/api/v1/command", json={"command": "next_game", "begins": "green"}, headers=OWN
        ).status_code
        == 409
    )


@pytest.mark.parametrize(
    ("language", "lot", "rolled", "why"),
    [
        (
            "en",
            "Picked at random among red, blue and yellow. Blue begins.",
            "Blue rolled 6. Blue begins.",
            "Chance decides who goes first.",
        ),
        (
            "de",
            "Ausgelost unter: Rot, Blau und Gelb. Blau beginnt.",
            "Blau hat 6 gewürfelt. Blau beginnt.",
            "Der Zufall entscheidet, wer beginnt.",
        ),
        (
            "es",
            "Elegido al azar entre rojo, azul y amarillo. Empieza azul.",
            "Azul sacó 6. Empieza azul.",
            "El azar decide quién empieza.",
        ),
    ],
)
def test_how_it_was_decided_is_on_the_panel_and_on_the_page_of_the_log(
    playing, language, lot, rolled, why
):
    headers = {"Accept-Language": language}
    by_lot = playing(
        SessionStarted(game="ice_boule", players=PLAYERS, begins="lot", first="blue", **LOT_RULING)
    )
    for path in ("/", f"/sessions/{by_lot.session.id}?at=1"):
        assert lot in words(by_lot.host.get(path, headers=headers).text), path
    assert why in words(by_lot.host.get("/", headers=headers).text)
    by_roll = playing(rolled_for())
    for player, die in zip(PLAYERS, (1, 6, 2), strict=True):
        say(
            by_roll.host,
            "/command",
            command="hear",
            said=json.dumps({"player": player, "die": die}),
        )
    assert rolled.partition(" ")[2].partition(". ")[2] in words(
        by_roll.host.get("/", headers=headers).text
    )
    assert rolled.partition(". ")[0] in words(
        by_roll.host.get(f"/sessions/{by_roll.session.id}", headers=headers).text
    )


def test_the_evidence_has_every_roll_of_every_round(playing):
    at = playing(rolled_for())
    for player, die in (*zip(PLAYERS, (4, 4, 2), strict=True), ("red", 1), ("blue", 3)):
        say(at.host, "/command", command="hear", said=json.dumps({"player": player, "die": die}))
    rows = [
        words(row)
        for row in re.findall(
            r"<div><dt>.*?</div>", at.host.get("/", headers={"Accept-Language": "de"}).text, re.S
        )
    ]
    expected = [
        f"Durchgang {turn}, {who} {die}"
        for turn, who, die in (
            (1, "Rot", 4),
            (1, "Blau", 4),
            (1, "Gelb", 2),
            (2, "Rot", 1),
            (2, "Blau", 3),
        )
    ]
    assert [row for row in rows if row.startswith("Durchgang")] == expected


@pytest.mark.parametrize(
    ("game", "offered", "cited"),
    [
        ("icebreaker", [], "The first in the order above begins, as the rules say. Rules"),
        (
            "icefloe",
            [("lot", ""), ("roll", "checked"), ("hand", "")],
            "ties roll again Roll The Die",
        ),
        (
            "ice_storm",
            [("lot", ""), ("roll", ""), ("hand", "checked")],
            "You choose: the first in the order above Turns continue",
        ),
        (
            "zamboni_wars",
            [("lot", ""), ("roll", ""), ("hand", "checked")],
            "You choose: the first in the order above Turns continue",
        ),
    ],
)
def test_every_game_has_its_own_way_proposed(host, monkeypatch, game, offered, cited):
    monkeypatch.setattr("webui.pages.game_setup.playable", lambda _setup: {game: ""})
    page = host.get(f"/?game={game}").text
    assert re.findall(r'name="begins" value="(\w+)" (checked)?', page) == offered
    assert cited in words(page)


def test_what_was_chosen_stays_chosen_where_something_else_will_not_do(host):
    answer = host.post(
        "/begin", data=FORM | {"begins": "roll", "name blue": "x" * 400}, headers=OWN
    )
    assert answer.status_code == 409
    assert re.findall(r'name="begins" value="(\w+)" checked', answer.text) == ["roll"]
