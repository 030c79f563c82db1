"""A service that is run under a systemd of its own, and killed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmarks.machines.booted import until
from benchmarks.suite.service import BENCHMARK, Served, Trial

PASSING = Served("trixie", "257", 1.9, 0.2, 145.0, (Trial("killed", 2.5, True),), True, True)


def test_every_promise_of_the_page_is_checked():
    assert list(BENCHMARK.broken(PASSING)) == []
    lost = replace(
        PASSING,
        exposure=4.2,
        trials=(Trial("the power is cut", 5.0, False),),
        ended_stays_ended=False,
        removed=False,
    )
    assert list(BENCHMARK.broken(lost)) == [
        "lost after: the power is cut",
        "exposure 4.2 of 10",
        "a game that people ended went on",
        "the service is not removed, or its sessions are",
    ]


def test_what_never_comes_is_an_error_that_says_what_was_waited_for():
    answers = iter([OSError("refused"), False, True])

    def asks():
        if isinstance(answer := next(answers), OSError):
            raise answer
        return answer

    assert until(asks, "an answer") >= 0
    with pytest.raises(RuntimeError, match=r"^waited 0 s for an answer$"):
        until(lambda: False, "an answer", limit_s=0)
