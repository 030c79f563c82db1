"""Where figures come from: date, commit, machine and programs."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
from collections.abc import Iterable
from hashlib import sha256
from importlib import metadata

import msgspec

from benchmarks.harness.benchmark import ROOT


class Provenance(msgspec.Struct, frozen=True, omit_defaults=True):
    """Provenance of a measurement; `str` is the first line of a page."""

    date: str = ""
    rinkside: str = ""
    """Version of Rinkside."""
    commits: tuple[str, ...] = ()
    machine: str = ""
    cores: int = 0
    python: str = ""
    opencv: str = ""
    load: tuple[float, ...] = ()
    """One-minute load average of the machine, before and after."""
    scheduling: str = ""
    """Scheduling policy if not the default, such as `SCHED_RR`."""

    @classmethod
    def of(cls, commits: Iterable[str], load: tuple[float, ...]) -> Provenance:
        """Provenance of the current code and machine."""
        policy = os.sched_getscheduler(0)
        special = {os.SCHED_RR: "SCHED_RR", os.SCHED_FIFO: "SCHED_FIFO"}
        return cls(
            date=datetime.date.today().isoformat(),
            rinkside=metadata.version("rinkside"),
            commits=tuple(dict.fromkeys(commits)),
            machine=platform.machine(),
            cores=os.cpu_count() or 0,
            python=platform.python_version(),
            opencv=metadata.version("opencv-python-headless"),
            load=load,
            scheduling=special.get(policy, ""),
        )

    def __str__(self) -> str:
        words = [
            f"Measured {self.date}",
            f" with Rinkside {self.rinkside}" if self.rinkside else "",
            f" (commit {', '.join(self.commits)})" if self.commits else "",
            f" on {self.cores} cores {self.machine}" if self.cores else "",
            f", Python {self.python}" if self.python else "",
            f", OpenCV {self.opencv}" if self.opencv else "",
        ]
        return "".join(words)


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


PRODUCTS = ("--", ".", ":!docs", ":!benchmarks/results")
"""Paths that can affect a measurement: all but docs and its own results."""


def commit() -> str:
    """Short hash of the commit, and a mark if the working tree differs."""
    changed = _git("status", "--porcelain", "--untracked-files=no", *PRODUCTS)
    return _git("rev-parse", "--short", "HEAD") + (", with changes" if changed else "")


def fingerprint() -> str:
    """The commit and a hash of uncommitted changes; results of other code are not reused."""
    head, changes = _git("rev-parse", "--short", "HEAD"), _git("diff", "HEAD", *PRODUCTS)
    return f"{head}-{sha256(changes.encode()).hexdigest()[:8]}" if changes else head
