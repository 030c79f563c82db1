"""One signal ends the program, wherever it comes."""

import subprocess
import sys

DROPPED = """
import os, signal
from cli.shutdown import stopped_by_one_signal

class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        list(range(1000))  # Python takes signals between two steps

with stopped_by_one_signal() as stopping:
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
