"""Organisers: log-ins, roles, clubs that do not see one another, and the audit log."""

from __future__ import annotations

import re

import pytest

from hub.app import create_hub_app
from tests.support.hubs import PASSWORD, Club
from webui.security.requests import Refusal


@pytest.fixture
def app(club: Club):
    return create_hub_app(club.store, (), club.now_ms, club.accounts)


def post(browser, path, **form):
    headers = {"Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
    return browser.post(path, data=form, headers=headers)


def log_in(app, name="Host of Club", password=PASSWORD):
    browser = app.test_client()
    return browser, post(browser, "/login", name=name, password=password)


def test_pages_of_organisers_are_for_organisers(app):
    browser = app.test_client()
    for path in ("/tables", "/organisers"):
        assert browser.get(path).status_code == 401
    for path in (
        "/tables/enrol",
        "/tables/withdraw",
        "/tables/dismiss",
        "/organisers/add",
        "/organisers/remove",
        "/organisers/password",
    ):
        assert post(browser, path).status_code == 401


def test_who_logs_in_stays_until_they_log_out_or_two_weeks_are_over(app, club):
    browser, answer = log_in(app)
    assert (answer.status_code, answer.location) == (303, "/tables")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert browser.get("/tables").status_code == 200
    club.at_ms += 14 * 24 * 3600 * 1000
    assert browser.get("/tables").status_code == 401
    browser, _ = log_in(app)
    secret = browser.get_cookie("rinkside_hub").value
    post(browser, "/logout")
    browser.set_cookie("rinkside_hub", secret)
    assert browser.get("/tables").status_code == 401


@pytest.mark.parametrize("name", ["Host of Club", "Nobody"])
def test_who_guesses_has_to_wait_and_nobody_else_does(app, name):
    browser = app.test_client()
    for _ in range(5):
        assert post(browser, "/login", name=name, password="wrong").status_code == 403
    answer = post(browser, "/login", name="Host of Club", password=PASSWORD)
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) <= 60
    other = app.test_client()
    form = {"name": "Host of Club", "password": PASSWORD}
    headers = {"Sec-Fetch-Site": "same-origin"}
    base = {"REMOTE_ADDR": "192.0.2.7"}
    answer = other.post("/login", data=form, headers=headers, environ_base=base)
    assert answer.status_code == 303


def test_another_site_cannot_use_a_log_in(app):
    browser, _ = log_in(app)
    form = {"code": "x", "name": "y"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {}):
        assert browser.post("/tables/enrol", data=form, headers=headers).status_code == 403


def test_an_admin_adds_and_removes_organisers_and_others_do_not(app, club):
    admin, _ = log_in(app)
    form = {"name": "Cleo", "password": "another password"}
    assert post(admin, "/organisers/add", **form).status_code == 303
    assert post(admin, "/organisers/add", **form).status_code == 409
    cleo, answer = log_in(app, **form)
    assert answer.status_code == 303
    assert b"What was done" not in cleo.get("/organisers").data
    assert post(cleo, "/organisers/add", name="Dora", password=PASSWORD).status_code == 403
    assert post(cleo, "/organisers/remove", name="Host of Club").status_code == 403
    assert post(admin, "/organisers/remove", name="Host of Club").status_code == 404
    assert post(admin, "/organisers/remove", name="Cleo").status_code == 303
    assert cleo.get("/tables").status_code == 401
    assert club.accounts.names(club.actor.club_id) == [("Host of Club", "admin")]


def test_a_new_password_ends_all_log_ins(app):
    browser, _ = log_in(app)
    other, _ = log_in(app)
    assert post(browser, "/organisers/password", password="short").status_code == 400
    assert post(browser, "/organisers/password", password="quite a new one").status_code == 303
    assert other.get("/tables").status_code == 401
    assert log_in(app)[1].status_code == 403
    assert log_in(app, password="quite a new one")[1].status_code == 303


def test_passwords_are_kept_as_argon2_and_secrets_as_digests(club, app):
    browser, _ = log_in(app)
    token = club.enrol()
    cookie = browser.get_cookie("rinkside_hub").value
    with club.store.reading() as db:
        kept = "\n".join(
            str(row)
            for table in ("organisers", "logins", "tokens", "enrolments")
            for row in db.exec_driver_sql(f"SELECT * FROM {table}")
        )
    assert "$argon2id$" in kept
    for secret in (PASSWORD, token, cookie):
        assert secret not in kept


def test_clubs_do_not_see_one_another(app, club):
    other = Club(club.store, "Elsewhere")
    other.enrol("Secret table")
    browser, _ = log_in(app)
    assert b"Secret table" not in browser.get("/tables").data
    assert b"Elsewhere" not in browser.get("/organisers").data
    (table,) = other.tables.listed(other.actor.club_id)
    assert post(browser, "/tables/withdraw", table=table.id).status_code == 404
    assert post(browser, "/organisers/remove", name="Host of Elsewhere").status_code == 404
    with pytest.raises(Refusal):
        club.accounts.set_password("Host of Elsewhere", "a new password", club.actor)
    assert other.tables.listed(other.actor.club_id)[0].tokens == 1


def test_two_clubs_may_have_tables_of_one_name(club):
    other = Club(club.store, "Elsewhere")
    one, two = club.tables.known(club.enrol()), other.tables.known(other.enrol())
    assert (one.name, one.club_id != two.club_id, one.id != two.id) == ("Table 1", True, True)


def test_what_organisers_did_is_written_down(app, club):
    browser, _ = log_in(app)
    asked = club.tables.ask("test")
    post(browser, "/tables/enrol", code=asked.code, name="Table <1>")
    page = browser.get("/organisers").get_data(as_text=True)
    assert "table enrolled" in page
    assert "Table &lt;1&gt;" in page
    assert re.search(r"127\.0\.0\.1", page)


@pytest.mark.parametrize("form", [{"code": "", "name": "A"}, {"code": "AAAA-AAAA", "name": "A"}])
def test_a_code_that_nobody_shows_enrols_nothing(app, form):
    browser, _ = log_in(app)
    assert post(browser, "/tables/enrol", **form).status_code == 404


@pytest.mark.parametrize("name", ["", " ", "x" * 41])
def test_a_name_is_a_name(app, club, name):
    browser, _ = log_in(app)
    asked = club.tables.ask("test")
    assert post(browser, "/tables/enrol", code=asked.code, name=name).status_code == 400


@pytest.mark.parametrize("table", ["", "x", "-1", "9" * 40])
def test_what_is_no_table_is_refused(app, table):
    browser, _ = log_in(app)
    assert post(browser, "/tables/withdraw", table=table).status_code in (400, 404)
