"""A table at rest that matches nothing gets a record, a sentence and the nearest explanation, in
every game.
"""

from __future__ import annotations

import datetime
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.games.piece_faults import FAULTS
from cli.referee import verdict_document
from referee.devices.answer_picker import AnswerSelection
from referee.live.correction import PieceCorrection
from referee.live.referee import Referee
from referee.sessions.commands import Answer, Correct, Hear, Pause, Resume, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import Answered, Paused, QuestionAsked, Resumed, VerdictReached
from referee.sessions.misreadings import KEY
from referee.sessions.session import Session
from referee.sessions.start import opening
from simulation.players.ice_boule_table import demo_place, demo_setup
from simulation.render.scene import Scene, SceneDie, ScenePiece, Slab
from simulation.tables import board_players, game_table
from simulation.true_reading import true_observation
from table.observation import Observation, SeenPiece
from table.solids import lying, upright
from vision.cameras.frame import Frame
from webui.i18n import LANGUAGES, translated

pytestmark = pytest.mark.slow

PERIOD_MS = 250
SETS = ["icebreaker", "icefloe", "zamboni_wars"]
"""Games that begin from a board that is set up."""
COLOUR, SIZE, ROUND, POSE, GHOST = (
    "of another colour",
    "of another size",
    "the other way round",
    "standing, and it lies, or the other way",
    "twice, where it is and beside that",
)


class Film:
    """A session of a game, and tables that are shown to its referee one after the other; people
    answer as they are told to.
    """

    def __init__(self, path, game, seed=2):
        table = None if game == "ice_boule" else game_table(game, seed, 320)
        self.setup = demo_setup() if table is None else table.setup
        self.place = demo_place() if table is None else table.place
        self.rulings = {} if table is None else table.rulings
        self.play = (
            None
            if table is None
            else board_players()[game].play(self.setup, np.random.default_rng(seed))
        )
        self.log = Log(path / "log.sqlite")
        started = opening(
            game,
            self.setup.game.colours,
            self.rulings,
            self.setup,
            "a film",
            datetime.datetime.now(datetime.UTC),
            simulated=True,
        )
        self.session = Session.begin(self.log, started)
        self.shots, self.shown, self.at_ms = [], [], 0
        self.bodies = {}

    @property
    def state(self):
        return self.session.ledger.state

    def start(self):
        """The board as it is set up."""
        self.bodies = self.play.begin(self.state).bodies
        return self.seen()

    def turn(self):
        """Somebody does something legal that is seen; the board after it and the moves."""
        act = self.play.turn(self.state, self.bodies)
        self.bodies = act.bodies
        return self.seen(), act.moves

    def seen(self):
        bodies = self.bodies.values()
        pieces, slabs, dice = (
            tuple(body for body in bodies if isinstance(body, kind))
            for kind in (ScenePiece, Slab, SceneDie)
        )
        return true_observation(Scene(None, pieces, (), slabs, dice), self.setup, self.place)

    def table(self, *pieces):
        return Observation(0, 0, self.place, pieces)

    def piece(self, colour, x_mm, y_mm, pose="upright", heading_deg=0.0, size=None):
        size = size or self.setup.game.sizes[0]
        solid = (upright if pose == "upright" else lying)(
            self.setup.pieces[size], x_mm, y_mm, heading_deg
        )
        return SeenPiece(
            colour,
            size,
            pose,
            np.array([x_mm, y_mm]),
            heading_deg,
            solid,
            np.diag([0.3, 0.3, 1.0]) ** 2,
        )

    def show(self, seen, ms=3000):
        """A table rests for so long, and then a hand comes."""
        self.shots += [replace(seen, at_ms=self.at_ms + step) for step in range(0, ms, PERIOD_MS)]
        self.at_ms += ms
        self.shots.append(replace(seen, at_ms=self.at_ms, hand=True))
        self.at_ms += PERIOD_MS

    def do(self, deed):
        self.shots.append(deed)

    def read(self):
        while self.shots:
            shot = self.shots.pop(0)
            if callable(shot):
                shot()
                continue
            self.shown.append(shot)
            return Frame(len(self.shown) - 1, shot.at_ms, np.zeros((8, 8, 3), np.uint8))
        return None

    def close(self):
        pass

    def run(self):
        """The records of what was shown."""
        after = self.session.ledger.seq
        self.referee = Referee(
            self, self.setup, lambda frame, *_: self.shown[frame.seq], self.session
        )
        self.referee.run()
        return self.session.records(after)

    def answer(self, number=0):
        question = self.session.ledger.question
        self.session.command(
            Answer(question=question.seq, label=question.event.choices[number].label)
        )


@pytest.fixture
def film_in(tmp_path):
    made = []

    def make(game, seed=2):
        made.append(Film(tmp_path, game, seed))
        return made[-1]

    yield make
    for film in made:
        film.session.close()
        film.log.close()


def asked(records):
    return [record for record in records if isinstance(record.event, QuestionAsked)]


def misread(film, seen, fault, k=0):
    return FAULTS[fault](seen, k, film.setup)


MISREAD = {
    "icebreaker": (COLOUR, POSE, GHOST),
    "icefloe": (COLOUR, SIZE, GHOST),
    "zamboni_wars": (COLOUR, SIZE, ROUND, POSE, GHOST),
}
CASES = [(game, fault) for game, faults in MISREAD.items() for fault in faults]


@pytest.mark.parametrize(("game", "fault"), CASES)
def test_play_begins_after_one_answer_where_a_piece_of_the_start_is_misread(film_in, game, fault):
    film = film_in(game)
    start = film.start()
    wrong = misread(film, start, fault)
    assert wrong.pieces != start.pieces
    film.show(wrong, 7000)
    film.do(film.answer)
    film.show(wrong)
    records = film.run()
    (question,) = asked(records)
    first, *others = question.event.choices
    assert first.label.startswith("Start from this table: "), [
        choice.label for choice in question.event.choices
    ]
    assert others[-1].label == "None of these: fix the table"
    assert film.session.ledger.standing, "play has begun"
    assert film.session.ledger.question is None


@pytest.mark.parametrize("seed", range(3))
def test_what_people_said_of_a_ship_holds_wherever_it_goes(film_in, seed):
    """Nobody is asked about it again, whoever moves, and verdicts are those of the true table."""
    film = film_in("icebreaker", seed)
    start, moves, at = film.start(), [], []

    def play_on():
        before = film.seen()
        seen, played = film.turn()
        moves.append(played)
        k = nearest(seen, at[-1])
        if k is None:
            k = next(
                n for n, piece in enumerate(seen.pieces) if nearest(before, piece.base_mm) is None
            )
        at.append(seen.pieces[k].base_mm)
        film.show(misread(film, seen, COLOUR, k))
        if len(moves) < 8:
            film.do(play_on)

    at.append(start.pieces[0].base_mm)
    film.show(misread(film, start, COLOUR))
    film.do(film.answer)
    film.show(misread(film, start, COLOUR))
    film.do(play_on)
    events = [
        record.event
        for record in film.run()
        if isinstance(record.event, VerdictReached | QuestionAsked)
    ]
    assert len(np.unique(np.array(at).round(), axis=0)) > 1, "it has moved"
    assert [getattr(event, "verdict", "asked") for event in events] == [
        "waiting",
        "asked",
        *["accepted"] * 8,
    ]
    assert [event.moves for event in events[2:]] == moves


def nearest(seen, at_mm):
    """The index of the piece that stands there, to 6 mm."""
    return next(
        (k for k, piece in enumerate(seen.pieces) if np.hypot(*(piece.base_mm - at_mm)) < 6), None
    )


def see_through(start, colour, other):
    """Two see-through ships of one colour on a blue board that are read as the other player's,
    surely.
    """
    own = [k for k, piece in enumerate(start.pieces) if piece.colour == colour][:2]
    pieces = [
        replace(piece, colour=other, colour_probability=0.998) if k in own else piece
        for k, piece in enumerate(start.pieces)
    ]
    return replace(start, pieces=tuple(pieces))


def test_two_see_through_ships_that_are_read_as_the_other_player_s_do_not_cost_a_game(film_in):
    """Read with .998, on every picture: once nothing was said, from the first one to the last."""
    film = film_in("icebreaker")
    first, second = film.state.players
    film.show(see_through(film.start(), first, second), 2000)
    noticed, question = film.run()
    assert (noticed.event.verdict, noticed.at_ms <= 2000, question.at_ms <= 2000) == (
        "waiting",
        True,
        True,
    )
    assert len(noticed.event.evidence["differences"]) == 2, "piece by piece"
    label, none = (choice.label for choice in question.event.choices)
    assert label.startswith(f"Start from this table: the {second} pieces on ")
    assert label.endswith(f" are {first}")
    film.do(film.answer)
    film.show(see_through(film.start(), first, second))
    film.run()
    assert len(film.session.ledger.standing) == 1
    assert none == "None of these: fix the table"


def test_the_question_falls_by_itself_when_the_table_is_put_right(film_in):
    film = film_in("icebreaker")
    start = film.start()
    film.show(misread(film, start, COLOUR))
    film.show(start)
    events = [record.event for record in film.run()]
    assert [type(event).__name__ for event in events] == [
        "VerdictReached",
        "QuestionAsked",
        "Undone",
        "VerdictReached",
    ]
    assert events[-1].verdict == "accepted"
    assert film.session.ledger.misread == ()


def test_nobody_is_asked_about_a_board_that_is_half_set_up_and_each_table_is_on_record_once(
    film_in,
):
    film = film_in("icebreaker")
    start = film.start()
    for count in (1, 3, 3, 5):
        film.show(replace(start, pieces=start.pieces[:count], counters=start.counters[: 8 * count]))
    film.show(start)
    events = [record.event for record in film.run()]
    assert [event.verdict for event in events] == ["waiting", "waiting", "waiting", "accepted"]
    assert all("missing" in event.message for event in events[:-1])


def test_an_empty_board_is_nothing_to_speak_of(film_in):
    for game in ("ice_storm", "ice_boule"):
        film = film_in(game)
        film.show(film.table())
        assert film.run() == ()
        film.session.close()
        film.log.close()
        film.log.path.unlink()


def test_a_target_that_is_taken_for_a_player_s_piece_begins_the_end(film_in):
    film = film_in("ice_boule")
    target, colour = film.setup.game.target, film.setup.game.colours[0]
    film.show(film.table(film.piece(colour, 300, 250)))
    film.do(film.answer)
    film.show(film.table(film.piece(colour, 300, 250)))
    noticed, question, *_ = film.run()
    assert noticed.event.verdict == "waiting"
    assert (
        question.event.choices[0].label
        == f"Start from this table: the {colour} piece at (300, 250) mm is {target}"
    )
    assert film.state.target == target
    film.show(
        film.table(
            film.piece(colour, 300, 250), film.piece(film.state.next, 360, 250, "lying", 0.0)
        )
    )
    (ruled,) = film.run()
    assert (ruled.event.verdict, ruled.event.code) == ("accepted", "boule.throw")


def test_a_colour_that_nobody_plays_is_learned_for_the_session(film_in):
    """The eyes know it, and nobody plays it; of two players nobody's pieces are ever taken for the
    other's.
    """
    film = film_in("ice_boule")
    target, (first, second, *_) = film.setup.game.target, film.setup.game.colours
    stranger = next(
        colour for colour in ("purple", "cyan") if colour not in (target, first, second)
    )
    lying = [film.piece(target, 300, 250)]
    film.show(film.table(*lying))
    thrown = film.piece(stranger, 360, 250, "lying")
    film.show(film.table(*lying, thrown))
    film.do(film.answer)
    film.show(film.table(*lying, thrown))
    other = film.piece(second, 300, 330, "lying")
    film.show(film.table(*lying, thrown, other))
    film.show(film.table(*lying, thrown, other, film.piece(stranger, 240, 200, "lying")))
    verdicts = [
        getattr(record.event, "verdict", "asked")
        for record in film.run()
        if isinstance(record.event, VerdictReached | QuestionAsked)
    ]
    thrower = film.session.records()[1].event.state["next"]
    assert film.session.ledger.colours_misread == {stranger: thrower}
    assert verdicts.count("asked") == 1, verdicts


def test_a_first_throw_that_is_taken_for_another_s_begins_the_round(film_in):
    film = film_in("ice_storm")
    first, second = film.state.players[:2]
    square = film.setup.board.square_mm
    x_mm, y_mm = np.array(film.setup.board.origin_mm) + 3.5 * square
    film.show(film.table(film.piece(second, x_mm, y_mm)))
    film.do(film.answer)
    film.show(film.table(film.piece(second, x_mm, y_mm)))
    events = [record.event for record in film.run()]
    assert [type(event).__name__ for event in events] == [
        "VerdictReached",
        "QuestionAsked",
        "Answered",
    ]
    assert (
        events[1].choices[0].label == f"Start from this table: the {second} piece on d4 is {first}"
    )
    assert [piece.colour for piece in film.state.pieces] == [first]


def much_amiss(film, start):
    """Three pieces read as another player's, each otherwise, and one not seen."""
    wrong = start
    for k, fault in enumerate(
        (COLOUR, SIZE, COLOUR)
        if film.session.ledger.started.game != "icebreaker"
        else (COLOUR, COLOUR, COLOUR)
    ):
        wrong = misread(film, wrong, fault, k)
    return replace(wrong, pieces=wrong.pieces[:-1])


@pytest.mark.parametrize("game", ["icebreaker", "zamboni_wars"])
@pytest.mark.parametrize("pressed", [False, True])
def test_what_nothing_near_explains_is_the_start_all_the_same_if_the_host_says_so(
    film_in, game, pressed
):
    """After some time, or at once where they press to have it ruled on now."""
    film = film_in(game, 1)
    start = film.start()
    wrong = much_amiss(film, start)
    film.show(wrong, 3000 if pressed else 25_000)
    if pressed:
        film.do(lambda: [film.session.command(command) for command in (Pause(), Resume())])
        film.show(wrong, 1500)
    film.do(pick(film, "Start from this table anyway"))
    film.show(wrong)
    records = [record for record in film.run() if not isinstance(record.event, Paused | Resumed)]
    assert [type(record.event).__name__ for record in records] == [
        "VerdictReached",
        "QuestionAsked",
        "Answered",
    ]
    _, question, answer = (record.event for record in records)
    assert question.evidence["host_decides"]
    assert AnswerSelection.begin(records[1]) is None, "no button answers it"
    assert (answer.confirms_record, answer.message) == (
        True,
        "Start from this table anyway. Decided by players.",
    )
    assert [piece["colour"] for piece in question.observation["pieces"]] == [
        piece.colour for piece in wrong.pieces
    ], "as it was seen"
    assert film.session.ledger.standing, "play has begun"
    assert film.session.ledger.misread, (
        "what is read otherwise is, by people's word, what it should be"
    )


@pytest.mark.parametrize("seed", range(3))
def test_play_goes_on_from_a_start_that_people_decided(film_in, seed):
    """What is misread is followed as it moves, and what is not seen stands where it stood; so the
    next move is ruled.
    """
    film = film_in("icebreaker", seed)
    start = film.start()
    *wrong, unseen = [piece.base_mm for piece in start.pieces[:3]] + [start.pieces[-1].base_mm]
    moves = []

    def seen_of(table):
        for place in wrong:
            table = misread(film, table, COLOUR, nearest(table, place))
        return replace(
            table,
            pieces=tuple(
                piece for piece in table.pieces if np.hypot(*(piece.base_mm - unseen)) > 2
            ),
        )

    def play_on():
        before = film.seen()
        seen, played = film.turn()
        moves.extend(played)
        came = next(
            piece.base_mm for piece in seen.pieces if nearest(before, piece.base_mm) is None
        )
        wrong[:] = [came if nearest(seen, place) is None else place for place in wrong]
        film.show(seen_of(seen))

    film.show(seen_of(start), 25_000)
    film.do(pick(film, "Start from this table anyway"))
    film.show(seen_of(start))
    film.do(play_on)
    *_, ruled = film.run()
    assert (ruled.event.verdict, list(ruled.event.moves)) == ("accepted", moves)


def test_a_board_that_is_being_set_up_is_not_asked_about_before_it_is_left_alone(film_in):
    film = film_in("icebreaker", 1)
    wrong = much_amiss(film, film.start())
    film.show(wrong, 19_000)
    assert asked(film.run()) == []
    film.show(film.table(), 30_000)
    assert asked(film.run()) == [], "an empty board is no start"


def say(film, key):
    """Somebody presses the button with this in what it says."""
    rows = film.session.view().state["may_say"]
    return lambda: film.session.command(
        Hear(heard=next(one["said"] for one in rows if key in one["said"]))
    )


def pick(film, start):
    """Somebody takes the answer that begins so."""

    def answer():
        question = film.session.ledger.question
        label = next(
            choice.label for choice in question.event.choices if choice.label.startswith(start)
        )
        film.session.command(Answer(question=question.seq, label=label))

    return answer


def test_an_end_begins_whose_target_is_never_seen_and_throws_are_what_people_say(film_in):
    film = film_in("ice_boule")
    first, second = film.state.players[:2]
    lying = []
    film.show(film.table())
    film.do(say(film, "target"))
    film.do(pick(film, f"A {film.setup.game.target} target stands"))
    film.show(film.table())
    for player, x_mm in ((first, 200), (second, 320)):
        lying.append(film.piece(player, x_mm, 250, "lying"))
        film.show(film.table(*lying))
        film.do(pick(film, f"The target is still in play. {player.capitalize()} is nearest"))
        film.show(film.table(*lying))
    records = film.run()
    assert [type(record.event).__name__ for record in records] == ["QuestionAsked", "Answered"] * 3
    assert (film.state.leading, film.state.next) == (second, first)
    tables = [
        record.event.observation
        for record in records
        if isinstance(record.event, QuestionAsked) and record.event.observation
    ]
    assert film.setup.game.target not in {
        piece["colour"] for table in tables for piece in table["pieces"]
    }, "nobody claims that the camera saw it"


@pytest.mark.parametrize("pieces", [1, 2])
def test_who_threw_beside_a_target_that_is_not_seen_is_asked_about_it(film_in, pieces):
    film = film_in("ice_boule")
    first = film.state.players[0]
    lying = [film.piece(first, 200 + 100 * k, 250, "lying") for k in range(pieces)]
    film.show(film.table(*lying), 7000)
    film.do(pick(film, f"A {film.setup.game.target} target stands"))
    film.show(film.table(*lying))
    film.run()
    assert film.state.target == film.setup.game.target
    if pieces == 1:
        question = film.session.ledger.question.event
        assert (
            question.choices[0].label
            == f"The target is still in play. {first.capitalize()} is nearest"
        )


def test_a_round_begins_whose_first_throw_is_never_seen(film_in):
    film = film_in("ice_storm")
    first, second = film.state.players[:2]
    square = film.setup.board.square_mm
    x_mm, y_mm = np.array(film.setup.board.origin_mm) + 3.5 * square
    film.show(film.table())
    film.do(say(film, "on"))
    film.do(pick(film, "Within g7"))
    film.show(film.table())
    film.show(film.table(film.piece(second, x_mm, y_mm)))
    events = [record.event for record in film.run()]
    assert [type(event).__name__ for event in events] == [
        "QuestionAsked",
        "Answered",
        "VerdictReached",
    ]
    assert [str(piece) for piece in film.state.pieces] == [f"{first}1 g7", f"{second}1 d4^"]


def test_an_unseen_throw_on_several_squares_is_written_down(film_in):
    """The answer that says so is a record to be corrected, as every ruling is."""
    film = film_in("ice_storm")
    first, second = film.state.players[:2]
    film.show(film.table())
    film.do(say(film, "on"))
    film.do(pick(film, "On several squares"))
    film.show(film.table())
    film.do(
        lambda: film.session.command(
            Correct(record=film.session.seq, moves=(f"throw {first} g6-g7>g7",))
        )
    )
    x_mm, y_mm = np.array(film.setup.board.origin_mm) + 3.5 * film.setup.board.square_mm
    film.show(film.table())
    film.show(film.table(film.piece(second, x_mm, y_mm)))
    film.run()
    assert [str(piece) for piece in film.state.pieces] == [f"{first}1 g6-g7>g7", f"{second}1 d4^"]


def test_a_first_throw_that_is_not_seen_may_be_told_after_the_second_was_made(film_in):
    film = film_in("ice_storm")
    second = film.state.players[1]
    x_mm, y_mm = np.array(film.setup.board.origin_mm) + 3.5 * film.setup.board.square_mm
    table = film.table(film.piece(second, x_mm, y_mm))
    film.show(table, 7000)
    film.do(pick(film, "None of these"))
    film.do(say(film, "on"))
    film.do(pick(film, "Within g7"))
    film.show(table)
    film.run()
    assert len(film.state.pieces) == 2


def test_a_piece_that_is_misread_later_is_asked_about_too(film_in):
    film = film_in("icebreaker")
    start = film.start()
    film.show(start)
    film.show(misread(film, start, COLOUR))
    film.do(film.answer)
    film.show(misread(film, start, COLOUR))
    _, out_of_step, question, answered = (record.event for record in film.run())
    assert (out_of_step.verdict, out_of_step.evidence["differences"]) == (
        "out_of_sync",
        out_of_step.evidence["differences"],
    )
    assert question.choices[0].label.startswith("Nothing happened: the ")
    assert isinstance(answered, Answered)


def test_what_people_said_of_a_piece_is_forgotten_when_they_take_it_back(film_in):
    film = film_in("icebreaker")
    wrong = misread(film, film.start(), COLOUR)
    film.show(wrong)
    film.do(film.answer)
    film.do(lambda: film.session.command(Undo()))
    film.run()
    assert film.session.ledger.misread == ()
    assert film.session.ledger.question is not None


def test_what_people_said_of_a_piece_is_known_to_a_program_that_is_started_again(film_in):
    film = film_in("icebreaker")
    wrong = misread(film, film.start(), COLOUR)
    film.show(wrong)
    film.do(film.answer)
    film.run()
    with closing(Session.reopen(film.log, film.session.id)) as again:
        film.session = again
        film.show(wrong)
        assert film.run() == ()
        assert len(again.ledger.misread) == 1


def test_rule_now_takes_the_only_explanation(film_in):
    film = film_in("icebreaker")
    film.show(misread(film, film.start(), COLOUR))
    film.run()
    choosing = AnswerSelection.begin(film.session.ledger.question)
    assert choosing.may_take
    film.session.command(choosing.answer("a button"))
    assert film.session.ledger.standing
    assert not AnswerSelection(1, ("red", "blue")).may_take


def test_rule_now_asks_about_a_refusal_that_may_be_a_misreading(film_in):
    """A ship that is read in another cell is refused; who looks again is asked whether it is there
    at all.
    """
    film = film_in("zamboni_wars", 1)
    start = film.start()
    film.show(start)
    film.show(misread(film, start, ROUND))
    film.do(lambda: [film.session.command(command) for command in (Pause(), Resume())])
    film.show(misread(film, start, ROUND))
    events = [record.event for record in film.run()]
    question = next((event for event in events if isinstance(event, QuestionAsked)), None)
    assert question is not None, [event.message for event in events if hasattr(event, "said")]
    assert "points the other way" in question.choices[0].label


def test_a_ghost_and_many_wrong_pieces_are_never_explained_away(film_in):
    """Where more than two pieces would have to be misread, each otherwise, the table is another
    one.
    """
    film = film_in("icebreaker")
    start = film.start()
    pieces = [
        replace(piece, base_mm=piece.base_mm + np.array([40.0 * (k + 1), 35.0]))
        for k, piece in enumerate(start.pieces)
    ]
    film.show(replace(start, pieces=tuple(pieces)), 7000)
    records = film.run()
    assert asked(records) == []
    assert [record.event.verdict for record in records] == ["waiting"]


def test_a_half_done_table_about_which_nobody_is_asked_is_put_on_record_once(film_in):
    """All nests are off the board: nobody can be asked about so many."""
    film = film_in("zamboni_wars")
    start = film.start()
    film.show(start)
    film.show(replace(start, pieces=()), 4000)
    film.show(replace(start, pieces=()), 9000)
    first, *noticed = film.run()
    assert first.event.verdict == "accepted"
    assert [record.event.verdict for record in noticed] == ["waiting"]
    assert str(noticed[0].event.message).startswith("Not seen on the board: ")


@pytest.mark.parametrize("game", SETS)
def test_the_command_line_prints_the_record_and_the_question(film_in, game):
    film = film_in(game)
    film.show(misread(film, film.start(), COLOUR))
    printed = [json.loads(json.dumps(verdict_document(record))) for record in film.run()]
    assert [one["verdict"] for one in printed] == ["waiting", "ambiguous"]
    assert printed[0]["evidence"]["differences"]
    assert printed[1]["choices"][0].startswith("Start from this table: ")
    assert printed[1]["evidence"][KEY]


@pytest.mark.parametrize(("game", "fault"), CASES)
def test_every_question_is_read_in_every_language(film_in, game, fault):
    film = film_in(game)
    film.show(misread(film, film.start(), fault), 7000)
    (question,) = asked(film.run())
    for code in set(LANGUAGES) - {"en"}:
        assert [
            choice.label
            for choice in question.event.choices
            if translated(choice.label, code) is None
        ] == []


@pytest.mark.parametrize("game", SETS)
def test_a_start_with_several_pieces_misread_is_put_right_on_the_panel(film_in, game):
    """Too many to be explained: the host says what each is, and play begins; nobody is asked about
    them again.
    """
    film = film_in(game, 1)
    start = film.start()
    wrong, again = start, []
    for k in (0, 1, len(start.pieces) - 1):
        wrong = misread(film, wrong, COLOUR, k)

    def put_right():
        if film.session.ledger.question is not None:
            film.session.command(Undo())  # several other pieces would explain it, too
        pieces = [
            PieceCorrection(k, p.colour, p.size, p.pose, *map(float, p.base_mm), p.heading_deg)
            for k, p in enumerate(wrong.pieces)
        ]
        corrected = film.referee.reread(
            [replace(piece, colour=start.pieces[k].colour) for k, piece in enumerate(pieces)]
        )
        again.append(corrected)
        film.session.command(
            Correct(
                record=corrected.record,
                moves=corrected.choices[0][1],
                misread=corrected.misread,
                reason="; ".join(corrected.changes),
            )
        )

    film.show(wrong, 7000)
    film.do(put_right)
    film.show(wrong)
    records = film.run()
    assert [
        record.event.verdict for record in records if isinstance(record.event, VerdictReached)
    ] == ["waiting"]
    assert len(again[0].misread) == 3
    assert len(asked(records)) <= 1
    assert film.session.ledger.standing
    assert film.session.ledger.misread == again[0].misread
