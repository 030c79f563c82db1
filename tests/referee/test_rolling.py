"""Electronic dice: drawn as the command is obeyed, kept before anybody sees them, and the game's only where it waits for one."""

from __future__ import annotations

import pytest

from engines import GAMES
from referee.command import Pause, Roll, Undo, parse_command
from referee.events import SessionStarted
from referee.session import Session
from table.errors import InputError


@pytest.fixture
def zamboni(log):
    values = iter((3, 5, 6))
    session = Session.begin(log, SessionStarted(game="zamboni_wars", players=("yellow", "blue")), draw=lambda: next(values))
    yield session
    session.close()


def test_a_die_is_the_game_s_and_in_the_log(zamboni, log):
    record = zamboni.command(parse_command({"command": "roll", "player": "yellow", "decided_by": "a button"}))
    assert (record.event.code, record.event.moves, record.event.player) == ("zamboni.roll", ("roll 3",), "yellow")
    assert record.event.evidence["dice"] == [3]
    assert log.records(zamboni.id)[-1] == record
    assert zamboni.view()["verdicts"][0]["said"].startswith("Yellow's die shows 3.")
    assert Session.reopen(log, zamboni.id).ledger.state == zamboni.ledger.state


def test_who_rolls_out_of_turn_is_refused_and_the_game_goes_on(zamboni):
    record = zamboni.command(Roll(player="blue"))
    assert (record.event.verdict, record.event.evidence["dice"]) == ("refused", [3])
    assert zamboni.command(Roll(player="yellow")).event.moves == ("roll 5",)


def test_dice_for_nothing_are_kept_and_count_for_nothing(zamboni):
    rolled = zamboni.command(Roll(player="yellow")).seq
    state = zamboni.ledger.state
    record = zamboni.command(Roll(dice=2))
    assert record.event.said == "The dice show 5 and 6. It counts for nothing in the game."
    assert (record.event.evidence, record.event.moves, zamboni.ledger.state) == ({"dice": [5, 6]}, (), state)
    assert zamboni.command(Undo()).event.undoes == rolled, "a ruling is taken back, not a roll for nothing"


def test_dice_for_nothing_are_rolled_in_every_game_at_any_time(session):
    session.command(Pause())
    (value,) = session.command(Roll()).event.evidence["dice"]
    assert value in range(1, 7)
    assert session.records()[-1].event.said == f"The die shows {value}. It counts for nothing in the game."


@pytest.mark.parametrize(("game", "players"), [("ice_boule", 2), ("icebreaker", 2), ("ice_storm", 3), ("icefloe", 3)])
def test_a_game_without_dice_hears_none(log, game, players):
    assert game in GAMES
    session = Session.begin(log, SessionStarted(game=game, players=("red", "black", "green")[:players]))
    with pytest.raises(InputError, match="expected"):
        session.command(Roll(player="red"))
    assert len(session.records()) == 1
    session.close()


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"dice": 3}, "command: dice: expected 2 or less, got 3"),
        ({"player": "yellow", "dice": 2}, "roll: expected 1 die for the game, got 2; leave the player out to roll for nothing"),
        ({"player": "pink"}, "input: player: expected yellow, blue, got 'pink'"),
        ({"values": [6, 6]}, "command: values: expected no field of this name"),
    ],
)
def test_what_is_no_roll(zamboni, document, says):
    with pytest.raises(InputError) as caught:
        zamboni.command(parse_command({"command": "roll"} | document))
    assert str(caught.value).startswith(says)
    assert len(zamboni.records()) == 1
