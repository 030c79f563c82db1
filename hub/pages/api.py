"""HTTP API for tables."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response, request

from hub.asking import Askers
from hub.hall import Hall
from hub.intake import Intake
from hub.tables import Tables
from hub.wire import CLAIM, ENROL, MOST_BATCH_BYTES, NEXT, RECORDS, Claim, NextMatchAnswer
from table.files import convert
from table.messages import msg
from webui.security.client_addresses import client_of
from webui.security.requests import Refusal, json_body


def api(tables: Tables, intake: Intake, hall: Hall) -> Blueprint:
    """Routes for programs."""
    routes, askers = Blueprint("api", __name__), Askers()

    @routes.before_request
    def allow_batches() -> None:
        request.max_content_length = MOST_BATCH_BYTES

    @routes.post(RECORDS)
    def take() -> Response:
        if not request.is_json:
            raise Refusal(415, "no_json", msg("Expected JSON; nothing was done."))
        return _json(intake.take(_token(), request.get_data()))

    @routes.post(ENROL)
    def ask() -> Response:
        return _json(tables.ask(client()), 201)

    @routes.post(CLAIM)
    def claim() -> Response:
        return _json(tables.claim(convert(json_body(), Claim, "claim").secret))

    @routes.post(NEXT)
    def next_match() -> Response:
        table_id = tables.known(_token()).id
        found = msgspec.structs.asdict(hall.next_match(table_id))
        return _json(NextMatchAnswer(**found, again_s=askers.again_s(table_id)))

    return routes


def client() -> str:
    """Client key for rate limits and the audit log."""
    return client_of(request.remote_addr or "")


def _token() -> str:
    """The request's token; empty if there is none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def _json(document: msgspec.Struct, status: int = 200) -> Response:
    return Response(msgspec.json.encode(document), status, mimetype="application/json")
