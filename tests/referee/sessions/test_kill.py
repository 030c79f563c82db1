"""Kill -9 in the middle of a game: whatever somebody was shown is in the log, and the game goes on
from there.

`make bench-kill` does the same 200 times, at moments that do not hang on what was shown.
"""

from __future__ import annotations

import pytest

from benchmarks.attacks.kills import compare, live_and_die
from referee.sessions.event_store import Log
from referee.sessions.session import Session

pytestmark = pytest.mark.slow


def test_a_killed_referee_goes_on_from_what_it_has_shown(tmp_path):
    lives = [live_and_die(tmp_path / "log.sqlite", seed, moment_s=0) for seed in range(5)]
    assert sum(life.shown for life in lives) > len(lives)


def test_what_was_shown_and_is_lost_would_be_found(tmp_path):
    live_and_die(tmp_path / "log.sqlite", 1, moment_s=0)
    with Log(tmp_path / "log.sqlite") as log:
        session, last = Session.reopen(log, 1), log.records()[-1]
        compare(log, session, {last.seq: last.event.state})
        with pytest.raises(AssertionError, match="is not on the log"):
            compare(log, session, {last.seq + 1: None})
        with pytest.raises(AssertionError, match="with another state"):
            compare(log, session, {last.seq: {**last.event.state, "leading": "nobody"}})
