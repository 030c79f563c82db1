"""The OpenAPI document of an application's routes under /api/v1."""

from __future__ import annotations

import re

from flask import Flask, Response, jsonify

from table.json_data import JsonObject
from webui.api.schemas import (
    ANY_OBJECT,
    COLOUR,
    SCHEMAS,
    SEQ,
    TEXT,
    Schema,
    fields,
    known,
    many,
    one_of,
    or_null,
)

BASE = "/api/v1"
ROLE = one_of("host", "player", "spectator")

ERRORS = {
    400: "What was sent is not what was expected.",
    403: "It is for others, or the code is wrong.",
    404: "There is none.",
    405: "Not that kind of request.",
    409: "It cannot be done now.",
    413: "Too large.",
    415: "Expected JSON.",
    421: "Not a name of this machine.",
    429: "Too many wrong codes; try again after Retry-After, s.",
    500: "A mistake of the panel's own.",
    503: "Too many listen, or ask for pictures.",
    507: "It could not be kept on disk; nothing was done.",
}
OF_ANY = (403, 421, 429, 500)
"""Error statuses of any request, since every request can carry a code."""
OF_SENT = (400, 413, 415)
"""Further error statuses of requests with a body."""

Operation = JsonObject


def _operation(
    summary: str,
    answer: tuple[int, str, Schema],
    errors: tuple[int, ...],
    sent: Schema | None,
    parameters: list[Schema],
) -> Operation:
    status, kind, schema = answer
    statuses = sorted({*errors, *OF_ANY, *(OF_SENT if sent else ())})
    operation: Operation = {
        "summary": summary,
        "parameters": parameters,
        "responses": {
            str(status): {"description": "So it is.", "content": {kind: {"schema": schema}}},
            **{
                str(error): {
                    "description": ERRORS[error],
                    "content": {"application/json": {"schema": known("Error")}},
                }
                for error in statuses
            },
        },
    }
    if sent:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": sent}},
        }
    return operation


def _get(
    summary: str, schema: Schema, *errors: int, parameters: tuple[Schema, ...] = ()
) -> Operation:
    return _operation(summary, (200, "application/json", schema), errors, None, list(parameters))


def _post(summary: str, sent: Schema, schema: Schema, *errors: int) -> Operation:
    return _operation(summary, (201, "application/json", schema), errors, sent, [])


def _jpeg(summary: str, *parameters: Schema) -> Operation:
    operation = _operation(
        summary,
        (200, "image/jpeg", {"type": "string", "contentMediaType": "image/jpeg"}),
        (404, 503),
        None,
        list(parameters),
    )
    operation["responses"]["304"] = {
        "description": "The one that was named by If-None-Match is still the newest."
    }
    return operation


AFTER: Schema = {
    "name": "after",
    "in": "query",
    "description": "The number of a record; what is wanted comes after it.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1, "default": 0},
}
LAST_EVENT_ID = AFTER | {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "As `after`, and outranks it; browsers send it by themselves.",
}
RECORD_NUMBER = {
    "name": "seq",
    "in": "path",
    "required": True,
    "schema": SEQ | {"maximum": 2**53 - 1},
}
MOST_RECORDS = 500

OPERATIONS: dict[tuple[str, str], Operation] = {
    ("/openapi.json", "get"): _get("This document.", ANY_OBJECT),
    ("/state", "get"): _get("All that the page shows.", known("State")),
    ("/records", "get"): _get(
        f"What happened after a record, at most {MOST_RECORDS} records of it: ask again after the"
        " last.",
        fields("Records in order.", records=many(known("Record"))),
        400,
        parameters=(AFTER,),
    ),
    ("/stream", "get"): _operation(
        "The same as server-sent events: `hello` (which run of the panel), `record` with its number"
        " as id, `live` and `beat`.",
        (200, "text/event-stream", TEXT),
        (400, 503),
        None,
        [AFTER, LAST_EVENT_ID],
    ),
    ("/observation", "get"): _get(
        "The table as it was seen last.", known("ObservationDocument"), 404
    ),
    ("/camera.jpg", "get"): _jpeg(
        "The camera's newest picture, or the photograph on which corners are put."
    ),
    ("/frame/{seq}.jpg", "get"): _jpeg("The picture that a record rests on.", RECORD_NUMBER),
    ("/alternatives/{seq}", "get"): _get(
        "What else may have happened where a record was ruled, nearest first; the host sends one as"
        " `correct`.",
        known("Alternatives"),
        404,
        409,
        parameters=(RECORD_NUMBER,),
    ),
    ("/command", "post"): _post(
        "Tell the referee something: the only way to change a game.",
        known("Command"),
        fields("The record of it.", record=known("Record")),
        409,
        507,
    ),
    ("/join", "post"): _post(
        "Give a code, and get the token to send with everything else: `Authorization: Bearer"
        " TOKEN`.",
        {"type": "object", "properties": {"code": TEXT}, "required": ["code"]},
        fields("Who this makes you.", role=ROLE, token=TEXT),
    ),
    ("/seat", "post"): _post(
        "Take a player's seat.",
        {"type": "object", "properties": {"seat": COLOUR}, "required": ["seat"]},
        fields("The seat.", seat=COLOUR),
        409,
    ),
    ("/me", "get"): _get("Who you are.", fields("Role and seat.", role=ROLE, seat=or_null(COLOUR))),
    ("/measurement", "get"): _get("What the ruler measures now.", known("MeasurementNow")),
    ("/lens", "get"): _get("How far the calibration of a lens is.", known("LensNow"), 404),
    ("/corners", "get"): _get(
        "How far a table is whose board's corners are put by hand.", known("CornersNow")
    ),
}
"""Operations of all applications under `BASE`, by path and method."""


def describe(app: Flask) -> None:
    """Add the route of the OpenAPI document to an application."""

    @app.get(f"{BASE}/openapi.json")
    def openapi() -> Response:
        return jsonify(document(app))


def document(app: Flask) -> JsonObject:
    """The OpenAPI 3.1 document of the application's routes under `BASE`."""
    paths: dict[str, JsonObject] = {}
    for path, method in sorted(routes(app)):
        paths.setdefault(BASE + path, {})[method] = OPERATIONS[path, method]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Rinkside",
            "version": "1",
            "description": "What the pages show, for programs.  Lengths are in mm.",
        },
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"code": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"code": []}],
    }


def routes(app: Flask) -> set[tuple[str, str]]:
    """(path, method) of all routes under `BASE`, in OpenAPI notation."""
    return {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule.removeprefix(BASE)), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith(f"{BASE}/")
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
    }
