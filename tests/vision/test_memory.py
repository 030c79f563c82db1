"""Freed memory goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
from pathlib import Path
from threading import Thread
from vision.memory import give_back, share_one_pool

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

def fill():
    blocks = [bytearray(16_000) for _ in range(4_000)]
    kept.append(blocks[-1])  # so that the freed ones are not at the end

share_one_pool()
kept, before = [], resident_mb()
for _ in range(3):
    thread = Thread(target=fill)
    thread.start()
    thread.join()
freed = resident_mb()
give_back()
print(before, freed, resident_mb())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc and glibc")
def test_what_threads_have_freed_is_given_back():
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    before, freed, given_back = map(float, answer.stdout.split())
    assert freed > before + 40
    assert freed < before + 100  # one pool, not one for each thread
    assert given_back < before + 20
