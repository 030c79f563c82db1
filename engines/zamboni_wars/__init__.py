"""Zamboni Wars: drive, aim, shoot; the last Zamboni wins.

Covers the printed rules, both optional rules, and rulings zamboni_wars.2 to .9.
"""

from engines.secret_inputs import no_hidden_voters as hidden_voters
from engines.secret_inputs import no_secret_voter as secret_voter
from engines.verdict import answer_by_label as judge_answer
from engines.verdict import nothing_measured as measurement
from engines.zamboni_wars.alternatives import alternatives
from engines.zamboni_wars.announcements import hear
from engines.zamboni_wars.board import Board
from engines.zamboni_wars.board_marks import options, trace
from engines.zamboni_wars.facts import FACTS
from engines.zamboni_wars.judge import judge, set_up
from engines.zamboni_wars.rules import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    reachable,
    resign,
    start,
    violation,
)
from engines.zamboni_wars.serialization import shown_state, state_document

NAME = "zamboni_wars"

__all__ = [
    "FACTS",
    "NAME",
    "RULINGS",
    "Board",
    "State",
    "alternatives",
    "hear",
    "hidden_voters",
    "judge",
    "judge_answer",
    "legal_moves",
    "measurement",
    "options",
    "outcome",
    "parse_move",
    "play",
    "reachable",
    "resign",
    "secret_voter",
    "set_up",
    "shown_state",
    "start",
    "state_document",
    "trace",
    "violation",
]
