"""Icebreaker: two players' ships break ice on a hexagon of hexagons.  Printed rules by Mark Steere, and rulings icebreaker.1 to .3."""

from engines.icebreaker.document import state_document
from engines.icebreaker.rules import RULINGS, State, legal_moves, outcome, parse_move, play, start, turn, violation

NAME = "icebreaker"

__all__ = ["NAME", "RULINGS", "State", "legal_moves", "outcome", "parse_move", "play", "start", "state_document", "turn", "violation"]
