"""Batches that come in while another one is written are committed together, each for itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from msgspec.json import encode
from sqlalchemy import Connection, event
from sqlalchemy.exc import OperationalError

from hub.intake import Intake, News
from hub.store import WRITES, Store
from hub.wire import Cursor
from tests.support.batches import batch, kept, print_of, record
from tests.support.hubs import Club
from webui.security.requests import Refusal

PATIENCE_S = 20


def log(number: int) -> str:
    return f"{number:08x}-89ab-4def-8123-456789abcdef"


def writes(db: Connection) -> bool:
    """Does a transaction write?"""
    return bool(db.get_execution_options().get(WRITES))


class HeldUp(Store):
    """A database in which nothing is written until `go` is set; counts what is committed."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.asked, self.go, self.commits = threading.Event(), threading.Event(), 0
        event.listen(self.engine, "commit", self._count)

    def _count(self, db: Connection) -> None:
        self.commits += writes(db)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        self.asked.set()
        assert self.go.wait(PATIENCE_S)
        with super().writing() as db:
            yield db


class Answer(Future[Cursor]):
    """The place for an answer; tells when somebody waits for one."""

    waits = threading.Semaphore(0)

    def result(self, timeout: float | None = None) -> Cursor:
        self.waits.release()
        return super().result(timeout)


class Busy:
    """An intake that is held up by its first batch until `go_on`."""

    def __init__(self, club: Club, url: str) -> None:
        self.store, self.news = HeldUp(url), News()
        self._intake = Intake(self.store, self.news, club.now_ms)
        self._pool = ThreadPoolExecutor(16)
        self._first = self.send(club.enrol("First"), batch(1, log=log(99)))
        assert self.store.asked.wait(PATIENCE_S)

    def take(self, token: str, document) -> int:
        return self._intake.take(token, encode(document)).seq

    def send(self, token: str, document) -> Future[int]:
        """A batch that waits now; in the end the number of its log's last record, or why not."""
        sent = self._pool.submit(lambda: self.take(token, document))
        assert Answer.waits.acquire(timeout=PATIENCE_S)
        return sent

    def go_on(self) -> None:
        """Write; returns when all that was sent is answered."""
        self.store.go.set()
        self._pool.shutdown()
        self.store.close()
        assert self._first.result() == 1


@pytest.fixture
def busy(club, url, monkeypatch):
    monkeypatch.setattr("hub.intake.Future", Answer)
    made = Busy(club, url)
    yield made
    made.go_on()


def test_many_batches_are_one_transaction(club, store, busy):
    tokens = [club.enrol(f"Table {k}") for k in range(9)]
    sent = [busy.send(token, batch(1, 2, log=log(k))) for k, token in enumerate(tokens)]
    busy.go_on()
    assert [one.result() for one in sent] == [2] * 9
    assert busy.store.commits == 2
    assert all(kept(store, log(k)) == [1, 2] for k in range(9))
    assert len(busy.news.wait(0)) == 10


def test_batches_of_one_log_follow_one_another(club, store, busy):
    token = club.enrol()
    sent = [busy.send(token, batch(*seqs)) for seqs in ((1, 2), (2, 3), (1,), (5,), (4,))]
    forged = busy.send(token, batch(5, after=4, fingerprint=print_of(4, "f")))
    busy.go_on()
    assert [one.result() for one in sent] == [2, 3, 3, 3, 4]
    assert forged.exception().code == "another_log"
    assert kept(store) == [1, 2, 3, 4]
    new = [[one.place.seq for one in taken.records] for taken in busy.news.wait(0)]
    assert new == [[1], [1, 2], [3], [4]]


def test_what_is_refused_keeps_no_other_batch_out(club, store, busy):
    first, second, third = (club.enrol(f"Table {k}") for k in range(3))
    for number, token in enumerate((first, second)):
        club.intake.take(token, encode(batch(1, log=log(number))))
    good = busy.send(third, batch(1, 2, log=log(2)))
    sent = {
        "log_of_another_table": busy.send(
            Club(store, "Elsewhere").enrol("Not ours"), batch(2, log=log(0))
        ),
        "another_log": busy.send(second, batch(2, log=log(1), fingerprint=print_of(1, "f"))),
        "token_withdrawn": busy.send(club.enrol("Withdrawn"), batch(1, log=log(4))),
    }
    with pytest.raises(Refusal) as stranger:  # at once, while all others wait
        busy.take("guessed", batch(1, log=log(3)))
    assert stranger.value.code == "no_token"
    gap = busy.send(first, batch(7, log=log(5)))
    (gone,) = [one for one in club.tables.listed(club.actor.club_id) if one.name == "Withdrawn"]
    club.tables.withdraw(club.actor, gone.id)
    busy.go_on()
    assert {one.exception().code for one in sent.values()} == set(sent)
    assert all(one.exception().code == code for code, one in sent.items())
    assert (good.result(), gap.result(), busy.store.commits) == (2, 0, 2)
    assert [kept(store, log(number)) for number in range(6)] == [[1], [1], [1, 2], [], [], []]
    trouble = {one.name: one.trouble for one in club.tables.listed(club.actor.club_id)}
    assert (trouble["Table 0"], trouble["Table 1"], trouble["Table 2"]) == (
        "log_of_another_table",
        "another_log",
        "",
    )


def test_what_the_database_cannot_keep_keeps_no_other_batch_out(club, store, busy):
    tokens = [club.enrol(f"Table {k}") for k in range(3)]

    @event.listens_for(busy.store.engine, "before_cursor_execute")
    def fail(_db, _cursor, _statement, parameters, _context, _many):
        if "poison" in str(parameters):
            raise ValueError("cannot be kept")

    names = ("Anna", "poison", "Ben")
    sent = [
        busy.send(token, batch(1, record(2, decided_by=name), log=log(k)))
        for k, (token, name) in enumerate(zip(tokens, names, strict=True))
    ]
    busy.go_on()
    assert (sent[0].result(), sent[2].result()) == (2, 2)
    assert str(sent[1].exception()) == "cannot be kept"
    assert [kept(store, log(number)) for number in range(3)] == [[1, 2], [], [1, 2]]


def test_all_that_wait_are_told_at_once_that_the_database_is_gone(club, store, busy):
    tries = []

    @event.listens_for(busy.store.engine, "commit")
    def fail(db):
        tries.extend([1] * writes(db))
        if len(tries) == 2:
            raise OperationalError("COMMIT", {}, Exception("no space left"))

    sent = [busy.send(club.enrol(f"Table {k}"), batch(1, log=log(k))) for k in range(3)]
    busy.go_on()
    assert all(isinstance(one.exception(), OperationalError) for one in sent)
    assert (len(tries), kept(store, log(0))) == (2, [])
    assert len(busy.news.wait(0)) == 1
