"""A session is the fold of its records; people change it by what they say, and reopening the log
gives it back.
"""

from __future__ import annotations

import tracemalloc

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.presentation.session_view import Alternative
from referee.sessions.commands import (
    Answer,
    Correct,
    Declare,
    NextGame,
    Pause,
    Resume,
    Undo,
    parse_command,
)
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Answered,
    Choice,
    Corrected,
    Paused,
    QuestionAsked,
    SessionEnded,
    SessionStarted,
    Undone,
    VerdictReached,
)
from referee.sessions.misreadings import Kind, Misread, misreadings_data
from referee.sessions.session import RECORDS_KEPT, Session
from referee.sessions.state import fold
from table.errors import InputError

CHOICES = (Choice(label="it counts", moves=("red",)), Choice(label="it does not"))


def put(session, colour, verdict="accepted", **more):
    return session.append(
        VerdictReached(
            verdict=verdict,
            code="pegs.put",
            message=f"{colour} put one down.",
            moves=(colour,),
            player=colour,
            **more,
        )
    )


def ask(session):
    return session.append(
        QuestionAsked(
            code="pegs.leans",
            message="Does it count?",
            choices=CHOICES,
            rests_on="Pegs",
            player="red",
        )
    )


def scores(session):
    return session.view().scores


def test_a_session_is_what_its_records_say(session):
    put(session, "red")
    put(session, "blue")
    put(session, "blue", verdict="refused")
    assert scores(session) == {"red": 1, "blue": 1}
    view = session.view()
    assert (view.next, view.phase, view.game, view.players, view.seq) == (
        "red",
        "playing",
        "pegs",
        ("red", "blue"),
        4,
    )
    assert [line.verdict for line in view.verdicts] == ["refused", "accepted", "accepted"]


def test_the_state_after_it_is_written_with_every_ruling(session):
    assert put(session, "red").event.state == {
        "next": "blue",
        "scores": {"red": 1, "blue": 0},
        "end": None,
        "turn": "Blue is to put one down.",
        "rulings": {},
        "state": "players red blue; pegs red",
        "outcome": None,
    }


def test_ends_are_counted_and_counted_again_when_something_is_taken_back(session):
    for colour in ("red", "blue", "red", "blue", "red"):
        put(session, colour)
    assert session.view().ends == ({"winner": "blue", "points": 1}, {"winner": "blue", "points": 2})
    for _ in range(2):
        session.command(Undo())
    assert session.view().ends == ({"winner": "blue", "points": 1},)


def test_records_are_stamped_with_the_cameras_time(session):
    session.tick(4000)
    assert put(session, "red").at_ms == 4000
    session.tick(1000)
    assert session.command(Pause()).at_ms == 1000


def test_moves_that_do_not_follow_are_not_written(session):
    with pytest.raises(ValueError, match="not blue's turn"):
        put(session, "blue")
    assert len(session.records()) == 1


def test_a_ruling_on_a_state_that_has_changed_since_is_not_written(session):
    before = session.ledger
    put(session, "red")
    assert session.append(Paused(decided_by="red"), after=before.seq) is None
    assert session.append(Paused(decided_by="red"), after=session.ledger.seq) is not None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "chess"}, "expected one of pegs, got 'chess'"),
        ({"players": ("red", "red")}, "pegs: pegs needs two players"),
    ],
)
def test_a_session_that_cannot_begin_writes_nothing(log, games, change, message):
    with pytest.raises(InputError, match=message):
        Session.begin(
            log,
            SessionStarted(**({"game": "pegs", "players": ("red", "blue")} | change)),
            games=games,
        )
    assert log.records() == ()


def test_every_line_of_the_view_has_the_same_keys(session):
    ruled = put(session, "red", verdict="refused")
    session.command(Correct(record=ruled.seq, moves=("red",)))
    session.command(Undo())
    session.command(Answer(question=ask(session).seq, label="it counts"))
    lines = session.view().verdicts
    assert [line.kind for line in lines] == ["answered", "asked", "undone", "corrected", "ruled"]


# --- what people may say ---


def test_a_question_is_answered_by_the_players(session):
    asked = ask(session)
    assert session.view().phase == "asking"
    assert session.view().question.choices == (
        Alternative(label="it counts", moves=("red",)),
        Alternative(label="it does not", moves=()),
    )
    answered = session.command(Answer(question=asked.seq, label="it counts", decided_by="blue"))
    assert isinstance(answered.event, Answered)
    assert (answered.event.how, answered.event.decided_by, answered.event.rests_on) == (
        "order",
        "blue",
        "Pegs",
    )
    assert scores(session) == {"red": 1, "blue": 0}
    assert session.view().question is None


def test_a_calliper_reading_is_kept_with_the_answer(session):
    asked = ask(session)
    with pytest.raises(InputError, match="expected calliper readings in mm"):
        session.command(Answer(question=asked.seq, label="it counts", how="calliper"))
    answered = session.command(
        Answer(question=asked.seq, label="it counts", how="calliper", readings_mm={"red": 12.3})
    )
    assert answered.event.readings_mm == {"red": 12.3}
    assert "red 12.3 mm" in answered.event.message


@pytest.mark.parametrize(("height_mm", "label"), [(0.05, "it counts"), (3.0, "it does not")])
def test_a_calliper_may_decide_by_itself(session, height_mm, label):
    asked = ask(session)
    with pytest.raises(InputError, match="expected the height, got width"):
        session.command(Answer(question=asked.seq, readings_mm={"width": 3.0}))
    answered = session.command(Answer(question=asked.seq, readings_mm={"height": height_mm}))
    assert (answered.event.label, answered.event.how) == (label, "calliper")


def test_what_cannot_be_seen_is_declared(session):
    declared = session.command(Declare(moves=("red", "blue"), decided_by="both"))
    assert declared.event.message == "Both declared: red, blue."
    assert scores(session) == {"red": 1, "blue": 1}
    with pytest.raises(InputError, match="not be legal: it is not blue's turn"):
        session.command(Declare(moves=("blue",)))
    line = session.view().verdicts[0]
    assert (line.kind, line.verdict, line.decided_by, line.moves) == (
        "declared",
        "by hand",
        "both",
        ("red", "blue"),
    )
    session.command(Undo())
    assert scores(session) == {"red": 0, "blue": 0}
    ask(session)
    with pytest.raises(InputError, match="question 4 is open"):
        session.command(Declare(moves=("red",)))


def test_answers_that_do_not_fit_are_refused(session):
    with pytest.raises(InputError, match="question 7 is not open"):
        session.command(Answer(question=7, label="it counts"))
    asked = ask(session)
    with pytest.raises(
        InputError, match="expected one of 'it counts', 'it does not', got 'perhaps'"
    ):
        session.command(Answer(question=asked.seq, label="perhaps"))
    session.command(Answer(question=asked.seq, label="it does not"))
    with pytest.raises(InputError, match="already answered or withdrawn"):
        session.command(Answer(question=asked.seq, label="it counts"))
    assert scores(session) == {"red": 0, "blue": 0}


def test_a_refusal_can_be_overruled_and_both_stay(session):
    refused = put(session, "red", verdict="refused")
    corrected = session.command(
        Correct(record=refused.seq, moves=("red",), decided_by="both", reason="it bounced")
    )
    assert scores(session) == {"red": 1, "blue": 0}
    first, second = session.view().verdicts
    assert (first.kind, first.refers_to, first.decided_by) == ("corrected", refused.seq, "both")
    assert (second.verdict, second.overturned_by) == ("refused", corrected.seq)


def test_an_acceptance_can_be_corrected_to_nothing(session):
    ruled = put(session, "red")
    session.command(Correct(record=ruled.seq, moves=()))
    assert scores(session) == {"red": 0, "blue": 0}
    session.command(Correct(record=ruled.seq, moves=("red",)))
    assert scores(session) == {"red": 1, "blue": 0}
    again, first, ruling = session.view().verdicts
    assert (ruling.overturned_by, first.overturned_by, again.overturned_by) == (
        again.seq,
        again.seq,
        None,
    )


def test_a_correction_that_leaves_illegal_moves_is_refused_and_not_written(session):
    ruled = put(session, "red")
    put(session, "blue")
    with pytest.raises(InputError, match="not be legal: it is not blue's turn"):
        session.command(Correct(record=ruled.seq, moves=()))
    assert scores(session) == {"red": 1, "blue": 1}
    assert len(session.records()) == 3


def test_undo_takes_back_the_last_that_stands_and_deletes_nothing(session):
    ruled = [put(session, "red"), put(session, "blue")]
    session.command(Undo(decided_by="red"))
    assert scores(session) == {"red": 1, "blue": 0}
    session.command(Undo())
    assert scores(session) == {"red": 0, "blue": 0}
    with pytest.raises(InputError, match="nothing has been ruled yet"):
        session.command(Undo())
    assert [record.event for record in session.records()][1:3] == [record.event for record in ruled]
    assert isinstance(session.records()[-1].event, Undone)


def test_undo_of_an_answer_opens_the_question_again_and_then_drops_it(session):
    asked = ask(session)
    session.command(Answer(question=asked.seq, label="it counts"))
    session.command(Undo())
    assert session.view().question.seq == asked.seq
    session.command(Undo())
    assert (session.view().question, scores(session)) == (None, {"red": 0, "blue": 0})


def test_undo_of_the_next_game_brings_the_old_one_back(session):
    put(session, "red")
    session.command(NextGame(players=("blue", "red")))
    assert (session.view().game_number, session.view().next, scores(session)) == (
        2,
        "blue",
        {"red": 0, "blue": 0},
    )
    assert session.view().earlier_games == ("not finished",)
    session.command(Undo())
    assert (session.view().game_number, scores(session)) == (1, {"red": 1, "blue": 0})


@pytest.mark.parametrize(
    "command",
    [
        Correct(record=1, moves=("red",)),
        Correct(record=99, moves=()),
        Undo(record=1),
        Undo(record=99),
        Resume(),
    ],
)
def test_commands_that_do_not_fit_are_refused_and_not_written(session, command):
    put(session, "red")
    with pytest.raises(InputError) as error:
        session.command(command)
    assert "\n" not in str(error.value)
    assert len(session.records()) == 2


def test_players_that_the_game_refuses_start_no_next_game(session):
    with pytest.raises(InputError, match="pegs needs two players"):
        session.command(NextGame(players=("red",)))
    assert session.view().game_number == 1


def test_pause_and_resume(session):
    session.command(Pause(decided_by="red"))
    assert session.view().phase == "paused"
    with pytest.raises(InputError, match="already paused"):
        session.command(Pause())
    session.command(Resume())
    assert session.view().phase == "playing"


def test_a_game_that_is_won_and_a_session_that_has_ended(session):
    for colour in ("red", "blue") * 4 + ("red",):
        put(session, colour)
    assert (session.view().phase, session.view().outcome) == ("over", "red won.")
    session.command(NextGame())
    assert session.view().earlier_games == ("red won.",)
    session.end("enough")
    assert session.view().phase == "ended"
    with pytest.raises(InputError, match="the session has ended"):
        session.command(Pause())


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"command": "explode"}, "command"),
        ({}, "command"),
        ([], "command"),
        ({"command": "answer", "question": "nine", "label": "x"}, "question"),
        ({"command": "declare", "moves": []}, "moves"),
        ({"command": "undo", "everything": True}, "everything"),
    ],
)
def test_commands_that_are_none_are_refused_with_their_place(document, message):
    with pytest.raises(InputError, match=message):
        parse_command(document)


def test_commands_are_read_from_plain_documents():
    assert parse_command({"command": "undo", "decided_by": "blue"}) == Undo(decided_by="blue")
    assert parse_command({"command": "correct", "record": 3, "moves": ["red"]}) == Correct(
        record=3, moves=("red",)
    )


# --- reopening ---

steps = st.lists(
    st.sampled_from(
        [
            "red",
            "blue",
            "refuse",
            "ask",
            "answer yes",
            "answer no",
            "undo",
            "pause",
            "resume",
            "next",
        ]
    )
    | st.lists(st.sampled_from(["red", "blue"]), min_size=1, max_size=2).map(tuple)
    | st.tuples(st.integers(1, 12), st.sampled_from([(), ("red",), ("blue",)])),
    max_size=16,
)


def do(session, step):
    """One step of a game, in order or not: what does not fit is refused."""
    question = session.ledger.question
    seq = question.seq if question else 0
    commands = {
        "answer yes": Answer(question=seq, label="it counts"),
        "answer no": Answer(question=seq, label="it does not"),
        "undo": Undo(),
        "pause": Pause(),
        "resume": Resume(),
        "next": NextGame(),
    }
    try:
        if isinstance(step, tuple) and isinstance(step[0], str):
            session.command(Declare(moves=step))
        elif isinstance(step, tuple):
            session.command(Correct(record=step[0], moves=step[1]))
        elif step in commands:
            session.command(commands[step])
        elif step == "ask" and question is None:
            ask(session)
        elif step == "refuse":
            put(session, "red", verdict="refused")
        elif question is None:
            put(session, step)
    except ValueError:
        return


def played_again(ledger):
    """The state and the ends of a game by all that stands in it, from its start: slow and
    obvious.
    """
    state, ends = ledger.engine.set_up(ledger.players, ledger.options, ledger.board), ()
    for move in (move for entry in ledger.standing for move in entry.moves):
        before, state = state, ledger.engine.play(state, ledger.engine.parse_move(move))
        was, end = (ledger.engine.state_document(one)["end"] for one in (before, state))
        ends = (*ends, end) if was is None and end is not None else ends
    return state, ends


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None
)
@given(steps=steps)
def test_reopening_the_log_gives_the_same_state(tmp_path_factory, games, started, steps):
    path = tmp_path_factory.mktemp("log") / "log"
    with Log(path) as log:
        session = Session.begin(log, started, games=games)
        for step in steps:
            do(session, step)
            assert played_again(session.ledger) == (session.ledger.state, session.ledger.ends)
        ledger, view = session.ledger, session.view()
    with Log(path) as log:
        again = Session.reopen(log, session.id, games=games)
        assert again.ledger == ledger
        assert again.view() == view
        assert fold(log.records(session.id), games, "log") == ledger
        assert msgspec.json.decode(msgspec.json.encode(view, enc_hook=str))


def test_going_on_after_reopening(tmp_path, started, games):
    with Log(tmp_path / "log") as log:
        Session.begin(log, started, games=games)
        session = Session.begin(log, started, at_ms=500, games=games)
        put(session, "red")
    with Log(tmp_path / "log") as log:
        session = Session.reopen(log, session.id, games=games)
        put(session, "blue")
        assert scores(session) == {"red": 1, "blue": 1}
        assert [record.seq for record in session.records()] == [2, 3, 4]
        with pytest.raises(InputError, match="expected the number of a session"):
            Session.reopen(log, 3, games=games)


def test_a_log_that_breaks_the_rules_is_said_in_one_line(log, games, started):
    session = log.append(started, 0).seq
    log.append(
        VerdictReached(verdict="accepted", code="pegs.put", message="", moves=("blue",)),
        250,
        session,
    )
    with pytest.raises(
        InputError,
        match=(
            r"session 1: record 2: expected moves that are legal by this version's rules: it is not"
            r" blue's turn"
        ),
    ):
        Session.reopen(log, session, games)


def test_a_long_session_stays_small_in_memory_and_whole_in_the_log(session):
    table, held = {"pieces": "p" * 5000}, []
    tracemalloc.start()
    for _ in range(2 * RECORDS_KEPT):
        put(session, "red", verdict="refused", observation=table, evidence=table)
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[-1] - held[RECORDS_KEPT] < 0.1 * (held[RECORDS_KEPT] - held[0])
    seqs = [record.seq for record in session.records()]
    assert seqs == [*range(1, session.ledger.seq + 1)]
    waited = [record.seq for record in session.wait(2, 0)]
    assert waited == seqs[2 : RECORDS_KEPT + 2]
    assert 100 < len(waited) < 400, "as many as a game has"
    session.close()
    assert [record.seq for record in session.subscribe()] == seqs


def test_a_colour_that_nobody_plays_is_what_people_say_and_players_keep_theirs(session):
    """What is not there has no colour, and a piece of one player is never another one's."""
    kinds = {colour: Kind(colour, "medium", "lying") for colour in ("red", "blue", "pink", "green")}
    misread = [
        Misread(read=kinds[read], x_mm=0.0, y_mm=0.0, true=kinds[true] if true else None)
        for read, true in (("pink", "red"), ("pink", None), ("red", "blue"), ("green", "pink"))
    ]
    put(session, "red", evidence={"misread": misreadings_data(misread)})
    assert session.ledger.colours_misread == {"pink": "red"}


def test_an_ended_session_says_so_after_reopening(tmp_path, started, games):
    with Log(tmp_path / "log") as log:
        Session.begin(log, started, games=games).end()
        session = Session.reopen(log, 1, games=games)
        assert isinstance(session.records()[-1].event, SessionEnded)
        assert session.view().phase == "ended"


def test_facts_about_corrections_name_who_decided(session):
    ruled = put(session, "red")
    record = session.command(Correct(record=ruled.seq, moves=(), decided_by="the judge"))
    assert isinstance(record.event, Corrected)
    assert (
        record.event.message == f"The judge corrected record {ruled.seq}: nothing happened instead."
    )
