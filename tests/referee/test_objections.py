"""Players appeal, and resign: both are facts of the log, and people decide what becomes of them."""

from __future__ import annotations

import pytest

import engines
from engines.icefloe.state import State
from referee.sessions.commands import (
    Appeal,
    Correct,
    Declare,
    Hear,
    NextGame,
    Resign,
    Undo,
    Uphold,
    parse_command,
)
from referee.sessions.events import Ruled, SeatFreed, SeatTaken, SessionStarted
from referee.sessions.session import Session
from table.errors import InputError


def put(session, colour):
    return session.append(
        Ruled(
            verdict="accepted",
            code="pegs.put",
            said=f"{colour} put one down.",
            moves=(colour,),
            player=colour,
        )
    ).seq


def open_appeals(session):
    return [(appeal["player"], appeal["appeals"]) for appeal in session.view()["appeals"]]


def test_an_appeal_is_open_until_it_is_corrected_undone_or_upheld(session):
    first, second, third = (put(session, colour) for colour in ("red", "blue", "red"))
    upheld = session.command(
        parse_command(
            {"command": "appeal", "player": "blue", "record": first, "reason": "it fell over"}
        )
    )
    session.command(Appeal(player="blue", record=second))
    session.command(Appeal(player="blue", record=third))
    assert open_appeals(session) == [("blue", first), ("blue", second), ("blue", third)]
    assert (
        session.view()["verdicts"][2]["said"]
        == f"Blue appeals against record {first}: it fell over"
    )
    assert session.view()["scores"] == {"red": 2, "blue": 1}
    session.command(Uphold(appeal=upheld.seq, decided_by="Ann"))
    session.command(Undo(record=third))
    assert open_appeals(session) == [("blue", second)]
    session.command(Correct(record=second, moves=()))
    assert open_appeals(session) == []
    assert session.view()["scores"] == {"red": 1, "blue": 0}


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (Appeal(player="blue", record=1), "no ruling"),
        (Appeal(player="green", record=2), "red, blue"),
        (Appeal(player="red", record=2), "already"),
        (Uphold(appeal=2), "no appeal"),
        (Resign(player="green"), "red, blue"),
    ],
)
def test_what_is_no_appeal_is_refused_and_not_kept(session, command, said):
    session.command(Appeal(player="red", record=put(session, "red")))
    with pytest.raises(InputError, match=said):
        session.command(command)
    assert session.view()["seq"] == 3


def test_the_last_who_has_not_resigned_has_won(session, log):
    put(session, "red")
    session.command(Resign(player="red"))
    view = session.view()
    assert (view["phase"], view["outcome"], view["resigned"]) == (
        "over",
        "blue won: red resigned",
        ["red"],
    )
    assert session.ledger.winners == ("blue",)
    with pytest.raises(InputError, match="resign"):
        session.command(Resign(player="blue"))
    assert (
        Session.reopen(log, session.id, {"pegs": session.ledger.engine}).ledger.outcome
        == view["outcome"]
    )
    session.command(Undo())
    assert (session.view()["phase"], session.ledger.winners) == ("playing", ())
    session.command(Resign(player="red"))
    session.command(NextGame())
    assert (session.view()["outcome"], session.view()["earlier_games"]) == (
        None,
        ["blue won: red resigned"],
    )


VOTING = (
    "players red blue yellow; round 2; phase vote; mover -; scores 3 0 7; coins - - -; muted -;"
    " value -; votes - - -; laid 0 0 0; done -; tile -; sunk -; winners -; board a2=A2+AA+FA"
    " a3=Mn+ES b2=A3 c2=Ma+EC c4=Aa+DA d1=C4+BC e3=An+AS e4=M5; rulings done=stands stay=may"
    " corners=may muted_coins=may."
)


class Begun:
    """IceFloe, from the votes of a round on."""

    set_up = staticmethod(lambda *_: State.parse(VOTING))

    def __getattr__(self, name):
        return getattr(engines.GAMES["icefloe"], name)


def test_a_hidden_vote_is_in_no_message_about_moves_that_would_not_stand(log):
    """What was ruled before a vote is taken back, corrected, or told anew: the vote is in the way,
    and is not named.
    """
    session = Session.begin(
        log,
        SessionStarted(game="icefloe", players=("red", "blue", "yellow")),
        games={"icefloe": Begun()},
    )
    for player in ("red", "blue", "yellow"):
        session.command(Hear(said={"player": player, "vote_value": "a"}))
    done = [
        session.command(Hear(said={"player": player, "done": True})).seq
        for player in ("red", "blue", "yellow")
    ]
    assert session.command(Hear(said={"player": "red", "vote_suit": "S"})).event.secret
    refused = []
    for seq in done:
        for command in (
            Undo(record=seq),
            Correct(record=seq, moves=()),
            Correct(record=seq, moves=("done green",)),
        ):
            with pytest.raises(InputError) as caught:
                session.command(command)
            refused.append(str(caught.value))
    with pytest.raises(InputError) as caught:
        session.command(Declare(moves=("done red",)))
    refused.append(str(caught.value))
    assert sum("in secret" in said for said in refused) >= 3
    assert not [said for said in refused if "vote red" in said or "suns" in said]
    session.close()


def test_who_speaks_for_whom_is_kept_until_the_session_has_ended(session):
    session.seat(SeatTaken(player="red", said="Red's seat is taken."))
    session.seat(SeatFreed(player="red", decided_by="the host", said="The host frees red's seat."))
    assert [type(record.event) for record in session.records()[1:]] == [SeatTaken, SeatFreed]
    assert session.view()["verdicts"] == []
    session.end()
    last = session.seq
    session.seat(SeatTaken(player="red"))
    session.close()
    session.seat(SeatTaken(player="red"))
    assert session.seq == last
