"""Kill forwarders, hub and database while tables play, lose answers, and look for every record.

Tables play on while the forwarder, the hub and the database are killed in turn, at random. Half of
the answers get lost on the way. In the end the hub must have all logs, record by record, and the
same results.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from random import Random
from shutil import copyfile
from typing import Annotated

import msgspec

from benchmarks.halls import (
    Command,
    PlayedTable,
    compare,
    enrolled,
    listening,
    lossy,
    playing,
    until,
)
from benchmarks.harness import Benchmark, Pairs
from tools.postgres import Postgres, free_port

SHARE = 0.5
"""Of the answers, and of pieces of them, that get lost."""
BACKLOG = 1000
"""Records of the table that was offline before it begins to send."""


class Options(msgspec.Struct, frozen=True):
    kills: Annotated[int, "How often to kill."] = 200
    tables: Annotated[int, "How many tables play."] = 3


class Survived(msgspec.Struct, frozen=True):
    kills: dict[str, int]
    lost: int
    """Answers."""
    records: int
    games: int
    backlog: int
    copied: str
    """What was said to the copy of a card."""
    seconds: float


class Summary(msgspec.Struct, frozen=True):
    tables: int
    share: float
    seen: Survived


def cases(options: Options) -> tuple[tuple[int, int]]:
    return ((options.kills, options.tables),)


def run(case: tuple[int, int]) -> Survived:
    kills, count = case
    begun_s = time.monotonic()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        database = stack.enter_context(Postgres())
        url, port, chance = database.new_url(), free_port(), Random(kills)
        _, tokens = enrolled(url, [f"Table {number}" for number in range(count)])
        way, lost = stack.enter_context(lossy(port, kills, SHARE))
        hub = Command(folder / "hub.txt", "hub", "--port", str(port), "--database", url)
        tables, forwarders = [], []
        for number, token in enumerate(tokens):
            data = folder / str(number)
            data.mkdir()
            tables.append(PlayedTable(data / "log.sqlite", number))
            words = ("forward", "--hub", f"http://127.0.0.1:{way}", "--data", str(data))
            forwarders.append(Command(folder / f"{number}.txt", *words, token=token))
        for _ in range(BACKLOG):
            tables[0].act()
        for part in (hub, *forwarders):
            stack.callback(part.end)
            part.start()
        killed = _play_and_kill(kills, chance, tables, hub, forwarders, database, port)
        try:
            records, games = compare(url, [table.path for table in tables])
        except AssertionError as error:
            said = [(part.running, part.said.read_text()[-400:]) for part in (hub, *forwarders)]
            raise AssertionError(f"{error}; hub and forwarders: {said}") from error
        for table in tables:
            table.close()
        for part in forwarders:
            part.kill()
        copied = _copied(folder, port, tables[0].path, tokens[1])
        hub.kill()
    seconds = time.monotonic() - begun_s
    return Survived(dict(killed), lost[0], records, games, BACKLOG, copied, seconds)


def _play_and_kill(
    kills: int,
    chance: Random,
    tables: list[PlayedTable],
    hub: Command,
    forwarders: list[Command],
    database: Postgres,
    port: int,
) -> Counter[str]:
    """How often each part was killed while the tables played."""
    killed = Counter[str]()
    with playing(tables):
        for _ in range(kills):
            time.sleep(chance.uniform(0, 1.5))
            hub.keep_running()  # it ends where its database is gone when it starts
            what = chance.choice(("forwarder", "hub", "database"))
            killed[what] += 1
            if what == "database":
                database.kill()
                time.sleep(chance.uniform(0, 0.5))
                database.start()
                continue
            part = hub if what == "hub" else chance.choice(forwarders)
            part.kill()
            part.start()
    until(lambda: _works(hub, port), "the hub does not listen")
    return killed


def _works(hub: Command, port: int) -> bool:
    hub.keep_running()
    return listening(port)


def _copied(folder: Path, port: int, log: Path, token: str) -> str:
    """What the hub says to a table with a copy of another one's card."""
    data = folder / "copy"
    data.mkdir()
    copyfile(log, data / "log.sqlite")
    until(lambda: listening(port), "the hub does not listen")
    words = ("forward", "--hub", f"http://127.0.0.1:{port}", "--data", str(data))
    table = Command(folder / "copy.txt", *words, token=token)
    table.start()
    assert table.wait() == 2
    return table.said.read_text().splitlines()[-1].partition(": ")[2].partition(": ")[2]


def summarise(options: Options, pairs: Pairs) -> Summary:
    ((_, seen),) = pairs
    return Summary(options.tables, SHARE, seen)


BENCHMARK = Benchmark("HUB.md", cases, run, summarise, Options, section=True)
