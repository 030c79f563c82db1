"""A round of IceFloe through the whole referee: settling, judge, inputs and log."""

from __future__ import annotations

import json

import numpy as np

from engines import icefloe as game
from referee.live.recorded_inputs import read_inputs
from referee.sessions.events import record_document

PLAYERS = ("red", "yellow", "black", "blue")


def test_a_round(film, tables):
    state = game.start(PLAYERS, {})
    table = tables.Table(np.random.default_rng(8), state)
    film = film("icefloe", PLAYERS, tables.BOARD)
    for name, place in zip(state.placing_order, sorted(table.tiles), strict=True):
        table.put(name, place)
    film.show(table.seen())
    for name in ("FS", "FC"):
        here = table.stood[name].place
        table.put(name, "a1")
        film.show(table.seen())
        table.put(name, here)
        film.show(table.seen())
    assert [line[:3] for line in film.referee()] == [
        ("accepted", "icefloe.start", None),
        ("refused", "icefloe.move", "red"),
        ("refused", "icefloe.move", "yellow"),
    ]
    for player in PLAYERS:
        film.say(
            player=player, stays=next(one["said"]["stays"] for one in stays(film.session, player))
        )
        film.show(table.seen())
        film.referee()
    assert film.session.view().state["phase"] == "vote"
    votes = dict(zip(PLAYERS, "44na", strict=True))
    for player, vote in votes.items():
        film.say(player=player, vote_value=vote)
        film.referee()
    for player in PLAYERS:
        film.say(player=player, done=True)
    film.show(table.seen())
    assert [line[1] for line in film.referee()][-1:] == ["icefloe.vote.value"]
    noted = [
        record_document(record)
        for record in film.session.records()
        if getattr(record.event, "secret", False)
    ]
    assert [document["moves"] for document in noted] == [[]] * 4
    assert [{*document["state"]["votes"].values()} for document in noted[:3]] == [{"?", None}] * 3
    assert noted[3]["state"]["votes"] == votes
    for player in PLAYERS:
        film.say(player=player, vote_suit="A")
    for player in PLAYERS:
        film.say(player=player, done=True)
    place = film.session.ledger.state.board.floe_of("A4").place
    film.show(table.seen())
    table.sink(place)
    film.show(table.seen())
    assert [line[1] for line in film.referee()] == ["icefloe.vote.suit", "icefloe.removed"]


def stays(session, player):
    """What a player may say of a pyramid that comes back to where it stood."""
    message = session.view().state["may_say"]
    return [one for one in message if one["said"]["player"] == player and "stays" in one["said"]]


def test_an_objection_in_a_recorded_game(film, tables, tmp_path):
    """All that is said of commentary can stand in inputs.jsonl."""
    state = game.start(PLAYERS, {})
    table = tables.Table(np.random.default_rng(8), state)
    film = film("icefloe", PLAYERS, tables.BOARD)
    for name, place in zip(state.placing_order, sorted(table.tiles), strict=True):
        table.put(name, place)
    film.show(table.seen())
    lines = [
        {"player": "yellow", "objects_to": "red"},
        {"player": "yellow", "breach": True},
        {"player": "black", "breach": False},
        {"player": "blue", "breach": True},
        {"player": "blue", "penalty": True},
        {"player": "red", "breach": True},
    ]
    path = tmp_path / "inputs.jsonl"
    path.write_text(
        "".join(json.dumps({"t_ms": 3000 + 10 * k} | line) + "\n" for k, line in enumerate(lines))
    )
    film.inputs = list(read_inputs(path))
    for _ in range(3):
        film.show(table.seen())
    assert film.referee()[1:] == [
        ("accepted", "icefloe.objection", "yellow", ("object yellow to red",)),
        ("accepted", "icefloe.penalty", "red", ("breach blue yes",)),
        ("accepted", "icefloe.penalty", "blue", ("penalty blue",)),
        ("refused", "icefloe.breach.none", "red", ("breach red yes",)),
    ]
    assert film.session.ledger.state.muted == ("red", "blue")
