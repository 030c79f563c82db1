"""A panel over stand-ins for a session and a moment, and browsers that look at it."""

from __future__ import annotations

import copy
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from referee.sessions.event_store import Log
from table.table_config import Setup
from tests.support import panel_standins as standins
from tests.support.paths import ROOT
from webui import create_app
from webui.api.openapi import BASE, OPERATIONS
from webui.api.schemas import SCHEMAS


@pytest.fixture
def question() -> dict[str, Any]:
    """An open question, as a view has it."""
    return copy.deepcopy(standins.QUESTION)


@pytest.fixture
def verdict_row() -> Callable[..., dict[str, Any]]:
    """verdict_row(14, "blue", "Blue leads.", kind="noted"): a line of a view's verdicts."""
    return standins.verdict


@pytest.fixture
def storm_table() -> Setup:
    """A table with a chessboard."""
    return standins.storm_table()


class Fitting(FlaskClient):
    """A client that looks whether every answer under /api/v1 is as the OpenAPI document says."""

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        answer = super().open(*args, **kwargs)
        adapter = self.application.url_map.bind("localhost")
        method, path = answer.request.method, answer.request.path
        if path.startswith(f"{BASE}/") and method != "HEAD" and adapter.test(path, method):
            rule, _ = adapter.match(path, method, return_rule=True)
            operation = OPERATIONS[
                re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule.removeprefix(BASE)), method.lower()
            ]
            documented = operation["responses"][str(answer.status_code)]
            assert answer.mimetype in documented.get("content", {answer.mimetype: None})
            if answer.mimetype == "application/json":
                validator_of(
                    json.dumps(documented["content"]["application/json"]["schema"])
                ).validate(answer.get_json())
        return answer


@cache
def validator_of(schema_json: str) -> jsonschema_rs.Draft202012Validator:
    """A validator of a schema that refers to others of the document."""
    return jsonschema_rs.Draft202012Validator(
        json.loads(schema_json) | {"components": {"schemas": SCHEMAS}}
    )


@pytest.fixture(autouse=True)
def _every_answer_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Flask, "test_client_class", Fitting)


@pytest.fixture
def session() -> Any:
    return standins.FakeSession()


@pytest.fixture
def live() -> Any:
    return standins.FakeLive()


@pytest.fixture
def table(live: Any) -> Any:
    """A table that is made ready."""
    return standins.FakeTable(live)


@pytest.fixture
def log(tmp_path: Path, live: Any) -> Iterator[tuple[Any, ...]]:
    """A log with a session of Ice Boule, one of Ice Storm, and one of IceFloe with votes that are
    not shown yet; and the three.
    """
    with Log(tmp_path / "log.sqlite") as opened:
        yield opened, *standins.keep_sessions(opened, live)


@pytest.fixture
def more_records(session: Any) -> Callable[[int], None]:
    """more_records(3): three more rulings come in."""

    def add(count: int) -> None:
        last = session.kept[-1].seq
        session.kept += standins.records(last + 1, last + count)

    return add


@pytest.fixture
def app(session: Any, live: Any) -> Flask:
    return create_app(session, live)


def join(app: Flask, code: str) -> FlaskClient:
    """A browser that has given a code."""
    client = app.test_client()
    assert (
        client.post(
            "/join", data={"code": code}, headers={"Sec-Fetch-Site": "same-origin"}
        ).status_code
        == 303
    )
    return client


@pytest.fixture
def as_host() -> Callable[[Flask], FlaskClient]:
    """as_host(app): a browser that has given the host's code."""
    return lambda app: join(app, app.extensions["access"].codes.now.host)


@pytest.fixture
def as_player() -> Callable[[Flask, str], FlaskClient]:
    """as_player(app, "blue"): a browser that has given the table's code and holds a seat; with ""
    it has none.
    """

    def sit(app: Flask, seat: str) -> FlaskClient:
        client = join(app, app.extensions["access"].codes.now.table)
        if seat:
            assert (
                client.post(
                    "/seat", data={"seat": seat}, headers={"Sec-Fetch-Site": "same-origin"}
                ).status_code
                == 303
            )
        return client

    return sit


@pytest.fixture
def spectator(app: Flask) -> FlaskClient:
    """A browser that has given no code."""
    return app.test_client()


@pytest.fixture
def client(app: Flask, as_host: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """A host's browser."""
    return as_host(app)


class Panel:
    """The panel in a process of its own (tests/support/panel_process.py): its address, and the
    codes of hosts and players.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.url, self.host_code, self.table_code = process.stdout.readline().split()

    def change(self, **wanted: Any) -> list[dict[str, Any]]:
        """Change what the stand-ins say; gives the commands that the session has had."""
        self.process.stdin.write(json.dumps(wanted) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture
def panel() -> Iterator[Panel]:
    """A panel at an address of its own."""
    start = partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.panel_process"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=start,
    ) as process:
        yield Panel(process)
        process.kill()
