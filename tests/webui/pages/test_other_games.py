"""What the panel shows of the other games: their boards, whose turn it is while dice roll, what may
be said, and the verdicts they alone have.
"""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from referee.sessions.commands import Hear, Roll
from table.boards import Coasters, Hex, Tiles
from table.observation import SeenCounter
from table.table_config import Counters

MAY_SAY = [
    {"label": "die 5", "said": {"player": "blue", "die": 5}},
    {"label": "do not fire", "said": {"player": "blue", "hold": True}},
]


def page_on(client, live, board, **game):
    live.setup = msgspec.structs.replace(
        live.setup, board=board, game=msgspec.structs.replace(live.setup.game, **game)
    )
    return client.get("/").text


def test_hex_cells_and_counters(client, live):
    live.become(observation=None)
    page = page_on(
        client, live, Hex(size=5, cell_mm=32), counters=Counters(colour="white", diameter_mm=21)
    )
    assert page.count('class="hex"') == 61
    assert page.count('class="counter ') == 0


def test_counters_are_circles_of_their_size(client, live):
    seen = live.latest.observation
    live.become(
        observation=type(seen)(
            0, 0, seen.camera, seen.pieces, counters=(SeenCounter("white", 12.0, 34.0, 0.5),)
        )
    )
    page = page_on(
        client,
        live,
        Hex(size=4, cell_mm=32, orientation="flat"),
        counters=Counters(colour="white", diameter_mm=21),
    )
    assert '<circle class="counter c-white" cx="12.0" cy="-34.0" r="10.5"/>' in page


@pytest.mark.parametrize(
    ("board", "gone", "dark"),
    [
        (Coasters(cell_mm=34), (), 18),
        (Tiles(cell_mm=51), (), 0),
        (Tiles(cell_mm=51), ("a1", "c3"), 2),
    ],
)
def test_square_spaces(client, live, board, gone, dark):
    seen = live.latest.observation
    live.become(
        observation=type(seen)(0, 0, seen.camera, seen.pieces, tiles=dict.fromkeys(gone, False))
    )
    page = page_on(client, live, board)
    assert page.count('class="dark-cell"') == dark
    assert page.count('-cell"') == board.rows * board.cols


@pytest.mark.parametrize(
    ("phase", "does"), [("roll", "rolls"), ("move", "to move"), ("shot", "rolls for the shot")]
)
def test_whose_turn_it_is_and_what_they_do(client, session, phase, does):
    session.shown["next"] = None
    session.shown["state"] |= {
        "starter": None,
        "to_move": "yellow",
        "phase": phase,
        "points": 4 if phase == "move" else None,
    }
    session.shown["game"] = "zamboni_wars"
    page = client.get("/").text
    assert re.search(rf"<span>Yellow</span>\s*<span class=\"verb\">{does}<", page)
    assert ('aria-label="die: 4"' in page) == (phase == "move")


def test_what_may_be_said_is_said_by_a_button(client, session):
    session.shown["state"]["may_say"] = MAY_SAY
    page = client.get("/").text
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
    values = [
        value.replace("&#34;", '"') for value in re.findall(r'name="said" value="([^"]+)"', page)
    ]
    assert [json.loads(value) for value in values] == [one["said"] for one in MAY_SAY]
    assert (
        client.post(
            "/command", data={"token": token, "command": "hear", "said": values[0]}
        ).status_code
        == 303
    )
    assert session.commands == [Hear(heard={"player": "blue", "die": 5})]
    assert (
        client.post("/command", data={"token": token, "command": "hear", "said": "{"}).status_code
        == 400
    )
    session.shown["phase"] = "paused"
    assert 'name="said"' not in client.get("/").text


def test_a_die_is_rolled_by_the_referee_where_the_game_waits_for_one(client, session):
    session.shown["state"]["may_say"] = MAY_SAY
    page = client.get("/").text
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
    assert page.count("Roll an electronic die for blue") == 1
    assert (
        client.post(
            "/command", data={"token": token, "command": "roll", "player": "blue"}
        ).status_code
        == 303
    )
    assert session.commands == [Roll(player="blue")]
    session.shown["state"]["may_say"] = MAY_SAY[1:]
    assert "electronic die" not in client.get("/").text


@pytest.mark.parametrize(("verdict", "words"), [("out_of_sync", "Out of sync"), ("noted", "Noted")])
def test_verdicts_that_boule_has_not(client, session, verdict, words):
    session.shown["verdicts"][0]["verdict"] = verdict
    assert f'class="eyebrow">{words}' in client.get("/").text


def test_what_a_computer_player_wants_is_said_and_drawn(client, session, live):
    """It is the only thing that is drawn as possible, from the cell of the ship to another."""
    wish = {
        "who": "red",
        "said": "Red moves the ship on A1 to A2.",
        "marks": [{"kind": "path", "cells": ["A1", "A2"]}, {"kind": "take", "cells": ["A2"]}],
    }
    session.shown |= {"wish": wish, "options": [wish]}
    page = page_on(client, live, Hex(size=5, cell_mm=32))
    assert re.search(r"make the move for it:\s*<strong>Red moves the ship on A1 to A2.", page)
    assert len(re.findall(r'<g class="option" data-option="0">', page)) == 1
    assert page.count('class="stroke k-path"') == 1
    assert page.count('class="stroke k-take"') == 1
