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


def test_dice_drives_and_a_hit(tmp_path, real_table):
    table = real_table(game.start(["yellow", "red", "blue"], {}), np.random.default_rng(3))
    seen, heard = [], []

    def show():
        start_ms = 1250 * len(seen)
        once = table.seen()
        seen.append(
            [
                dataclasses.replace(once, at_ms=start_ms + step, hand=step == 1000)
                for step in range(0, 1250, 250)
            ]
        )

    def roll(player, pips):
        heard.append(Input(1250 * len(seen) - 100, {"player": player, "die": pips}, "inputs.jsonl"))

    show()
    roll("yellow", 2)
    show()
    table.drive("yellow", Space.parse("c6"), "E")
    show()
    roll("yellow", 6)
    show()
    table.strip("red")
    show()
    frames = [frame for second in seen for frame in second]
    read = iter(
        [
            Frame(seq, frame.at_ms, np.zeros((24, 32, 3), np.uint8))
            for seq, frame in enumerate(frames)
        ]
    )
    camera = SimpleNamespace(read=lambda: next(read, None), close=lambda: None)
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(
            game="zamboni_wars",
            players=("yellow", "red", "blue"),
            table={"board": msgspec.to_builtins(table.BOARD)},
        )
        session = Session.begin(log, started)
        Referee(
            camera,
            setup_of(table.BOARD, session.ledger.players),
            lambda frame, *_: frames[frame.seq],
            session,
            inputs=heard,
        ).run()
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
    seen = []

    def show():
        start_ms = 1250 * len(seen)
        once = table.seen()
        seen.append(
            [
                dataclasses.replace(once, at_ms=start_ms + step, hand=step == 1000)
                for step in range(0, 1250, 250)
            ]
        )

    show()
    rolls = {"yellow": 2, "red": 5, "blue": 4}
    heard = [
        Input(1100 + pips, {"player": player, "die": pips}, "inputs")
        for player, pips in rolls.items()
    ]
    heard.sort(key=lambda one: one.at_ms)
    show()
    heard.append(Input(2450, {"player": "red", "die": 2}, "inputs"))
    show()
    table.drive("red", Space.parse("f4"), "S")
    show()
    frames = [frame for second in seen for frame in second]
    read = iter(
        [
            Frame(seq, frame.at_ms, np.zeros((24, 32, 3), np.uint8))
            for seq, frame in enumerate(frames)
        ]
    )
    camera = SimpleNamespace(read=lambda: next(read, None), close=lambda: None)
    with Log(tmp_path / "log.sqlite") as log:
        started = SessionStarted(
            game="zamboni_wars",
            players=players,
            table={"board": msgspec.to_builtins(table.BOARD)},
            begins="roll",
        )
        session = Session.begin(log, started)
        Referee(
            camera,
            setup_of(table.BOARD, session.ledger.players),
            lambda frame, *_: frames[frame.seq],
            session,
            inputs=heard,
        ).run()
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
