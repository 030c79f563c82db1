"""Run the service under a real systemd, and kill it in every way.

A Debian system in a folder is booted; `rinkside service install` is run there as docs/SERVICE.md
says, a game with a simulated camera is begun on the home page, and things go wrong.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from benchmarks.harness import Benchmark, NoOptions, Pairs
from benchmarks.harness.benchmark import ROOT
from benchmarks.machines.booted import PACKAGES, Booted, until
from benchmarks.machines.debian import HOME, chroot_command, debian, run_command
from benchmarks.suite.machines import RELEASE
from cli.home import LASTED_S
from tests.support.home_process import HomePage

CAMERA = "simulated:7"
DATA = "/var/lib/rinkside"
HIGHEST_EXPOSURE = 4.0
HANG_S = 300.0
"""Longest wait for a watchdog of 120 s."""
TABLE = f"""
import sys
sys.path.insert(0, "/{HOME}")
from pathlib import Path
from simulation.players.ice_boule_table import demo_setup
from table.table_config import save_table
save_table(demo_setup(), Path("{DATA}/table.json"))
"""


class Trial(msgspec.Struct, frozen=True):
    """What was done to the service, and what came of it."""

    what: str
    seconds: float
    """Until the game went on."""
    same: bool
    """The session is the same one, and all that was on record still is."""


class Served(msgspec.Struct, frozen=True):
    release: str
    systemd: str
    exposure: float
    """By `systemd-analyze security`, of 10."""
    first_page_s: float
    """From `systemctl restart` to the home page."""
    idle_mb: float
    """Resident memory of the home page, no game running."""
    trials: tuple[Trial, ...]
    ended_stays_ended: bool
    """A game that people ended does not go on after a restart."""
    removed: bool
    """After `service remove` nothing listens, and the sessions are there."""


class Host(HomePage):
    """The host of the home page in a booted system."""

    def __init__(self, system: Booted, port: int) -> None:
        self.system, self.port = system, port
        self.url = f"http://127.0.0.1:{port}"

    @property
    def code(self) -> str:
        """That of the newest start, from the journal; empty before the first."""
        journal = self.system.says("journalctl -qu rinkside -o cat")
        return (re.findall(r"Host code: (\S+)", journal) or [""])[-1]

    def until(self, text: str, path: str = "/") -> str:
        """As `HomePage.until`; what does not answer may just be starting."""
        page = ""

        def has_it() -> bool:
            nonlocal page
            page = self.get(path)
            return text in page

        until(has_it, f"{text!r} on the home page", HANG_S)
        return page

    def records(self) -> tuple[str, list[Any]]:
        """The session and its records."""
        state = json.loads(self.get("/api/v1/state"))
        return state["session"], json.loads(self.get("/api/v1/records"))["records"]

    def pids(self) -> list[int]:
        """Processes of the home page and of its game, as the system counts."""
        home = int(self.system.says("systemctl show -P MainPID rinkside"))
        children = self.system.says(f"cat /proc/{home}/task/{home}/children").split()
        return [home, *map(int, children)]

    def resident_mb(self) -> float:
        """That of the home page alone."""
        said = self.system.says(f"grep VmRSS /proc/{self.pids()[0]}/status")
        return int(said.split()[1]) / 1024


def cases(_options: NoOptions) -> Iterable[str]:
    return [RELEASE]


def run(release: str) -> Served:
    root = ROOT / "build" / "machines" / f"{release}-service"
    debian(root, release, run_command(["dpkg", "--print-architecture"]).strip())
    shutil.rmtree(root / HOME, ignore_errors=True)
    shutil.rmtree(root / DATA[1:], ignore_errors=True)
    run_command(["git", "clone", "--quiet", str(ROOT), str(root / HOME)])
    run_command(chroot_command(root, f"apt-get install -qy --no-install-recommends {PACKAGES}"))
    run_command(chroot_command(root, "make PI=1 environment"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    with Booted(root) as system:
        return _serve(release, Host(system, port))


def _serve(release: str, host: Host) -> Served:
    rinkside = f"/{HOME}/.venv/bin/rinkside"
    host.system.says(f"{rinkside} service install -- --camera {CAMERA} --port {host.port}")
    host.system.says(f"cd {DATA} && /{HOME}/.venv/bin/python -c '{TABLE}' && chown rinkside *.json")
    host.system.says("systemctl restart rinkside")
    began = time.monotonic()
    host.until("Choose game and players")
    first_page_s = time.monotonic() - began
    idle_mb = host.resident_mb()
    host.begin()
    until(lambda: _ruled(host.records()[1]), "a ruling", HANG_S)
    trials = tuple(_run_trial(host, what, act) for what, act in TRIALS.items())
    host.get("/end-game", {"then": "home"})
    host.until("Choose game and players")
    host.system.says("systemctl restart rinkside")
    host.until("Choose game and players")
    exposure = host.system.says("systemd-analyze security rinkside --no-pager")
    served = Served(
        release,
        host.system.says("systemctl --version").split()[1],
        float(re.findall(r"exposure level for rinkside.service: (\S+)", exposure)[0]),
        first_page_s,
        idle_mb,
        trials,
        len(host.pids()) == 1,
        False,
    )
    host.system.says(f"{rinkside} service remove")
    return msgspec.structs.replace(served, removed=_is_removed(host))


def _is_removed(host: Host) -> bool:
    with socket.socket() as asks:
        listens = asks.connect_ex(("127.0.0.1", host.port)) == 0
    return not listens and "log.sqlite" in host.system.says(f"ls {DATA}")


def _run_trial(host: Host, what: str, act: Callable[[Host], None]) -> Trial:
    time.sleep(LASTED_S)
    session, before = host.records()
    began = time.monotonic()
    act(host)
    host.until("data-stream")
    seconds = time.monotonic() - began
    again, after = host.records()
    return Trial(what, seconds, again == session and all(one in after for one in before))


def _kill(which: int, signal: str) -> Callable[[Host], None]:
    """Send a signal to the home page (0) or its game (1), and wait until that process is gone."""

    def kill(host: Host) -> None:
        pid = host.pids()[which]
        host.system.says(f"kill -{signal} {pid}")
        gone = f"test -e /proc/{pid}/exe && echo there || echo gone"
        until(lambda: host.system.says(gone).strip() == "gone", f"{pid} to end", HANG_S)

    return kill


def _power_cut(host: Host) -> None:
    host.system.cut_power()
    host.system.boot()


def _ruled(records: list[Any]) -> bool:
    return any(one["fact"] == "ruled" for one in records)


TRIALS: dict[str, Callable[[Host], None]] = {
    "the game is killed (`kill -9`)": _kill(1, "KILL"),
    "the home page is killed (`kill -9`)": _kill(0, "KILL"),
    "the game hangs (`kill -STOP`)": _kill(1, "STOP"),
    "the home page hangs (`kill -STOP`)": _kill(0, "STOP"),
    "the power is cut, and comes back": _power_cut,
}


def summarise(_options: NoOptions, pairs: Pairs) -> Served:
    ((_, served),) = pairs
    assert isinstance(served, Served)
    return served


def broken(summary: Served) -> Iterable[str]:
    """Promises of docs/SERVICE.md that were not kept."""
    said = [f"lost after: {trial.what}" for trial in summary.trials if not trial.same]
    if summary.exposure >= HIGHEST_EXPOSURE:
        said.append(f"exposure {summary.exposure:.1f} of 10")
    if not summary.ended_stays_ended:
        said.append("a game that people ended went on")
    if not summary.removed:
        said.append("the service is not removed, or its sessions are")
    return said


BENCHMARK = Benchmark("SERVICE.md", cases, run, summarise, section=True, broken=broken)
