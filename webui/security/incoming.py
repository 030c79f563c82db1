"""Validate what comes in with a request, in one place: texts, numbers and JSON documents.

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
"""Most digits of a number: all such numbers are exact in JSON and fit into the log's columns."""
NO_NAME = "unknown.invalid"
LAST_NUMBER = 10**DIGITS - 1
LARGER_BODIES = "LARGER_BODIES"
"""Setting of an application: the most bytes of a request's body by its path, where they are more
than elsewhere.
"""
MOST_BODIES = "MOST_BODIES"
"""Setting of an application: the most bytes of any request's body, where they are more than usual
and as many requests may have them as there are connections.
"""
MOST_LISTENERS = "MOST_LISTENERS"
"""Setting of an application: the most streams at once, where they are more than usual."""
MOST_UPLOAD_BYTES = 64 << 20
"""Most bytes of a request with photographs."""
MOST_DEEP = 16
"""Most levels of lists and objects inside one another; no command has more than four."""


class Texts(ImmutableMultiDict[str, str]):
    """Fields of a form, a query or cookies, without control characters; or a form's files.

    Bytes that are no UTF-8 are replaced before.
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

    `named` is what its Host header names, None where that is nothing.
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
                NO_NAME  # what routing and pages work with until the request is refused
            )
        super().__init__(environ, populate_request, shallow)
        self.query_string = re.sub(
            rb"[^\x00-\x7f]", lambda found: b"%%%02X" % found[0][0], self.query_string
        )


class SeqConverter(BaseConverter):
    """Numbers of sessions and records in addresses: `/sessions/<seq:session>`.

    A longer number is no address.
    """

    regex = rf"[0-9]{{1,{DIGITS}}}"
    weight = 50

    def to_python(self, value: str) -> int:
        """The number in a part of an address."""
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
    """A document in JSON that is safe to work with.

    Raises InputError, in one line, where it is none.
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
    """Texts without control characters; raises InputError for numbers out of bounds."""
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
            if not abs(node) <= LAST_NUMBER:  # nor is NaN
                raise InputError(
                    msg(
                        "expected numbers of at most {n} digits in JSON, got {raw}...",
                        n=DIGITS,
                        raw=str(node)[:20],
                    )
                )
            return node
