"""The host's page on which misread pieces are put right: what is drawn, sent, refused and
proposed.
"""

from __future__ import annotations

import re

import pytest

from referee.sessions.commands import Correct
from table.errors import InputError

OWN = {"Sec-Fetch-Site": "same-origin"}


def form_of(page):
    """What a browser would send from the page as it is."""
    form = dict(re.findall(r'<input id="(?:x|y|heading)-\d+" name="([^"]+)" value="([^"]+)"', page))
    form |= dict.fromkeys(re.findall(r'name="(there \d+)" checked', page), "on")
    for name, options in re.findall(r'<select id="[^"]+" name="([^"]+)">(.*?)</select>', page):
        form[name] = re.search(r'<option value="([^"]+)" selected>', options)[1]
    return form | {"table": re.search(r'name="table" value="([^"]+)"', page)[1]}


def test_every_piece_is_drawn_and_sent_as_it_was_read(client, live):
    page = client.get("/host/fix").text
    assert page.count('class="piece movable') == 9
    assert page.count("is-gone") == 1
    assert client.post("/host/fix", data=form_of(page), headers=OWN).status_code == 200
    table = live.last_table()[1]
    for correction, piece in zip(live.corrections, table.pieces, strict=False):
        assert (correction.colour, correction.size, correction.pose, correction.there) == (
            piece.colour,
            piece.size,
            piece.pose,
            True,
        )
        assert [correction.x_mm, correction.y_mm] == [round(float(v), 1) for v in piece.base_mm]
    assert (live.corrections[-1].index, live.corrections[-1].there) == (None, False)


def test_what_would_have_been_ruled_is_shown_and_then_corrected_for_the_log(client, session, live):
    form = form_of(client.get("/host/fix").text)
    del form["there 3"]
    page = client.post(
        "/host/fix",
        data=form | {"x 1": "300,5", "colour 2": "yellow", "pose 1": "upright"},
        headers=OWN,
    ).text
    assert (
        live.corrections[1].x_mm,
        live.corrections[1].pose,
        live.corrections[2].colour,
        live.corrections[3].there,
    ) == (300.5, "upright", "yellow", False)
    assert "Blue&#39;s piece lies nearer." in page
    assert 'name="x 1" value="300.5"' in page
    assert session.commands == []
    hidden = dict(re.findall(r'type="hidden" name="(command|record|reason)" value="([^"]+)"', page))
    moves = re.search(r'name="moves" value="([^"]+)"', page)[1]
    assert client.post("/command", data=hidden | {"moves": moves}, headers=OWN).status_code == 303
    reason = "pieces were put right by hand: blue large was read as red"
    assert session.commands == [
        Correct(record=16, moves=("throw blue large 9.00", "void"), reason=reason)
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"x 0": "about"},
        {"y 0": ""},
        {"heading 0": "nan"},
        {"x 0": "1e5"},
        {"pose 0": "flying"},
        {"table": "16 1"},
    ],
)
def test_what_is_no_place_is_refused_and_the_page_is_as_it_was(client, live, wrong):
    answer = client.post(
        "/host/fix", data=form_of(client.get("/host/fix").text) | wrong, headers=OWN
    )
    assert answer.status_code in (400, 409)
    assert 'role="alert"' in answer.text
    assert live.corrections == []


def test_where_there_is_no_table_to_put_right_the_page_says_why(client, live):
    live.no_table = InputError("no table of this game was ruled on")
    for answer in (client.get("/host/fix"), client.post("/host/fix", headers=OWN)):
        assert answer.status_code == 409
        assert "no table of this game was ruled on" in answer.text


def test_it_is_the_host_s(app, as_player, spectator):
    for browser in (spectator, as_player(app, "blue")):
        assert [
            browser.get("/host/fix").status_code,
            browser.post("/host/fix", headers=OWN).status_code,
        ] == [403, 403]


def test_while_votes_are_hidden_no_verdict_is_tried_that_might_show_them(client, session, live):
    form = form_of(client.get("/host/fix").text)
    session.shown["hidden"] = {"blue": 15}
    answer = client.post("/host/fix", data=form, headers=OWN)
    assert answer.status_code == 409
    assert "Votes are secret" in answer.text
    assert live.corrections == []
