"""`rinkside hub` and `rinkside forward` as they are typed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from hub.app import wall_ms
from hub.audit import Actor
from hub.events import Events
from hub.next_match import stored_match
from hub.standings import Results
from hub.store import Store
from referee.sessions.event_store import LogReader
from tests.support.hubs import new_log
from tests.support.mosquitto import free_port, until
from tests.support.paths import ROOT


def rinkside(*words: object, **more):
    return CliRunner().invoke(main, [str(word) for word in words], **more)


@pytest.fixture
def database(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'hub.sqlite'}"


def test_an_organiser_gets_an_account_and_another_password(database):
    made = rinkside("hub", "organiser", "Anna", "--database", database)
    assert made.exit_code == 0, made.output
    again = rinkside("hub", "organiser", "Anna", "--database", database)
    assert (again.exit_code, "already" in again.output) == (2, True)
    changed = rinkside("hub", "organiser", "Anna", "--new-password", "--database", database)
    assert changed.output.startswith("Anna logs in with the password ")
    assert changed.output != made.output
    nobody = rinkside("hub", "organiser", "Ben", "--new-password", "--database", database)
    assert (nobody.exit_code, "no such organiser" in nobody.output) == (2, True)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "expected sqlite:///PATH or postgresql://USER@HOST/NAME"),
        ("hub.sqlite", "expected sqlite:///PATH or postgresql://USER@HOST/NAME"),
        ("mysql://hub@localhost/hub", "expected sqlite:///PATH or postgresql://USER@HOST/NAME"),
        ("sqlite:////nowhere/hub.sqlite", "it cannot be used"),
    ],
)
def test_a_database_that_cannot_be_used_is_told_in_one_line(address, said):
    done = rinkside("hub", "organiser", "Anna", "--database", address or " ")
    assert done.exit_code == 2
    assert said in done.output
    assert done.output.count("\n") == 1


def test_a_database_that_does_not_answer_is_told_without_its_password():
    address = f"postgresql://hub:hunter2@127.0.0.1:{free_port()}/hub"
    done = rinkside("hub", "organiser", "Anna", "--database", address)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert "it cannot be used" in done.output
    assert "hunter2" not in done.output


def test_forwarding_needs_an_address():
    assert rinkside("forward").exit_code == 2
    assert "--hub: expected an address" in rinkside("forward", "--hub", "hub").output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--webhook", "example.org"), "--webhook: expected an address"),
        (("--webhook", "https://example.org/x"), "--webhook-secret: expected at least 24 letters"),
    ],
)
def test_a_webhook_that_will_not_do_is_told_in_one_line(database, words, said):
    done = rinkside("hub", "--port", free_port(), "--database", database, *words)
    assert (done.exit_code, done.output.count("\n")) == (2, 1)
    assert said in done.output


class Program:
    """A command in a process of its own; `lines` is what it has said."""

    def __init__(self, out: Path, *words: object) -> None:
        self._out = out
        with out.open("w") as file:
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from cli.main import run; run()", *map(str, words)],
                cwd=ROOT,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
            )

    @property
    def said(self) -> str:
        return self._out.read_text()

    def hear(self, pattern: str) -> str:
        """What it says, as soon as it is said."""
        until(lambda: re.search(pattern, self.said), lambda: self.said)
        return re.search(pattern, self.said).group(1)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        self.code = self._process.wait(30)


@pytest.mark.slow
def test_a_table_is_enrolled_and_sends_and_both_end_when_they_are_told(tmp_path, database):
    with LogReader(new_log(tmp_path)) as log:
        count = len(log.records())
    made = rinkside("hub", "organiser", "Anna", "--database", database).output
    port = free_port()
    with (
        Program(tmp_path / "hub.txt", "hub", "--port", port, "--database", database) as hub,
        Program(
            tmp_path / "table.txt",
            "forward",
            "--hub",
            f"http://127.0.0.1:{port}",
            "--data",
            tmp_path,
        ) as table,
    ):
        hub.hear("(The hub is on)")
        code = table.hear(r"with the code (\S+)")
        _enter(port, made.split()[-1], code)
        table.hear("(This table is Table 1 at the hub)")
        table.hear("(is sent to )")
        store = Store(database)
        until(lambda: _count(store) == count)
        _pair(store)
        until(lambda: stored_match(tmp_path, time.time) is not None)
        assert stored_match(tmp_path, time.time).players == ("Ben", "Cleo")
        store.close()
    assert (hub.code, table.code) == (0, 0)


def _pair(store: Store, table: bool = True) -> None:
    """An event whose first match is at the table, if there is one."""
    events, anna = Events(store, Results(store), wall_ms), Actor("Anna", 1, "test")
    number = events.make(anna, "Cup", "ice_boule", "knock_out")
    events.add_players(anna, number, ["Ben", "Cleo"])
    events.use_tables(anna, number, [1] if table else [])
    events.pair(anna, number, 0)


def _count(store: Store) -> int:
    with store.reading() as db:
        return db.exec_driver_sql("SELECT count(*) FROM records").scalar_one()


def _enter(port: int, password: str, code: str) -> None:
    """What an organiser does in a browser."""
    from http.cookiejar import CookieJar
    from urllib.parse import urlencode
    from urllib.request import HTTPCookieProcessor, Request, build_opener

    browser = build_opener(HTTPCookieProcessor(CookieJar()))
    for path, form in (
        ("/login", {"name": "Anna", "password": password}),
        ("/tables/enrol", {"code": code, "name": "Table 1"}),
    ):
        request = Request(
            f"http://127.0.0.1:{port}{path}",
            urlencode(form).encode(),
            {"Sec-Fetch-Site": "same-origin"},
        )
        assert browser.open(request).status == 200


def test_a_club_is_exported_as_a_folder_of_pages(tmp_path, database):
    rinkside("hub", "organiser", "Anna", "--database", database)
    store = Store(database)
    _pair(store, table=False)
    store.close()
    words = ("hub", "export-site", tmp_path / "site", "--database", database)
    done = rinkside(*words, "--language", "de")
    assert done.exit_code == 0, done.output
    assert "Veranstaltungen" in (tmp_path / "site" / "index.html").read_text()
    one = rinkside(*words, "--event", "1")
    assert one.exit_code == 0
    assert "Ben" in (tmp_path / "site" / "index.html").read_text()
    for wrong, said in (
        (("--event", "7"), "There is no such event."),
        (("--club", "Other"), "--club: expected one of Club, got 'Other'"),
    ):
        refused = rinkside(*words, *wrong)
        assert (refused.exit_code, said in refused.output) == (2, True)
        assert refused.output.count("\n") == 1
    rinkside("hub", "organiser", "Ben", "--club", "Another", "--database", database)
    assert "expected one of Another, Club" in rinkside(*words).output
    assert rinkside(*words, "--club", "Another").exit_code == 0
