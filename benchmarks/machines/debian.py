"""A Debian system in a folder, of any release and architecture, in which commands are run.

It is made by debootstrap and entered by chroot, as root. Programs of another architecture run under
qemu-user-static, which the kernel starts by binfmt_misc; versions before 8 show programs the wrong
/proc/cpuinfo, on which onnxruntime crashes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

MIRROR = os.environ.get("DEBIAN_MIRROR", "http://deb.debian.org/debian")
PACKAGES = "ca-certificates,git,make,python3,python3-venv"
"""Packages named in README, and certificates for downloads."""
CERTIFICATES = Path("etc/ssl/certs/ca-certificates.crt")
COPIED = ("etc/resolv.conf", str(CERTIFICATES))
"""Files of this machine needed for network access."""
BOUND = ("proc", "sys", "dev")
HOME = "opt/rinkside"
"""Path of the checkout within the folder."""
CPU = "cortex-a72"
"""The processor that is emulated for arm64: that of a Raspberry Pi 4, without the vector
instructions (SVE) that qemu offers by itself.
"""
PLAIN = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", "LANG": "C.UTF-8"}
"""Complete environment of a command."""
NEEDED = ("debootstrap", "chroot", "unshare", "git")


def debian(root: Path, release: str, architecture: str) -> None:
    """Install a system in the folder `root`, if it is missing.

    Exits with a one-line message if this machine cannot do it.
    """
    if os.geteuid() != 0:
        sys.exit("benchmarks: expected root, for debootstrap and chroot: run as root")
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        sys.exit(f"benchmarks: expected the programs {', '.join(missing)}: install them")
    whole = root / "whole"
    if not whole.exists():
        shutil.rmtree(root, ignore_errors=True)
        root.parent.mkdir(parents=True, exist_ok=True)
        kind = [f"--arch={architecture}", "--variant=minbase", f"--include={PACKAGES}"]
        run_command(["debootstrap", *kind, release, str(root), MIRROR])
        whole.touch()
    for name in COPIED:
        if Path("/", name).exists():
            shutil.copy(Path("/", name), root / name)


def chroot_command(root: Path, command: str) -> list[str]:
    """The command line that runs a shell command in the checkout of a system.

    The kernel's file systems are mounted in its own namespace, so that none stays mounted.
    """
    network = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    known = {
        **PLAIN,
        **network,
        "PIP_CERT": f"/{CERTIFICATES}",
        "QEMU_CPU": CPU,
        "PIP_NO_COMPILE": "1",
    }
    words = [f"{name}={value}" for name, value in known.items()]
    mounts = "".join(f'mount --rbind /{name} "$0/{name}" && ' for name in BOUND)
    enter = [mounts + 'exec chroot "$0" sh -c "$1"', str(root), f"cd /{HOME} && {command}"]
    return ["env", "-i", *words, "unshare", "--mount", "sh", "-c", *enter]


def run_command(command: list[str]) -> str:
    """Output of a command; raises RuntimeError with the last lines if it fails."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        last = " | ".join(done.stdout.strip().splitlines()[-4:])
        raise RuntimeError(f"{' '.join(command)[-120:]} ended with {done.returncode}: {last}")
    return done.stdout
