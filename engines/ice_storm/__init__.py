"""Ice Storm: fields of old warships, thrown on a chessboard, fire at each other.

Covers the printed rules, and rulings ice_storm.1 to .11.
"""

from engines.ice_storm.alternatives import alternatives
from engines.ice_storm.board_marks import options, trace
from engines.ice_storm.facts import FACTS
from engines.ice_storm.judge import hear, judge
from engines.ice_storm.rules import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    resign,
    set_up,
    shots,
    start,
    turn,
    violation,
)
from engines.ice_storm.serialization import shown_state, state_document
from engines.secret_inputs import no_hidden_voters as hidden_voters
from engines.secret_inputs import no_secret_voter as secret_voter
from engines.verdict import answer_by_label as judge_answer
from engines.verdict import nothing_measured as measurement

NAME = "ice_storm"

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
    "shots",
    "shown_state",
    "start",
    "state_document",
    "trace",
    "turn",
    "violation",
]
