"""Install and play on other machines: Debian systems in folders, also of another architecture."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from benchmarks.harness import Benchmark, Pairs
from benchmarks.harness.benchmark import ROOT
from benchmarks.machines.debian import HOME, chroot_command, debian, run_command

RELEASE = "trixie"
ARCHITECTURES = ("amd64", "arm64")
SYSTEM_PACKAGES = "python3-gpiozero python3-libcamera"
"""Those of Debian that `make PI=1` is to see, beside what it installs itself."""
FIRST_RULING_S = 900.0
ALIKE_MM = 0.01
IMPORTS = "import sys, libcamera, gpiozero; print(sys.version.split()[0])"


class Options(msgspec.Struct, frozen=True):
    tests: Annotated[bool, "Run `make test` there too, where programs run natively."] = False


class Case(msgspec.Struct, frozen=True):
    architecture: str
    tests: bool


class MachineResult(msgspec.Struct, frozen=True):
    """What came of one system; times in seconds."""

    architecture: str
    emulated: bool
    python: str
    install_s: float
    measure_s: float
    ruling_s: float
    """From `make demo` to the first ruling, with nothing left to install."""
    gaps: int
    """Gaps of the sample photograph."""
    apart_mm: float
    """Largest difference of a gap or a place from those on this machine."""
    tests: str
    """The last line of `make test`; empty if it was not run."""


class Summary(msgspec.Struct, frozen=True):
    release: str
    alike_mm: float
    machines: tuple[MachineResult, ...]


def cases(options: Options) -> Iterable[Case]:
    return [Case(name, options.tests) for name in ARCHITECTURES]


def run(case: Case) -> MachineResult:
    own = run_command(["dpkg", "--print-architecture"]).strip()
    root = ROOT / "build" / "machines" / f"{RELEASE}-{case.architecture}"
    debian(root, RELEASE, case.architecture)
    shutil.rmtree(root / HOME, ignore_errors=True)
    run_command(["git", "clone", "--quiet", str(ROOT), str(root / HOME)])
    run_command(
        chroot_command(root, f"apt-get install -qy --no-install-recommends {SYSTEM_PACKAGES}")
    )
    _, install_s = _time_command(root, "make PI=1")
    version = run_command(chroot_command(root, f".venv/bin/python -c '{IMPORTS}'")).split()[0]
    said, measure_s = _time_command(root, ".venv/bin/rinkside measure --sample --json")
    here = run_command([str(ROOT / ".venv/bin/rinkside"), "measure", "--sample", "--json"])
    gaps, apart_mm = _compare_gaps(json.loads(said), json.loads(here))
    ruling_s = _first_ruling_s(root)
    tests = ""
    if case.tests and case.architecture == own:
        tests = run_command(chroot_command(root, "make test")).strip().splitlines()[-1].strip("= ")
    return MachineResult(
        architecture=case.architecture,
        emulated=case.architecture != own,
        python=version,
        install_s=install_s,
        measure_s=measure_s,
        ruling_s=ruling_s,
        gaps=gaps,
        apart_mm=apart_mm,
        tests=tests,
    )


def _time_command(root: Path, command: str) -> tuple[str, float]:
    """What a command prints there, and how many seconds it takes."""
    began = time.monotonic()
    said = run_command(chroot_command(root, command))
    return said, time.monotonic() - began


def _compare_gaps(there: dict[str, Any], here: dict[str, Any]) -> tuple[int, float]:
    """Number of gaps, and the largest difference in mm of gaps and places."""
    pairs = list(zip(there["gaps"], here["gaps"], strict=True))
    apart = [
        abs(a - b)
        for one, other in pairs
        for a, b in zip(
            [one["gap_mm"], *one["base_mm"]], [other["gap_mm"], *other["base_mm"]], strict=True
        )
    ]
    return len(pairs), max(apart)


def _first_ruling_s(root: Path) -> float:
    """Seconds from `make demo` to the first verdict in its log."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    began = time.monotonic()
    command = chroot_command(root, f"exec make demo ARGS='--port {port}'")
    demo = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        while time.monotonic() - began < FIRST_RULING_S:
            if demo.poll() is not None:
                raise RuntimeError(f"make demo ended with {demo.returncode}")
            if _has_ruled(port):
                return time.monotonic() - began
            time.sleep(0.5)
        raise RuntimeError(f"no ruling within {FIRST_RULING_S:.0f} s")
    finally:
        os.killpg(demo.pid, signal.SIGINT)
        demo.wait(timeout=120)


def _has_ruled(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/records", timeout=60) as page:
            return any(one["fact"] == "ruled" for one in json.load(page)["records"])
    except OSError:
        return False


def summarise(_options: Options, pairs: Pairs) -> Summary:
    return Summary(RELEASE, ALIKE_MM, tuple(result for _, result in pairs))


def broken(summary: Summary) -> Iterable[str]:
    return [
        f"{one.architecture}: the sample is read {one.apart_mm:.3f} mm apart"
        for one in summary.machines
        if one.apart_mm > ALIKE_MM
    ]


BENCHMARK = Benchmark("MACHINES.md", cases, run, summarise, Options, broken=broken)
