"""Time from a table's commit to the wall, by the number of tables, with one hub and PostgreSQL."""

from __future__ import annotations

import hashlib
import selectors
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import msgspec

from benchmarks.halls import Command, PlayedTable, enrolled, listening, processor_s, until
from benchmarks.harness import Benchmark, Pairs, percentiles
from hub.client import HubClient, HubGone
from hub.wire import Batch, SentRecord
from referee.sessions.event_store import LogReader
from referee.sessions.events import public_document
from table.json_data import JsonObject
from tools.postgres import Postgres, free_port

RATE_S = 0.034
"""Records of a table each second, on an evening: 340 of 10,000 tables."""
LEAST_RATE_S = 1.0
"""Records of a hall each second at least, so that a small one sends enough to be measured."""
WARM_S = 5.0
"""Records in the first seconds are not counted: the hub has just been started."""
HALLS = ((1, 1), (10, 1), (100, 1), (1000, 1), (10_000, 1), (4, 2000))
"""Tables, and walls that are looked at."""
SENDERS = 64
"""Connections that tables share."""
SETTLE_S = 10.0
"""Time after the last record in which the wall may still show it."""


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[float, "How long each hall plays."] = 30.0
    most: Annotated[int, "Tables of the largest hall."] = 10_000


class Seen(msgspec.Struct, frozen=True):
    records: int
    shown: int
    delays_s: tuple[float, ...] | None
    """From the moment a record was due to its event on the wall: median, 95 of 100, most."""
    bytes: int
    """Of a document, on average."""
    cores: tuple[float, float, float]
    """Cores that were busy on average: with senders and walls, with the hub, with the database."""


class Row(msgspec.Struct, frozen=True):
    tables: int
    walls: int
    rate_s: float
    seen: Seen


class Summary(msgspec.Struct, frozen=True):
    seconds: float
    rows: tuple[Row, ...]


def cases(options: Options) -> list[tuple[int, int, float]]:
    return [(count, walls, options.seconds) for count, walls in HALLS if count <= options.most]


def run(case: tuple[int, int, float]) -> Seen:
    count, walls, seconds = case
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(Postgres())
        url, port = database.new_url(), free_port()
        club, tokens = enrolled(url, [f"Table {number}" for number in range(count)])
        hub = Command(folder / "hub.txt", "hub", "--port", str(port), "--database", url)
        hub.start()
        stack.callback(hub.kill)
        until(lambda: listening(port), "the hub does not listen")
        hall = _Hall(port, club, tokens, walls, _documents(folder))

        def spent_s() -> tuple[float, ...]:
            return time.process_time(), processor_s(hub.pid), processor_s(database.pid)

        return hall.play(seconds, spent_s)


def _documents(folder: Path) -> list[JsonObject]:
    """Records of a session, as a table sends them."""
    table = PlayedTable(folder / "log.sqlite", 1)
    for _ in range(60):
        table.act()
    table.close()
    with LogReader(folder / "log.sqlite") as log:
        return [public_document(record) for record in log.records()]


class _Hall:
    """Tables that send, and walls that are looked at. A record is shown when all walls show it."""

    def __init__(
        self, port: int, club: int, tokens: list[str], walls: int, documents: list[JsonObject]
    ) -> None:
        self._port, self._club, self._walls, self._documents = port, club, walls, documents
        self._tables = [(f"Table {number}", str(uuid4()), one) for number, one in enumerate(tokens)]
        self._due: dict[tuple[str, int], float] = {}
        self._shown: dict[tuple[str, int], float] = {}
        self._on: Counter[tuple[str, int]] = Counter()
        """On how many walls a record is."""
        self._over = threading.Event()

    def play(self, seconds: float, spent_s: Callable[[], Sequence[float]]) -> Seen:
        """All tables begin; then they send at their rate, for so long.

        `spent_s` is the processor time of this process, the hub and the database.
        """
        wall = threading.Thread(target=self._look)
        wall.start()
        self._together(self._begin)
        rate, asked_s, before_s = rate_of(len(self._tables)), time.monotonic(), spent_s()
        self._together(lambda sender: self._send(sender, asked_s + 2.0, rate, seconds))
        took_s = time.monotonic() - asked_s
        own, hub, database = (
            (after - before) / took_s for before, after in zip(before_s, spent_s(), strict=True)
        )
        end_s = time.monotonic() + SETTLE_S
        while self._due.keys() - self._shown.keys() and time.monotonic() < end_s:
            time.sleep(0.1)
        self._over.set()
        wall.join()
        return self._seen((own, hub, database))

    def _together(self, work: Callable[[int], None]) -> None:
        senders = [threading.Thread(target=work, args=(number,)) for number in range(SENDERS)]
        for thread in senders:
            thread.start()
        for thread in senders:
            thread.join()

    def _begin(self, sender: int) -> None:
        """The first record of every SENDERS-th table."""
        with closing(HubClient(f"http://127.0.0.1:{self._port}")) as client:
            for table in range(sender, len(self._tables), SENDERS):
                self._send_one(client, table, 0)

    def _send(self, sender: int, begun: float, rate: float, seconds: float) -> None:
        """The next records of every SENDERS-th table, when they are due."""
        sent = dict[int, int]()
        with closing(HubClient(f"http://127.0.0.1:{self._port}")) as client:
            for number in range(int(rate * (WARM_S + seconds))):
                table = number % len(self._tables)
                after, due_s = sent.get(table, 1), begun + number / rate
                if table % SENDERS != sender or after >= len(self._documents):
                    continue
                time.sleep(max(0.0, due_s - time.monotonic()))
                if due_s >= begun + WARM_S:
                    self._due[self._tables[table][0], after + 1] = due_s
                self._send_one(client, table, after)
                sent[table] = after + 1

    def _send_one(self, client: HubClient, table: int, after: int) -> None:
        """The record of a table after one."""
        _, log_id, client.token = self._tables[table]
        record = SentRecord(fingerprint=_print(log_id, after + 1), document=self._documents[after])
        known = _print(log_id, after) if after else ""
        while True:
            with suppress(HubGone):
                client.send(Batch(log=log_id, after=after, fingerprint=known, records=[record]))
                return

    def _look(self) -> None:
        """Follow the walls, and note when each record was on all of them."""
        with selectors.DefaultSelector() as chosen, ExitStack() as stack:
            for _ in range(self._walls):
                wall = stack.enter_context(socket.create_connection(("127.0.0.1", self._port)))
                path = f"/halls/{self._club}/events?after=0"
                wall.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode())
                chosen.register(wall, selectors.EVENT_READ, _Wall())
            while not self._over.is_set():
                for key, _ in chosen.select(1.0):
                    for table in key.data.read(key.fileobj):
                        self._note(key.data, table)

    def _note(self, wall: _Wall, table: JsonObject) -> None:
        """A table is on a wall with all its records."""
        name, newest, now_s = str(table["name"]), int(str(table["seq"])), time.monotonic()
        for seq in range(wall.newest.get(name, 0) + 1, newest + 1):
            self._on[name, seq] += 1
            if self._on[name, seq] == self._walls:
                self._shown[name, seq] = now_s
        wall.newest[name] = newest

    def _seen(self, cores: tuple[float, float, float]) -> Seen:
        """What came of it."""
        delays = [
            self._shown[key] - due_s for key, due_s in self._due.items() if key in self._shown
        ]
        size = sum(len(msgspec.json.encode(one)) for one in self._documents)
        return Seen(
            len(self._due),
            len(delays),
            percentiles(delays, 50, 95, 100),
            size // len(self._documents),
            cores,
        )


class _Wall:
    """What one wall has shown, and what of its stream is not whole yet."""

    def __init__(self) -> None:
        self.newest: dict[str, int] = {}
        self._text = b""

    def read(self, wall: Any) -> list[JsonObject]:
        """The tables of the events that have come."""
        self._text += wall.recv(1 << 16)
        *whole, self._text = self._text.split(b"\n\n")
        return [
            msgspec.json.decode(event.partition(b"data: ")[2])
            for event in whole
            if b"event: table" in event
        ]


def rate_of(tables: int) -> float:
    """Records of a hall each second."""
    return max(RATE_S * tables, LEAST_RATE_S)


def _print(log_id: str, seq: int) -> str:
    return hashlib.sha256(f"{log_id} {seq}".encode()).hexdigest()


def summarise(options: Options, pairs: Pairs) -> Summary:
    return Summary(
        options.seconds,
        tuple(Row(count, walls, rate_of(count), seen) for (count, walls, _), seen in pairs),
    )


BENCHMARK = Benchmark("HUB.md", cases, run, summarise, Options, section=True)
