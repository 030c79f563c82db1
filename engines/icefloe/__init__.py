"""IceFloe: stay afloat while votes take the ice from under you.

Covers the printed rules, and rulings icefloe.1 to .8.
"""

from engines.icefloe.alternatives import alternatives
from engines.icefloe.announcements import hear
from engines.icefloe.board_marks import options, trace
from engines.icefloe.facts import FACTS
from engines.icefloe.judge import judge
from engines.icefloe.rules import (
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
from engines.icefloe.secret_inputs import hidden_voters, secret_voter
from engines.icefloe.serialization import shown_state, state_document
from engines.verdict import answer_by_label as judge_answer
from engines.verdict import nothing_measured as measurement

NAME = "icefloe"

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
