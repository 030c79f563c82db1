"""A stretch of Zamboni Wars through the whole referee, with dice that are heard."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import msgspec
import numpy as np

from engines import zamboni_wars as game
from engines.zamboni_wars.board import Space
from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from tests.support.setups import setup_of
from vision.cameras.frame import Frame


class Film:
    """What a camera sees of a table, shown for a second at a time, then hidden by a hand."""

    def __init__(self, table):
        self.table, self.shown, self.observations = table, 0, []

    def show(self):
        start_ms, once = 1250 * self.shown, self.table.seen()
        self.shown += 1
        self.observations += [
            dataclasses.replace(once, at_ms=start_ms + step, hand=step == 1000)
            for step in range(0, 1250, 250)
        ]

    def referee(self, session, inputs):
        read = iter(
            [
                Frame(seq, seen.at_ms, np.zeros((24, 32, 3), np.uint8))
                for seq, seen in enumerate(self.observations)
            ]
        )
        Referee(
            SimpleNamespace(read=lambda: next(read, None), close=lambda: None),
            setup_of(self.table.BOARD, session.ledger.players),
            lambda frame, *_: self.observations[frame.seq],
            session,
            inputs=inputs,
        ).run()


def test_dice_drives_and_a_hit(tmp_path, real_table):
    table = real_table(game.start(["yellow", "red", "blue"], {}), np.random.default_rng(3))
    film, heard = Film(table), []

    def roll(player, pips):
        said = {"player": player, "die": pips}
        heard.append(Input(1250 * film.shown - 100, said, "inputs.jsonl"))

    film.show()
    roll("yellow", 2)
    film.show()
    table.drive("yellow", Space.parse("c6"), "E")
    film.show()
    roll("yellow", 6)
    film.show()
    table.strip("red")
    film.show()
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(
            game="zamboni_wars",
            players=("yellow", "red", "blue"),
            table={"board": msgspec.to_builtins(table.BOARD)},
        )
        session = Session.begin(log, started)
        film.referee(session, heard)
        message = [
            (record.at_ms, record.event.code, record.event.moves) for record in session.records(1)
        ]
        zambonis = session.view().state["zambonis"]
    assert message == [
        (500, "zamboni.start", ()),
        (1150, "zamboni.roll", ("roll 2",)),
        (3000, "zamboni.move", ("c6 E",)),
        (3650, "zamboni.shot", ("fire red", "die 6")),
        (5500, "zamboni.hit", ("take red",)),
    ]
    assert zambonis["red"] == {"space": "f6", "facing": "S", "layers": 2}


def test_who_begins_is_rolled_for_before_the_set_up_is_accepted(tmp_path, real_table):
    """While it is rolled for the table is no business of the rules; then it is set up, with its
    picture on record, and who won the roll drives.
    """
    players = ("yellow", "red", "blue")
    table = real_table(game.start(["red", "blue", "yellow"], {}), np.random.default_rng(3))
    film = Film(table)
    film.show()
    rolls = {"yellow": 2, "red": 5, "blue": 4}
    heard = [
        Input(1100 + pips, {"player": player, "die": pips}, "inputs")
        for player, pips in rolls.items()
    ]
    heard.sort(key=lambda one: one.at_ms)
    film.show()
    heard.append(Input(2450, {"player": "red", "die": 2}, "inputs"))
    film.show()
    table.drive("red", Space.parse("f4"), "S")
    film.show()
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(
            game="zamboni_wars",
            players=players,
            table={"board": msgspec.to_builtins(table.BOARD)},
            begins="roll",
        )
        session = Session.begin(log, started)
        film.referee(session, heard)
        records = session.records(1)
        assert Session.reopen(log, session.id).ledger.state == session.ledger.state
    assert [(record.event.code, record.event.moves, record.frame) for record in records] == [
        ("begins.roll", ("begin-roll 1 yellow 2",), False),
        ("begins.roll", ("begin-roll 1 blue 4",), False),
        ("begins.roll", ("begin-roll 1 red 5",), False),
        ("zamboni.start", (), True),
        ("zamboni.roll", ("roll 2",), False),
        ("zamboni.move", ("f4 S",), True),
    ]
    assert [record.event.player for record in records[-2:]] == ["red", "red"]
