"""Ice Storm: fields of old warships, thrown on a chessboard, fire at each other.  Printed rules, rulings ice_storm.1 to .11."""

from engines.ice_storm.document import state_document
from engines.ice_storm.rules import RULINGS, State, legal_moves, outcome, parse_move, play, shots, start, turn, violation

NAME = "ice_storm"

__all__ = [
    "NAME",
    "RULINGS",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "play",
    "shots",
    "start",
    "state_document",
    "turn",
    "violation",
]
