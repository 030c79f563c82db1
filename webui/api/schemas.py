"""What the answers under /api/v1 look like, as JSON Schema: commands and records from their own
types, all else as it is written.
"""

from __future__ import annotations

import inspect
import typing
from typing import Any

import msgspec

from calibration.progress import CornersNow, LensNow
from referee.live.live_measurement import RulerStatus
from referee.sessions.commands import Command
from referee.sessions.events import SCHEMA, Event
from referee.sessions.status import Status
from table.messages import Message

Schema = dict[str, Any]

REFERENCE = "#/components/schemas/{name}"
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
YES: Schema = {"type": "boolean"}
ANY_OBJECT: Schema = {"type": "object"}


def one_of(*words: str) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(words)}


def many(schema: Schema, **limits: int) -> Schema:
    """A list of them."""
    return {"type": "array", "items": schema} | limits


def by_name(schema: Schema) -> Schema:
    """An object with one of them for each name."""
    return {"type": "object", "additionalProperties": schema}


def or_null(schema: Schema) -> Schema:
    """It, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def known(name: str) -> Schema:
    """The schema of that name in `SCHEMAS`."""
    return {"$ref": REFERENCE.format(name=name)}


def fields(said: str, also: Schema | None = None, /, **properties: Schema) -> Schema:
    """An object that always has these and no others, but for what it may have `also`."""
    return {
        "type": "object",
        "description": said,
        "properties": properties | (also or {}),
        "required": list(properties),
        "additionalProperties": False,
    }


POINT_MM = many(NUMBER, minItems=2, maxItems=3)
SEQ: Schema = {"type": "integer", "minimum": 1, "description": "Number of a record in the log."}
COLOUR: Schema = {"type": "string", "examples": ["blue"]}


def _written(*types: Any) -> tuple[tuple[Schema, ...], dict[str, Schema]]:
    """Schemas of types, and of those that they are made of by name, with their docstrings as
    text.
    """
    schemas, parts = msgspec.json.schema_components(
        types, schema_hook=_message, ref_template=REFERENCE
    )
    return schemas, {
        name: part | {"description": inspect.cleandoc(part.get("description", ""))}
        for name, part in parts.items()
    }


def _message(kind: type) -> Schema:
    """A message reaches programs as its English sentence."""
    if kind is not Message:
        raise NotImplementedError(kind)
    return {"type": "string"}


def _records() -> dict[str, Schema]:
    """A record of each fact: its place in the log, and the fact's own fields, all of which are
    always there.
    """
    place = {"seq": SEQ, "session": SEQ, "at_ms": WHOLE, "frame": YES, "schema": {"const": SCHEMA}}
    facts = typing.get_args(Event)
    _, written = _written(*facts)
    for fact in facts:
        properties = place | written[fact.__name__]["properties"]
        written[fact.__name__] |= {"properties": properties, "required": list(properties)}
    return written | {
        "Record": {
            "description": "What happened: a fact that is never changed.",
            "oneOf": [known(fact.__name__) for fact in facts],
        }
    }


def _guides() -> dict[str, Schema]:
    """How far a calibration is."""
    _, written = _written(LensNow, CornersNow)
    return {
        name: schema | {"required": list(schema["properties"])} for name, schema in written.items()
    }


def _commands() -> dict[str, Schema]:
    """What people may tell the referee."""
    (whole,), written = _written(Command)
    return written | {"Command": whole}


_GAP = {"colour": COLOUR, "size": TEXT, "gap_mm": NUMBER}
_GAP_ALSO: Schema = {
    "piece": WHOLE,
    "sigma_mm": NUMBER,
    "on_target": YES,
    "touching": YES,
    "base_mm": POINT_MM,
    "points_mm": many(POINT_MM),
}

CHOICE = fields(
    "One thing that may have happened, and the moves that it stands for.",
    label=TEXT,
    moves=many(TEXT),
)
CLAUSES = many(fields("What it rests on, in our own words.", name=TEXT, said=TEXT))

SCHEMAS: dict[str, Schema] = {
    "Error": fields(
        "The one shape of errors.",
        error=fields(
            "`code` is for programs, `said` a sentence for people.",
            code={"type": "string", "pattern": "^[a-z0-9_']+$"},
            said=TEXT,
        ),
    ),
    "Gap": fields("The distance of a piece from the target.", _GAP_ALSO, **_GAP),
    "Ranked": fields("A gap with its place, 1 the nearest.", _GAP_ALSO, place=WHOLE, **_GAP),
    "Call": fields(
        "Who leads, and whether that can be said.",
        leading=or_null(COLOUR),
        points=WHOLE,
        too_close=YES,
        pairs=many(many(WHOLE, minItems=2, maxItems=2)),
        doubts=many(TEXT),
    ),
    "Piece": fields(
        "A piece as it was seen, mm in the table's frame: x right, y away from the players, z up.",
        {"on": {"description": "What it stands on, where that is another piece."}},
        colour=COLOUR,
        size=TEXT,
        pose=TEXT,
        base_mm=POINT_MM,
        tip_mm=POINT_MM,
        heading_deg=NUMBER,
        footprint_mm=many(POINT_MM),
        base_cov_mm2=many(many(NUMBER)),
        heading_sigma_deg=NUMBER,
        vertices_mm=many(POINT_MM),
        probability=fields(
            "How sure the reading is, 0 to 1.", colour=NUMBER, size=NUMBER, pose=NUMBER
        ),
    ),
    "SeenDie": fields(
        "A die that lies on the board, as cover.", x_mm=NUMBER, y_mm=NUMBER, sigma_mm=NUMBER
    ),
    "Observation": fields(
        "`rinkside-observation/1`: the table as it was seen in one picture.",
        {
            "board_state": by_name(YES),
            "dice": many(known("SeenDie")),
            "gaps": many(known("Gap")),
            "call": known("Call"),
        },
        format={"const": "rinkside-observation/1"},
        pieces=many(known("Piece")),
        off_board=many(known("Piece")),
        counters=many(
            fields("A flat counter.", colour=COLOUR, x_mm=NUMBER, y_mm=NUMBER, sigma_mm=NUMBER)
        ),
        camera=fields(
            "Where the camera is.",
            eye_mm=POINT_MM,
            reprojection_px=NUMBER,
            fiducials_seen=many(WHOLE),
        ),
        hand=YES,
        unread_mm=many(POINT_MM),
        notes=many(TEXT),
    ),
    "Question": fields(
        "What only people can decide.",
        {"clauses": CLAUSES},
        seq=SEQ,
        at_ms=WHOLE,
        code=TEXT,
        player=or_null(COLOUR),
        said=TEXT,
        rests_on=TEXT,
        choices=many(CHOICE),
        evidence=ANY_OBJECT,
        frame=or_null(SEQ),
    ),
    "Verdict": fields(
        "What was decided, by the referee or by people; `frame` is the record whose picture it"
        " rests on.",
        {"clauses": CLAUSES, "call": TEXT, "sound": TEXT},
        seq=SEQ,
        at_ms=WHOLE,
        kind=one_of(
            "ruled",
            "noted",
            "asked",
            "answered",
            "corrected",
            "undone",
            "declared",
            "appealed",
            "upheld",
            "resigned",
            "table",
            "begun",
        ),
        verdict=one_of(
            "accepted",
            "refused",
            "cannot_see",
            "out_of_sync",
            "waiting",
            "noted",
            "ambiguous",
            "by hand",
            "table",
        ),
        code=TEXT,
        player=or_null(COLOUR),
        said=TEXT,
        rests_on=TEXT,
        moves=many(TEXT),
        evidence=ANY_OBJECT,
        frame=or_null(SEQ),
        decided_by=or_null(TEXT),
        refers_to=or_null(SEQ),
        overturned_by=or_null(SEQ),
    ),
    "State": fields(
        "All that the page shows.",
        {
            "options": many(
                fields(
                    "What may be done now.", who=or_null(COLOUR), said=TEXT, marks=many(ANY_OBJECT)
                )
            ),
            "trace": many(
                ANY_OBJECT | {"description": "A mark of the newest verdict, to be drawn."}
            ),
            "lamps": fields(
                "What lamps show while nothing else happens.",
                signal=TEXT,
                of=many(COLOUR),
                leader=or_null(COLOUR),
            ),
        },
        session=SEQ,
        seq=SEQ,
        at_ms=WHOLE,
        started_utc=TEXT,
        game=TEXT,
        game_number=WHOLE,
        players=many(COLOUR),
        names=by_name(TEXT),
        rulings=by_name(TEXT),
        camera=TEXT,
        simulated=YES,
        phase=one_of("playing", "asking", "paused", "over", "ended"),
        next=or_null(COLOUR),
        scores=by_name(NUMBER),
        ends=many(ANY_OBJECT),
        outcome=or_null(TEXT),
        earlier_games=many(TEXT),
        state=ANY_OBJECT | {"description": "The game's own state; other in every game."},
        observation=or_null(known("Observation")),
        ranking=many(known("Ranked")),
        question=or_null(known("Question")),
        verdicts=many(known("Verdict")),
        resigned=many(COLOUR),
        may_begin=many(COLOUR),
        hidden=by_name(SEQ),
        appeals=many(
            fields(
                "An appeal that is open.",
                seq=SEQ,
                at_ms=WHOLE,
                appeals=SEQ,
                player=COLOUR,
                reason=TEXT,
                said=TEXT,
            )
        ),
        live=fields(
            "What the referee sees and does now; `held` until people have said what to do about"
            " what has `moved`; `trouble` with the program.",
            status=one_of(*typing.get_args(Status)),
            said=TEXT,
            frame_seq=WHOLE,
            at_ms=WHOLE,
            moved=many(TEXT),
            held=YES,
            trouble=TEXT,
            pointed=fields(
                "The answer that a button points at; without a label none, or of a question that is"
                " closed.",
                question=WHOLE,
                label=TEXT,
            ),
        ),
    ),
    "Measurement": fields(
        "What the ruler measures now.",
        status=one_of(*typing.get_args(RulerStatus)),
        said=TEXT,
        frame_seq=WHOLE,
        at_ms=WHOLE,
        gaps=many(known("Gap")),
        call=or_null(known("Call")),
    ),
    **_guides(),
    **_commands(),
    **_records(),
}
