"""Icebreaker: two players' ships break ice on a hexagon of hexagons.

Covers the printed rules by Mark Steere, and rulings icebreaker.1 to .3.
"""

from engines.icebreaker.alternatives import alternatives
from engines.icebreaker.board_marks import options, trace
from engines.icebreaker.facts import FACTS
from engines.icebreaker.judge import hear, judge, set_up
from engines.icebreaker.rules import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    resign,
    start,
    turn,
    violation,
)
from engines.icebreaker.serialization import shown_state, state_document
from engines.secret_inputs import no_hidden_voters as hidden_voters
from engines.secret_inputs import no_secret_voter as secret_voter
from engines.verdict import answer_by_label as judge_answer
from engines.verdict import nothing_measured as measurement

NAME = "icebreaker"

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
    "turn",
    "violation",
]
