"""Text that is no valid Unicode is refused at every door to the log, and nothing is written."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from cli.main import main
from referee.live.recorded_inputs import read_inputs
from referee.sessions.commands import parse_command
from referee.sessions.events import Paused, SessionStarted, VerdictReached, decode, encode
from referee.sessions.session import Session
from table.errors import InputError
from table.table_config import load_table

LONE = "\ud83d"
REFUSED = "expected valid Unicode text, got "
RULED = VerdictReached(
    verdict="accepted", code="pegs.put", message="", moves=("red",), player="red"
)


@pytest.mark.parametrize(
    "event",
    [
        Paused(decided_by=LONE),
        VerdictReached(verdict="accepted", code="pegs.put", message=LONE, moves=("red",)),
        VerdictReached(
            verdict="accepted", code="pegs.put", message="", moves=("red",), evidence={LONE: 1}
        ),
        VerdictReached(
            verdict="accepted",
            code="pegs.put",
            message="",
            moves=("red",),
            observation={"pieces": [{"colour": LONE}]},
        ),
    ],
)
def test_an_event_with_broken_text_is_not_written_and_the_next_one_is(session, log, event):
    before = log.records()
    with pytest.raises(InputError, match=REFUSED):
        session.append(event)
    assert log.records() == before == session.records()
    record = session.append(RULED)
    assert log.records() == (*before, record) == session.records()


def test_a_session_with_broken_text_does_not_begin(log, games):
    with pytest.raises(InputError, match=REFUSED):
        Session.begin(
            log,
            SessionStarted(game="pegs", players=("red", "blue"), names={"red": LONE}),
            games=games,
        )
    assert log.records() == ()


@pytest.mark.parametrize(
    "raw",
    [
        {"command": "correct", "record": 2, "moves": [], "reason": LONE},
        {"command": "declare", "moves": [LONE]},
        {"command": "hear", "said": {"player": LONE}},
        {"command": "hear", "said": {LONE: 1}},
        {"command": "undo", "decided_by": LONE},
        {"command": LONE},
        {LONE: "undo"},
    ],
)
def test_a_command_with_broken_text_is_refused(raw):
    with pytest.raises(InputError, match=f"command: {REFUSED}"):
        parse_command(raw)


def test_what_is_heard_with_broken_text_is_refused(session):
    with pytest.raises(InputError, match=f"hear: {REFUSED}"):
        session.hear({"player": "red", "put": LONE})


def test_an_event_of_a_file_with_broken_text_is_refused():
    text = json.dumps({"schema": 1, "fact": "paused", "decided_by": LONE})
    with pytest.raises(InputError, match=f"line 3: {REFUSED}"):
        decode(text, "line 3")
    with pytest.raises(InputError, match=REFUSED):
        encode(Paused(decided_by=LONE))


def test_recorded_inputs_with_broken_text_are_refused_with_their_line(tmp_path):
    path = tmp_path / "inputs.jsonl"
    path.write_text(
        '{"t_ms": 7000, "player": "blue"}\n{"t_ms": 7000, "player": "red", "vote_value":'
        ' "\\ud800"}\n'
    )
    with pytest.raises(InputError, match=rf"inputs\.jsonl: line 2: {REFUSED}"):
        read_inputs(path)


def test_a_table_with_broken_text_is_refused(tmp_path):
    path = tmp_path / "table.json"
    path.write_text('{"format": "rinkside-table/1", "camera": {"name": "\\udfff"}}')
    with pytest.raises(InputError, match=rf"table\.json: {REFUSED}"):
        load_table(path)
    result = CliRunner().invoke(main, ["observe", str(path), "--table", str(path)])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
