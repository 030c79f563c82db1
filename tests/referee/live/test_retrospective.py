"""Looking back: what could not be ruled on at its time, and is seen later."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.errors import Violation
from engines.verdict import (
    Accepted,
    Ambiguous,
    CannotSee,
    Choice,
    OutOfSync,
    Refused,
    Waiting,
    refusal,
)
from referee.live.recorded_inputs import Input
from referee.live.referee import Referee
from referee.live.replay import LATER, rejudge
from referee.live.retrospective import Retrospective
from referee.sessions.commands import Answer, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import QuestionAsked, Undone, VerdictReached
from referee.sessions.judged_tables import JudgedTables
from referee.sessions.session import Session
from table.table_config import table_document
from tests.support.observed_boule import SETUP
from tests.support.setups import setup_of
from tests.support.variants import Variant
from vision.cameras.image_files import decode_image


def ruled(session):
    """(time, moves, was it in hindsight) of all that was accepted."""
    events = [
        (record.at_ms, record.event)
        for record in session.records()
        if isinstance(record.event, VerdictReached)
    ]
    return [
        (at_ms, event.moves, "in_hindsight" in event.evidence)
        for at_ms, event in events
        if event.verdict == "accepted"
    ]


def unread(shots, *pieces):
    return [replace(shot, unread_mm=tuple(piece.base_mm for piece in pieces)) for shot in shots]


def test_what_was_unread_is_the_piece_that_is_read_there_later(
    referee, session, hold, piece, red, blue
):
    third = piece("red", 250, 50)
    eyes = referee(
        *hold(0, red),
        *unread(hold(1000, red), blue),
        *hold(2000, red, blue, third),
        *hold(3000, red, blue, third),
    )
    eyes.run()
    assert ruled(session) == [
        (500, ("red",), False),
        (2500, ("blue",), True),
        (2500, ("red",), False),
    ]
    late = session.records()[2]
    assert (
        late.event.message
        == "blue put one down. This became clear only from what the camera sees now."
    )
    assert [one["colour"] for one in late.event.observation["pieces"]] == ["red", "blue"]
    shown = decode_image(session.frame(late.seq), "frame")[0, 0, 0]
    assert 36 < shown <= 48 + 2, "its picture is one of the table of then"


def test_a_piece_that_was_in_doubt_between_two_sure_readings_lay_there(
    referee, session, hold, piece, red, blue
):
    unsure = replace(red, colour_probability=0.6)
    third = piece("red", 250, 50)
    referee(*hold(0, red), *hold(1000, unsure, blue), *hold(2000, red, blue, third)).run()
    assert ruled(session) == [
        (500, ("red",), False),
        (2500, ("blue",), True),
        (2500, ("red",), False),
    ]


def test_a_table_that_is_read_after_all_is_ruled_on_as_it_is_seen(
    referee, session, hold, red, blue
):
    referee(*hold(0, red), *unread(hold(1000, red), blue), *hold(2000, red, blue)).run()
    assert ruled(session) == [(500, ("red",), False), (2500, ("blue",), False)]


class OneMore(Variant):
    """Pegs, of which only one at a time may have come since the last table."""

    def judge(self, state, table, before, board):
        if before is not None and len(table.pieces) > len(before.pieces) + 1:
            return OutOfSync(code="pegs.two", message="Two came.", differences=("Two came.",))
        return self.game.judge(state, table, before, board)


def test_what_is_seen_now_is_compared_with_the_table_that_was_inferred(
    log, started, games, film_of, hold, piece, red, blue
):
    film = film_of(
        *hold(0, red), *unread(hold(1000, red), blue), *hold(2000, red, blue, piece("red", 250, 50))
    )
    with closing(Session.begin(log, started, games={"pegs": OneMore(games["pegs"])})) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert ruled(session) == [
            (500, ("red",), False),
            (2500, ("blue",), True),
            (2500, ("red",), False),
        ]


class Unseen(Variant):
    """Pegs, but of what is not seen people are asked, and what more there is than one is out of
    step.
    """

    def judge(self, state, table, before, board):
        verdict = self.game.judge(state, table, before, board)
        if not isinstance(verdict, Waiting):
            return verdict
        if len(table.pieces) > len(state.pegs) + 1:
            return OutOfSync(code="pegs.more", message="Too many.", differences=("Two came.",))
        if not table.unread_mm:
            return verdict
        choices = (Choice(f"{state.next} lies there", (state.next,)), Choice("Not so", ()))
        return Ambiguous(
            code="pegs.unseen",
            message="What lies there?",
            choices=choices,
            withdrawn_if_table_changes=True,
        )

    def hear(self, state, heard, in_doubt=False):
        if heard.get("player") != state.next:
            return Refused(code="pegs.turn", message=f"It is {state.next}'s turn.")
        return self.game.hear(state, heard, in_doubt)


class Unreadable(Variant):
    """Pegs, but what cannot be read is a reason not to rule."""

    def judge(self, state, table, before, board):
        verdict = self.game.judge(state, table, before, board)
        if isinstance(verdict, Waiting) and table.unread_mm:
            return CannotSee(code="pegs.unread", message="Show it more clearly.")
        return verdict


def test_a_throw_that_cannot_be_read_is_on_record_though_all_else_lies_as_it_was(
    log, started, games, film_of, hold, red, blue
):
    """It is not an unchanged table. Once the thing is gone, the page says so."""
    said = []
    film = film_of(
        *hold(0, red),
        *unread(hold(1000, red), blue),
        lambda: said.append((eyes.latest.status, eyes.latest.message)),
        *hold(3000, red),
        lambda: said.append((eyes.latest.status, eyes.latest.message)),
    )
    game = {"pegs": Unreadable(games["pegs"])}
    with closing(Session.begin(log, started, games=game)) as session:
        eyes = Referee(film, setup_of(), film.observe, session)
        eyes.run()
        verdicts = [
            (record.at_ms, record.event.verdict, record.event.message)
            for record in session.records()
            if isinstance(record.event, VerdictReached)
        ]
    assert verdicts[1:] == [(1500, "cannot_see", "Show it more clearly.")]
    assert said == [
        ("cannot see", "Show it more clearly."),
        ("waiting", "Waiting for the next throw or move."),
    ]


class NoTaking(Variant):
    """Pegs, but nothing that was put down may be taken away."""

    def judge(self, state, table, before, board):
        left = [(piece.colour, *piece.base_mm) for piece in table.pieces]
        if before is not None and any(
            (piece.colour, *piece.base_mm) not in left for piece in before.pieces
        ):
            return Refused(code="pegs.gone", message="Put it back.")
        return self.game.judge(state, table, before, board)


def test_what_was_refused_and_put_back_did_not_happen(
    log, started, games, film_of, hold, piece, red, blue
):
    """Red was taken away when blue came; then all was put back, and blue came elsewhere."""
    film = film_of(
        *hold(0, red),
        *hold(1000, blue),
        *hold(2000, red),
        *hold(3000, red, piece("blue", 350, 250)),
    )
    with closing(Session.begin(log, started, games={"pegs": NoTaking(games["pegs"])})) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert [moves for _, moves, _ in ruled(session)] == [("red",), ("blue",)]


class Takes(NoTaking):
    """Who takes a piece away has had a turn by that."""

    def judge(self, state, table, before, board):
        if (
            before is not None
            and len(table.pieces) == len(before.pieces) - 1
            and not isinstance(super().judge(state, before, table, board), Refused)
        ):
            return Accepted(
                code="pegs.take",
                message="One was taken away.",
                rests_on="",
                player=state.next,
                moves=(state.next,),
            )
        return super().judge(state, table, before, board)


def test_where_the_table_lies_again_as_it_lay_all_was_put_back(
    log, started, games, film_of, hold, red, blue
):
    """Red was taken away when blue came, and that was refused; by the rules blue might have come,
    and then been taken away.
    """
    film = film_of(*hold(0, red), *hold(1000, blue), *hold(2000, red))
    with closing(Session.begin(log, started, games={"pegs": Takes(games["pegs"])})) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert ruled(session) == [(500, ("red",), False)]


@pytest.fixture
def unseen(log, started, games, film_of):
    """unseen(*shots, inputs=()): (session, referee) of that game."""
    sessions = []

    def make(*shots, inputs=()):
        film, session = (
            film_of(*shots),
            Session.begin(log, started, games={"pegs": Unseen(games["pegs"])}),
        )
        sessions.append(session)
        return session, Referee(film, setup_of(), film.observe, session, inputs=inputs)

    yield make
    for session in sessions:
        session.close()


class Ends(Unseen):
    """The game is over with the second peg; what lies there then is nobody's concern."""

    def outcome(self, state):
        return self.game.outcome(state) or ("It is a draw." if len(state.pegs) == 2 else None)

    def judge(self, state, table, before, board):
        if self.outcome(state):
            return Waiting(code="pegs.over", message="It is over.", as_recorded=True)
        return super().judge(state, table, before, board)


def test_no_game_ends_by_an_answer_that_nobody_gave(
    log, started, games, film_of, hold, piece, red, blue
):
    """Else any table that cannot be explained would be explained by the end of the game."""
    third, fourth = piece("red", 250, 50), piece("blue", 350, 50)
    film = film_of(*hold(0, red), *unread(hold(1000, red), blue), *hold(2000, red, third, fourth))
    with closing(Session.begin(log, started, games={"pegs": Ends(games["pegs"])})) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert ruled(session) == [(500, ("red",), False)]


def test_nothing_follows_where_the_table_now_is_not_explained(unseen, hold, piece, red, blue):
    """Two more came since: nobody knows which was first."""
    third, fourth = piece("red", 250, 50), piece("blue", 350, 50)
    session, eyes = unseen(
        *hold(0, red),
        *hold(1000, red, replace(blue, colour_probability=0.6)),
        *hold(2000, red, blue, third, fourth),
    )
    eyes.run()
    assert ruled(session) == [(500, ("red",), False)]


def test_a_question_that_nobody_answers_is_answered_by_what_is_seen_later(unseen, hold, red, blue):
    session, eyes = unseen(*unread(hold(0), red), *hold(1000, red, blue))
    eyes.run()
    assert ruled(session) == [(1750, ("red",), True), (1750, ("blue",), False)]
    assert [type(record.event) for record in session.records()[1:]] == [
        QuestionAsked,
        Undone,
        VerdictReached,
        VerdictReached,
    ]
    assert session.ledger.question is None


def test_of_what_is_never_read_the_only_answer_that_explains_what_follows_is_true(
    unseen, hold, piece, red, blue
):
    """Where it lay nothing is read later: it was knocked off."""
    away = piece("red", 350, 250)
    session, eyes = unseen(*unread(hold(0), away), *hold(1000, red, blue))
    eyes.run()
    assert [(moves, late) for _, moves, late in ruled(session)] == [
        (("red",), True),
        (("blue",), False),
    ]


class Doubtful(Variant):
    """Pegs, but people are asked whether a piece of doubtful pose counts, or is no peg."""

    def judge(self, state, table, before, board):
        if len(table.pieces) <= len(state.pegs) or table.pieces[-1].pose_probability > 0.9:
            return self.game.judge(state, table, before, board)
        return Ambiguous(
            code="pegs.lies",
            message="How does it lie?",
            choices=(Choice("It counts", (state.next,)), Choice("Not so", ())),
            withdrawn_if_table_changes=True,
        )


def test_a_doubtful_piece_that_is_read_otherwise_answers_no_question(
    log, started, games, film_of, hold, piece, red
):
    """Nothing has happened since: only the reading is another one."""
    film = film_of(
        *hold(0, red),
        *hold(1000, red, piece("blue", 150, 50, pose="upright", pose_probability=0.6)),
        *hold(2000, red, piece("blue", 140, 50, pose="lying", pose_probability=0.8)),
    )
    with closing(Session.begin(log, started, games={"pegs": Doubtful(games["pegs"])})) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert ruled(session) == [(500, ("red",), False)]
        assert session.ledger.question is not None


class UnseenOrDoubtful(Doubtful):
    """Pegs, but people are asked about what is not seen, and about a piece of doubtful pose."""

    def judge(self, state, table, before, board):
        if table.unread_mm:
            return Unseen(self.game).judge(state, table, before, board)
        return super().judge(state, table, before, board)


def test_what_was_unread_and_is_read_in_doubt_answers_no_question(
    log, started, games, film_of, hold, red, blue
):
    """Nothing has happened since: only the reading is another one."""
    film = film_of(
        *hold(0, red),
        *unread(hold(1000, red), blue),
        *hold(2000, red, replace(blue, pose="upright", pose_probability=0.5)),
    )
    game = {"pegs": UnseenOrDoubtful(games["pegs"])}
    with closing(Session.begin(log, started, games=game)) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert ruled(session) == [(500, ("red",), False)]
        assert session.ledger.question is not None


def test_a_question_stays_open_until_the_doubtful_piece_is_surely_read(
    log, started, games, film_of, hold, piece, red
):
    asked = []
    film = film_of(
        *hold(0, red),
        *hold(1000, red, piece("blue", 150, 50, pose="upright", pose_probability=0.6)),
        *hold(2000, red, piece("blue", 140, 50, pose="lying", pose_probability=0.8)),
        lambda: asked.append(session.ledger.question.seq),
        *hold(3000, red, piece("blue", 140, 50, pose="lying")),
    )
    with closing(Session.begin(log, started, games={"pegs": Doubtful(games["pegs"])})) as session:
        Referee(film, setup_of(), film.observe, session).run()
        assert asked == [3], "it is the question that was asked first"
        assert [moves for _, moves, _ in ruled(session)] == [("red",), ("blue",)]


def test_what_was_asked_is_seen_when_people_go_on(referee, session, hold, piece, red, blue):
    unsure = piece("red", 50, 50, pose="leaning", pose_probability=0.6)
    referee(*hold(0, unsure), *hold(1000, red, blue)).run()
    assert ruled(session) == [(1500, ("red",), True), (1500, ("blue",), False)]
    assert [type(record.event) for record in session.records()[1:]] == [
        QuestionAsked,
        Undone,
        VerdictReached,
        VerdictReached,
    ]


def test_what_is_not_to_be_seen_stays_asked_and_the_table_is_judged_after_the_answer(
    referee, session, hold, piece, blue
):
    leans = piece("red", 50, 50, pose="leaning")

    def answer():
        session.command(Answer(question=2, label="it counts", decided_by="blue"))

    referee(
        *hold(0, leans),
        *hold(1000, piece("red", 50, 50), blue),
        answer,
        *hold(2000, piece("red", 50, 50), blue),
    ).run()
    assert ruled(session) == [(2000, ("blue",), False)]


def test_people_decide_before_hindsight_does(unseen, hold, red, blue):
    def answer():
        session.command(Answer(question=2, label="Not so", decided_by="red"))

    session, eyes = unseen(*unread(hold(0), red), answer, *hold(1000, red, blue))
    eyes.run()
    assert ruled(session) == []


def test_what_was_taken_back_stays_taken_back(referee, session, hold, piece, red, blue):
    def undo():
        session.command(Undo(decided_by="blue"))

    unsure = replace(blue, colour_probability=0.6)
    referee(
        *hold(0, red), *hold(1000, red, unsure), undo, *hold(2000, red, blue, piece("red", 250, 50))
    ).run()
    assert ruled(session) == [(500, ("red",), False)]


def test_what_was_said_too_early_by_the_record_is_heard_again(unseen, hold, piece, red, blue):
    message = Input(1900, {"player": "red", "put": "blindly"}, "inputs.jsonl, line 1")
    fourth = piece("blue", 250, 50)
    shots = (
        *hold(0, red),
        *hold(1000, red, replace(blue, colour_probability=0.6)),
        *hold(2000, red, blue, piece("red", 350, 50), fourth),
    )
    session, eyes = unseen(*shots, inputs=[message])
    eyes.run()
    played = [moves for _, moves, _ in ruled(session)]
    assert played == [("red",), ("blue",), ("red",), ("blue",)]


def test_a_verdict_in_hindsight_is_not_judged_again(
    log, started, games, film_of, hold, piece, red, blue
):
    film = [
        *hold(0, red),
        *unread(hold(1000, red), blue),
        *hold(2000, red, blue, piece("red", 250, 50)),
    ]
    session = Session.begin(
        log, msgspec.structs.replace(started, table=table_document(SETUP)), games=games
    )
    camera = film_of(*film)
    Referee(camera, setup_of(), camera.observe, session).run()
    again = {
        one.record.seq: one.not_judged
        for one in rejudge(log, session.id, games, lambda *_: film[0])
    }
    assert again == {
        2: "",
        3: LATER,
        4: "the table before it was made out from what was seen later",
    }
    session.close()


FAULTS = (
    "unread",
    "doubt of the new",
    "doubt of an old",
    "the new in another colour",
    "an old in another colour",
    "one too many",
)
OTHER = {"red": "blue", "blue": "red"}


@pytest.mark.slow
@given(
    throws=st.integers(3, 6), at=st.integers(0, 4), fault=st.sampled_from(FAULTS), data=st.data()
)
def test_one_table_that_is_seen_badly_loses_no_throw(
    tmp_path_factory, games, started, film_of, hold, piece, throws, at, fault, data
):
    pieces = [piece(("red", "blue")[k % 2], 50 + 60 * k, 50) for k in range(throws)]
    bad = max(min(at, throws - 2), int(fault == "one too many"))
    shots = []
    for k in range(throws):
        table = pieces[: k + 1]
        which = table[data.draw(st.integers(0, k)) if "an old" in fault and k == bad else k]
        if k != bad:
            shots += hold(1000 * k, *table)
        elif fault == "unread":
            shots += unread(hold(1000 * k, *table[:-1]), which)
        elif fault == "one too many":
            shots += hold(
                1000 * k, *table, piece(data.draw(st.sampled_from(("red", "blue"))), 50, 200)
            )
        else:
            badly = (
                {"colour": OTHER[which.colour]}
                if "colour" in fault
                else {"colour_probability": 0.6}
            )
            shots += hold(
                1000 * k, *(replace(one, **badly) if one is which else one for one in table)
            )
    film = film_of(*shots)
    with Log(tmp_path_factory.mktemp("log") / "log.sqlite") as log:
        session = Session.begin(log, started, games=games)
        Referee(film, setup_of(), film.observe, session).run()
        assert [moves for _, moves, _ in ruled(session)] == [(one.colour,) for one in pieces]
        assert session.ledger.state.pegs == tuple(one.colour for one in pieces)
        assert np.array_equal(
            [late for _, _, late in ruled(session)], [k == bad for k in range(throws)]
        )
        session.close()


@pytest.mark.parametrize(("throws", "known"), [(1, True), (4, True), (5, True), (6, False)])
def test_whoever_plays_on_while_nothing_can_be_read_has_five_throws_to_clear_the_table(
    session, seen, piece, throws, known
):
    """What was thrown before that is for people to say."""
    pieces = [piece(("red", "blue")[at % 2], 50 + 60 * at, 50) for at in range(throws + 1)]
    kept = Retrospective()
    for at in range(throws):
        table = replace(seen(1000 * at, *pieces[:at]), unread_mm=(pieces[at].base_mm,))
        kept.keep(table, b"", session)
    now = seen(1000 * throws, *pieces)
    events = kept.infer(session.ledger, seen(0), now, setup_of().board)
    assert [one.event.moves for one in events] == [
        (one.colour,) for one in pieces[:throws] if known
    ]


class Guessed(Variant):
    """Pegs, of which so many may lie where nothing can be read: the right number of them is known
    once all can be read.
    """

    def __init__(self, pegs, choices, right=1, else_asks=False):
        super().__init__(pegs)
        self.choices, self.right, self.else_asks = choices, right, else_asks

    def play(self, state, move):
        return replace(state, pegs=(*state.pegs, move))

    def outcome(self, _state):
        return None

    def judge(self, state, table, _before, _board):
        asks = Ambiguous(
            code="pegs.unseen",
            message="How many lie there?",
            choices=self.choices,
            withdrawn_if_table_changes=True,
        )
        if table.unread_mm:
            return asks
        if len(state.pegs) == self.right:
            return Accepted(
                code="pegs.put", message="One more.", rests_on="", player="red", moves=("red",)
            )
        return (
            asks
            if self.else_asks
            else OutOfSync(code="pegs.more", message="No.", differences=("One is missing.",))
        )


@pytest.fixture
def guessed(log, started, seen, piece):
    """guessed(game, tables): moves that are made out of so many tables of which nothing is read."""

    def make(game, tables=1):
        with closing(Session.begin(log, started, games={"pegs": game})) as session:
            kept = Retrospective()
            for at in range(tables):
                place_mm = np.array([50.0 + 100 * at, 50.0])
                kept.keep(replace(seen(1000 * at), unread_mm=(place_mm,)), b"", session)
            now = seen(9000, piece("red", 300, 300))
            return [
                one.event.moves
                for one in kept.infer(session.ledger, seen(0), now, setup_of().board)
            ]

    return make


@pytest.mark.parametrize("back", [True, False])
def test_what_was_put_back_explains_nothing_later(log, started, games, seen, piece, back):
    """Something was unread, then all lay as before: what comes next is another matter."""
    choices = (Choice("one", ("red",)), Choice("nothing", ()))
    game = Guessed(games["pegs"], choices)
    with closing(Session.begin(log, started, games={"pegs": game})) as session:
        kept, judged, board = Retrospective(), JudgedTables(), setup_of().board
        kept.keep(replace(seen(1000), unread_mm=(np.array([50.0, 50.0]),)), b"", session)
        if back:
            assert not kept.record_inferred(session, seen(0), judged, seen(2000), board)
        now = seen(3000, piece("red", 300, 300))
        assert kept.record_inferred(session, seen(0), judged, now, board) is not back


@pytest.mark.parametrize(("answers", "known"), [(7, True), (24, True), (25, False)])
def test_of_up_to_24_answers_the_one_that_explains_what_follows_is_true(
    guessed, games, answers, known
):
    """More than that nobody can look through."""
    nothing = [Choice(f"nothing {k}", ()) for k in range(answers - 1)]
    choices = (Choice("one", ("red",)), *nothing)
    assert guessed(Guessed(games["pegs"], choices)) == [("red",)] * known


@pytest.mark.parametrize(("answers", "known"), [(7, True), (23, True), (24, False)])
def test_up_to_24_courses_of_events_are_told_apart(guessed, games, answers, known):
    """One of them is that nothing happened."""
    choices = tuple(Choice(f"{count}", ("red",) * count) for count in range(1, answers + 1))
    assert guessed(Guessed(games["pegs"], choices, right=3)) == [("red",) * 3] * known


def test_courses_of_events_that_come_to_the_same_are_one(guessed, games):
    choices = tuple(Choice(f"one, in place {k}", ("red",)) for k in range(24))
    assert guessed(Guessed(games["pegs"], choices)) == [("red",)]


@pytest.mark.parametrize(("tables", "known"), [(1, True), (2, False)])
def test_nobody_is_spared_a_question_by_two_answers_that_nobody_gave(guessed, games, tables, known):
    choices = (Choice("one", ("red",)), Choice("nothing", ()))
    found = guessed(Guessed(games["pegs"], choices, right=tables, else_asks=True), tables)
    assert found == [("red",)] * known


class Refuses(Guessed):
    """Two pegs came at once, which is refused; after an unread peg there would be a question."""

    def judge(self, state, table, before, board):
        if not table.unread_mm and not state.pegs:
            return refusal(Violation("pegs.two", "", "Two at once."), "red", ("red",), {})
        return super().judge(state, table, before, board)


def test_what_is_refused_as_it_lies_is_not_made_a_question_by_an_answer_that_nobody_gave(
    guessed, games
):
    choices = (Choice("one", ("red",)), Choice("nothing", ()))
    assert guessed(Refuses(games["pegs"], choices, right=2, else_asks=True)) == []
    assert guessed(Refuses(games["pegs"], choices, right=1)) == [("red",)], "a legal move follows"
