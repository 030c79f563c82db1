"""What comes in with a request: texts, numbers, documents and names, each checked in one place, and
none of them a mistake of the panel's.
"""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder, run_wsgi_app

from referee.live.game_setup import SettingUp
from referee.statistics.history import HistoryCache
from table.errors import InputError
from webui import (
    create_app,
    create_corners_app,
    create_history_app,
    create_lens_app,
    create_photo_app,
    create_ruler_app,
    create_set_up_app,
)
from webui.security.codes import Codes
from webui.security.host_names import read_authority, read_origin
from webui.security.incoming import LAST_NUMBER, MOST_DEEP, json_document, number_of
from webui.security.permissions import Access

OWN = {"Sec-Fetch-Site": "same-origin"}
LONE = "\ud83d"


def code_of(answer):
    return answer.status_code, answer.get_json()["error"]["code"]


@pytest.mark.parametrize("path", ["/api/v1/join", "/api/v1/seat", "/api/v1/command"])
@pytest.mark.parametrize(
    "document",
    [
        {"code": LONE},
        {"code": "2222-2222", LONE: 1},
        {"seat": LONE},
        {"command": "appeal", "player": "blue", "record": 16, "reason": f"no {LONE}"},
        {"command": "undo", "decided_by": LONE},
        {"command": "hear", "said": {"player": LONE}},
        {"command": "hear", "said": {LONE: "blue"}},
        {"command": "declare", "moves": ["stop blue", LONE]},
        {"command": LONE},
        [LONE],
        LONE,
    ],
)
def test_text_that_is_no_unicode_is_refused_to_programs(client, session, path, document):
    answer = client.post(path, data=json.dumps(document), content_type="application/json")
    assert code_of(answer) == (400, "bad_request")
    assert "Unicode" in answer.get_json()["error"]["said"]
    assert session.commands == []


def test_text_that_is_no_unicode_is_refused_in_a_form_too(client, session):
    message = json.dumps({"player": "blue", "die": LONE})
    assert (
        client.post("/command", data={"command": "hear", "said": message}, headers=OWN).status_code
        == 400
    )
    for form in (
        b"command=appeal&player=blue&record=16&reason=%ED%A0%BD",
        b"command=undo&decided_by=%ff%fe",
    ):
        answer = client.post(
            "/command", data=form, content_type="application/x-www-form-urlencoded", headers=OWN
        )
        assert answer.status_code == 303
    for command in session.commands:
        "".join(filter(None, (command.decided_by, getattr(command, "reason", "")))).encode()


@pytest.mark.parametrize(
    "text",
    [
        "1e999",
        "-1e999",
        "NaN",
        "Infinity",
        "9" * 16,
        "9" * 400,
        "-" + "9" * 4000,
        "9" * 5000,
        "[" * (MOST_DEEP + 2) + "]" * (MOST_DEEP + 2),
        "[" * 8000,
        '{"a":' * 2000 + "1" + "}" * 2000,
        '{"command": "undo", "command": "pause"}',
        '{"command": "hear", "said": {"player": "blue", "die": 1e400}}',
        '{"command": "undo", "record": 99999999999999999999}',
        "",
        "\x00",
    ],
)
def test_documents_that_would_do_harm_are_refused(client, session, text):
    assert code_of(
        client.post("/api/v1/command", data=text.encode(), content_type="application/json")
    ) == (400, "bad_request")
    assert session.commands == []


@pytest.mark.parametrize("value", [True, 1.0, "16", None, [16], {"a": 16}, -1.5])
def test_a_number_is_a_number(client, session, value):
    answer = client.post(
        "/api/v1/command",
        json={"command": "undo", "record": value} if value is not None else {"command": "correct"},
    )
    assert code_of(answer) == (400, "bad_command") or value == 1.0
    assert not session.commands or value == 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": [1, -2.5, true, null, "x"]}', {"a": [1, -2.5, True, None, "x"]}),
        (str(LAST_NUMBER), LAST_NUMBER),
        ('"a\\u001b[31m\\nb"', "a [31m b"),
    ],
)
def test_what_does_no_harm_is_read_as_it_is_but_for_control_characters(text, expected):
    assert json_document(text) == expected


def nested(inner):
    return st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4)


ANY_TEXT = st.text(st.characters(), max_size=5)  # lone surrogates too
PLAIN = st.none() | st.booleans() | st.integers(-(10**900), 10**900) | st.floats() | ANY_TEXT


@given(st.recursive(PLAIN | st.integers(-1000, 1000), nested, max_leaves=20))
def test_a_document_is_read_or_refused_whatever_is_in_it(document):
    try:
        read = json_document(json.dumps(document))
    except InputError:
        return
    assert json_document(json.dumps(read)) == read


@pytest.mark.parametrize(
    "text", ["", "-1", "+1", "1_0", " 1", "1 ", "٣", "0x1", "1e3", "9" * 16, "9" * 6000, "1\n"]
)
def test_what_is_no_number_is_none(text):
    with pytest.raises(InputError, match="after: expected"):
        number_of(text, "after")


def test_control_characters_of_forms_become_spaces(client, session):
    client.post(
        "/command", data={"command": "undo", "decided_by": "An\x1b[31mna\r\n\u202eb"}, headers=OWN
    )
    client.post("/api/v1/command", json={"command": "undo", "decided_by": "An\x1b[31mna\u2028"})
    assert [command.decided_by for command in session.commands] == ["An [31mna   b", "An [31mna "]


def test_long_numbers_in_addresses_and_queries_are_no_mistake_of_the_panel_s(session, live, log):
    browser = create_app(session, live, histories=log_histories(log)).test_client()
    for digits in (16, 20, 400, 5000):
        number = "9" * digits
        paths = (
            "/sessions/{}",
            "/sessions/{}/statistics",
            "/sessions/{}/session.zip",
            "/sessions/1/frame/{}.jpg",
            "/sessions/1/verdict/{}.png",
        )
        for path in (*paths, "/ruling/{}", "/api/v1/frame/{}.jpg", "/api/v1/alternatives/{}"):
            assert browser.get(path.format(number)).status_code == 404, path
        for path in ("/api/v1/records?after={}", "/api/v1/stream?after={}", "/sessions/1?at={}"):
            assert browser.get(path.format(number)).status_code == 400, path
        assert browser.get("/api/v1/stream", headers={"Last-Event-ID": number}).status_code == 400
    assert browser.get("/sessions/999999999999999").status_code == 404


def log_histories(log):
    return HistoryCache(log[0].path)


def test_every_number_in_an_address_is_bounded(session, live, log, table):
    """A route that reads numbers by another converter is not bounded."""
    stories = log_histories(log)
    applications = [
        create_app(session, live, histories=stories),
        create_history_app(stories),
        create_lens_app(None),
        create_corners_app(None),
    ]
    applications += [
        create_ruler_app(None),
        create_photo_app(None, bytes),
        create_set_up_app(SettingUp(lambda choice: choice), table, Access(Codes())),
    ]
    for app in applications:
        for rule in app.url_map.iter_rules():
            assert set(re.findall(r"<(\w+)[:(]", rule.rule)) <= {"seq", "path"}, rule.rule


def test_headers_that_nobody_sends_are_no_mistake_of_the_panel_s(client):
    for headers in (
        {"Referer": "http://["},
        {"Referer": "http://[::1"},
        {"Referer": "//\x7f"},
        {"Origin": "http://[::1"},
        {"Origin": "http://[zz]"},
        {"Authorization": "Bearer \xff\xfe"},
        {"Authorization": "Bearer " + "x" * 8000},
        {"Authorization": "Basic !!!"},
        {"Cookie": "rinkside=\xff; language=\xed\xa0\x80"},
        {"Cookie": "rinkside=" + "." * 4000},
        {"Accept-Language": "de;q=x,\xff;q=9999999999999999999999"},
        {"If-None-Match": '"' * 100},
        {"If-Modified-Since": "0" * 500},
        {"Range": "bytes=9-1,-"},
        {"Content-Type": "multipart/form-data; boundary=\xff"},
        {"Content-Type": "application/json; charset=nonsense"},
    ):
        for path, method in (
            ("/", "GET"),
            ("/language", "POST"),
            ("/command", "POST"),
            ("/api/v1/command", "POST"),
            ("/static/panel.js", "GET"),
        ):
            with client.open(path, method=method, headers=OWN | headers) as answer:
                assert answer.status_code < 500, (headers, path)


HOME = [
    "localhost",
    "LOCALHOST:8000",
    "rink",
    "my_pi",
    "rink.local",
    "a.b.lan:80",
    "192.168.1.5:8000",
    "[::1]:8000",
    "[fe80::1]",
    "rink.example.org:443",
]
FOREIGN = [
    *(
        "",
        " ",
        ".",
        ":",
        ":8000",
        "evil.example",
        "a_b.evil.example",
        "a_b.evil.example:8000",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
    ),
    *(
        "localhost.",
        "com.",
        "evil.example.",
        "evil.example.:80",
        "localhost:",
        "localhost:x",
        "localhost:0",
        "localhost:65536",
        "localhost:999999",
    ),
    *(
        "localhost:80:80",
        "user@localhost",
        "localhost@evil.example",
        "localhost, evil.example",
        "localhost/..",
        "localhost\\evil",
        "localhost#",
        "localhost?",
    ),
    *(
        "[::1",
        "::1",
        "[::1]x",
        "[:::::]",
        "[fe80::1%25eth0]",
        "[localhost]",
        "[]",
        "löcalhost",
        "xn--.",
        "-a",
        "a-",
        "a..b",
        "x" * 64,
        "*",
        "%6cocalhost",
    ),
    *("evil.example\t", "rink.example.org.evil.example", "evilrink.example.org"),
]


def answer_to(app, host):
    """The status of GET /api/v1/me with exactly this Host header; with None there is none."""
    environ = EnvironBuilder("/api/v1/me", method="GET").get_environ()
    environ.pop("HTTP_HOST", None)
    if host is not None:
        environ["HTTP_HOST"] = host.encode().decode("latin-1")
    body, status, _ = run_wsgi_app(app, environ)
    if hasattr(body, "close"):
        body.close()
    return int(status.split()[0])


@pytest.mark.parametrize("host", HOME)
def test_addresses_and_home_names_are_answered_to(session, live, host):
    assert answer_to(create_app(session, live, hosts=["Rink.example.org"]), host) == 200


@pytest.mark.parametrize("host", [*FOREIGN, None])
def test_what_is_no_name_of_ours_is_foreign(session, live, host):
    """Also what server libraries turn into an empty name."""
    assert answer_to(create_app(session, live, hosts=["Rink.example.org"]), host) == 421


@pytest.mark.parametrize("name", ["[::1]", "localhost", "rink.local"])
def test_a_port_that_goes_without_saying_makes_no_difference(name):
    assert (
        read_authority(f"{name}:443", "https")
        == read_authority(name, "https")
        == read_origin(f"https://{name}:443")
        == read_origin(f"https://{name}")
    )
    assert read_authority(f"{name}:80", "http") == read_origin(f"http://{name}")
    assert read_authority(f"{name}:8000", "http") != read_authority(name, "http")


@pytest.mark.parametrize(
    ("host", "origin", "ours"),
    [
        ("localhost", "http://localhost", True),
        ("localhost:8000", "http://LOCALHOST:8000", True),
        ("localhost:8000", "http://localhost:8001", False),
        (
            "rink.example.org",
            "https://rink.example.org",
            True,
        ),  # behind a proxy that ends TLS and passes the name on
        ("rink.example.org:443", "https://rink.example.org", True),
        ("rink.example.org", "https://evil.example", False),
        ("rink.example.org", "https://rink.example.org.evil.example", False),
        ("rink.example.org", "null", False),
        ("rink.example.org", "", False),
        ("rink.example.org", "file://", False),
        ("rink.example.org", "https://rink.example.org@evil.example", False),
        ("[::1]:8000", "http://[0:0:0:0:0:0:0:1]:8000", True),
    ],
)
def test_only_pages_of_the_same_name_and_port_change_anything(session, live, host, origin, ours):
    app = create_app(session, live, hosts=["rink.example.org"])
    answer = app.test_client().post(
        "/api/v1/join", json={"code": "2222-2222"}, headers={"Host": host, "Origin": origin}
    )
    assert code_of(answer) == ((403, "wrong_code") if ours else (403, "cross_site"))


def test_cookies_are_for_tls_only_where_it_came_by_tls(app):
    code = app.extensions["access"].codes.now.host
    for scheme, secure in (("http", False), ("https", True)):
        answer = app.test_client().post(
            "/join", data={"code": code}, headers=OWN, base_url=f"{scheme}://localhost"
        )
        assert ("Secure" in answer.headers["Set-Cookie"]) == secure
    # Headers of a proxy are believed by the server alone, where there is said to be one.
    answer = app.test_client().post(
        "/join", data={"code": code}, headers=OWN | {"X-Forwarded-Proto": "https"}
    )
    assert "Secure" not in answer.headers["Set-Cookie"]


@pytest.mark.parametrize(
    "path", ["/sessions", "/sessions/1", "/statistics", "/sessions/1/frame/1.jpg"]
)
def test_a_log_that_cannot_be_read_is_said_and_is_no_mistake_of_the_panel_s(tmp_path, path):
    (tmp_path / "log.sqlite").write_bytes(b"no log at all, " * 400)
    answer = create_history_app(HistoryCache(tmp_path / "log.sqlite")).test_client().get(path)
    assert answer.status_code in (404, 409)
    assert "log.sqlite" in answer.get_json()["error"]["said"]


def test_a_host_that_cannot_be_read_is_quoted_and_pages_are_written_all_the_same(app):
    host = "a_b!.evil.example"
    answer = app.test_client().get("/", headers={"Host": host, "Accept": "text/html"})
    assert answer.status_code == 421
    assert host in answer.text
