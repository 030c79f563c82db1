"""A game as a service: a real process that is ready, is fed, hangs, is killed, and goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from simulation.players.ice_boule_table import demo_setup
from table.table_config import save_table
from tests.support.service_manager import service_manager

pytestmark = pytest.mark.slow

WAIT_S = 120
"""A generous limit for a start on a small and busy board; nothing is measured by it."""
FEED_USEC = 400_000
PROGRAM = """
import pathlib, sys, threading
from vision.change_gate import Watch

look = Watch.__call__

def looks_or_hangs(self, *rest):
    if pathlib.Path(sys.argv[1]).exists():
        pathlib.Path(sys.argv[1]).with_suffix(".hangs").touch()
        threading.Event().wait()
    return look(self, *rest)

Watch.__call__ = looks_or_hangs
from cli.main import main
main(sys.argv[2:])
"""
"""Rinkside, whose loop hangs at its next picture once a file is there."""


@contextmanager
def playing(folder: Path, **more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A game of a simulated table that resumes the latest session: the process, its address."""
    save_table(demo_setup(), folder / "table.json")
    words = ["play", "--table", folder / "table.json", "--camera", "simulated:7", "--port", "0"]
    words += ["--data", folder / "data", "--resume", "latest"]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, folder / "hang", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | more,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://localhost:\d+", line := process.stdout.readline())
        assert found, (line, process.communicate(timeout=WAIT_S))
        yield process, found[0]
    finally:
        process.kill()
        process.communicate()


def state(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{url}/api/v1/state", timeout=WAIT_S) as answer:
        shown: dict[str, Any] = json.load(answer)
    return shown


def records(url: str) -> Iterator[int]:
    """Numbers of records as they come."""
    with urllib.request.urlopen(f"{url}/api/v1/stream?after=0", timeout=WAIT_S) as stream:
        for line in stream:
            if line.startswith(b"id: "):
                yield int(line[4:])


def test_a_game_becomes_ready_is_fed_by_its_loop_and_not_if_the_loop_hangs(tmp_path: Path) -> None:
    with service_manager(tmp_path / "notify") as manager:
        own = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": str(FEED_USEC)}
        with playing(tmp_path, **own) as (process, url):
            manager.until("READY", WAIT_S)
            for _ in range(3):
                manager.until("WATCHDOG", WAIT_S)
            (tmp_path / "hang").touch()
            manager.until_silent(10 * FEED_USEC / 4e6)
            assert (tmp_path / "hang.hangs").exists()
            assert state(url)["session"] == 1  # the rest of the process is as well as ever
            assert process.poll() is None
            assert manager.waiting() == []


def test_it_tells_what_it_does_and_that_it_stops(tmp_path: Path) -> None:
    with (
        service_manager(tmp_path / "notify") as manager,
        playing(tmp_path, NOTIFY_SOCKET=str(tmp_path / "notify")) as (process, _),
    ):
        assert manager.until("STATUS", WAIT_S)["STATUS"].endswith(".")
        process.send_signal(signal.SIGTERM)
        manager.until("STOPPING", WAIT_S)
        _, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, errors) == (0, "")


def test_after_kill_9_the_next_start_goes_on_with_the_same_session(tmp_path: Path) -> None:
    with playing(tmp_path) as (process, url):
        last = next(seq for seq in records(url) if seq >= 3)
        before = state(url)
        process.kill()
    with playing(tmp_path) as (process, url):
        again = state(url)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=WAIT_S)
    assert (process.returncode, errors) == (0, "")
    assert again["session"] == before["session"] == 1
    assert again["seq"] > last
    assert again["players"] == before["players"]
    shown = [line["seq"] for line in before["verdicts"]]
    assert [line["seq"] for line in again["verdicts"] if line["seq"] in shown] == shown
