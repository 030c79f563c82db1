"""Convoy: a game for two in which pyramids push each other over the board."""

from convoy.judge import hear, judge
from convoy.rules import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    resign,
    set_up,
    start,
    violation,
)
from convoy.shown import FACTS, alternatives, options, shown_state, state_document, trace
from engines.secret_inputs import no_hidden_voters as hidden_voters
from engines.secret_inputs import no_secret_voter as secret_voter
from engines.verdict import answer_by_label as judge_answer
from engines.verdict import nothing_measured as measurement

NAME = "convoy"

__all__ = [
    "FACTS",
    "NAME",
    "RULINGS",
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
    "resign",
    "secret_voter",
    "set_up",
    "shown_state",
    "start",
    "state_document",
    "trace",
    "violation",
]
