"""The state of a session as plain data for pages and programs.

Every key is always there; lengths in mm, `sigma_mm` is one standard deviation::

    {"session": 1,                        # record number of its start
     "seq": 17,                           # last record: pass it on as `after`
     "at_ms": 12000,                      # camera's clock at that record
     "started_utc": "2026-11-21T14:00:00+00:00",
     "game": "pegs", "game_number": 1, "players": ["blue", "yellow"], "rulings": {},
     "names": {"blue": "Anna"},           # people's, by colour, where they were told
     "camera": "simulated:...", "simulated": True,
     "phase": "playing",                  # playing | asking | paused | over (this game) | ended
     (the session)
     "next": "blue",                      # whose throw or turn it is, None when nobody's
     (state["turn"] may say more)
     "scores": {"blue": 3, "yellow": 0},  # points of this game by player
     "ends": [{"winner": "blue", "points": 3}],   # ends of this game that are over, winner None for
     a tied or void one
     "outcome": None,                     # a sentence when the game is over
     "resigned": ["red"],                 # who gave this game up
     "may_begin": ["blue"],               # who people may still say begins (`{"begins": "blue"}`),
     before anything has happened
     "hidden": {"red": 15},               # votes that are not revealed yet: the record that cast
     each, by player
     "appeals": [{"seq": 15, "at_ms": 9000, "appeals": 14, "player": "blue", "reason": "it touches",
     "said": "..."}],  # that are open
     "earlier_games": ["blue won 13 to 4"],       # sentences
     "state": {...},                      # the engine's state_document: leading, next,
     points_if_over, gap_mm, end ...
     "options": [{"who": "red" or None, "said": "A1 takes B1 or A2",        # what may be done now;
     none while it is asked or over
                  "marks": [{"kind": "path", "cells": ["A1", "B1"], "sure": True, "looks": []}]}],
                  # see engines.board_marks
     "trace": [{"kind": "path", ...}],    # marks of the newest verdict
     "lamps": {"signal": "turn", "of": ["red"], "leader": None},    # what lamps show while nothing
     else happens
     "observation": {...} or None,        # rinkside-observation/1 of the last ruling, "gaps" and
     "call" in it
     "ranking": [{"place": 1, "colour": "red", "size": "large", "gap_mm": 12.31, "sigma_mm": 0.11,
                  "on_target": False, "touching": False, "base_mm": [x, y],
                  "points_mm": [[x, y, z], [x, y, z]]}],   # nearest points: on the piece, on the
                  target
     "question": None or
                 {"seq": 9, "at_ms": 8250, "code": "pegs.too_close", "player": "red", "said":
                 "...", "rests_on": "ruling pegs.2",
                  "choices": [{"label": "red is nearer", "moves": ["..."]}], "evidence": {...},
                  "frame": 9 or None},
     "verdicts": [                        # newest first, at most VERDICTS_SHOWN
         {"seq": 8, "at_ms": 7000, "kind": "ruled",        # ruled | noted | asked | answered |
         corrected | undone |
                                                            # declared | appealed | upheld |
                                                            resigned | table | begun
          "verdict": "accepted",          # accepted | refused | cannot_see | out_of_sync | waiting
          | noted | ambiguous (asked) | table |
                                          # by hand (people's)
          "code": "pegs.throw", "player": "red", "said": "...", "rests_on": "...", "moves":
          ["..."],
          "clauses": [{"name": "Play", "said": "..."}],     # what it rests on, in our own words
          "call": "Red leads.", "sound": "turn",            # what a caller says and plays, see
          referee.presentation.announcements
          "evidence": {...}, "frame": 8 or None,            # GET the picture by this number
          "decided_by": None or "players",
          "refers_to": None or 7,         # the record that was answered, corrected, undone,
          appealed or upheld
          "overturned_by": None or 12}]}  # the record that corrected it or took it back
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from engines.board_marks import Mark, Option
from engines.game import shown_state
from engines.rule_texts import explain
from referee.presentation.announcements import call, sound
from referee.presentation.lamp_cues import standing
from referee.presentation.move_marks import trace
from referee.sessions.events import (
    Answered,
    Appealed,
    Asked,
    Choice,
    Corrected,
    Declared,
    Event,
    GameStarted,
    Noted,
    Record,
    Resigned,
    Ruled,
    SessionStarted,
    TableChecked,
    Undone,
    Upheld,
)
from referee.sessions.secret_votes import hidden_votes
from referee.sessions.state import Ledger
from table.messages import phrase

VERDICTS_SHOWN = 30


def view(ledger: Ledger, records: Sequence[Record], seen: Record | None) -> dict[str, Any]:
    """All that a page shows, in the shape that this module describes; JSON can say all of it.

    `records` are the newest, `seen` is the last that holds a table as it was seen, None if there is
    none.
    """
    state = shown_state(ledger.engine, ledger.state)
    if "may_say" in state:
        state["may_say"] = [
            one
            for one in state["may_say"]
            if ledger.has_sizes(filter(None, [one["said"].get("size")]))
        ]
    outcome = ledger.outcome
    last = records[-1]
    observation = (
        seen.event.observation
        if seen is not None and isinstance(seen.event, Ruled | Asked)
        else None
    )
    started = ledger.started
    lamps = standing(ledger, ledger.board, state)
    return {
        "session": ledger.session,
        "seq": last.seq,
        "at_ms": last.at_ms,
        "started_utc": started.started_utc,
        "game": started.game,
        "game_number": ledger.game_number,
        "players": list(ledger.players),
        "names": started.names,
        "rulings": state.get("rulings", ledger.options),
        "camera": started.camera,
        "simulated": started.simulated,
        "phase": _phase(ledger, outcome is not None),
        "next": state.get("next"),
        "scores": state.get("scores", {}),
        "ends": list(ledger.ends),
        "outcome": outcome,
        "resigned": list(ledger.resigned),
        "may_begin": list(ledger.may_begin),
        "hidden": hidden_votes(ledger),
        "appeals": [_appeal(record) for record in ledger.appeals],
        "earlier_games": _earlier_games(ledger),
        "state": state,
        "options": (
            []
            if ledger.question or ledger.ended
            else list(map(_option, ledger.engine.options(ledger.state)))
        ),
        "trace": _plain(_trace(ledger, records)),
        "lamps": {"signal": lamps.signal, "of": list(lamps.of), "leader": lamps.leader},
        "observation": observation,
        "ranking": [
            {"place": place, **gap}
            for place, gap in enumerate((observation or {}).get("gaps", []), 1)
        ],
        "question": _question(started.game, ledger.question),
        "verdicts": _verdicts(started.game, records),
    }


def _phase(ledger: Ledger, over: bool) -> str:
    if ledger.ended:
        return "ended"
    if ledger.paused:
        return "paused"
    if ledger.question is not None:
        return "asking"
    return "over" if over else "playing"


def _earlier_games(ledger: Ledger) -> list[str]:
    """The outcomes of the games before this one, oldest first."""
    sentences: list[str] = []
    earlier = ledger.earlier
    while earlier is not None:
        sentences.insert(0, earlier.outcome or phrase("not played to its end"))
        earlier = earlier.earlier
    return sentences


def _appeal(record: Record) -> dict[str, Any]:
    said = msgspec.structs.asdict(record.event)
    return {
        "seq": record.seq,
        "at_ms": record.at_ms,
        **{name: said[name] for name in ("appeals", "player", "reason", "said")},
    }


def _question(game: str, record: Record | None) -> dict[str, Any] | None:
    if record is None or not isinstance(record.event, Asked):
        return None
    asked = record.event
    return {
        "seq": record.seq,
        "at_ms": record.at_ms,
        "code": asked.code,
        "player": asked.player,
        "said": asked.said,
        "rests_on": asked.rests_on,
        "clauses": _clauses(game, asked.rests_on),
        "choices": list(map(choice_document, asked.choices)),
        "evidence": asked.evidence,
        "frame": record.seq if record.frame else None,
    }


def choice_document(choice: Choice) -> dict[str, Any]:
    """A choice as plain data: `label` and `moves`."""
    return {"label": choice.label, "moves": list(choice.moves)}


def _option(option: Option) -> dict[str, Any]:
    """What may be done now, as plain data; what is said of it stays a message."""
    document: dict[str, Any] = _plain(option)
    return document | {"said": option.said}


def _plain(values: Any) -> Any:
    """As JSON says it."""
    return msgspec.json.decode(msgspec.json.encode(values, enc_hook=str))


def _trace(ledger: Ledger, records: Sequence[Record]) -> tuple[Mark, ...]:
    """Of the newest record that decided anything; nothing once it was taken back, and in a new
    game.
    """
    for place in range(len(records), 0, -1):
        event = records[place - 1].event
        if isinstance(event, Undone | GameStarted | Corrected):
            return ()
        if verdict_of(event) is not None:
            return trace(ledger.engine, ledger.board, records[:place])
    return ()


def _clauses(game: str, rests_on: str) -> list[dict[str, str]]:
    return [clause._asdict() for clause in explain(game, rests_on)]


def _verdicts(game: str, records: Sequence[Record]) -> list[dict[str, Any]]:
    overturned_by = _overturned(records)
    verdicts = []
    for record in reversed(records):
        if (line := verdict_of(record.event)) is None:
            continue
        frame = record.seq if record.frame else None
        state = getattr(record.event, "state", {})
        line |= {
            "sound": sound(game, line["verdict"], line["code"], state),
            "clauses": _clauses(game, line["rests_on"]),
            "frame": frame,
            "overturned_by": overturned_by.get(record.seq),
        }
        verdicts.append({"seq": record.seq, "at_ms": record.at_ms, **line})
        if len(verdicts) == VERDICTS_SHOWN:
            break
    return verdicts


def _overturned(records: Sequence[Record]) -> dict[int, int]:
    """What was corrected or taken back, and by which record; a second correction overturns the
    first.
    """
    by: dict[int, int] = {}
    for record in records:
        if isinstance(record.event, Corrected):
            target = record.event.corrects
        elif isinstance(record.event, Undone):
            target = record.event.undoes
        else:
            continue
        if target in by:
            by[by[target]] = record.seq
        by[target] = record.seq
    return by


def verdict_of(event: Event) -> dict[str, Any] | None:
    """The part of a verdict's line that its event knows; None for events that decide nothing."""
    line: dict[str, Any] = {
        "code": "",
        "player": None,
        "rests_on": "",
        "moves": [],
        "evidence": {},
        "decided_by": None,
        "refers_to": None,
    }
    match event:
        case SessionStarted() | GameStarted() if event.said:
            by_hand = event.begins == "hand"
            line |= {
                "kind": "begun",
                "verdict": "by hand" if by_hand else "accepted",
                "code": f"begins.{event.begins}",
            }
            line |= {"player": event.first, "rests_on": event.rests_on}
        case Ruled():
            line |= {
                "kind": "ruled",
                "verdict": event.verdict,
                "moves": list(event.moves),
                "evidence": event.evidence,
            }
        case Noted():
            line |= {
                "kind": "noted",
                "verdict": "noted",
                "moves": [] if event.secret else list(event.moves),
                "evidence": event.evidence,
            }
        case Asked():
            line |= {"kind": "asked", "verdict": "ambiguous", "evidence": event.evidence}
        case Answered():
            line |= {
                "kind": "answered",
                "moves": list(event.moves),
                "evidence": {"readings_mm": event.readings_mm},
                "refers_to": event.question,
            }
        case Corrected():
            line |= {
                "kind": "corrected",
                "moves": list(event.moves),
                "evidence": {"reason": event.reason},
                "refers_to": event.corrects,
            }
        case Declared():
            line |= {"kind": "declared", "moves": list(event.moves)}
        case Undone():
            line |= {"kind": "undone", "refers_to": event.undoes}
        case Appealed():
            line |= {
                "kind": "appealed",
                "refers_to": event.appeals,
                "player": event.player,
                "verdict": "by hand",
                "decided_by": None,
            }
        case Upheld():
            line |= {"kind": "upheld", "refers_to": event.upholds}
        case Resigned():
            line |= {"kind": "resigned", "player": event.player}
        case TableChecked():
            line |= {
                "kind": "table",
                "verdict": "by hand" if event.decided_by else "table",
                "decided_by": event.decided_by or None,
            }
        case _:
            return None
    if isinstance(event, Ruled | Noted | Asked | Answered):
        line |= {"code": event.code, "player": event.player, "rests_on": event.rests_on}
    if isinstance(event, Answered | Corrected | Undone | Declared | Upheld | Resigned):
        line |= {"verdict": "by hand", "decided_by": event.decided_by}
    return line | {
        "said": event.said,
        "call": "" if line["verdict"] == "waiting" else call(line["kind"], event.said),
    }
