"""A session carried away and taken in elsewhere; and files that are none."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from referee.sessions.archive import PLACE, RECORDS, export_session, import_session
from referee.sessions.commands import Answer, Correct, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Choice,
    Paused,
    QuestionAsked,
    SessionStarted,
    VerdictReached,
    decode,
)
from referee.sessions.session import Session
from table.errors import InputError

JPEG = b"\xff\xd8\xff" + bytes(range(256)) * 40 + b"\xff\xd9"


@pytest.fixture
def played(session):
    """A session with rulings, a question and its answer, a correction and something taken back."""
    session.append(
        VerdictReached(
            verdict="accepted", code="pegs.put", message="", player="red", moves=("red",)
        ),
        JPEG,
    )
    session.append(
        QuestionAsked(
            code="pegs.which",
            message="?",
            choices=(Choice(label="blue", moves=("blue",)), Choice(label="none")),
        ),
        JPEG,
    )
    asked = session.ledger.question
    session.command(Answer(question=asked.seq, label="blue", decided_by="all"))
    ruling = session.append(
        VerdictReached(
            verdict="accepted", code="pegs.put", message="", player="red", moves=("red",)
        ),
        JPEG,
    )
    session.command(
        Correct(record=ruling.seq, moves=(), decided_by="blue", reason="it was not thrown")
    )
    session.command(Undo(decided_by="all"))
    return session


@pytest.fixture
def exported(played, log, tmp_path):
    target = tmp_path / "session.zip"
    export_session(log, played.id, target)
    return target


def test_a_session_is_exported_with_its_pictures(exported, log, played):
    with zipfile.ZipFile(io.BytesIO(exported.read_bytes())) as archive:
        assert archive.testzip() is None
        pictures = [name for name in archive.namelist() if name != RECORDS]
        lines = [json.loads(line) for line in archive.read(RECORDS).splitlines()]
        assert all(archive.read(name) == JPEG for name in pictures)
    assert pictures == [line["picture"] for line in lines if line["frame"]]
    events = [
        decode(
            json.dumps({key: value for key, value in line.items() if key not in PLACE}), "export"
        )
        for line in lines
    ]
    assert events == [record.event for record in log.records(played.id)]


def test_an_export_that_cannot_be_written_leaves_what_was_there(log, played, tmp_path):
    with pytest.raises(InputError, match="expected a folder"):
        export_session(log, played.id, tmp_path / "nowhere" / "session.zip")
    target = tmp_path / "session.zip"
    target.write_bytes(b"the one before")
    with pytest.raises(InputError, match="expected the number of a session"):
        export_session(log, 99, target)
    assert target.read_bytes() == b"the one before"


def shape(record):
    return record.at_ms, type(record.event), record.frame


def test_it_is_the_same_session_elsewhere_with_other_numbers(
    exported, played, log, games, tmp_path
):
    with Log(tmp_path / "other.sqlite") as other:
        other.append(SessionStarted(game="pegs", players=("red", "blue")), 0)
        number = import_session(other, exported, games).session
        there, here = other.records(number), log.records(played.id)
        assert number == 2
        assert [shape(record) for record in there] == [shape(record) for record in here]
        assert [other.frame(record.seq) for record in there] == [
            log.frame(record.seq) for record in here
        ]
        again = Session.reopen(other, number, games)
        assert str(again.ledger.state) == str(played.ledger.state)
        assert [entry.moves for entry in again.ledger.standing] == [
            entry.moves for entry in played.ledger.standing
        ]
        with pytest.raises(InputError, match="it is already there as session 2"):
            import_session(other, exported, games)


def test_exported_again_it_is_the_same_file(exported, games, tmp_path):
    with Log(tmp_path / "other.sqlite") as other:
        export_session(
            other, import_session(other, exported, games).session, tmp_path / "again.zip"
        )
    assert (tmp_path / "again.zip").read_bytes() == exported.read_bytes()


def zipped(path, lines, **files):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            RECORDS,
            "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines),
        )
        for name, data in files.items():
            archive.writestr(name, data)
    return path


START = {
    "seq": 1,
    "session": 1,
    "at_ms": 0,
    "frame": False,
    "schema": 1,
    "fact": "session_started",
    "game": "pegs",
    "players": ["red", "blue"],
}
PAUSED = {
    "seq": 2,
    "session": 1,
    "at_ms": 5,
    "frame": False,
    "schema": 1,
    "fact": "paused",
    "decided_by": "red",
}
RULED = {
    "seq": 2,
    "session": 1,
    "at_ms": 5,
    "frame": False,
    "schema": 1,
    "fact": "ruled",
    "verdict": "accepted",
    "code": "c",
    "said": "",
}


@pytest.mark.parametrize(
    ("holds", "counted"), [({"holds": True}, 1), ({"holds": False}, 0), ({}, 0)]
)
def test_an_older_export_counts_answers_that_confirm_the_record(
    log, games, tmp_path, holds, counted
):
    place = {"session": 1, "at_ms": 5, "frame": False, "schema": 6}
    asked = {
        "fact": "asked",
        "code": "pegs.unseen",
        "said": "Is it there?",
        "choices": [{"label": "It is there"} | holds],
        "until_moved": True,
    }
    answered = {
        "fact": "answered",
        "question": 2,
        "label": "It is there",
        "how": "order",
        "decided_by": "Anna",
    }
    lines = [START, {"seq": 2} | place | asked, {"seq": 3} | place | answered | holds]
    number = import_session(log, zipped(tmp_path / "older.zip", lines), games).session
    again = Session.reopen(log, number, games).ledger
    assert (again.question, len(again.standing)) == (None, counted)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "expected the start of a session first"),
        ([PAUSED], "expected the start of a session first"),
        ([START, START], "in the order of seq"),
        ([START, PAUSED | {"session": 9}], "records of one session"),
        ([START, PAUSED | {"seq": "2"}], "line 2: expected a record with numbers"),
        ([START, PAUSED | {"at_ms": 2**70}], "line 2: expected a record with numbers"),
        ([START, "[]"], "line 2: expected a record with numbers"),
        ([START, "{"], "line 2: expected a record as JSON"),
        ([START, "[" * 5000], "line 2: expected a record as JSON"),
        ([START, PAUSED | {"schema": 99}], "a newer Rinkside wrote it"),
        ([START, PAUSED | {"surprise": 1}], "surprise"),
        ([START, RULED | {"moves": ["purple"]}], r"records\.jsonl"),
        (
            [START, PAUSED | {"fact": "undone", "undoes": 7}],
            "expected a reference to an earlier record, got 7",
        ),
        ([START, PAUSED | {"fact": "undone", "undoes": 1}], "is not in force"),
        ([START | {"game": "chess"}], "expected one of pegs"),
        ([START, RULED | {"frame": True}], r"expected frames/000002\.jpg in it"),
    ],
)
def test_records_that_are_none_are_refused_and_nothing_is_taken_in(
    log, games, tmp_path, lines, message
):
    path = zipped(tmp_path / "bad.zip", lines)
    with pytest.raises(InputError, match=message) as error:
        import_session(log, path, games)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(path))
    assert log.records() == ()


def test_a_picture_that_is_none_is_refused(log, games, tmp_path):
    path = zipped(
        tmp_path / "bad.zip", [START, RULED | {"frame": True}], **{"frames/000002.jpg": b"GIF89a"}
    )
    with pytest.raises(InputError, match="expected a JPEG"):
        import_session(log, path, games)
    assert log.records() == ()


def test_a_file_that_would_fill_the_memory_is_refused(log, games, tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(RECORDS, b" " * (3 << 20))
    with pytest.raises(InputError, match="unpacks to at most 200 times"):
        import_session(log, path, games)


@pytest.mark.parametrize("data", [None, b"", b"hello", "cut", "changed"])
def test_what_is_no_export_is_refused_in_one_line(games, exported, tmp_path, data):
    path = tmp_path / "file.zip"
    whole = exported.read_bytes()
    if data is not None:
        middle = len(whole) // 2
        path.write_bytes(
            {
                "cut": whole[:middle],
                "changed": whole[:middle] + b"\0\0\0\0" + whole[middle + 4 :],
            }.get(data, data)
        )
    with Log(tmp_path / "other.sqlite") as other:
        with pytest.raises(InputError, match="expected an exported session") as error:
            import_session(other, path, games)
        assert "\n" not in str(error.value)
        assert other.records() == ()


def test_a_pause_is_an_event_like_others(played, games, log, tmp_path):
    played.append(Paused(decided_by="red"))
    export_session(log, played.id, tmp_path / "paused.zip")
    with Log(tmp_path / "other.sqlite") as other:
        assert Session.reopen(
            other, import_session(other, tmp_path / "paused.zip", games).session, games
        ).ledger.paused


def test_what_was_noted_in_secret_is_carried_along(session, games, log, tmp_path):
    """What follows rests on it: without, the session could not be taken in."""
    session.hear({"player": "red", "put": "secretly"})
    session.append(
        VerdictReached(
            verdict="accepted", code="pegs.put", message="", player="blue", moves=("blue",)
        )
    )
    export_session(log, session.id, tmp_path / "secret.zip")
    with Log(tmp_path / "other.sqlite") as other:
        again = Session.reopen(
            other, import_session(other, tmp_path / "secret.zip", games).session, games
        )
        assert again.ledger.state == session.ledger.state
