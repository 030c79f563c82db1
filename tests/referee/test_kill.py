"""Kill -9 in the middle of a game: whatever somebody was shown is in the log, and the game goes on from there."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

from referee.ledger import fold
from referee.log import Log
from referee.session import Session

PLAY_AND_SHOW = """
import json, random, sys, threading
from pathlib import Path
path, seed, games_folder = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
sys.path.insert(0, games_folder)
import pegs
from referee.command import NextGame, Undo
from referee.events import Ruled, SessionStarted
from referee.log import Log
from referee.session import Session

chance, games, log = random.Random(seed), {"pegs": pegs}, Log(path)
sessions = log.sessions()
if sessions:
    session = Session.reopen(log, sessions[-1].session, games)
else:
    session = Session.begin(log, SessionStarted(game="pegs", players=("red", "blue")), games=games)

def show():
    for record in session.subscribe(session.ledger.seq):
        print(json.dumps([record.seq, getattr(record.event, "state", None)]), flush=True)

threading.Thread(target=show, daemon=True).start()
for at_ms in range(100_000):
    session.tick(at_ms)
    state = session.ledger.state
    if pegs.outcome(state):
        session.command(NextGame())
    elif state.pegs and chance.random() < 0.2:
        session.command(Undo())
    else:
        session.append(Ruled(verdict="accepted", code="pegs.put", said="", moves=(state.next,)), chance.randbytes(chance.randrange(1, 100_000)))
"""


def test_a_killed_referee_goes_on_from_what_it_has_shown(tmp_path, games):
    path = tmp_path / "log"
    chance = random.Random(20261121)
    for life in range(8):
        command = [sys.executable, "-c", PLAY_AND_SHOW, str(path), str(life), str(Path(__file__).parent)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(chance.randrange(1, 15))]
        child.kill()
        rest, _ = child.communicate()
        lines += [line for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        shown = dict(json.loads(line) for line in lines)
        with Log(path) as log:
            records = log.records()
            assert [record.seq for record in records] == list(range(1, len(records) + 1))
            assert max(shown) <= len(records)
            for seq, state in shown.items():
                ledger = fold(records[:seq], games)
                assert state is None or state == ledger.engine.state_document(ledger.state)
            assert Session.reopen(log, 1, games).ledger == fold(records, games)
            assert all(log.frame(record.seq) for record in records if record.frame)
