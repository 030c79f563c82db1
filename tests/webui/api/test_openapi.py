"""What the panel answers to programs is what its OpenAPI document says, whatever it is asked."""

from __future__ import annotations

import json
from contextlib import contextmanager

import hypothesis
import pytest
import schemathesis
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import engines
from referee.live.game_setup import SettingUp
from referee.sessions.event_store import Log
from referee.sessions.events import SessionStarted
from referee.sessions.session import Session
from webui import (
    create_app,
    create_corners_app,
    create_lens_app,
    create_ruler_app,
    create_set_up_app,
)
from webui.api.openapi import BASE, OPERATIONS, document, routes
from webui.api.schemas import SCHEMAS
from webui.security.codes import Codes
from webui.security.login import COOKIE
from webui.security.permissions import Access

pytestmark = pytest.mark.slow

ERROR = Draft202012Validator(SCHEMAS["Error"] | {"components": {"schemas": SCHEMAS}})
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 8
"""Of each kind of request; `--hypothesis-profile=explore` tries 2000."""


PLAYERS = {"icebreaker": ("red", "black"), "zamboni_wars": ("yellow", "red", "blue", "green")}
USUAL = ("red", "black", "blue")


def examples() -> hypothesis.settings:
    explored = hypothesis.settings().max_examples
    return hypothesis.settings(
        max_examples=explored if explored > 100 else EXAMPLES,
        suppress_health_check=list(hypothesis.HealthCheck),
    )


def test_every_route_is_in_the_document_and_nothing_else(app):
    apps = [
        app,
        *(create(object()) for create in (create_lens_app, create_corners_app, create_ruler_app)),
    ]
    assert set.union(*(routes(one) for one in apps)) == set(OPERATIONS)
    for one in apps:
        assert {
            (path.removeprefix(BASE), method)
            for path, item in document(one)["paths"].items()
            for method in item
        } == routes(one)


def test_the_document_is_one_and_every_name_in_it_is_known(client):
    answered = client.get(f"{BASE}/openapi.json").get_json()
    assert answered["openapi"].startswith("3.1")
    assert schemathesis.openapi.from_dict(answered).config
    for schema in SCHEMAS.values():
        Draft202012Validator(schema | {"components": {"schemas": SCHEMAS}})


@pytest.mark.parametrize("game", engines.GAMES)
def test_the_state_of_every_game_is_described_by_its_own_schema(game):
    start = engines.GAMES[game].start(PLAYERS.get(game, USUAL), {})
    document = json.loads(json.dumps(engines.GAMES[game].state_document(start)))
    name = engines.facts_of(game).document.__name__
    shown = SCHEMAS["State"]["properties"]["state"]["anyOf"]
    assert {"$ref": f"#/components/schemas/{name}"} in shown
    assert document.keys() <= SCHEMAS[name]["properties"].keys()
    schema = Draft202012Validator(SCHEMAS[name] | {"components": {"schemas": SCHEMAS}})
    assert schema.is_valid(document)
    for key in SCHEMAS[name]["required"]:
        assert not schema.is_valid(document | {key: {"": [[]]}}), key


@contextmanager
def panel_of(game, folder, live):
    """A panel of a real session on a real log, and the host's token for it."""
    players = PLAYERS.get(game, USUAL)
    with Log(folder / f"{game}.log") as log:
        session = Session.begin(log, SessionStarted(game=game, players=players))
        app = create_app(session, live)
        access = app.extensions["access"]
        yield app, access.enter(access.codes.now.host, "here")
        session.close()


@pytest.mark.parametrize("game", engines.GAMES)
def test_whatever_is_asked_is_answered_as_the_document_says(game, tmp_path, live, caplog):
    with panel_of(game, tmp_path, live) as (app, token):
        schema = schemathesis.openapi.from_wsgi(f"{BASE}/openapi.json", app)
        for found in schema.exclude(
            path=f"{BASE}/stream"
        ).get_all_operations():  # an answer without an end; test_events.py asks for it
            ask_anything(found.ok(), token)
    assert "Traceback" not in caplog.text


def ask_anything(operation, token):
    """What the document allows, and what it does not."""

    @examples()
    @given(
        st.one_of(
            operation.as_strategy(GenerationMode.POSITIVE),
            operation.as_strategy(GenerationMode.NEGATIVE),
        )
    )
    def ask(case):
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)

    ask()


FIELDS = (
    "command",
    "record",
    "moves",
    "seen",
    "question",
    "label",
    "reading blue",
    "said",
    "players",
    "seat",
    "which",
    "code",
    "decided_by",
    "x",
)
FIELDS += (
    "job",
    "game",
    "plays blue",
    "plays yellow",
    "place blue",
    "place yellow",
    "name blue",
    "ruling sizes",
    "language",
)
COMMANDS = ("undo", "answer", "declare", "hear", "correct", "next_game", "roll")
WORDS = st.sampled_from(
    (
        *COMMANDS,
        "host",
        "blue",
        "ice_boule",
        "table",
        "on",
        "1",
        "0",
        "-1",
        "1e9",
        "{}",
        '{"player": 3}',
    )
)


def test_forms_of_any_kind_are_refused_in_the_one_shape(tmp_path, live, caplog):
    with panel_of("icefloe", tmp_path, live) as (app, _):
        assert "/command" in send_anything(app)
    assert "Traceback" not in caplog.text


def test_forms_of_a_set_up_too(table, caplog):
    setting = SettingUp(
        lambda choice: SessionStarted(
            game=choice.game, players=choice.players, rulings=dict(choice.rulings)
        )
    )
    assert {"/begin", "/table", "/lens/end"} <= send_anything(
        create_set_up_app(setting, table, Access(Codes()))
    )
    assert "Traceback" not in caplog.text


def send_anything(app):
    """Forms of all kinds to all that takes them, by a host; gives where they were sent."""
    forms = sorted(
        rule.rule
        for rule in app.url_map.iter_rules()
        if "POST" in rule.methods and not rule.rule.startswith(BASE)
    )
    client = app.test_client()

    @hypothesis.settings(examples(), max_examples=20 * examples().max_examples)
    @given(
        path=st.sampled_from(forms),
        form=st.dictionaries(st.sampled_from(FIELDS), WORDS | st.text(max_size=40)),
        page=st.booleans(),
    )
    def send(path, form, page):
        client.set_cookie(COOKIE, app.extensions["access"].renewed(""))
        accept = "text/html" if page else "application/json"
        answer = client.post(
            path, data=form, headers={"Sec-Fetch-Site": "same-origin", "Accept": accept}
        )
        assert answer.status_code < 500
        if answer.is_json:
            ERROR.validate(answer.get_json())

    send()
    return set(forms)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/api/v1/frame/..%2f..%2frinkside.log",
        "/api/v1/frame/%2e%2e/1.jpg",
        "/api/v1/frame/1.jpg%00.html",
        "/api/v1/frame/0x10.jpg",
        "/templates/panel.html",
        "/rinkside.log",
        "/" + "a" * 5000,
        "/%ff%fe",
    ],
)
def test_paths_lead_nowhere_but_to_pages(client, path):
    answer = client.get(path, follow_redirects=True)
    assert answer.status_code == 404
    ERROR.validate(answer.get_json())
