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
from referee.sessions.events import (
    Choice,
    QuestionAsked,
    SeatFreed,
    SeatTaken,
    SessionStarted,
    VerdictReached,
    decode,
)
from referee.sessions.session import Session
from table.errors import InputError


def put(session, colour):
    return session.append(
        VerdictReached(
            verdict="accepted",
            code="pegs.put",
            message=f"{colour} put one down.",
            moves=(colour,),
            player=colour,
        )
    ).seq


def open_appeals(session):
    return [(appeal.player, appeal.appeals) for appeal in session.view().appeals]


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
        session.view().verdicts[2].message == f"Blue appeals against record {first}: it fell over"
    )
    assert session.view().scores == {"red": 2, "blue": 1}
    session.command(Uphold(appeal=upheld.seq, decided_by="Ann"))
    session.command(Undo(record=third))
    assert open_appeals(session) == [("blue", second)]
    session.command(Correct(record=second, moves=()))
    assert open_appeals(session) == []
    assert session.view().scores == {"red": 1, "blue": 0}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (Appeal(player="blue", record=1), "not a ruling"),
        (Appeal(player="green", record=2), "red, blue"),
        (Appeal(player="red", record=2), "already"),
        (Uphold(appeal=2), "not an open appeal"),
        (Resign(player="green"), "red, blue"),
    ],
)
def test_what_is_no_appeal_is_refused_and_not_kept(session, command, message):
    session.command(Appeal(player="red", record=put(session, "red")))
    with pytest.raises(InputError, match=message):
        session.command(command)
    assert session.view().seq == 3


def test_the_last_who_has_not_resigned_has_won(session, log):
    put(session, "red")
    session.command(Resign(player="red"))
    view = session.view()
    assert (view.phase, view.outcome, view.resigned) == ("over", "blue won: red resigned", ("red",))
    assert session.ledger.winners == ("blue",)
    with pytest.raises(InputError, match="resign"):
        session.command(Resign(player="blue"))
    assert (
        Session.reopen(log, session.id, {"pegs": session.ledger.engine}).ledger.outcome
        == view.outcome
    )
    session.command(Undo())
    assert (session.view().phase, session.ledger.winners) == ("playing", ())
    session.command(Resign(player="red"))
    session.command(NextGame())
    assert (session.view().outcome, session.view().earlier_games) == (
        None,
        ("blue won: red resigned",),
    )


VOTING = (
    "players red blue yellow; round 2; phase vote; mover -; scores 3 0 7; coins - - -; muted -;"
    " value -; votes - - -; laid 0 0 0; done -; tile -; sunk -; winners -; board a2=A2+AA+FA"
    " a3=Mn+ES b2=A3 c2=Ma+EC c4=Aa+DA d1=C4+BC e3=An+AS e4=M5; rulings done=stands stay=may"
    " corners=may muted_coins=may."
)


class Begun:
    """IceFloe, from the votes of a round on."""

    def __init__(self, state=VOTING):
        self.set_up = lambda *_: State.parse(state)

    def __getattr__(self, name):
        return getattr(engines.GAMES["icefloe"], name)


def icefloe(log, state=VOTING):
    """A session of IceFloe from a state on."""
    started = SessionStarted(game="icefloe", players=State.parse(state).players)
    return Session.begin(log, started, games={"icefloe": Begun(state)})


def test_votes_go_on_without_who_resigned(log):
    """The vote that is cast and not shown goes, and the last one that was waited for is waited for
    no more.
    """
    session = icefloe(log)
    for player in ("red", "yellow"):
        session.command(Hear(heard={"player": player, "vote_value": "a"}))
    message = session.command(Resign(player="blue")).event.message
    assert message.startswith(
        "Blue resigns. Blue's turns and votes are skipped; the pieces stay. Coins may be laid"
    )
    assert session.view().state["phase"] == "coins"
    assert session.view().state["tally"] == {"a": 2}
    for player in ("red", "yellow"):
        session.command(Hear(heard={"player": player, "done": True}))
    assert session.view().state["turn"].endswith("Still to vote: red and yellow.")
    with pytest.raises(InputError, match="Blue has resigned"):
        session.command(Declare(moves=("vote blue S",)))
    assert (
        Session.reopen(log, session.id, {"icefloe": Begun()}).ledger.state == session.ledger.state
    )


def test_a_secret_vote_of_who_resigns_goes_with_them_and_comes_back_with_undo(log):
    session = icefloe(log)
    for player, vote in (("blue", "4"), ("red", "a")):
        session.command(Hear(heard={"player": player, "vote_value": vote}))
    resigned = session.command(Resign(player="blue")).seq
    assert session.view().state["votes"] == {"red": "?", "blue": None, "yellow": None}
    session.command(Undo(record=resigned))
    assert session.view().state["votes"] == {"red": "?", "blue": "?", "yellow": None}


@pytest.mark.parametrize(
    ("state", "leaves", "turn"),
    [
        (
            VOTING.replace("phase vote; mover -", "phase move; mover red"),
            "blue",
            "Red moves a pyramid or slides a tile next.",
        ),
        (
            VOTING.replace("phase vote; mover -", "phase move; mover blue"),
            "blue",
            "Yellow moves a pyramid or slides a tile next.",
        ),
        (
            VOTING.replace("round 2; phase vote; mover -", "round 1; phase move; mover red"),
            "red",
            "Blue moves a pyramid or slides a tile next.",
        ),
        (
            VOTING.replace("round 2; phase vote; mover -", "round 4; phase score; mover red"),
            "red",
            "Blue selects a tile to score on next.",
        ),
        (
            VOTING.replace("phase vote", "phase torch"),
            "yellow",
            "The round is over; the torch goes to red.",
        ),
        (
            VOTING.replace("phase vote", "phase torch"),
            "blue",
            "The round is over; the torch goes to red.",
        ),
        (
            VOTING.replace("phase vote", "phase decide").replace("votes - - -", "votes a 4 5"),
            "blue",
            "The vote is tied; yellow, the torch bearer, decides: ace, 4 or 5.",
        ),
        (
            VOTING.replace("muted -", "muted -; objection yellow by red red=yes"),
            "blue",
            (
                "Vote on the value of the tile to remove: null, ace, 2, 3, 4 or 5. Still to"
                " vote: red."
            ),
        ),
        (
            VOTING.replace("muted -", "muted -; objection blue by red red=yes"),
            "blue",
            (
                "Vote on the value of the tile to remove: null, ace, 2, 3, 4 or 5. Still to"
                " vote: red and yellow."
            ),
        ),
    ],
)
def test_what_waits_for_who_resigns_goes_on_with_the_next(log, state, leaves, turn):
    session = icefloe(log, state)
    session.command(Resign(player=leaves))
    assert session.view().state["turn"] == turn
    assert (
        Session.reopen(log, session.id, {"icefloe": Begun(state)}).ledger.state
        == session.ledger.state
    )


def test_a_log_of_before_is_read_with_the_moves_of_who_resigned(log):
    """Turns and votes did not pass over them then."""
    session = icefloe(log)
    session.append(
        decode(
            '{"schema": 8, "fact": "resigned", "player": "blue", "decided_by": "Ann", "said": "Blue'
            ' resigns."}',
            "log",
        )
    )
    for player in ("red", "blue", "yellow"):
        session.command(Hear(heard={"player": player, "vote_value": "a"}))
    again = Session.reopen(log, session.id, {"icefloe": Begun()})
    assert (again.view().resigned, again.view().state["phase"]) == (("blue",), "coins")


def test_who_resigns_leaves_no_question_open_that_nobody_can_answer(log):
    session = icefloe(
        log, VOTING.replace("phase vote", "phase decide").replace("votes - - -", "votes a 4 5")
    )
    choices = tuple(Choice(label=value, moves=(f"decide blue {value}",)) for value in ("a", "4"))
    session.append(QuestionAsked(code="icefloe.test", message="Which?", choices=choices))
    with pytest.raises(InputError, match="question 2 is open"):
        session.command(Resign(player="blue"))
    session.command(Resign(player="red"))
    assert session.view().question is not None


def test_a_hidden_vote_is_in_no_message_about_moves_that_would_not_stand(log):
    """What was ruled before a vote is taken back, corrected, or told anew: the vote is in the way,
    and is not named.
    """
    session = icefloe(log)
    for player in ("red", "blue", "yellow"):
        session.command(Hear(heard={"player": player, "vote_value": "a"}))
    done = [
        session.command(Hear(heard={"player": player, "done": True})).seq
        for player in ("red", "blue", "yellow")
    ]
    assert session.command(Hear(heard={"player": "red", "vote_suit": "S"})).event.secret
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
    assert sum("secret vote" in message for message in refused) >= 3
    assert not [message for message in refused if "vote red" in message or "suns" in message]
    session.close()


def test_who_speaks_for_whom_is_kept_until_the_session_has_ended(session):
    session.seat(SeatTaken(player="red", message="Red's seat is taken."))
    session.seat(
        SeatFreed(player="red", decided_by="the host", message="The host frees red's seat.")
    )
    assert [type(record.event) for record in session.records()[1:]] == [SeatTaken, SeatFreed]
    assert session.view().verdicts == ()
    session.end()
    last = session.seq
    session.seat(SeatTaken(player="red"))
    session.close()
    session.seat(SeatTaken(player="red"))
    assert session.seq == last
