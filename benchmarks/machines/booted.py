"""A Debian system in a folder, booted: its own systemd is process 1 of its own namespaces.

It shares only the network and the kernel of this machine, as a container does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.machines.debian import PLAIN, run_command

PACKAGES = "systemd systemd-sysv dbus"
BOOT = """
set -e
mount --make-rprivate /
mount --bind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount --rbind /dev dev
mkdir -p mnt/outside
pivot_root . mnt/outside
umount -l /mnt/outside
exec env -i container=other PATH=/usr/bin:/bin:/usr/sbin:/sbin /lib/systemd/systemd
"""
"""Shell script for a container without a manager: its root is the folder, with no other mounts."""
LIMIT_S = 60.0


class Booted:
    """A running system; a context manager that cuts its power at the end."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._boot: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Booted:
        self.boot()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut_power()

    def boot(self) -> None:
        """Boot it, and wait until its services have started."""
        spaces = ("--mount", "--pid", "--fork", "--cgroup", "--uts", "--ipc")
        self._boot = subprocess.Popen(
            ["unshare", *spaces, "sh", "-c", BOOT, str(self._root)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        until(self._runs, "its systemd to start")

    def cut_power(self) -> None:
        """Kill its process 1 without warning, which ends all others."""
        if self._boot is not None:
            os.kill(self._first(), signal.SIGKILL)
            self._boot.wait(timeout=LIMIT_S)
            self._boot = None

    def says(self, command: str) -> str:
        """Output of a shell command in the system; raises RuntimeError if it fails."""
        return run_command(self._inside(command))

    def _inside(self, command: str) -> list[str]:
        enter = ["nsenter", "-t", str(self._first()), "-m", "-p", "-u", "-i", "-C", "-r", "-w"]
        return [*enter, "env", "-i", *(f"{k}={v}" for k, v in PLAIN.items()), "sh", "-c", command]

    def _first(self) -> int:
        """Host process id of its process 1."""
        assert self._boot is not None, "it is switched on"
        children = Path(f"/proc/{self._boot.pid}/task/{self._boot.pid}/children")
        return int(children.read_text().split()[0])

    def _runs(self) -> bool:
        assert self._boot is not None, "it is switched on"
        if self._boot.poll() is not None:
            raise RuntimeError(f"the system ended with {self._boot.returncode} as it was booted")
        state = subprocess.run(
            self._inside("systemctl is-system-running"), check=False, capture_output=True, text=True
        ).stdout.strip()
        return state in ("running", "degraded")


def until(is_so: Callable[[], bool], what: str, limit_s: float = LIMIT_S) -> float:
    """Wait for a condition; returns the seconds.  Raises RuntimeError on timeout."""
    began = time.monotonic()
    while time.monotonic() - began < limit_s:
        try:
            if is_so():
                return time.monotonic() - began
        except (OSError, IndexError):
            pass
        time.sleep(0.1)
    raise RuntimeError(f"waited {limit_s:.0f} s for {what}")
