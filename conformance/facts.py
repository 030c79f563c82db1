"""Consistency tests of games' facts (texts and data beside the rules) in random states."""

from itertools import islice
from random import Random
from typing import Any

import msgspec
import pytest

from engines import GAMES, facts_of
from engines.errors import InvalidNotation
from engines.game import INTERFACE, facts
from engines.game_document import GameDocument
from engines.statistics import Step
from simulation.players.policies import RandomPlayer, playout
from simulation.tables import lessons_table
from table.cells import cells_mm
from table.games import default_game_on, table_facts
from table.pieces import load_piece_set
from table.solids import POSES

MOVES = 150


def steps_of(first: Any, name: str, seed: int) -> list[Step]:
    """The steps of a random game from a first state."""
    game, before = GAMES[name], first
    steps = []
    moves = playout(game, before, RandomPlayer(game, Random(seed)).choose)
    for number, (move, after) in enumerate(islice(moves, MOVES)):
        steps.append(Step(number, 1000 * number, before, move, after, None, False))
        before = after
    return steps


@pytest.fixture
def documents(name, starts):
    """State documents of two games, as stored in a log."""
    states = (step.after for seed in (1, 2) for step in steps_of(starts[0], name, seed))
    return [
        msgspec.json.decode(msgspec.json.encode(GAMES[name].state_document(state)))
        for state in states
    ]


def test_the_type_of_a_games_document_names_all_that_is_in_it(name, documents):
    kind = facts_of(name).document
    assert kind is not GameDocument
    for document in documents:
        typed = msgspec.convert(document, kind)
        assert msgspec.json.decode(msgspec.json.encode(typed)) == document, "a key has no type"


def test_a_document_of_another_shape_does_not_fit_its_type(name, documents):
    kind, document = facts_of(name).document, documents[0]
    for wrong in (document | {"turn": None}, document | {"rulings": []}, {"next": None}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(wrong, kind)


def test_a_game_has_a_title_and_is_made_for_this_interface(name):
    assert facts(GAMES[name]) is facts_of(name)
    assert facts_of(name).title.strip()
    assert facts_of(name).interface == INTERFACE


def test_lessons_begin_where_the_rules_lead_and_their_examples_do_what_they_ask(name):
    table, game = lessons_table(name), GAMES[name]
    setup = table.setup
    state = first = game.set_up(setup.game.colours, table.rulings, setup.board)
    for lesson in facts_of(name).lessons(setup.game.colours):
        if lesson.position is not None:
            state = first
            for move in map(game.parse_move, lesson.position):
                assert game.violation(state, move) is None, (lesson.title, str(move))
                state = game.play(state, move)
        try:
            move = game.parse_move(lesson.example)
        except InvalidNotation:
            continue  # a throw is described without notation, as its landing place is random
        refused = game.violation(state, move) is not None
        assert lesson.counts(refused, [str(move)]), (lesson.title, lesson.example)
        state = state if refused else game.play(state, move)


def test_pieces_stand_or_lie_with_chances_that_add_up(name):
    prior = table_facts(name).pieces
    assert prior.poses.shape == (len(POSES),)
    assert prior.poses.sum() == pytest.approx(1)
    assert prior.most >= 1


def test_a_game_is_played_on_its_default_table(name, starts):
    default = table_facts(name).default
    board = default.board(default.cell_mm)
    sizes = load_piece_set(default.pieces)
    assert all(size in sizes for size in default.sizes)
    assert default_game_on(default.kind) is not None
    state = GAMES[name].set_up(starts[0].players, {}, board)
    assert GAMES[name].outcome(state) is None
    if default.cells_mm:
        least, most = default.cells_mm
        assert least <= default.cell_mm <= most


def test_what_is_pointed_at_and_what_lies_there_are_on_the_board(name, documents):
    default = table_facts(name).default
    cells = cells_mm(default.board(default.cell_mm))
    shown = facts_of(name).presentation
    for document in documents:
        marked = [cell for mark in shown.marks(document) for cell in mark.cells]
        known = shown.on_board(document)
        lie = [cell for piece in known.pieces for cell in piece.cells]
        assert {*marked, *lie, *known.tiles, *known.dice} <= cells.keys()


def test_a_state_without_anything_in_it_is_shown_too(name):
    """An old log may contain such a state."""
    shown = facts_of(name).presentation
    assert shown.marks({}) == ()
    assert shown.on_board({}).pieces == ()
    assert shown.declarations({}) == ()
    assert shown.sound("", {}) == ""
    assert facts_of(name).next_button({}) is None


def test_what_the_host_may_declare_is_legal(name, starts):
    game = GAMES[name]
    for step in steps_of(starts[0], name, 3):
        for one in facts_of(name).presentation.declarations(game.state_document(step.after)):
            assert game.violation(step.after, game.parse_move(one.move)) is None


def test_what_the_button_says_is_understood(name, starts):
    game = GAMES[name]
    for step in steps_of(starts[0], name, 4):
        message = facts_of(name).next_button(game.state_document(step.after))
        if message is not None and game.outcome(step.after) is None:
            verdict = game.hear(step.after, message)
            for move in verdict.moves:
                game.play(step.after, game.parse_move(move))


def test_a_move_that_is_made_comparable_stays_so_and_is_still_a_move(name, starts):
    comparable = facts_of(name).comparable
    for step in steps_of(starts[0], name, 5):
        text = comparable(str(step.move))
        assert comparable(text) == text
        assert GAMES[name].parse_move(text)


def test_statistics_count_every_player_and_no_other(name, starts):
    steps = steps_of(starts[0], name, 6)
    counts = facts_of(name).statistics
    players = steps[0].before.players
    assert {thrown.player for thrown in counts.throws(steps)} <= {*players}
    assert {hit.player for hit in counts.hits(steps)} <= {*players}
    assert counts.squares(players, steps).keys() in ({*players}, set())


def test_verbs_are_of_phases_that_the_game_has(name, documents):
    phases = {document.get("phase") for document in documents}
    verbs = facts_of(name).presentation.verbs
    assert not verbs or not phases.isdisjoint(verbs)
