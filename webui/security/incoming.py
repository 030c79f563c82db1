"""Validate all request data in one place: texts, numbers and JSON documents.

Texts are valid Unicode without control characters, numbers are bounded, documents are small and
shallow. Routes read `request.args`, `request.form`, `requests.json_body`, `requests.number` and
addresses with the `seq` converter, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from wsgiref.types import WSGIEnvironment

from flask import Request
from werkzeug.datastructures import ImmutableMultiDict
from werkzeug.routing import BaseConverter

from table.errors import InputError
from table.files import check_plain
from table.json_data import JsonObject
from table.messages import msg
from table.text import printable
from webui.security.host_names import read_authority

DIGITS = 15
"""Maximum digits of a number, so that it is exact in JSON and fits the log's columns."""
NO_NAME = "unknown.invalid"
LAST_NUMBER = 10**DIGITS - 1
LARGER_BODIES = "LARGER_BODIES"
"""Application setting: maximum body size in bytes by path, for paths with a larger limit."""
MOST_BODIES = "MOST_BODIES"
"""Application setting: maximum body size in bytes of any request, if above the default. Every
connection may send such a body.
"""
MOST_LISTENERS = "MOST_LISTENERS"
"""Application setting: maximum number of streams, if above the default."""
MOST_UPLOAD_BYTES = 64 << 20
"""Maximum size of a request with photographs."""
MOST_DEEP = 16
"""Maximum nesting of lists and objects; no command exceeds four levels."""


class Texts(ImmutableMultiDict[str, str]):
    """Fields of a form, a query or cookies, without control characters; or a form's files.

    Invalid UTF-8 was replaced before.
    """

    def __init__(self, mapping: Any = None) -> None:
        pairs: Iterable[tuple[str, Any]] = ()
        if isinstance(mapping, ImmutableMultiDict):
            pairs = mapping.items(multi=True)
        elif isinstance(mapping, Mapping):
            pairs = mapping.items()
        elif mapping is not None:
            pairs = mapping
        super().__init__(
            [
                (printable(name), printable(value) if isinstance(value, str) else value)
                for name, value in pairs
            ]
        )


class Incoming(Request):
    """A request whose forms, queries and cookies are `Texts`.

    `named` is the parsed Host header, None if it is invalid.
    """

    parameter_storage_class = Texts
    dict_storage_class = Texts

    def __init__(
        self, environ: WSGIEnvironment, populate_request: bool = True, shallow: bool = False
    ) -> None:
        self.host_as_sent = environ.get("HTTP_HOST", "")
        self.named = read_authority(self.host_as_sent, environ["wsgi.url_scheme"])
        if self.named is None:
            environ["HTTP_HOST"] = (
                NO_NAME  # placeholder for routing and pages until the request is refused
            )
        super().__init__(environ, populate_request, shallow)
        self.query_string = re.sub(
            rb"[^\x00-\x7f]", lambda found: b"%%%02X" % found[0][0], self.query_string
        )


class SeqConverter(BaseConverter):
    """URL converter for numbers of sessions and records: `/sessions/<seq:session>`.

    Longer numbers do not match.
    """

    regex = rf"[0-9]{{1,{DIGITS}}}"
    weight = 50

    def to_python(self, value: str) -> int:
        """The number in a path segment."""
        return int(value)


def number_of(text: str, name: str) -> int:
    """A number from a query or a header, 0 to LAST_NUMBER; raises InputError with its name."""
    if not re.fullmatch(SeqConverter.regex, text):
        raise InputError(
            msg(
                "{name}: expected the number of a record, at most {n} digits, got {raw}",
                name=name,
                n=DIGITS,
                raw=repr(text[:40]),
            )
        )
    return int(text)


def json_document(text: str | bytes) -> Any:
    """Parse and validate a JSON document.

    Raises InputError, with a one-line message, if it is invalid.
    """
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_no_number)
    except InputError:
        raise
    except RecursionError as error:
        raise InputError(
            msg("expected JSON nested at most {n} brackets deep", n=MOST_DEEP)
        ) from error
    except ValueError as error:
        raise InputError(msg("expected a JSON document")) from error
    check_plain(document, "JSON", MOST_DEEP)
    return _clean(document)


def _unique_keys(pairs: list[tuple[str, Any]]) -> JsonObject:
    document = dict(pairs)
    if len(document) < len(pairs):
        raise InputError(msg("expected each name once in a JSON object, got one twice"))
    return document


def _no_number(text: str) -> float:
    raise InputError(msg("expected numbers in JSON, got {raw}", raw=text))


def _clean(node: Any) -> Any:
    """Remove control characters from texts; raises InputError for numbers out of bounds."""
    match node:
        case str():
            return printable(node)
        case dict():
            return {printable(name): _clean(value) for name, value in node.items()}
        case list():
            return [_clean(value) for value in node]
        case bool() | None:
            return node
        case _:
            if not abs(node) <= LAST_NUMBER:  # also rejects NaN
                raise InputError(
                    msg(
                        "expected numbers of at most {n} digits in JSON, got {raw}...",
                        n=DIGITS,
                        raw=str(node)[:20],
                    )
                )
            return node
