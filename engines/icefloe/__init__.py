"""IceFloe: stay afloat while votes take the ice from under you.  Printed rules, and rulings icefloe.1 to .8."""

from engines.icefloe.document import state_document
from engines.icefloe.rules import RULINGS, State, legal_moves, outcome, parse_move, play, start, violation

NAME = "icefloe"

__all__ = [
    "NAME",
    "RULINGS",
    "State",
    "legal_moves",
    "outcome",
    "parse_move",
    "play",
    "start",
    "state_document",
    "violation",
]
