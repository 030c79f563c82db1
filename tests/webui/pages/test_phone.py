"""A player's phone: a seat of one's own, what it shows of the game, and what it may say."""

from __future__ import annotations

import json
import re

import pytest

from referee.sessions.commands import Appeal, Hear, Resign, Roll, Undo

OWN = {"Sec-Fetch-Site": "same-origin"}
MAY_SAY = [
    {"label": f"{player}: {die}", "said": {"player": player, "die": die}}
    for player in ("blue", "yellow")
    for die in (1, 6)
]


@pytest.fixture
def blue(app, as_player):
    return as_player(app, "blue")


def buttons(browser):
    return re.findall(
        r'<button[^>]*name="said" value="([^"]+)">([^<]+)<', browser.get("/play").text
    )


def test_who_has_no_code_is_asked_for_one_and_who_has_no_seat_for_a_seat(app, spectator, as_player):
    assert 'name="code"' in spectator.get("/play").text
    page = as_player(app, "").get("/play").text
    assert re.findall(r'name="seat" value="(\w+)"', page) == ["blue", "yellow"]
    as_player(app, "blue")
    assert re.findall(r'name="seat" value="(\w+)"', as_player(app, "").get("/play").text) == [
        "yellow"
    ]


def test_two_phones_cannot_hold_one_seat_and_one_phone_not_two(app, blue, as_player):
    other = as_player(app, "")
    answer = other.post("/seat", data={"seat": "blue"}, headers=OWN)
    assert answer.status_code == 409
    assert "another phone" in answer.text
    assert blue.post("/seat", data={"seat": "yellow"}, headers=OWN).status_code == 303
    assert other.post("/seat", data={"seat": "blue"}, headers=OWN).status_code == 303
    assert [browser.get("/api/v1/me").get_json()["seat"] for browser in (blue, other)] == [
        "yellow",
        "blue",
    ]


def test_a_seat_is_given_back_freed_by_the_host_and_left_behind(app, blue, client, as_player):
    seats = app.extensions["seats"]
    blue.post("/seat/back", headers=OWN)
    assert seats.held() == {}
    blue.post("/seat", data={"seat": "blue"}, headers=OWN)
    client.post("/host/free", data={"seat": "blue"}, headers=OWN)
    assert blue.get("/api/v1/me").get_json() == {"role": "player", "seat": None}
    yellow = as_player(app, "yellow")
    yellow.post("/leave", headers=OWN)
    assert seats.held() == {}
    assert yellow.get("/api/v1/me").get_json()["role"] == "spectator"


def test_who_takes_a_seat_and_who_frees_it_is_in_the_log(session, blue, client, as_player, app):
    blue.post("/seat", data={"seat": "blue"}, headers=OWN)
    blue.post("/seat", data={"seat": "yellow"}, headers=OWN)
    client.post("/host/free", data={"seat": "yellow"}, headers=OWN)
    client.post("/host/free", data={"seat": "yellow"}, headers=OWN)
    blue.post("/seat", data={"seat": "blue"}, headers=OWN)
    blue.post("/leave", headers=OWN)
    as_player(app, "yellow")
    client.post("/host/code", data={"which": "table"}, headers=OWN)
    assert [event.message for event in session.seated] == [
        "Blue's seat is taken.",
        "Blue's seat is free again.",
        "Yellow's seat is taken.",
        "The host frees yellow's seat.",
        "Blue's seat is taken.",
        "Blue's seat is free again.",
        "Yellow's seat is taken.",
        "The host frees yellow's seat.",
    ]


@pytest.mark.parametrize("seat", ["", "green", "BLUE", "blue,yellow", "x" * 200])
def test_a_seat_that_is_none_is_refused(app, as_player, seat):
    assert as_player(app, "").post("/seat", data={"seat": seat}, headers=OWN).status_code == 400
    assert app.extensions["seats"].held() == {}


def test_it_shows_whose_turn_it_is_and_what_its_own_player_may_say(session, blue, app, as_player):
    yellow = as_player(app, "yellow")
    session.shown["state"]["may_say"] = MAY_SAY
    assert "Your turn" in blue.get("/play").text
    assert "Your turn" not in yellow.get("/play").text
    assert (
        [label for _, label in buttons(blue)]
        == [label for _, label in buttons(yellow)]
        == ["1", "6"]
    )
    message = json.loads(buttons(yellow)[1][0].replace("&#34;", '"'))
    assert (
        yellow.post(
            "/play", data={"command": "hear", "said": json.dumps(message)}, headers=OWN
        ).status_code
        == 303
    )
    assert (
        yellow.post("/play", data={"command": "roll", "player": "yellow"}, headers=OWN).status_code
        == 303
    )
    assert session.commands == [
        Hear(heard={"player": "yellow", "die": 6}, decided_by="yellow"),
        Roll(player="yellow", decided_by="yellow"),
    ]


def test_nothing_is_offered_while_the_referee_waits_for_something_else(session, blue):
    session.shown["state"] |= {"may_say": MAY_SAY}
    assert len(buttons(blue)) == 2
    for shown in ({"phase": "paused"}, {"resigned": ["blue"]}):
        before = dict(session.shown)
        session.shown |= shown
        assert buttons(blue) == []
        session.shown = before


def test_a_phone_says_that_the_referee_is_paused_and_who_can_end_that(session, blue):
    assert "Paused" not in blue.get("/play").text
    session.shown |= {"phase": "paused"}
    page = blue.get("/play").text
    assert '<p class="whose">Paused</p>' in page
    assert "The host can resume." in page


def test_the_leader_stops_appeals_and_resigns(session, blue):
    page = blue.get("/play").text
    assert 'name="record" value="16"' in page
    for form in (
        {"command": "hear", "said": '{"player": "blue", "stop": true}'},
        {"command": "appeal", "player": "blue", "record": "16", "reason": "it touches"},
        {"command": "resign", "player": "blue"},
    ):
        assert blue.post("/play", data=form, headers=OWN).status_code == 303
    by = {"decided_by": "blue"}
    assert session.commands == [
        Hear(heard={"player": "blue", "stop": True}, **by),
        Appeal(player="blue", record=16, reason="it touches", **by),
        Resign(player="blue", **by),
    ]


def test_an_appeal_is_shown_to_who_made_it_and_the_host_lets_the_ruling_stand(
    session, blue, client
):
    session.shown["appeals"] = [
        {
            "seq": 15,
            "at_ms": 0,
            "appeals": 16,
            "player": "blue",
            "reason": "",
            "said": "Blue appeals against record 16.",
        }
    ]
    assert "You have appealed." in blue.get("/play").text
    page = client.get("/").text
    assert "Blue appeals against record 16." in page
    assert re.search(r'name="command" value="uphold"><button name="appeal" value="15"', page)
    assert (
        client.post("/command", data={"command": "uphold", "appeal": "15"}, headers=OWN).status_code
        == 303
    )
    assert session.commands[0].appeal == 15


def test_a_question_is_answered_by_whom_it_concerns(session, live, blue, app, as_player, question):
    session.shown |= {"question": question, "phase": "asking"}
    assert 'name="label" value="equal"' in blue.get("/play").text
    yellow = as_player(app, "yellow")
    page = yellow.get("/play").text
    assert "Blue or the host answers it." in page
    assert 'name="label"' not in page
    live.point_at(17, "equal")
    assert re.findall(
        r'value="([^"]*)" id="choice-3" aria-current=true', blue.get("/play").text
    ) == ["equal"]
    assert "The button selects answer 3 of 3: Equal." in yellow.get("/play").text
    session.shown["question"] = question | {"player": None}
    assert 'name="label"' in yellow.get("/play").text


def test_what_is_refused_is_said_on_the_phone(session, blue):
    answer = blue.post("/play", data={"command": "pause"}, headers=OWN)
    assert answer.status_code == 403
    assert re.search(r'class="notice" role="alert">That is not blue&#39;s decision', answer.text)
    assert session.commands == []


def test_a_vote_is_changed_by_the_phone_that_gave_it_and_only_before_it_is_shown(
    session, blue, verdict_row
):
    vote = verdict_row(
        15, "blue", "Blue has voted.", kind="noted", verdict="noted", code="icefloe.vote"
    )
    session.shown["verdicts"].insert(0, vote)
    session.shown["hidden"] = {"blue": 15}
    assert (
        'name="record" value="15"><div class="row"><button>Change my vote' in blue.get("/play").text
    )
    assert (
        blue.post("/play", data={"command": "undo", "record": "15"}, headers=OWN).status_code == 303
    )
    assert session.commands == [Undo(record=15, decided_by="blue")]
    session.shown["hidden"] = {}
    assert "Change my vote" not in blue.get("/play").text
    assert (
        blue.post("/play", data={"command": "undo", "record": "15"}, headers=OWN).status_code == 403
    )


def test_words_from_outside_are_escaped(session, blue, question):
    evil = "<script>alert(1)</script>\"'><b>"
    session.shown["verdicts"][0] |= {"said": evil, "rests_on": evil}
    session.shown |= {
        "names": {"blue": evil},
        "question": question | {"said": evil, "choices": [{"label": evil, "moves": []}]},
    }
    page = blue.get("/play").text
    assert evil not in page
    assert "<script>alert" not in page


def test_a_player_may_say_what_anybody_may_say_of_another(session, blue):
    about_yellow = {"player": "yellow", "low": True}
    row = {"label": "yellow's hand was too low", "said": about_yellow}
    session.shown["state"]["may_say"] = [row]
    refused = blue.post(
        "/api/v1/command", json={"command": "hear", "said": about_yellow}, headers=OWN
    )
    session.shown["state"]["may_say"] = [row | {"anybody": True}]
    heard = blue.post(
        "/api/v1/command", json={"command": "hear", "said": about_yellow}, headers=OWN
    )
    assert (refused.status_code, heard.status_code) == (403, 201)
    assert "hand was too low" in blue.get("/play").text


def test_a_phone_says_what_a_computer_player_wants(session, blue):
    """Whoever holds it may be the one who makes the move."""
    wish = {"who": "yellow", "said": "Yellow drives to c4, facing E.", "marks": []}
    session.shown |= {"wish": wish, "options": [wish]}
    page = blue.get("/play").text
    assert re.search(r"make the move for it:\s*<strong>Yellow drives to c4, facing E.", page)
