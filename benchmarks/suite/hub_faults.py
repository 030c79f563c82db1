"""Take the database away for long, fill the disk, migrate in mid-evening: all records stay.

Tables play on meanwhile. In the end the hub must have all logs, record by record, and the same
results, as in `hub_once`.
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated

import msgspec
from alembic import command
from alembic.config import Config

from benchmarks.halls import Command, PlayedTable, compare, enrolled, listening, playing, until
from benchmarks.harness import Benchmark, Pairs
from hub import store as hub_store
from hub.store import Store
from tools.postgres import Postgres, free_port

NAMES = ("database gone", "disk full", "disk full, PostgreSQL", "migration")
HOUR_S = 3600.0
ROOM_BYTES = 64 << 10
"""What a file of the hub may still grow by when its disk is called full."""
DISK_MB = 96
"""Size of the disk that gets full under PostgreSQL; half of it is its own."""
KILLS = 8
"""How often the hub is killed while it migrates."""
BEFORE_S = 5.0
"""How long all goes well before a fault."""


class Options(msgspec.Struct, frozen=True):
    tables: Annotated[int, "How many tables play."] = 3
    gone_s: Annotated[float, "Length of a fault in seconds."] = 60.0
    hour: Annotated[bool, "Take the database away for an hour, too."] = False


class Survived(msgspec.Struct, frozen=True):
    """What came of a fault.

    `meanwhile` are records that tables wrote during it; `caught_up_s` is how long after it the hub
    had all of them.
    """

    name: str
    fault_s: float
    meanwhile: int
    caught_up_s: float
    records: int
    games: int


class Summary(msgspec.Struct, frozen=True):
    tables: int
    kills: int
    seen: list[Survived]


@dataclass(frozen=True, slots=True)
class Hall:
    """The parts of a hall while tables play."""

    url: str
    port: int
    hub: Command
    tables: Sequence[PlayedTable]
    database: Postgres

    def written(self) -> int:
        """Records of all logs."""
        return sum(table.newest for table in self.tables)


def cases(options: Options) -> list[tuple[str, int, float]]:
    long = [(NAMES[0], options.tables, HOUR_S)] if options.hour else []
    return [*((name, options.tables, options.gone_s) for name in NAMES), *long]


def run(case: tuple[str, int, float]) -> Survived:
    name, count, gone_s = case
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        small = name == "disk full, PostgreSQL"
        disk = stack.enter_context(_small_disk()) if small else None
        database = stack.enter_context(Postgres(disk))
        url = f"sqlite:///{folder / 'hub.sqlite'}" if name == "disk full" else database.new_url()
        upgrade = _upgrade_to_first if name == "migration" else Store.upgrade
        port = free_port()
        _, tokens = enrolled(url, [f"Table {number}" for number in range(count)], upgrade)
        hub = Command(folder / "hub.txt", "hub", "--port", str(port), "--database", url)
        stack.callback(hub.end)
        tables = []
        for number, token in enumerate(tokens):
            data = folder / str(number)
            data.mkdir()
            tables.append(PlayedTable(data / "log.sqlite", number))
            stack.callback(tables[-1].close)
            words = ("forward", "--hub", f"http://127.0.0.1:{port}", "--data", str(data))
            forwarder = Command(folder / f"{number}.txt", *words, token=token)
            forwarder.start()
            stack.callback(forwarder.end)
        hall = Hall(url, port, hub, tables, database)
        with playing(tables):
            if name != "migration":
                hub.start()
                until(lambda: listening(port), "the hub does not listen")
            time.sleep(BEFORE_S)
            begun_s, before = time.monotonic(), hall.written()
            FAULTS[name](hall, gone_s)
            over_s, meanwhile = time.monotonic(), hall.written() - before
        records, games = compare(url, [table.path for table in tables])
        caught_up_s = time.monotonic() - over_s
    return Survived(name, over_s - begun_s, meanwhile, caught_up_s, records, games)


def _database_gone(hall: Hall, gone_s: float) -> None:
    """The database is killed, and started again later."""
    hall.database.kill()
    time.sleep(gone_s)
    hall.database.start()


def _disk_full(hall: Hall, gone_s: float) -> None:
    """No file of the hub may grow any more, until there is room again."""
    _, most = resource.prlimit(hall.hub.pid, resource.RLIMIT_FSIZE)
    file = Path(hall.url.removeprefix("sqlite:///"))
    room = file.stat().st_size + ROOM_BYTES
    resource.prlimit(hall.hub.pid, resource.RLIMIT_FSIZE, (room, most))
    time.sleep(gone_s)
    resource.prlimit(hall.hub.pid, resource.RLIMIT_FSIZE, (most, most))
    assert hall.hub.running, "the hub has ended on a full disk"
    assert "database" in hall.hub.said.read_text(), "the disk was never full"


@contextmanager
def _small_disk() -> Iterator[Path]:
    """A file system of DISK_MB in memory; only root may mount one."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs")
        subprocess.run(["mount", *options, folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def _database_disk_full(hall: Hall, gone_s: float) -> None:
    """Nothing more fits on the disk of the database, until there is room again."""
    end_s = time.monotonic() + gone_s
    path = hall.database.folder / "ballast"
    with path.open("ab", buffering=0) as ballast:
        while time.monotonic() < end_s:
            with suppress(OSError):  # what the database gives back is taken, too
                while ballast.write(bytes(4096)):
                    pass
            time.sleep(0.5)
    path.unlink()
    if not hall.database.running:  # as its service manager does
        hall.database.start()
    assert hall.hub.running, "the hub has ended on a full disk"
    assert "No space left" in hall.hub.said.read_text(), "the disk was never full"


def _migration(hall: Hall, gone_s: float) -> None:
    """A hub of this version begins on the tables of the first one, and is killed meanwhile."""
    chance, end_s = Random(KILLS), time.monotonic() + gone_s
    for _ in range(KILLS):
        hall.hub.start()
        time.sleep(chance.uniform(0, 2 * BEFORE_S))
        hall.hub.kill()
    time.sleep(max(0.0, end_s - time.monotonic()))
    hall.hub.start()
    until(lambda: listening(hall.port), "the hub does not listen")


FAULTS: dict[str, Callable[[Hall, float], None]] = {
    "database gone": _database_gone,
    "disk full": _disk_full,
    "disk full, PostgreSQL": _database_disk_full,
    "migration": _migration,
}


def _upgrade_to_first(store: Store) -> None:
    """Make the tables of the first version."""
    config = Config()
    folder = Path(hub_store.__file__).parent / "migrations"
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    with store.writing() as db:
        config.attributes["connection"] = db
        command.upgrade(config, "0001")


def summarise(options: Options, pairs: Pairs) -> Summary:
    return Summary(options.tables, KILLS, [seen for _, seen in pairs])


BENCHMARK = Benchmark("HUB.md", cases, run, summarise, Options, section=True)
