"""What is answered under /api/v1, beside records: shapes that the OpenAPI document describes."""

from __future__ import annotations

import msgspec
from flask import Response

from referee.live.live_measurement import RulerStatus
from referee.presentation.session_view import Alternative, SessionView
from referee.sessions.status import Status
from table.observation_document import Measurement


class Pointed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer that a button points at; without a label none, or of a question that is closed."""

    question: int
    label: str


class LiveNow(
    msgspec.Struct, frozen=True, kw_only=True, rename={"message": "said", "error": "trouble"}
):
    """What the referee sees and does now.

    It is `held` until people have said what to do about what has `moved`; `error` (in JSON:
    `trouble`) is what went wrong with the program.
    """

    status: Status
    message: str
    frame_seq: int
    at_ms: int
    moved: tuple[str, ...]
    held: bool
    error: str
    pointed: Pointed


class State(SessionView, frozen=True, kw_only=True):
    """All that the page shows."""

    live: LiveNow


class Alternatives(msgspec.Struct, frozen=True, kw_only=True):
    """A ruling, and what may stand in its place."""

    record: int
    choices: tuple[Alternative, ...]


class MeasurementNow(Measurement, frozen=True, kw_only=True, rename={"message": "said"}):
    """What the ruler measures now."""

    status: RulerStatus
    message: str
    frame_seq: int
    at_ms: int


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename={"message": "said"}):
    """What went wrong: `code` is for programs, `message` a sentence for people."""

    code: str
    message: str


class Error(msgspec.Struct, frozen=True, kw_only=True):
    """The one shape of errors."""

    error: Problem


def json_answer(answer: msgspec.Struct) -> Response:
    """An answer as JSON; messages are in English."""
    return Response(json_bytes(answer), mimetype="application/json")


def json_bytes(answer: object) -> bytes:
    """The body of `json_answer`."""
    return msgspec.json.encode(answer, enc_hook=str)
