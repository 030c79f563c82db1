"""Electronic dice: drawn as the command is obeyed, kept before anybody sees them, and the game's
only where it waits for one.
"""

from __future__ import annotations

import queue

import pytest

from engines import GAMES
from engines.verdict import Noted as HeardSaid
from hardware import dice_display as dice
from hardware.cues import Cue
from hardware.testing.fakes import FakeDice
from referee.devices import controller
from referee.devices.controller import NOT_NOW, Companion
from referee.presentation.lamp_cues import standing
from referee.sessions.commands import Pause, Roll, Undo, parse_command
from referee.sessions.events import SessionStarted, VerdictReached
from referee.sessions.session import Session
from table.boards import Coasters, Open
from table.errors import InputError

BOARD = Open(outline_mm=((0, 0), (600, 0), (600, 400), (0, 400)))
PATIENCE_S = 20.0


@pytest.fixture
def zamboni(log):
    values = iter((3, 5, 6))
    session = Session.begin(
        log,
        SessionStarted(game="zamboni_wars", players=("yellow", "blue")),
        draw=lambda: next(values),
    )
    yield session
    session.close()


def test_a_die_is_the_game_s_and_in_the_log(zamboni, log):
    record = zamboni.command(
        parse_command({"command": "roll", "player": "yellow", "decided_by": "a button"})
    )
    assert (record.event.code, record.event.moves, record.event.player) == (
        "zamboni.roll",
        ("roll 3",),
        "yellow",
    )
    assert record.event.evidence["dice"] == [3]
    assert log.records(zamboni.id)[-1] == record
    assert zamboni.view().verdicts[0].message.startswith("Yellow's die shows 3.")
    assert Session.reopen(log, zamboni.id).ledger.state == zamboni.ledger.state


def test_who_rolls_out_of_turn_is_refused_and_the_game_goes_on(zamboni):
    record = zamboni.command(Roll(player="blue"))
    assert (record.event.verdict, record.event.evidence["dice"]) == ("refused", [3])
    assert zamboni.command(Roll(player="yellow")).event.moves == ("roll 5",)


def test_dice_for_nothing_are_kept_and_count_for_nothing(zamboni):
    rolled = zamboni.command(Roll(player="yellow")).seq
    state = zamboni.ledger.state
    record = zamboni.command(Roll(dice=2))
    assert record.event.message == "The dice show 5 and 6. This does not count in the game."
    assert (record.event.evidence, record.event.moves, zamboni.ledger.state) == (
        {"dice": [5, 6]},
        (),
        state,
    )
    assert zamboni.command(Undo()).event.undoes == rolled, (
        "a ruling is taken back, not a roll for nothing"
    )


def test_dice_for_nothing_are_rolled_in_every_game_at_any_time(session):
    session.command(Pause())
    (value,) = session.command(Roll()).event.evidence["dice"]
    assert value in range(1, 7)
    assert (
        session.records()[-1].event.message
        == f"The die shows {value}. This does not count in the game."
    )


@pytest.mark.parametrize(
    ("game", "players"), [("ice_boule", 2), ("icebreaker", 2), ("ice_storm", 3), ("icefloe", 3)]
)
def test_a_game_without_dice_hears_none(log, game, players):
    assert game in GAMES
    session = Session.begin(
        log, SessionStarted(game=game, players=("red", "black", "green")[:players])
    )
    with pytest.raises(InputError, match="expected"):
        session.command(Roll(player="red"))
    assert len(session.records()) == 1
    session.close()


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"dice": 3}, "command: dice: expected 2 or less, got 3"),
        (
            {"player": "yellow", "dice": 2},
            "roll: expected 1 die for the game, got 2; leave out the player for a roll that"
            " does not count",
        ),
        ({"player": "pink"}, "input: player: expected yellow, blue, got 'pink'"),
        ({"values": [6, 6]}, "command: values: expected no field of this name"),
    ],
)
def test_what_is_no_roll(zamboni, document, says):
    with pytest.raises(InputError) as caught:
        zamboni.command(parse_command({"command": "roll"} | document))
    assert str(caught.value).startswith(says)
    assert len(zamboni.records()) == 1


class Dice(FakeDice):
    """Dice that say, with every face, how many records there were when it was shown."""

    def __init__(self, count, session):
        super().__init__(count)
        self.session, self.queue = session, queue.Queue()

    def show(self, faces):
        super().show(faces)
        self.queue.put((faces, len(self.session.records())))


@pytest.fixture
def rolling(session, devices, eyes, games, monkeypatch):
    """rolling(count): dice and buttons beside a game that waits for red's die."""
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    monkeypatch.setattr(
        dice, "tumble", lambda values: [(tuple(value % 6 + 1 for value in values), 0), (values, 0)]
    )
    heard = {"may_say": [{"label": "die 1", "said": {"player": "red", "die": 1}}]}
    document = games["pegs"].state_document
    monkeypatch.setattr(games["pegs"], "state_document", lambda state: document(state) | heard)

    def hear(_state, heard, _in_doubt):
        return HeardSaid(code="pegs.die", message=f"{heard['player']}: {heard['die']}", moves=())

    monkeypatch.setattr(games["pegs"], "hear", hear)
    running = []

    def make(count):
        devices.dice = Dice(count, session)
        running.append(Companion(devices, session, eyes, BOARD))
        running[-1].start()
        return devices, heard

    yield make
    for one in running:
        one.stop()


def at_rest(dice):
    """Faces from now on until they lie still, and how many records there were at the first of
    them.
    """
    first, records = dice.queue.get(timeout=PATIENCE_S)
    still, _ = dice.queue.get(timeout=PATIENCE_S)
    assert first != still
    return still, records


def test_a_die_is_in_the_log_before_it_is_seen(rolling, session):
    devices, _ = rolling(1)
    devices.buttons.press("die", held_ms=900)
    (record,) = session.wait(1, PATIENCE_S)
    (value,) = record.event.evidence["dice"]
    assert (record.event.code, record.event.message) == ("pegs.die", f"red: {value}")
    assert value in range(1, 7)
    assert at_rest(devices.dice) == ((value,), 2)
    assert len(session.records()) == 2, "what becomes of the press rolls no other die"


def test_one_die_of_two_is_the_game_s(rolling, session):
    devices, _ = rolling(2)
    devices.buttons.press("die")
    (record,) = session.wait(1, PATIENCE_S)
    (value,) = record.event.evidence["dice"]
    assert at_rest(devices.dice) == ((value, None), 2)


def test_two_dice_are_drawn_at_once_and_are_in_the_log_before_they_are_seen(rolling, session):
    devices, heard = rolling(2)
    heard["may_say"] = []
    devices.buttons.press("die", held_ms=900)
    (record,) = session.wait(1, PATIENCE_S)
    values = tuple(record.event.evidence["dice"])
    assert (record.event.code, len(values)) == ("dice.rolled", 2)
    assert at_rest(devices.dice) == (values, 2)


def test_a_die_that_nobody_waits_for_is_not_rolled(rolling, session):
    devices, _ = rolling(1)
    session.command(Pause())
    assert devices.buzzer.next().signal == "paused"
    devices.buttons.press("die")
    assert devices.buzzer.next() == NOT_NOW
    assert devices.dice.shown == []
    assert len(session.records()) == 2


def test_who_presses_while_dice_tumble_is_not_heard(rolling, session, monkeypatch):
    monkeypatch.setattr(dice, "tumble", lambda values: [(values, 3_600_000)])
    devices, _ = rolling(1)
    devices.buttons.press("die")
    devices.dice.queue.get(timeout=PATIENCE_S)
    devices.buttons.press("die")
    while devices.buzzer.next() != NOT_NOW:
        pass
    assert len(session.records()) == 2


def test_a_roll_from_the_panel_is_seen_too(rolling, session):
    devices, _ = rolling(2)
    record = session.command(Roll(dice=2))
    assert at_rest(devices.dice) == (tuple(record.event.evidence["dice"]), 2)


def test_a_game_of_zamboni_wars_is_rolled_by_the_button(log, eyes, devices, monkeypatch):
    """Every value is drawn by the electronic die, in the log at once, and what the game makes of it
    is lit, whatever chance brings.
    """
    monkeypatch.setattr(
        dice, "tumble", lambda values: [(tuple(value % 6 + 1 for value in values), 0), (values, 0)]
    )
    monkeypatch.setattr(controller, "POLL_S", 0.005)
    session = Session.begin(log, SessionStarted(game="zamboni_wars", players=("yellow", "blue")))
    board = Coasters(cell_mm=33)
    devices.dice = Dice(1, session)
    beside = Companion(devices, session, eyes, board)
    beside.start()
    engine, turns = GAMES["zamboni_wars"], []
    while len(turns) < 6:
        ledger = session.ledger
        if engine.state_document(ledger.state)["may_shoot"]:
            devices.buttons.press("next")
            (record,) = session.wait(ledger.seq, PATIENCE_S)
            assert record.event.code == "zamboni.hold"
            continue
        devices.buttons.press("die")
        (record,) = session.wait(ledger.seq, PATIENCE_S)
        assert record.event.code == "zamboni.roll"
        turns.append(record.event.player)
        (roll,) = record.event.moves
        assert at_rest(devices.dice) == ((int(roll.removeprefix("roll ")),), len(session.records()))
        devices.lamps.wait_for(standing(session.ledger, board))
        drive = next(iter(engine.legal_moves(session.ledger.state)))
        seq = session.append(
            VerdictReached(
                verdict="accepted",
                code="zamboni.move",
                message="",
                moves=(str(drive),),
                player=record.event.player,
            )
        ).seq
        devices.lamps.wait_for(
            Cue(
                "accepted",
                session.ledger.players,
                (record.event.player,),
                then=standing(session.ledger, board),
                news=seq,
            )
        )
    beside.stop()
    session.close()
    assert turns == ["yellow", "blue"] * 3
    assert any(cue.marks for cue in devices.lamps.cues), "the space that a Zamboni is to leave"
