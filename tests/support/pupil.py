"""A simulated pupil who follows a lesson's example."""

from __future__ import annotations

from random import Random

from engines import GAMES
from engines.ice_storm.moves import Capture
from engines.icefloe.moves import Movement, Removal, Slide
from engines.zamboni_wars.board import FACINGS
from engines.zamboni_wars.moves import Drive
from tests.support.virtual_games import NOTCH_DEG, act, answer, lying_in


def do(hand, lesson, chance=None):
    """Do a lesson's example at the table, or any other legal act that counts."""
    view = hand.view()
    game = view["game"]
    engine, chance = GAMES[game], chance or Random(1)
    if lesson.example.startswith("vote"):  # what is secret is said by whoever has yet to say it
        _act_for_whoever_is_next(hand, chance)
        return
    state = hand.state()
    try:
        move = engine.parse_move(lesson.example)
    except ValueError:
        move = None
    match move:
        case Movement():
            x, y = hand.cell(move.target)
            crowded = state.board.at(move.target).pyramids
            hand.drag(f"pyramid {move.pyramid}", x + (9.0 if crowded else 0.0), y)
            sunk = None if lesson.refused else engine.play(state, move).sunk
            if sunk and sunk != state.sunk:
                hand.tap(f"tile {sunk}", "take")
        case Slide():
            hand.drag(f"tile {state.board.at(move.origin).tile}", *hand.cell(move.target))
        case Removal():
            hand.tap(f"tile {move.tile}", "take")
        case Capture():
            piece = next(one for one in state.pieces if one.name == f"{move.colour}{move.number}")
            squares = [str(square) for square in piece.place.squares]
            hand.tap(lying_in(hand, move.colour, squares), "take")
        case Drive():
            turns = FACINGS.index(state.mover.facing) - FACINGS.index(move.facing)
            notches = 45 * ((turns + 4) % 8 - 4) // NOTCH_DEG
            hand.drag(state.to_move, *hand.cell(str(move.space)), notches)
        case _ if game == "icebreaker":
            start, end = lesson.example.split("-")
            hand.drag(f"ship {start}", *hand.cell(end))
        case _:
            _act_for_whoever_is_next(hand, chance)


def _act_for_whoever_is_next(hand, chance):
    for player in hand.setup.game.colours:
        if act(hand, player, chance):
            return


STEP_MS, PATIENCE, RULED, TRIES = 500, 120, 20, 8


def until_open(hand):
    """Wait until the table is set up for the lesson."""
    for _ in range(PATIENCE):
        if hand.lesson_state() == "open":
            return
        hand.page.wait_for_timeout(STEP_MS)
    raise AssertionError((hand.lesson_state(), hand.view()["live"]["said"]))


def until_done(hand, lesson):
    """Do a lesson until its tutor reports it done."""
    until_open(hand)
    for _ in range(TRIES):
        before = hand.view()["seq"]
        do(hand, lesson)
        for _ in range(RULED):
            hand.page.wait_for_timeout(STEP_MS)
            view = hand.view()
            if view["phase"] == "asking":
                answer(hand, view["question"])
            if hand.lesson_state() == "done":
                return
            if lesson.times > 1 and view["phase"] == "playing" and view["seq"] > before:
                break
    raise AssertionError((lesson.title, hand.view()["verdicts"][:1], hand.view()["live"]["said"]))
