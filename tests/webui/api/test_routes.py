"""JSON, pictures, commands and what is refused."""

from __future__ import annotations

import msgspec
import pytest

from referee.sessions.commands import Answer, Undo
from referee.sessions.event_store import LogFailed
from table.errors import InputError
from webui import create_app
from webui.security.ration import Ration


def refused(answer, status, code):
    assert answer.status_code == status
    error = answer.get_json()
    assert list(error) == ["error"]
    assert list(error["error"]) == ["code", "said"]
    assert error["error"]["code"] == code
    assert "\n" not in error["error"]["said"]
    return error["error"]["said"]


def test_state_is_the_session_s_view_and_the_moment(client, session):
    state = client.get("/api/v1/state").get_json()
    moment = {
        "status": "waiting",
        "said": "Waiting for the next throw or move.",
        "frame_seq": 88,
        "at_ms": 22_000,
        "moved": [],
        "held": False,
        "trouble": "",
    }
    assert state.pop("live") == moment | {"pointed": {"question": 0, "label": ""}}
    assert state == msgspec.json.decode(msgspec.json.encode(session.view(), enc_hook=str))


def test_records_after_a_number(client):
    assert [
        record["seq"] for record in client.get("/api/v1/records?after=13").get_json()["records"]
    ] == [14, 15, 16]
    assert len(client.get("/api/v1/records").get_json()["records"]) == 16
    assert client.get("/api/v1/records?after=99").get_json() == {"records": []}


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "٣", "9" * 30, ""])
def test_a_record_s_number_that_is_none_is_refused(client, after):
    assert "record" in refused(
        client.get("/api/v1/records", query_string={"after": after}), 400, "bad_number"
    )


def test_the_observation_is_the_newest_or_404(client, live):
    document = client.get("/api/v1/observation").get_json()
    assert document["format"] == "rinkside-observation/1"
    assert len(document["pieces"]) == 8
    live.become(observation=None)
    refused(client.get("/api/v1/observation"), 404, "nothing_seen")


def test_the_camera_s_picture_is_a_jpeg_or_404(client, live):
    answer = client.get("/api/v1/camera.jpg?frame=88")
    assert answer.mimetype == "image/jpeg"
    assert answer.data == live.picture
    live.picture = None
    refused(client.get("/api/v1/camera.jpg"), 404, "no_picture")


def test_live_pictures_are_rationed_and_nothing_else_is(app, client):
    now = [0.0]
    app.extensions["pictures"] = Ration(2, lambda: now[0])
    assert [client.get("/api/v1/camera.jpg").status_code for _ in range(2)] == [200, 200]
    refused(answer := client.get("/api/v1/camera.jpg"), 503, "too_many_pictures")
    assert answer.headers["Retry-After"] == "1"
    assert client.get("/api/v1/frame/16.jpg").status_code == 200
    now[0] = 1.0
    assert client.get("/api/v1/camera.jpg").status_code == 200


def test_a_ruling_s_picture_is_kept_by_number_and_checked_before_it_is_used_again(client, session):
    answer = client.get("/api/v1/frame/16.jpg")
    assert answer.data == session.frame(16)
    assert answer.headers["Cache-Control"] == "no-cache"
    assert (
        client.get(
            "/api/v1/frame/16.jpg", headers={"If-None-Match": answer.headers["ETag"]}
        ).status_code
        == 304
    )
    refused(client.get("/api/v1/frame/3.jpg"), 404, "no_picture")
    refused(client.get("/api/v1/frame/999999999999999.jpg"), 404, "no_picture")
    refused(client.get(f"/api/v1/frame/{2**70}.jpg"), 404, "not_found")
    refused(client.get("/api/v1/frame/-1.jpg"), 404, "not_found")
    refused(client.get("/api/v1/frame/..%2f..%2fetc.jpg"), 404, "not_found")


def test_a_command_is_obeyed_and_its_record_comes_back(client, session):
    answer = client.post("/api/v1/command", json={"command": "undo", "decided_by": "Ann"})
    assert answer.status_code == 201
    assert answer.get_json()["record"]["seq"] == 17
    client.post(
        "/api/v1/command",
        json={
            "command": "answer",
            "question": 17,
            "label": "equal",
            "how": "calliper",
            "readings_mm": {"blue": 20.4},
        },
    )
    assert session.commands == [
        Undo(decided_by="Ann"),
        Answer(question=17, label="equal", how="calliper", readings_mm={"blue": 20.4}),
    ]


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        "undo",
        7,
        {"command": "shout"},
        {"command": "undo", "record": "last"},
        {"command": "undo", "record": 1, "x": 2},
    ],
)
def test_a_command_that_is_none_is_refused(client, session, document):
    refused(client.post("/api/v1/command", json=document), 400, "bad_command")
    assert session.commands == []


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b'{"command": ', "application/json", 400, "bad_request"),
        (b"\xff\xfe", "application/json", 400, "bad_request"),
        (b"", "application/json", 400, "bad_request"),
        (b"null", "application/json", 400, "bad_command"),
        (b"[" * 10_000, "application/json", 400, "bad_request"),
        (
            b'{"command":"undo","decided_by":"' + b"a" * 20_000 + b'"}',
            "application/json",
            413,
            "request_entity_too_large",
        ),
        (b"command=undo", "text/plain", 403, "no_token"),
        (b'{"command": "undo"}', "text/plain", 403, "no_token"),
    ],
)
def test_bodies_that_are_broken_too_large_or_of_another_kind_are_refused(
    client, session, body, kind, status, code
):
    refused(client.post("/api/v1/command", data=body, content_type=kind), status, code)
    assert session.commands == []


@pytest.mark.parametrize(
    ("failure", "status", "code"),
    [
        (InputError("undo: nothing has been ruled yet"), 409, "not_now"),
        (LogFailed("the disk is full"), 507, "not_kept"),
    ],
)
def test_what_the_session_refuses_is_passed_on_in_its_words(client, session, failure, status, code):
    session.refuse = failure
    assert refused(client.post("/api/v1/command", json={"command": "undo"}), status, code) == str(
        failure
    )


def test_a_mistake_of_the_program_is_one_line_and_no_traceback(client, session, caplog):
    session.refuse = ZeroDivisionError("secret detail")
    message = refused(
        client.post("/api/v1/command", json={"command": "undo"}), 500, "internal_server_error"
    )
    assert "secret" not in message
    assert "secret detail" in caplog.text


CROSS_SITE = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:81"},
    {"Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"},
]


@pytest.mark.parametrize("headers", CROSS_SITE)
@pytest.mark.parametrize("path", ["/command", "/api/v1/command"])
def test_posts_from_other_sites_are_refused(client, session, path, headers):
    answer = client.post(
        path,
        headers=headers,
        **({"json": {"command": "undo"}} if "api" in path else {"data": {"command": "undo"}}),
    )
    refused(answer, 403, "cross_site")
    assert session.commands == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost"},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    ],
)
def test_posts_from_the_panel_itself_pass(client, session, headers):
    assert client.post("/command", data={"command": "pause"}, headers=headers).status_code == 303
    assert len(session.commands) == 1


def test_a_form_without_the_token_of_this_run_is_refused(client, session):
    for token in ({}, {"token": "stale"}, {"token": "…"}):
        refused(client.post("/command", data={"command": "undo"} | token), 403, "no_token")
    assert session.commands == []


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example"],
)
def test_a_name_that_the_internet_gave_is_not_answered_to(client, host):
    refused(client.get("/api/v1/state", headers={"Host": host}), 421, "unknown_host")


@pytest.mark.parametrize(
    "host",
    [
        "localhost:8000",
        "192.168.1.5:8000",
        "[::1]:8000",
        "rink",
        "rink.local:8000",
        "rink.example.org",
    ],
)
def test_addresses_home_names_and_given_names_are_answered_to(session, live, host):
    client = create_app(session, live, hosts=["rink.example.org"]).test_client()
    assert client.get("/api/v1/state", headers={"Host": host}).status_code == 200


def test_every_answer_has_the_strict_headers(client):
    for path in (
        "/",
        "/static/panel.css",
        "/static/panel.js",
        "/api/v1/state",
        "/api/v1/camera.jpg",
        "/nowhere",
    ):
        with client.get(path) as answer:
            headers = answer.headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none';")
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in policy


def test_wrong_places_and_wrong_methods_have_the_one_shape(client):
    refused(client.get("/api/v1/nowhere"), 404, "not_found")
    answer = client.delete("/api/v1/state", headers={"Origin": "http://localhost"})
    refused(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]
    page = client.get("/nowhere", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "Back to the table" in page.text
