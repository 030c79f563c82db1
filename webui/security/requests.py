"""Checks of every request, headers of every response: same site, small bodies, one error form."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Collection
from typing import Any

from flask import Flask, Response, current_app, jsonify, make_response, render_template, request
from werkzeug.exceptions import HTTPException, UnsupportedMediaType

from referee.sessions.event_store import LogFailed
from table.errors import InputError, message_of
from table.messages import msg, sentences
from webui.security.host_names import is_local_name, read_authority, read_origin
from webui.security.incoming import LARGER_BODIES, Incoming, SeqConverter, json_document, number_of

logger = logging.getLogger(__name__)

MAX_BODY_BYTES = 16 * 1024
MOST_PART_BYTES = 256 * 1024
"""Memory limit of a form with files; files are spooled to disk."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
        " 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

ERRORS = {
    404: msg("There is nothing here; the panel is at /."),
    405: msg("This address does not accept that kind of request."),
    413: msg("Expected at most {n} KiB, got more; nothing was done.", n=MAX_BODY_BYTES // 1024),
    415: msg("Expected JSON (Content-Type: application/json); nothing was done."),
    500: msg("Internal error in the panel; the log on disk is not affected."),
}


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a fault
    """An error response to a request.

    It has an HTTP status, a code for programs and a sentence for people. With `retry_s` the client
    may retry after that many seconds.
    """

    def __init__(self, status: int, code: str, message: str, retry_s: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.retry_s = status, code, message, retry_s


def guard(app: Flask, hosts: Collection[str]) -> None:
    """Add the checks before, and the headers after, every request of `app`.

    `hosts` are further accepted host names.
    """
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY_BYTES
    app.config["MAX_FORM_PARTS"] = 32
    app.config["FORM_TOKEN"] = secrets.token_urlsafe(24)

    app.request_class = Incoming
    app.url_map.converters["seq"] = SeqConverter
    ours = {name.lower() for name in hosts}

    @app.before_request
    def check() -> None:
        _refuse_unknown_host(ours)
        larger: dict[str, int] = app.config.get(LARGER_BODIES, {})
        if request.path in larger:
            request.max_content_length = larger[request.path]
            request.max_form_memory_size = MOST_PART_BYTES
        if request.method not in ("GET", "HEAD", "OPTIONS"):
            refuse_cross_site()

    app.after_request(_add_headers)
    app.register_error_handler(Refusal, _answer_refusal)
    app.register_error_handler(LogFailed, _answer_failed_log)
    app.register_error_handler(InputError, _answer_input_error)
    app.register_error_handler(HTTPException, _answer_http_error)
    app.register_error_handler(Exception, _answer_mistake)


def _refuse_unknown_host(ours: Collection[str]) -> None:
    """Raise Refusal if the request's host is neither this machine nor in `ours`."""
    asked = incoming()
    if asked.named is None or not is_local_name(asked.named.name, ours):
        name = asked.named.name if asked.named else asked.host_as_sent[:80]
        message = msg(
            "This panel does not answer to the name '{raw}'; use its IP address, or set the"
            " name at the start (--public-name).",
            raw=name,
        )
        raise Refusal(421, "unknown_host", message)


def _add_headers(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def _answer_refusal(refusal: Refusal) -> Response:
    response = error(refusal.status, refusal.code, refusal.message)
    if refusal.retry_s is not None:
        response.headers["Retry-After"] = str(refusal.retry_s)
    return response


def _answer_failed_log(failed: LogFailed) -> Response:
    return error(507, "not_kept", message_of(failed))


def _answer_input_error(wrong: InputError) -> Response:
    return error(409, "not_now", message_of(wrong))


def _answer_http_error(exception: HTTPException) -> Response:
    status = exception.code or 500
    code = exception.name.lower().replace(" ", "_")
    response = error(status, code, ERRORS.get(status, exception.description or exception.name))
    kept = ("Allow", "Retry-After")
    response.headers.extend(
        {name: value for name, value in exception.get_headers() if name in kept}
    )
    return response


def _answer_mistake(exception: Exception) -> Response:
    logger.error("panel: %s %s", request.method, request.path, exc_info=exception)
    return error(500, "internal_server_error", ERRORS[500])


def error(status: int, code: str, message: str) -> Response:
    """A uniform error response: JSON, or a page if a browser requested one."""
    wants_page = request.accept_mimetypes.best_match(
        ["application/json", "text/html"]
    ) == "text/html" and not request.path.startswith("/api/")
    if wants_page:
        response = make_response(render_template("error.html", message=message, status=status))
    else:
        response = jsonify({"error": {"code": code, "said": message}})
    response.status_code = status
    return response


def incoming() -> Incoming:
    """The current request."""
    asked: Incoming = request._get_current_object()  # type: ignore[attr-defined]  # a proxy
    return asked


def json_body() -> Any:
    """The request's JSON document; raises Refusal if it is not valid."""
    if not request.is_json:
        raise UnsupportedMediaType
    try:
        return json_document(request.get_data())
    except InputError as error:
        message = msg("{text}; nothing was done.", text=error.message)
        raise Refusal(400, "bad_request", message) from error


def number(text: str, name: str) -> int:
    """Parse the number sent as `name`; raises Refusal if it is invalid or too long."""
    try:
        return number_of(text, name)
    except InputError as error:
        raise Refusal(400, "bad_number", message_of(error)) from error


def refuse_cross_site() -> None:
    """Raise Refusal unless the sender is this panel's own page or a non-browser program."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    foreign = Refusal(
        403,
        "cross_site",
        sentences(
            msg("This request came from another site; nothing was done."),
            msg("Use the panel itself."),
        ),
    )
    if site == "same-origin":
        # set by the browser itself, which may send "Origin: null" with a form without script
        return
    if site is not None:
        raise foreign
    if origin is not None and read_origin(origin) != read_authority(
        request.headers.get("Host", ""), origin.partition("://")[0]
    ):
        raise foreign
    if (
        origin is None
        and not request.is_json
        and not hmac.compare_digest(
            request.form.get("token", "").encode(), current_app.config["FORM_TOKEN"].encode()
        )
    ):
        raise Refusal(
            403,
            "no_token",
            msg(
                "This form is not from this panel, or the panel has been restarted; reload"
                " the page."
            ),
        )
