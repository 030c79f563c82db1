"""Who may do what: codes, roles and seats, and that guessing is slow."""

from __future__ import annotations

import json
import re
import stat

import pytest
from flask import Flask

from referee.sessions.commands import Hear, Undo
from referee.sessions.event_store import LogFailed
from referee.statistics.history import HistoryCache
from table.errors import InputError
from webui import create_app
from webui.security.codes import LETTERS, Codes
from webui.security.login import OPEN_TO
from webui.security.permissions import Access, Visitor, permitted_command
from webui.security.requests import Refusal
from webui.security.wrong_codes import MOST_CLIENTS, MOST_WRONG, Guesses

OWN = {"Sec-Fetch-Site": "same-origin"}
BLUE_VOTES = {"command": "hear", "said": {"player": "blue", "vote_value": "3"}}

# what is sent, and who of host, blue, yellow, a player without a seat and a spectator may send it
COMMANDS = {
    "blue speaks": ({"command": "hear", "said": {"player": "blue", "die": 5}}, "host blue"),
    "nobody speaks": ({"command": "hear", "said": {"die": 5}}, "host"),
    "somebody of another kind speaks": (
        {"command": "hear", "said": {"player": ["blue"], "vote_value": "3"}},
        "host",
    ),
    "blue rolls": ({"command": "roll", "player": "blue"}, "host blue"),
    "dice are rolled for nothing": ({"command": "roll"}, "host"),
    "blue votes": (BLUE_VOTES, "blue"),
    "blue's question is answered": (
        {"command": "answer", "question": 17, "label": "equal"},
        "host blue",
    ),
    "blue stops throwing": (
        {"command": "hear", "said": {"player": "blue", "stop": True}},
        "host blue",
    ),
    "blue's stop is put on record": ({"command": "declare", "moves": ["stop blue"]}, "host"),
    "blue's throw is put on record": (
        {"command": "declare", "moves": ["throw blue out: yellow 21.60"]},
        "host",
    ),
    "the last is undone": ({"command": "undo"}, "host"),
    "one is undone": ({"command": "undo", "record": 16}, "host"),
    "blue's hidden vote is undone": ({"command": "undo", "record": 15}, "blue"),
    "blue's older vote is undone": ({"command": "undo", "record": 11}, "host"),
    "one is corrected": ({"command": "correct", "record": 14, "moves": []}, "host"),
    "blue appeals": (
        {"command": "appeal", "player": "blue", "record": 16, "reason": "it touches"},
        "host blue",
    ),
    "an appeal is heard": ({"command": "uphold", "appeal": 15}, "host"),
    "blue resigns": ({"command": "resign", "player": "blue"}, "host blue"),
    "pause": ({"command": "pause"}, "host"),
    "resume": ({"command": "resume"}, "host"),
    "next game": ({"command": "next_game"}, "host"),
}


@pytest.fixture
def visitors(app, session, question, as_host, as_player, verdict_row):
    """A browser of each kind; blue's phone has voted, and is asked something."""
    session.shown |= {"question": question, "names": {"blue": "Ann"}}
    session.shown["hidden"] = {"blue": 15}
    votes = [
        verdict_row(
            seq, "blue", "Blue has voted.", kind="noted", verdict="noted", code="icefloe.vote"
        )
        for seq in (15, 11)
    ]
    session.shown["verdicts"][1:1] = votes
    kinds = {seat: as_player(app, seat) for seat in ("blue", "yellow")}
    return kinds | {
        "host": as_host(app),
        "no seat": as_player(app, ""),
        "spectator": app.test_client(),
    }


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("way", ["form", "api"])
def test_every_command_is_for_its_roles_only(visitors, session, way, name):
    document, may = COMMANDS[name]
    for kind, browser in visitors.items():
        session.commands.clear()
        if way == "api":
            answer = browser.post("/api/v1/command", json=document)
        else:
            form = (
                document | {"said": json.dumps(document["said"])}
                if "said" in document
                else document
            )
            joined = {"moves": "; ".join(form["moves"])} if "moves" in form else {}
            answer = browser.post("/command", data=form | joined, headers=OWN)
        if kind in may.split():
            assert answer.status_code in (201, 303), (kind, answer.text)
            assert len(session.commands) == 1
            assert session.commands[0].decided_by == (
                "players" if kind == "host" else "Ann" if kind == "blue" else kind
            )
        else:
            assert answer.status_code == 403, (kind, answer.text)
            assert session.commands == []


def test_rule_now_is_the_host_s(visitors, session):
    for kind, browser in visitors.items():
        session.commands.clear()
        answer = browser.post("/command", data={"command": "rule"}, headers=OWN)
        assert answer.status_code == (303 if kind == "host" else 403), kind
        assert [type(command).__name__ for command in session.commands] == (
            ["Pause", "Resume"] if kind == "host" else []
        )


def test_what_the_host_decides_is_answered_by_nobody_else(visitors, session):
    """Such as whether a table that nothing explains is the start all the same."""
    document, _ = COMMANDS["blue's question is answered"]
    for player in (None, "blue"):
        session.shown["question"] |= {"player": player, "evidence": {"host_decides": True}}
        for kind, browser in visitors.items():
            assert browser.post("/api/v1/command", json=document).status_code == (
                201 if kind == "host" else 403
            ), kind
        page = visitors["blue"].get("/play").text
        assert "The host answers it." in page
        assert 'name="label"' not in page
        assert 'name="label"' not in visitors["blue"].get("/").text


def test_a_vote_for_a_free_seat_is_the_host_s_to_tell(app, session, as_host):
    assert as_host(app).post("/api/v1/command", json=BLUE_VOTES).status_code == 201
    assert session.commands == [Hear(heard=BLUE_VOTES["said"])]


def test_a_host_who_plays_votes_for_their_own_seat(app, as_host, as_player):
    host, _yellow = as_host(app), as_player(app, "yellow")
    assert host.post("/seat", data={"seat": "blue"}, headers=OWN).status_code == 303
    assert host.post("/api/v1/command", json=BLUE_VOTES).status_code == 201
    yellow_votes = BLUE_VOTES | {"said": {"player": "yellow", "vote_value": "3"}}
    assert host.post("/api/v1/command", json=yellow_votes).get_json()["error"]["code"] == "secret"


def test_everything_that_changes_something_is_the_host_s_unless_it_is_named(app, visitors):
    """No endpoint is open to others by being forgotten."""
    for rule in app.url_map.iter_rules():
        if "POST" not in rule.methods or rule.endpoint in OPEN_TO:
            continue
        for kind, browser in visitors.items():
            if kind != "host":
                answer = browser.post(rule.rule, data={}, headers=OWN)
                assert (answer.status_code, answer.get_json()["error"]["code"]) == (
                    403,
                    "not_for_you",
                ), (rule.rule, kind)
    assert {
        endpoint
        for endpoint in OPEN_TO
        if not endpoint.startswith(("door.", "first.", "guide.", "history.", "home.", "table."))
    } <= set(app.view_functions)


def test_the_host_s_page_is_for_hosts(visitors):
    for kind, browser in visitors.items():
        assert browser.get("/host").status_code == (200 if kind == "host" else 403)


def test_everybody_looks_and_nobody_is_told_a_secret(app, visitors):
    kept = app.extensions["access"].codes.now
    for kind, browser in visitors.items():
        secrets = [
            kept.key,
            kept.host,
            kept.host.replace("-", ""),
            app.extensions["access"].link,
            *([] if kind == "host" else [kept.table]),
        ]
        for path in (
            "/",
            "/join",
            "/play",
            "/host",
            "/api/v1/state",
            "/api/v1/records",
            "/api/v1/me",
            "/static/panel.js",
            "/nowhere",
        ):
            with browser.get(path, headers={"Accept": "text/html"}) as answer:
                assert not [
                    secret for secret in secrets if secret in answer.text + str(answer.headers)
                ], (kind, path)


def test_the_page_offers_what_its_reader_may_do(visitors):
    pages = {kind: browser.get("/").text for kind, browser in visitors.items()}
    assert {kind for kind, page in pages.items() if 'id="undo"' in page} == {"host"}
    assert {kind for kind, page in pages.items() if 'name="label"' in page} == {"host", "blue"}
    assert {kind for kind, page in pages.items() if 'name="code"' in page} == {"spectator"}


def test_codes_are_read_in_any_case_and_with_or_without_their_dash(app):
    access = app.extensions["access"]
    host, table = access.codes.now.host, access.codes.now.table
    assert set(host + table) <= {*LETTERS, "-"}
    assert len(LETTERS) ** len(host.replace("-", "")) > 2**39
    for code, role in ((host.lower(), "host"), (f" {table.replace('-', ' ')} ", "player")):
        assert access.visitor(access.enter(code, "::1")).role == role


@pytest.mark.parametrize("code", ["", "x", "é", "0" * 20_000, "\0", "XXXX-XXXX"])
def test_a_wrong_code_makes_nobody_anything(app, code):
    browser = app.test_client()
    answer = browser.post("/join", data={"code": code}, headers=OWN)
    assert answer.status_code in (403, 413)
    assert "Set-Cookie" not in answer.headers
    assert browser.get("/api/v1/me").get_json() == {"role": "spectator", "seat": None}


def test_the_link_of_the_terminal_is_good_once(app):
    access = app.extensions["access"]
    link = access.link
    host = access.enter(link, "::1")
    assert access.visitor(host).role == "host"
    with pytest.raises(Refusal, match=r"This link was already used\. Enter the host's code"):
        access.enter(link, "::1")
    with pytest.raises(Refusal, match="Wrong code for this table"):
        access.enter(access.link, "::1")


def test_the_host_who_opens_the_used_link_again_stays_host(app):
    access = app.extensions["access"]
    link = access.link
    host = access.enter(link, "::1")
    assert access.visitor(access.enter(link, "::1", host)).role == "host"


class Clock:
    """Stands still until it is set."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def guessing():
    """(access, clock, a wrong guess from an address: its status and Retry-After)."""
    clock = Clock()
    access = Access(Codes(), clock)

    def guess(address, code="2222-2222"):
        try:
            access.enter(code, address)
        except Refusal as refusal:
            return refusal.status, refusal.retry_s
        return 200, None

    return access, clock, guess


def test_five_wrong_codes_a_minute_and_then_none_is_looked_at(guessing):
    access, clock, guess = guessing
    for _ in range(5):
        assert guess("10.0.0.9") == (403, None)
        clock.now_s += 2
    assert guess("10.0.0.9") == (429, 50)
    assert guess("10.0.0.9", access.codes.now.host) == (429, 50)
    assert guess("10.0.0.8", access.codes.now.host) == (200, None)
    clock.now_s += 50
    assert guess("10.0.0.9", access.codes.now.host) == (200, None)


def test_who_guesses_locks_nobody_else_out(guessing):
    """Two hundred wrong codes from forty addresses: everybody else comes in."""
    access, _, guess = guessing
    statuses = [guess(f"10.0.0.{number}")[0] for _ in range(5) for number in range(40)]
    assert statuses == [403] * 200
    assert guess("10.0.0.39")[0] == 429
    assert guess("10.0.0.41", access.codes.now.table) == (200, None)
    assert guess("10.0.0.42", access.codes.now.host) == (200, None)


def test_who_guesses_cannot_lock_out_a_browser_that_has_a_ticket_or_the_link(guessing):
    """All behind one address, as behind a proxy that tells no others."""
    access, _, guess = guessing
    player = access.enter(access.codes.now.table, "10.0.0.9")
    assert [guess("10.0.0.9")[0] for _ in range(7)] == [403] * 5 + [429] * 2
    assert access.visitor(player).role == "player"
    assert access.visitor(access.enter(access.codes.now.host, "10.0.0.9", player)).role == "host"
    assert access.visitor(access.enter(access.link, "10.0.0.9")).role == "host"
    assert access.bearer(player, "10.0.0.9").role == "player"
    for _ in range(5):
        with pytest.raises(Refusal, match="Wrong code for this table"):
            access.enter("2222-2222", "10.0.0.9", player)
    with pytest.raises(Refusal, match="Too many"):
        access.enter(access.codes.now.host, "10.0.0.8", player)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%eth0", "fe80::2%wlan0", True),
        ("::ffff:10.0.0.9", "10.0.0.9", True),
        ("10.0.0.9", "10.0.0.8", False),
        ("nonsense", "nonsense", True),
        ("", "", True),
    ],
)
def test_an_ipv6_network_is_one_guesser(guessing, one, other, same):
    _, _, guess = guessing
    for _ in range(5):
        guess(one)
    assert guess(other)[0] == (429 if same else 403)


def test_the_memory_of_guessers_is_bounded_and_the_oldest_is_forgotten():
    guesses = Guesses(lambda: 1000.0)
    for number in range(3 * MOST_CLIENTS):
        for _ in range(MOST_WRONG):
            guesses.wrong(f"client {number}")
    assert len(guesses) == MOST_CLIENTS
    with pytest.raises(Refusal, match="Too many"):
        guesses.check(f"client {3 * MOST_CLIENTS - 1}")
    guesses.check("client 0")


def test_codes_cannot_be_guessed_in_an_evening_nor_the_host_s_in_a_year():
    """2,000 guesses a second, as fast as the panel answers at all: docs/PANEL.md, "Guessing
    codes".
    """
    fastest_s = 2000
    codes = Codes().now
    host, table = (len(LETTERS) ** len(code.replace("-", "")) for code in (codes.host, codes.table))
    assert fastest_s * 6 * 3600 / table < 1e-4
    assert fastest_s * 365 * 24 * 3600 / host < 1e-4


def test_too_many_codes_are_said_with_when_to_try_again(app):
    browser = app.test_client()
    for _ in range(5):
        assert browser.post("/join", data={"code": "2222-2222"}, headers=OWN).status_code == 403
    for answer in (
        browser.post("/join", data={"code": "2222-2222"}, headers=OWN),
        browser.get("/", headers={"Authorization": "Bearer 2222"}),
    ):
        assert answer.status_code == 429
        assert 0 < int(answer.headers["Retry-After"]) <= 60
    assert browser.get("/").status_code == 200


def test_cookies_are_for_this_site_and_no_script(app):
    answer = app.test_client().post(
        "/join", data={"code": app.extensions["access"].codes.now.host}, headers=OWN
    )
    [cookie] = answer.headers.getlist("Set-Cookie")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(re.split(r"; ", cookie))


@pytest.mark.parametrize("ticket", ["", "x", "..", "é", "eyJpZCI6IjEifQ.AAAA", "a" * 5000])
def test_a_ticket_that_was_not_signed_here_is_none(app, ticket):
    assert app.extensions["access"].visitor(ticket) == Visitor()


def test_another_panel_s_ticket_is_none(app):
    other = Access(Codes())
    assert app.extensions["access"].visitor(other.enter(other.link, "::1")).role == "spectator"


def test_a_new_code_throws_out_who_had_the_old_one(app, as_host, as_player):
    host, other, blue = as_host(app), as_host(app), as_player(app, "blue")
    old = app.extensions["access"].codes.now
    host.post("/host/code", data={"which": "table"}, headers=OWN)
    assert blue.get("/api/v1/me").get_json() == {"role": "spectator", "seat": None}
    assert app.extensions["seats"].held() == {}
    fresh = host.post("/host/code", data={"which": "host"}, headers=OWN).text
    assert [browser.get("/api/v1/me").get_json()["role"] for browser in (host, other)] == [
        "host",
        "spectator",
    ]
    now = app.extensions["access"].codes.now
    assert now.host in fresh
    assert now.host not in host.get("/host").text
    assert {old.host, old.table}.isdisjoint({now.host, now.table})
    with pytest.raises(Refusal, match="Wrong code for this table"):
        app.extensions["access"].enter(old.table, "::1")


def test_programs_send_a_code_or_what_they_got_for_it(app, session):
    program, kept = app.test_client(), app.extensions["access"].codes.now

    def bearer(token):
        return {"Authorization": f"Bearer {token}"}

    assert program.get("/api/v1/me", headers=bearer(kept.host)).get_json() == {
        "role": "host",
        "seat": None,
    }
    assert (
        program.post(
            "/api/v1/command", json={"command": "undo"}, headers=bearer(kept.host)
        ).status_code
        == 201
    )
    assert (
        program.post("/api/v1/seat", json={"seat": "blue"}, headers=bearer(kept.table)).get_json()[
            "error"
        ]["code"]
        == "no_ticket"
    )
    joined = program.post("/api/v1/join", json={"code": kept.table}).get_json()
    assert joined["role"] == "player"
    assert (
        program.post(
            "/api/v1/seat", json={"seat": "blue"}, headers=bearer(joined["token"])
        ).status_code
        == 201
    )
    assert (
        program.post(
            "/api/v1/command", json=BLUE_VOTES, headers=bearer(joined["token"])
        ).status_code
        == 201
    )
    assert session.commands == [Undo(), Hear(heard=BLUE_VOTES["said"], decided_by="blue")]
    assert program.get("/api/v1/me").get_json()["role"] == "spectator"
    for path, document in (
        ("/api/v1/join", [1]),
        ("/api/v1/join", {"code": 7}),
        ("/api/v1/seat", {"seat": {}}),
        ("/api/v1/seat", "blue"),
    ):
        assert program.post(path, json=document, headers=bearer(joined["token"])).status_code == 400


def test_codes_and_seats_are_kept_for_their_owner_only_and_outlive_the_program(
    tmp_path, session, live, as_player
):
    path = tmp_path / "access.json"

    def start() -> Flask:
        return create_app(session, live, access=Access(Codes(path)))

    blue = as_player(start(), "blue")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    again = start()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [child.name for child in tmp_path.iterdir()] == ["access.json"]
    cookie = blue.get_cookie("rinkside")
    browser = again.test_client()
    browser.set_cookie("rinkside", cookie.value)
    assert browser.get("/api/v1/me").get_json() == {"role": "player", "seat": "blue"}
    session.shown["session"] = 2
    browser = start().test_client()
    browser.set_cookie("rinkside", cookie.value)
    assert browser.get("/api/v1/me").get_json() == {"role": "player", "seat": None}


def test_a_seat_that_cannot_be_kept_is_not_taken(tmp_path, session, live, as_player):
    folder = tmp_path / "data"
    folder.mkdir()
    app = create_app(session, live, access=Access(Codes(folder / "access.json")))
    browser = as_player(app, "")
    (folder / "access.json").unlink()
    folder.rmdir()
    answer = browser.post("/seat", data={"seat": "blue"}, headers=OWN)
    assert answer.status_code == 507
    assert "folder" in answer.text
    assert app.extensions["seats"].held() == {}


def test_a_seat_that_the_log_cannot_keep_is_neither_taken_nor_freed(app, session, as_player):
    blue, browser = as_player(app, "blue"), as_player(app, "")
    before = app.extensions["seats"].held()
    session.refuse = LogFailed("the disk is full")
    for who, path, form in (
        (browser, "/seat", {"seat": "yellow"}),
        (blue, "/seat", {"seat": "yellow"}),
        (blue, "/seat/back", {}),
    ):
        answer = who.post(path, data=form, headers=OWN)
        assert answer.status_code == 507
        assert "the disk is full" in answer.text
    assert app.extensions["seats"].held() == before


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", '{"format": "rinkside-access/9", "key": "k", "host": "h", "table": "t"}'],
)
def test_a_damaged_file_of_codes_is_one_line(tmp_path, text):
    path = tmp_path / "access.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"access\.json") as caught:
        Codes(path)
    assert "\n" not in str(caught.value)
    assert path.read_text() == text


def test_a_command_for_a_spectator_is_refused_before_the_session_hears_of_it(session):
    with pytest.raises(Refusal, match="Spectators cannot change anything"):
        permitted_command(Visitor(), Undo(), session, ())


def test_a_session_is_carried_away_by_hosts(session, live, tmp_path, as_host):
    app = create_app(session, live, histories=HistoryCache(tmp_path / "log.sqlite"))
    assert (
        app.test_client().get("/sessions/1/session.zip").get_json()["error"]["code"]
        == "not_for_you"
    )
    assert as_host(app).get("/sessions/1/session.zip").status_code == 404
    assert app.test_client().get("/sessions").status_code == 200
