"""The state of a session as plain data for pages and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from referee.events import Record
from referee.ledger import Ledger

VERDICTS_SHOWN = 30


def view(ledger: Ledger, records: Sequence[Record]) -> dict[str, Any]:
    """All that a page shows.  Every key is always there; lengths in mm, `sigma_mm` is one standard deviation.

    ::

        {"session": 1,                        # record number of its start
         "seq": 17,                           # last record: pass it on as `after`
         "at_ms": 12000,                      # camera's clock at that record
         "started_utc": "2026-11-21T14:00:00+00:00",
         "game": "ice_boule", "game_number": 1, "players": ["blue", "yellow"], "rulings": {},
         "camera": "simulated:...", "simulated": True,
         "phase": "playing",                  # playing | asking | paused | over (this game) | ended (the session)
         "next": "blue",                      # whose throw or turn it is, None when nobody's
         "scores": {"blue": 3, "yellow": 0},  # points of this game by player
         "ends": [{"winner": "blue", "points": 3}],   # ends of this game so far, winner None for a tied or void one
         "outcome": None,                     # a sentence when the game is over
         "earlier_games": ["blue won 13 to 4"],       # sentences
         "state": {...},                      # the engine's state_document: leading, next, points_if_over, gap_mm, end ...
         "observation": {...} or None,        # rinkside-observation/1 of the last ruling, "gaps" and "call" in it
         "ranking": [{"place": 1, "colour": "red", "size": "large", "gap_mm": 12.31, "sigma_mm": 0.11,
                      "on_target": False, "touching": False, "base_mm": [x, y],
                      "points_mm": [[x, y, z], [x, y, z]]}],   # nearest points: on the piece, on the target
         "question": None or
                     {"seq": 9, "at_ms": 8250, "code": "boule.too_close", "player": "red", "said": "...", "rests_on": "ruling ice_boule.2",
                      "choices": [{"label": "red is nearer", "moves": ["..."]}], "evidence": {...}, "frame": 9 or None},
         "verdicts": [                        # newest first, at most VERDICTS_SHOWN
             {"seq": 8, "at_ms": 7000, "kind": "ruled",        # ruled | asked | answered | corrected | undone
              "verdict": "accepted",          # accepted | refused | cannot_see | ambiguous (asked) | by hand (people's)
              "code": "boule.throw", "player": "red", "said": "...", "rests_on": "...", "moves": ["..."],
              "evidence": {...}, "frame": 8 or None,            # GET the picture by this number
              "decided_by": None or "players",
              "refers_to": None or 7,         # the record that was answered, corrected or undone
              "stands": True}]}               # False: corrected or undone since, or it was a refusal
    """
    raise NotImplementedError
