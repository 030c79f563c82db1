"""Ice Boule: throw your pieces nearer to the target than anybody else's.

Covers the printed rules, and rulings ice_boule.1 to .10.
"""

from engines.ice_boule.alternatives import alternatives
from engines.ice_boule.announcements import hear, judge_stop
from engines.ice_boule.board_marks import options, trace
from engines.ice_boule.calliper import judge_answer
from engines.ice_boule.facts import FACTS
from engines.ice_boule.judge import judge
from engines.ice_boule.rules import (
    RULINGS,
    State,
    legal_moves,
    outcome,
    parse_move,
    play,
    resign,
    set_up,
    start,
    turn,
    violation,
)
from engines.ice_boule.serialization import measurement, shown_state, state_document
from engines.secret_inputs import no_hidden_voters as hidden_voters
from engines.secret_inputs import no_secret_voter as secret_voter

NAME = "ice_boule"

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
    "judge_stop",
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
