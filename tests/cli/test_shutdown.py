"""One signal ends the program, wherever it comes."""

import os
import signal
import subprocess
import sys

import pytest

from cli.shutdown import stop_signal

DROPPED = """
import os, signal
from cli.shutdown import stop_signal

class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        list(range(1000))  # Python takes signals between two steps

with stop_signal() as stopping:
    thing = Thing()
    del thing
    print(stopping.is_set())
"""


def test_a_signal_whose_exception_python_drops_still_says_that_it_came():
    done = subprocess.run(
        [sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "True\n"
    assert "KeyboardInterrupt" in done.stderr, "it was dropped, and Python said so"


def test_a_signal_interrupts_nothing_while_a_loop_looks_for_it():
    """Else it could come where a lock has just been taken, and another thread waits for that."""
    with stop_signal() as stopping:
        with stopping.watched():
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopping.wait(10)
        os.kill(os.getpid(), signal.SIGINT)  # only the first counts
    with stop_signal(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
