"""Debian systems in folders, in which README's commands are tried."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.machines.debian import chroot_command, debian, run_command
from benchmarks.suite.machines import BENCHMARK, Case, MachineResult, Options, Summary


def test_without_root_it_says_so_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit, match=r"^benchmarks: expected root, .*: run as root$"):
        debian(tmp_path / "system", "trixie", "amd64")
    assert not (tmp_path / "system").exists()


def test_a_command_knows_nothing_of_this_machines_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", "/somewhere")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    words = chroot_command(tmp_path, "make demo")
    assert words[:2] == ["env", "-i"]
    assert not any(word.startswith(("VIRTUAL_ENV=", "PYTHONPATH=")) for word in words)
    assert words[-2:] == [str(tmp_path), "cd /opt/rinkside && make demo"]


def test_a_command_that_fails_is_told_with_its_last_lines():
    with pytest.raises(RuntimeError, match=r"ended with 3: first \| last$"):
        run_command(["sh", "-c", "echo first; echo last; exit 3"])
    assert run_command(["echo", "well"]) == "well\n"


def test_mounts_end_with_the_command(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    if subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system lets nobody mount")
    for name in ("proc", "sys", "dev"):
        (tmp_path / name).mkdir()
    subprocess.run(chroot_command(tmp_path, "true"), check=False, capture_output=True)
    assert str(tmp_path) not in Path("/proc/mounts").read_text()


def test_a_reading_that_differs_between_machines_is_a_broken_promise():
    alike = MachineResult("amd64", False, "3.13.5", 20.0, 3.0, 5.0, 8, 0.004, "")
    apart = MachineResult("arm64", True, "3.13.5", 200.0, 30.0, 50.0, 8, 0.02, "")
    said = list(BENCHMARK.broken(Summary("trixie", 0.01, (alike, apart))))
    assert said == ["arm64: the sample is read 0.020 mm apart"]
    assert [*BENCHMARK.cases(Options())] == [Case("amd64", False), Case("arm64", False)]
