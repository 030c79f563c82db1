"""Requests that break programs, for every route of the panel: by all methods, as every role.

Texts, numbers, documents and headers are such as no browser sends.  The same seed gives the same
requests.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlencode

from flask import Flask

from webui.security.permissions import Visitor

METHODS = (
    "GET",
    "POST",
    "HEAD",
    "PUT",
    "PATCH",
    "DELETE",
    "OPTIONS",
    "TRACE",
    "CONNECT",
    "FOO",
    "get",
    "M-SEARCH",
)
TEXTS = (
    "",
    " ",
    "0",
    "-1",
    "1",
    "2",
    "3",
    "16",
    "999999999999999",
    "9999999999999999",
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "-" + "9" * 30,
    "1e999",
    "1_0",
    "NaN",
    "Infinity",
    "-Infinity",
    "0x10",
    "1.5",
    "٣",
    "true",
    "null",
    "[]",
    "{}",
    '""',
    "on",
    "host",
    "table",
    "red",
    "blue",
    "yellow",
    "black",
    "\ud83d",
    "\udfff\ud800",
    "\x00",
    "a\x00b",
    "\x1b[31m",
    "\r\nSet-Cookie: a=b",
    "\u202e",
    "\ufeff",
    "\uffff",
    "💥",
    "é" * 300,
    "x" * 5000,
    "İ" * 50,
    "../../etc/passwd",
    "..%2f..%2f",
    "%",
    "%zz",
    "%00",
    "<script>alert(1)</script>",
    "{{7*7}}",
    "${7*7}",
    "%s%n%p",
    "'; DROP TABLE records; --",
    '{"player": "red", "vote_value": "4"}',
    '{"player": "\\ud83d"}',
    '{"player": ["red"], "die": 5}',
    "[" * 3000,
    '{"a":' * 500,
    "vote red 4; done red",
    "near",
    "photo",
    "en",
    "de",
    "ice_boule",
    "icefloe",
    "undo",
    "redo",
    "play on",
    "lens",
    "camera",
    "colours",
    "412, 96.5",
    "331,8",
    "upright",
    "lying",
)
NUMBERS = (
    0,
    1,
    2,
    -1,
    16,
    10**14,
    10**15,
    2**53,
    2**63,
    2**64,
    10**300,
    -(10**300),
    0.5,
    1e308,
    float("inf"),
    float("nan"),
    True,
    None,
)
KEYS = (
    "command",
    "record",
    "moves",
    "reason",
    "decided_by",
    "question",
    "label",
    "how",
    "readings_mm",
    "said",
    "player",
    "players",
    "dice",
    "appeal",
    "seat",
    "code",
    "token",
    "seen",
    "reading blue",
    "which",
    "wish",
    "job",
    "game",
    "plays blue",
    "place blue",
    "name blue",
    "ruling sizes",
    "language",
    "table",
    "x 0",
    "y 0",
    "heading 0",
    "colour 0",
    "size 0",
    "pose 0",
    "there 0",
    "far left",
    "view",
    "after",
    "at",
    "simulated",
    "\x00",
    "\ud83d",
    "__class__",
    "constructor",
    "x" * 500,
    "",
)
SAID = (
    *(
        "player",
        "die",
        "fire",
        "hold",
        "vote_value",
        "vote_suit",
        "coin",
        "to",
        "done",
        "decides",
        "extra_tile",
        "score",
        "torch",
        "penalty",
        "stays",
    ),
    *("off", "low", "stop", "out", "more"),
)
COMMANDS = (
    *(
        "answer",
        "correct",
        "undo",
        "declare",
        "hear",
        "roll",
        "appeal",
        "uphold",
        "resign",
        "pause",
        "resume",
        "next_game",
        "end",
        "",
        "\ud83d",
    ),
)
FIELDS = {
    "answer": ("question", "label"),
    "correct": ("record", "moves", "reason"),
    "undo": ("record",),
    "declare": ("moves",),
    "hear": ("said",),
    "roll": ("player",),
    "appeal": ("player", "record", "reason"),
    "uphold": ("appeal",),
    "resign": ("player",),
    "next_game": ("players",),
}
MOVES = (
    "vote red 4",
    "vote blue S",
    "done red",
    "ES:b3-c1",
    "penalty red",
    "remove S4",
    "stop blue",
    "target green",
    "throw blue large 20",
    "void",
    "x" * 900,
)
HOSTS = ("localhost",) * 200 + (
    "127.0.0.1:8000",
    "[::1]",
    "rink.local",
    "",
    "evil.example",
    "a_b.evil.example",
    "localhost:99999",
    "[::1",
    "[:::::]",
    "localhost, evil",
    "\xff",
    "x" * 300,
    ".",
    "localhost.",
    "user@localhost",
)
HEADERS: Mapping[str, Sequence[str]] = {
    "Origin": (
        "null",
        "http://localhost",
        "https://localhost",
        "http://[",
        "http://evil.example",
        "x" * 3000,
        "",
    ),
    "Referer": (
        "http://[",
        "http://localhost/play?x=%zz",
        "//",
        "http://localhost//evil",
        "\xff",
        "http://localhost/ruling/" + "9" * 50,
    ),
    "Sec-Fetch-Site": ("same-origin", "same-origin", "same-origin", "cross-site", "none", "\xff"),
    "Accept": (
        "text/html",
        "application/json",
        "*/*;q=x",
        ",,;;",
        "text/html;q=9999999999999999999",
        "\xff",
    ),
    "Accept-Language": ("de", "es;q=x", "*", "x" * 2000, ";q=1e999", "\xed\xa0\x80"),
    "Authorization": (
        "Bearer",
        "Bearer \xff",
        "Basic !!!",
        "Bearer " + "x" * 5000,
        "Digest username=\xff",
        "bearer eyJpZCI6IjEifQ.AAAA",
    ),
    "Cookie": (
        "rinkside=",
        "rinkside=\xff; language=xx",
        ";;;===",
        "rinkside=" + "." * 3000,
        'language="\\377\\777"',
        "rinkside=a; rinkside=b",
    ),
    "If-None-Match": ("*", '"' * 500, 'W/"x", "', "\xff"),
    "If-Modified-Since": (
        "0",
        "Thu, 99 Foo 99999 99:99:99 GMT",
        "Mon, 01 Jan 0000 00:00:00 GMT",
        "x" * 2000,
    ),
    "Range": ("bytes=0-", "bytes=9-1", "bytes=" + "9" * 400 + "-", "bytes=-,,,", "lines=1"),
    "If-Range": ('"x"', "0", "\xff"),
    "Last-Event-ID": ("0", "16", "-1", "9" * 6000, "\xff", "1\t2"),
    "X-Forwarded-For": ("10.0.0.9", "\xff", "unknown", "[::1", ",,,"),
    "X-Forwarded-Proto": ("https", "\xff"),
    "X-Forwarded-Host": ("evil.example",),
    "Forwarded": ("for=[::1;host=evil", "="),
    "X-HTTP-Method-Override": ("DELETE",),
    "Content-Encoding": ("gzip",),
    "Expect": ("100-continue", "\xff"),
    "Upgrade": ("websocket", "h2c"),
    "Connection": ("keep-alive", "upgrade", "\xff"),
}
TYPES = (
    *(
        "application/json",
        "application/json; charset=\xff",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
    ),
    *(
        "multipart/form-data; boundary=" + "x" * 3000,
        "multipart/form-data; boundary=\xff",
        "text/plain",
        "application/vnd.x+json",
        "\xff",
        "",
    ),
)


@dataclass(frozen=True)
class Hostile:
    """A request: `target` and headers in Latin-1."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def written(self) -> bytes:
        """As it goes over a socket."""
        head = "".join(
            f"{name}: {value}\r\n"
            for name, value in (*self.headers, ("Content-Length", str(len(self.body))))
        )
        return f"{self.method} {self.target} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + self.body

    def environ(self, address: str) -> dict[str, Any]:
        """As a WSGI server gives it to the application."""
        path, _, query = self.target.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.method.upper(),
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path.encode("latin-1")).decode("latin-1"),
            "QUERY_STRING": query,
            "SERVER_NAME": "waitress.invalid",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": address,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": BytesIO(self.body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
            "wsgi.input_terminated": True,
            "CONTENT_LENGTH": str(len(self.body)),
        }
        for name, value in self.headers:
            key = name.upper().replace("-", "_")
            environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        return environ


def hostile_requests(app: Flask, chance: random.Random) -> Iterator[Hostile]:
    """Endless requests to all routes of an application.

    They come from hosts, players with seats and without, and strangers.
    """
    rules = [(rule.rule, sorted(rule.methods or ())) for rule in app.url_map.iter_rules()]
    keys = credentials(app)
    while True:
        rule, methods = chance.choice(rules)
        target, method = (
            _target(rule, chance),
            chance.choice(methods if chance.random() < 0.8 else METHODS),
        )
        kind = chance.choice(TYPES) if chance.random() < 0.2 else chance.choice(TYPES[:3:2])
        if chance.random() < 0.25:  # what changes the game, and not only the routes that show it
            target, kind = chance.choice(
                (("/api/v1/command", TYPES[0]), ("/command", TYPES[2]), ("/play", TYPES[2]))
            )
            method = "POST"
        body, kind = (
            (b"", "")
            if chance.random() < 0.3
            else (_body(kind, app.config["FORM_TOKEN"], chance), kind)
        )
        headers = {"Host": chance.choice(HOSTS)} | ({"Content-Type": kind} if kind else {})
        for name in chance.sample([*HEADERS], chance.choice((0, 0, 1, 1, 2, 5))):
            headers[name] = chance.choice(HEADERS[name])
        if chance.random() < 0.75:
            headers |= chance.choice(keys)
        if not body:
            headers.pop("Expect", None)  # the server would wait for one
        if chance.random() < 0.8:
            headers["Sec-Fetch-Site"] = "same-origin"
        yield Hostile(method, target, tuple(headers.items()), body)


def credentials(app: Flask) -> list[dict[str, str]]:
    """Headers of a host, and of players with and without a seat.

    They are as browsers and as programs send them.
    """
    access = app.extensions.get("access")
    if access is None:
        return [{}]
    codes, seats = access.codes.now, app.extensions["seats"]
    tickets = [access.enter(codes.host, "::1"), access.enter(codes.table, "::1")]
    for colour in ("red", "blue"):
        ticket = access.enter(codes.table, "::1")
        if colour not in seats.held():
            seats.take(Visitor("player", id=access.visitor(ticket).id), colour)
        tickets.append(ticket)
    tickets += tickets[:1] * 3  # what a host sends comes farthest
    return [
        one
        for ticket in tickets
        for one in ({"Cookie": f"rinkside={ticket}"}, {"Authorization": f"Bearer {ticket}"})
    ]


def _target(rule: str, chance: random.Random) -> str:
    """A path of a rule, with a query, in ASCII or Latin-1; without spaces, which would end it."""
    path = rule
    while "<" in path:
        start, _, rest = path.partition("<")
        _, _, end = rest.partition(">")
        value = chance.choice(("1", "2", "3", "16") if chance.random() < 0.5 else TEXTS)
        path = start + quote(value, safe="", errors="surrogatepass")[:6000] + end
    if chance.random() < 0.1:
        path = chance.choice(
            (
                f"/{path}",
                f"{path}/",
                f"{path}/..",
                path.upper(),
                f"{path}%00",
                f"{path};x",
                "/%ff%fe",
                f"{path}%2e",
                "*",
                f"/.{path}",
            )
        )
    if chance.random() < 0.4:
        pairs = [
            (chance.choice(KEYS[-12:] if chance.random() < 0.7 else KEYS), chance.choice(TEXTS))
            for _ in range(chance.randrange(1, 4))
        ]
        path += "?" + urlencode(pairs, errors="surrogatepass")[:8000]
        if chance.random() < 0.2:
            path += chance.choice(("&&&", "&%", "=\xff", "&a=%ed%a0%80", "&" * 500, "#x", "?"))
    return path


def _body(kind: str, token: str, chance: random.Random) -> bytes:
    if chance.random() < 0.08:
        return chance.choice(
            (
                b"",
                b"\x00" * 100,
                b"\xff" * 3000,
                b"[" * 9000,
                b"{" * 9000,
                b"x" * 20_000,
                b'"\\ud83d"',
                b"--x\r\n\r\n--x--",
                b"9" * 6000,
            )
        )
    if "json" in kind:
        return json.dumps(_document(chance), ensure_ascii=chance.random() < 0.7).encode(
            "utf-8", "surrogatepass"
        )
    pairs = {chance.choice(KEYS): chance.choice(TEXTS) for _ in range(chance.randrange(8))} | {
        "token": token
    }
    if chance.random() < 0.7:
        pairs["command"] = chance.choice(COMMANDS)
        pairs["moves"] = "; ".join(chance.choices(MOVES, k=chance.randrange(3)))
    if chance.random() < 0.3:
        pairs["said"] = json.dumps(_said(chance))
    if "multipart" in kind:
        parts = "".join(
            f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in pairs.items()
        )
        return f"{parts}--x--\r\n".encode("utf-8", "surrogatepass")
    return urlencode(pairs, errors="surrogatepass").encode()[: chance.choice((10**6, 10**6, 50))]


def _document(chance: random.Random) -> Any:
    if chance.random() < 0.1:
        return chance.choice(
            (None, 1, "x", [], {}, [{}], TEXTS[-1], float("nan"), {"code": {"code": []}})
        )
    document: dict[str, Any] = {"command": chance.choice(COMMANDS)}
    if chance.random() < 0.5:  # the fields that it has, so that it comes as far as it can
        names = FIELDS.get(document["command"], ())
        return document | {name: _value(name, chance) for name in names}
    for key in chance.sample(KEYS[1:17], chance.randrange(6)):
        document[key] = _value(key, chance)
    if chance.random() < 0.05:
        document[chance.choice(KEYS)] = _value("", chance)
    return document


def _value(key: str, chance: random.Random) -> Any:
    if chance.random() < 0.1:
        return chance.choice((*NUMBERS, [], {}, [[]], chance.choice(TEXTS), [chance.choice(TEXTS)]))
    match key:
        case "record" | "question" | "appeal" | "dice":
            return chance.choice((*range(1, 30), *range(1, 30), *NUMBERS))
        case "moves" | "players":
            return chance.choices((*MOVES, *TEXTS, "red", "blue"), k=chance.randrange(4))
        case "said":
            return _said(chance)
        case "readings_mm":
            return {
                chance.choice(TEXTS): chance.choice(NUMBERS) for _ in range(chance.randrange(3))
            }
        case _:
            return chance.choice(TEXTS)


def _said(chance: random.Random) -> dict[str, Any]:
    heard: dict[str, Any] = {
        "player": chance.choice(("red", "blue", "black", "yellow", chance.choice(TEXTS)))
    }
    for key in chance.sample(SAID, chance.choice((1, 1, 1, 2, 3))):
        heard[key] = chance.choice(
            (True, "4", "S", "red", 5, chance.choice(TEXTS), chance.choice(NUMBERS))
        )
    return heard
