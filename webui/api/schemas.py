"""JSON Schemas of the answers under /api/v1, derived from their types."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import msgspec

from calibration.progress import CornersNow, LensNow
from referee.presentation.session_view import GameDocument
from referee.presentation.shown_games import document_types
from referee.sessions.commands import Command
from referee.sessions.events import SCHEMA, Event
from table.json_data import JsonObject
from table.messages import Message
from webui.api.answers import Alternatives, Error, MeasurementNow, State

Schema = JsonObject

REFERENCE = "#/components/schemas/{name}"
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
YES: Schema = {"type": "boolean"}
ANY_OBJECT: Schema = {"type": "object"}


def one_of(*words: str) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(words)}


def many(schema: Schema) -> Schema:
    """A list of them."""
    return {"type": "array", "items": schema}


def or_null(schema: Schema) -> Schema:
    """It, or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def known(name: str) -> Schema:
    """The schema of that name in `SCHEMAS`."""
    return {"$ref": REFERENCE.format(name=name)}


def fields(description: str, /, **properties: Schema) -> Schema:
    """An object that always has these and no others."""
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SEQ: Schema = {"type": "integer", "minimum": 1, "description": "Number of a record in the log."}
COLOUR: Schema = {"type": "string", "examples": ["blue"]}


def _written(*types: Any) -> tuple[tuple[Schema, ...], dict[str, Schema]]:
    """Schemas of types, and by name those of their parts, with the docstrings as descriptions."""
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
    """A schema for the record of each fact: its place in the log, and the fact's own fields.

    All fields are always there.
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


def _state_documents() -> dict[str, Schema]:
    """Schemas of what games say of their states, and of the parts of that.

    They may have more keys: a game that is installed later has no type here.
    """
    _, written = _written(GameDocument, *document_types())
    return written


STATE_DOCUMENTS = _state_documents()


def _answers(*kinds: type) -> dict[str, Schema]:
    """Schemas of structs that are sent as answers.

    They have all their fields, but for those that may be unset, and no others.
    """
    _, written = _written(*kinds)
    for schema in (written[name] for name in written if name not in STATE_DOCUMENTS):
        properties = schema.get("properties", {})
        always = [
            name
            for name, field in properties.items()
            if name in schema["required"] or "default" in field
        ]
        for field in properties.values():
            field.pop("default", None)
        schema |= {"required": always, "additionalProperties": False}
    return written


def _state() -> dict[str, Schema]:
    """As `_answers`; the state is the document of one of the games."""
    written = _answers(State)
    state = written["State"]["properties"]["state"]
    assert state == known(GameDocument.__name__), "it is looked up by this name"
    names = dict.fromkeys(kind.__name__ for kind in (*document_types(), GameDocument))
    written["State"]["properties"]["state"] = {"anyOf": [known(name) for name in names]}
    return written


def _together(*groups: dict[str, Schema]) -> dict[str, Schema]:
    """All schemas by name; raises ValueError where a name would mean two things."""
    schemas: dict[str, Schema] = {}
    for group in groups:
        for name, schema in group.items():
            if schemas.setdefault(name, schema) != schema:
                raise ValueError(f"expected one schema of the name {name}, got two")
    return schemas


SCHEMAS = _together(
    STATE_DOCUMENTS,
    _state(),
    _answers(Alternatives, MeasurementNow, Error),
    _guides(),
    _commands(),
    _records(),
)
