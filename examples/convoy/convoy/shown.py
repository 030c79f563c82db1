"""Presentation of a game of Convoy: plain data, options, marks, lamps, sounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from convoy import rules
from convoy.lessons import lessons
from convoy.rules import Move, State, legal_moves, outcome, play, pushed, violation
from engines.alternatives import choices_near
from engines.board_marks import Mark, Option, mark
from engines.game import (
    Document,
    GameFacts,
    NamedPiece,
    OnBoard,
    Presentation,
    Printed,
    Sound,
    Statistics,
)
from engines.game_document import GameDocument
from engines.statistics import Hit, Step
from engines.verdict import Choice
from table.boards import Chessboard
from table.game_facts import BoardPrint, DefaultTable, PiecePrior, TableFacts
from table.messages import Message, any_of, msg, phrase, plain


class ConvoyDocument(GameDocument):
    """The state of a game of Convoy."""

    pieces: dict[str, str]
    """The player whose pyramid stands on a square: {"a1": "red"}."""
    lost: dict[str, int]
    """Pyramids that were pushed off the board, by player."""
    goal: int
    """Points that win."""
    one_short: list[str]
    """Squares of the player to move from which a step wins."""


def state_document(state: State) -> ConvoyDocument:
    """The state as plain data for logs and programs, in English."""
    document: ConvoyDocument = plain(shown_state(state))
    return document


def shown_state(state: State) -> ConvoyDocument:
    """The state as data for pages, with messages for its sentences."""
    ended = outcome(state)
    wins = [move.origin for move in legal_moves(state) if outcome(play(state, move))]
    return {
        "next": state.next,
        "phase": "over" if ended else "move",
        "turn": turn(state),
        "scores": dict(zip(state.players, state.scores, strict=True)),
        "pieces": state.pieces,
        "lost": dict(zip(state.players, state.lost, strict=True)),
        "goal": state.goal,
        "one_short": sorted(set(wins)),
        "rulings": dict(state.rulings),
        "state": str(state),
        "outcome": ended.message if ended else None,
    }


def turn(state: State) -> Message:
    """A sentence on whose turn it is, or the result."""
    if ended := outcome(state):
        return msg("The game is over: {text}.", text=ended.message)
    return msg("{player} moves next.", player=state.next)


def went(state: State, move: Move) -> Message:
    """A sentence for a move."""
    fields: dict[str, object] = {
        "player": state.players[state.turn],
        "cell": move.origin,
        "cell2": move.target,
    }
    if move.target not in state.pieces:
        return msg("{player} goes from {cell} to {cell2}", **fields)
    if pushed(state.rows, move)[1]:
        return msg("{player} pushes from {cell} to {cell2}, and one falls off", **fields)
    return msg("{player} pushes from {cell} to {cell2}", **fields)


def options(state: State) -> tuple[Option, ...]:
    """Target squares of each movable pyramid."""
    ways: dict[str, list[str]] = {}
    for move in legal_moves(state):
        ways.setdefault(move.origin, []).append(move.target)
    return tuple(
        Option(
            state.next,
            msg("{cell} goes to {cells}", cell=origin, cells=any_of(targets)),
            (*(Mark("path", (origin, target)) for target in targets), Mark("goal", tuple(targets))),
        )
        for origin, targets in ways.items()
    )


def trace(state: State, move: Move) -> tuple[Mark, ...]:
    """Marks of the step, and of the square of a pyramid that it pushes off."""
    legal = violation(state, move) is None
    fallen = pushed(state.rows, move)[1] if legal else ""
    edge = len(state.rows) if state.turn == 0 else 1
    taken = mark("take", [f"{move.target[0]}{edge}"] if fallen else ())
    return (*mark("path", (move.origin, move.target)), *taken)


def alternatives(state: State, moves: Sequence[str]) -> tuple[Choice, ...]:
    """Other squares for the same pyramid, then other pyramids to the same square."""
    return choices_near(rules, _near, state, moves)


def _near(state: State, ruled: Move) -> Iterator[tuple[str, Move]]:
    every = list(legal_moves(state))
    same = [move for move in every if move.origin == ruled.origin]
    for move in (*same, *(move for move in every if move.target == ruled.target)):
        yield went(state, move), move


def _marks(document: Document) -> tuple[Mark, ...]:
    """Lamp marks of pyramids that can win at once."""
    return mark("here", document.get("one_short", ()))


def _on_board(document: Document) -> OnBoard:
    pieces = document.get("pieces", {}).items()
    return OnBoard(tuple(NamedPiece(player, player[0].upper(), (cell,)) for cell, player in pieces))


def _sound(code: str, document: Document) -> Sound:
    return "hit" if code == "convoy.fell" and not document.get("outcome") else ""


def _headline(player: str | None, code: str, document: Document) -> Message | None:
    if player is None or not code.startswith("convoy.") or player not in document["scores"]:
        return None
    fields = {"n": document["scores"][player], "n2": document["goal"]}
    return phrase("{player}: {n} of {n2}", player=player, **fields)


def _hits(steps: Iterable[Step]) -> Iterator[Hit]:
    """Every pyramid that was pushed off."""
    for step in steps:
        for player, before, after in zip(
            step.before.players, step.before.lost, step.after.lost, strict=True
        ):
            if after > before:
                by = step.before.players[step.before.turn]
                yield Hit(step.record, step.at_ms, by, player, "pushed")


FACTS = GameFacts(
    title="Convoy",
    document=ConvoyDocument,
    table=TableFacts(
        pieces=PiecePrior(np.array([0.99, 0.008, 0.002]), rules.LARGEST, apart=True),
        default=DefaultTable(
            board=lambda cell_mm: Chessboard(
                square_mm=cell_mm, files=rules.FILE_COUNT, ranks=rules.RANK_COUNT
            ),
            sizes=("medium",),
            cell_mm=36.0,
            cells_mm=(30.0, 60.0),
            sheet=BoardPrint(
                "convoy",
                "Convoy: 5 by 6 squares",
                "Convoy is played on this board. Pyramids begin on the first and the last rank.",
                "5 x 6 squares of {mm} mm",
            ),
        ),
    ),
    first_player=Printed("lot", "Setup", rests_on_it=("lot",)),
    presentation=Presentation(marks=_marks, on_board=_on_board, sound=_sound, headline=_headline),
    statistics=Statistics(hits=_hits),
    lessons=lessons,
)
