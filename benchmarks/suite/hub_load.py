"""Time from a table's commit to the wall, by the number of tables, with one hub and PostgreSQL."""

from __future__ import annotations

import hashlib
import socket
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import msgspec

from benchmarks.halls import Command, PlayedTable, enrolled, listening, until
from benchmarks.harness import Benchmark, Pairs, percentiles
from hub.client import HubClient, HubGone
from hub.wire import Batch, SentRecord
from referee.sessions.event_store import LogReader
from referee.sessions.events import public_document
from table.json_data import JsonObject
from tools.postgres import Postgres, free_port

RATE_S = 0.034
"""Records of a table each second, on an evening: 340 of 10,000 tables."""
SENDERS = 8
SETTLE_S = 10.0
"""Time after the last record in which the wall may still show it."""


class Options(msgspec.Struct, frozen=True):
    seconds: Annotated[float, "How long each hall plays."] = 30.0
    most: Annotated[int, "Tables of the largest hall."] = 1000


class Seen(msgspec.Struct, frozen=True):
    records: int
    shown: int
    delays_s: tuple[float, ...] | None
    """From the moment a record was due to its event on the wall: median, 95 of 100, most."""
    bytes: int
    """Of a document, on average."""


class Row(msgspec.Struct, frozen=True):
    tables: int
    rate_s: float
    seen: Seen


class Summary(msgspec.Struct, frozen=True):
    seconds: float
    rows: tuple[Row, ...]


def cases(options: Options) -> list[tuple[int, float]]:
    return [(count, options.seconds) for count in (10, 100, 1000) if count <= options.most]


def run(case: tuple[int, float]) -> Seen:
    count, seconds = case
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url, port = stack.enter_context(Postgres()).new_url(), free_port()
        club, tokens = enrolled(url, [f"Table {number}" for number in range(count)])
        hub = Command(folder / "hub.txt", "hub", "--port", str(port), "--database", url)
        hub.start()
        stack.callback(hub.kill)
        until(lambda: listening(port), "the hub does not listen")
        hall = _Hall(port, club, tokens, _documents(folder))
        hall.play(seconds)
    return hall.seen()


def _documents(folder: Path) -> list[JsonObject]:
    """Records of a session, as a table sends them."""
    table = PlayedTable(folder / "log.sqlite", 1)
    for _ in range(60):
        table.act()
    table.close()
    with LogReader(folder / "log.sqlite") as log:
        return [public_document(record) for record in log.records()]


class _Hall:
    """Tables that send, and a wall that is looked at."""

    def __init__(
        self, port: int, club: int, tokens: list[str], documents: list[JsonObject]
    ) -> None:
        self._port, self._club, self._documents = port, club, documents
        self._tables = [(f"Table {number}", str(uuid4()), one) for number, one in enumerate(tokens)]
        self._due: dict[tuple[str, int], float] = {}
        self._shown: dict[tuple[str, int], float] = {}
        self._over = threading.Event()

    def play(self, seconds: float) -> None:
        """All tables send at their rate, for so long."""
        rate, begun = RATE_S * len(self._tables), time.monotonic() + 2.0
        senders = [
            threading.Thread(target=self._send, args=(number, begun, rate, seconds))
            for number in range(SENDERS)
        ]
        wall = threading.Thread(target=self._look)
        for thread in (wall, *senders):
            thread.start()
        for thread in senders:
            thread.join()
        with suppress(AssertionError):
            end_s = time.monotonic() + SETTLE_S
            while len(self._shown) < len(self._due) and time.monotonic() < end_s:
                time.sleep(0.1)
        self._over.set()
        wall.join()

    def _send(self, sender: int, begun: float, rate: float, seconds: float) -> None:
        """The records of every SENDERS-th table, when they are due."""
        client, sent = HubClient(f"http://127.0.0.1:{self._port}"), dict[int, int]()
        for number in range(int(rate * seconds)):
            table = number % len(self._tables)
            if table % SENDERS != sender or sent.get(table, 0) >= len(self._documents):
                continue
            name, log_id, client.token = self._tables[table]
            after, due_s = sent.get(table, 0), begun + number / rate
            time.sleep(max(0.0, due_s - time.monotonic()))
            self._due[name, after + 1] = due_s
            record = SentRecord(
                fingerprint=_print(log_id, after + 1), document=self._documents[after]
            )
            while True:
                with suppress(HubGone):
                    client.send(
                        Batch(
                            log=log_id,
                            after=after,
                            fingerprint=_print(log_id, after) if after else "",
                            records=[record],
                        )
                    )
                    break
            sent[table] = after + 1
        client.close()

    def _look(self) -> None:
        """Follow the wall, and note when each record was on it."""
        wall = socket.create_connection(("127.0.0.1", self._port))
        wall.settimeout(1.0)
        path = f"/halls/{self._club}/events?after=0"
        wall.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode())
        text = b""
        while not self._over.is_set():
            try:
                text += wall.recv(1 << 16)
            except TimeoutError:
                continue
            *whole, text = text.split(b"\n\n")
            now_s = time.monotonic()
            for event in whole:
                if b"event: table" in event:
                    table = msgspec.json.decode(event.partition(b"data: ")[2])
                    for seq in range(table["seq"], 0, -1):
                        if (table["name"], seq) in self._shown:
                            break
                        self._shown[table["name"], seq] = now_s
        wall.close()

    def seen(self) -> Seen:
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
        )


def _print(log_id: str, seq: int) -> str:
    return hashlib.sha256(f"{log_id} {seq}".encode()).hexdigest()


def summarise(options: Options, pairs: Pairs) -> Summary:
    return Summary(
        options.seconds, tuple(Row(count, RATE_S * count, seen) for (count, _), seen in pairs)
    )


BENCHMARK = Benchmark("HUB.md", cases, run, summarise, Options, section=True)
