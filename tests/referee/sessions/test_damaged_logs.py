"""Damaged logs and old ones: nothing is written to what is damaged, and what can be read of it is
saved.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import main
from engines import GAMES
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import (
    Paused,
    Record,
    Resumed,
    SessionEnded,
    SessionStarted,
    VerdictReached,
    encode,
)
from referee.sessions.rescue import rescue
from referee.sessions.session import Session
from referee.sessions.state import fold
from simulation.players.policies import RandomPlayer
from table.errors import InputError

JPEG = b"\xff\xd8\xff" + bytes(range(256)) * 40 + b"\xff\xd9"
PAGE = 4096
VERSION_1 = """
CREATE TABLE records (seq INTEGER PRIMARY KEY, session INTEGER NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL);
CREATE INDEX records_by_session ON records (session, seq);
CREATE TABLE frames (seq INTEGER PRIMARY KEY REFERENCES records (seq), sha256 TEXT NOT NULL, jpeg BLOB NOT NULL);
PRAGMA application_id = 0x52494E4B;
PRAGMA user_version = 1;
"""  # noqa: E501


def rinkside(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env={"COLUMNS": "160"})


def play(log: Log, seed: int, rulings: int) -> Session:
    engine = GAMES["ice_boule"]
    session = Session.begin(
        log, SessionStarted(game="ice_boule", players=("blue", "yellow", "red"))
    )
    player = RandomPlayer(engine, random.Random(seed))
    for number in range(rulings):
        ruled = VerdictReached(
            verdict="accepted",
            code="boule.throw",
            message="",
            moves=(str(player.choose(session.ledger.state)),),
        )
        session.append(ruled, JPEG if number % 2 else None)
    return session


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("played") / "log.sqlite"
    with Log(path) as log:
        for seed in (1, 2):
            play(log, seed, 24).end()
        log.append(Paused(decided_by="red"), 0, play(log, 3, 0).id)
    return path.read_bytes()


@pytest.fixture
def path(played: bytes, tmp_path: Path) -> Path:
    """A log with three sessions: of 26, 26 and 2 records, with 12, 12 and 0 pictures."""
    path = tmp_path / "log.sqlite"
    path.write_bytes(played)
    return path


@pytest.fixture
def records(path: Path) -> tuple[Record, ...]:
    with LogReader(path) as reader:
        return reader.records()


def change(path: Path, statement: str, *values: object) -> None:
    """Change a log as no Rinkside would."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)


def pages_of(path: Path, table: str, kind: int) -> list[int]:
    """Numbers, from 0, of a table's pages: 13 are leaves, 5 are above them."""
    data = path.read_bytes()
    with closing(sqlite3.connect(path)) as db:
        (root,) = db.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)
        ).fetchone()
    todo, found = [root], []
    while todo:
        number = todo.pop()
        at = (number - 1) * PAGE
        if data[at] == kind:
            found.append(number - 1)
        if data[at] == 5:
            cells = int.from_bytes(data[at + 3 : at + 5], "big")
            places = [
                int.from_bytes(data[at + 12 + 2 * cell : at + 14 + 2 * cell], "big")
                for cell in range(cells)
            ]
            todo += [int.from_bytes(data[at + place : at + place + 4], "big") for place in places]
            todo.append(int.from_bytes(data[at + 8 : at + 12], "big"))
    return sorted(found)


def overwrite(path: Path, page: int) -> None:
    data = bytearray(path.read_bytes())
    data[page * PAGE : (page + 1) * PAGE] = random.Random(page).randbytes(PAGE)
    path.write_bytes(data)


def flip(path: Path) -> None:
    """One letter in the middle of a record."""
    data = path.read_bytes()
    at = data.index(b"boule.throw", len(data) // 3)
    path.write_bytes(data[:at] + b"B" + data[at + 1 :])


DAMAGE = {
    "a letter": flip,
    "a page of records": lambda path: overwrite(path, pages_of(path, "records", 13)[1]),
    "the page above the records": lambda path: overwrite(path, pages_of(path, "records", 5)[0]),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3]),
    "a checksum": lambda path: change(path, "UPDATE records SET sha256 = '' WHERE seq = 7"),
    "no text": lambda path: change(
        path, "UPDATE records SET event = CAST(x'7bff7d' AS TEXT) WHERE seq = 7"
    ),
    "a time": lambda path: change(path, "UPDATE records SET at_ms = at_ms + 1 WHERE seq = 7"),
    "a number": lambda path: change(path, "UPDATE records SET seq = 99 WHERE seq = 7"),
    "the index": lambda path: (
        change(path, "DELETE FROM records WHERE seq = 7") or overwrite(path, 2)
    ),
}


# --- nothing is written to a damaged log ---


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_log_is_not_written_to_and_rescue_is_named(path, how):
    DAMAGE[how](path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="damaged") as error:
        Log(path)
    assert f"rinkside log rescue {path} NEW.sqlite" in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("how", DAMAGE)
def test_check_finds_damage(path, how):
    DAMAGE[how](path)
    result = rinkside("log", "check", "--log", path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "rinkside log rescue" in result.stderr


def test_check_finds_a_changed_picture_and_says_whose(path):
    change(path, "UPDATE frames SET jpeg = ? WHERE seq = 3", JPEG[:-3] + b"!\xff\xd9")
    result = rinkside("log", "check", "--log", path)
    assert result.exit_code == 2
    assert result.stdout.startswith("frame 3: expected a picture with SHA-256")


@pytest.mark.parametrize(
    ("column", "named"), [("frames SET jpeg", "too big"), ("records SET event", "too big")]
)
def test_a_value_larger_than_any_is_not_read(path, tmp_path, column, named):
    change(path, f"UPDATE {column} = zeroblob(70000000) WHERE seq = 3")
    result = rinkside("log", "check", "--log", path)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert named in result.stdout + result.stderr
    assert 0 < rescue(path, tmp_path / "good.sqlite").frames < 24


def test_check_says_that_all_is_whole(path):
    result = rinkside("log", "check", "--log", path)
    assert (result.exit_code, result.stdout) == (
        0,
        f"{path}: 3 sessions, 54 records and 24 pictures are whole\n",
    )


def test_a_changed_record_is_not_shown_and_others_are(path, records):
    change(path, "UPDATE records SET event = replace(event, 'accepted', 'refused') WHERE seq = 7")
    with LogReader(path) as reader:
        assert reader.records(27) == records[26:52]
        with pytest.raises(InputError, match="the checksum of record 7 is wrong"):
            reader.records(1)


def test_pictures_are_looked_at_where_nobody_closed_the_log(path, tmp_path):
    cut_off = tmp_path / "copy.sqlite"
    with Log(path) as log:
        log.append(Resumed(decided_by="red"), 0, 53)
        for end in ("", "-wal"):
            Path(f"{cut_off}{end}").write_bytes(Path(f"{path}{end}").read_bytes())
    overwrite(cut_off, pages_of(path, "frames", 13)[0])
    before = [Path(f"{cut_off}{end}").read_bytes() for end in ("", "-wal")]
    with pytest.raises(InputError, match="damaged"):
        Log(cut_off)
    assert [Path(f"{cut_off}{end}").read_bytes() for end in ("", "-wal")] == before


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The content of a file after an accident."""
    changed, at, length = (
        bytearray(data),
        chance.randrange(len(data)),
        chance.choice((1, 100, PAGE, 5 * PAGE)),
    )
    match chance.randrange(4):
        case 0:
            changed[at : at + length] = chance.randbytes(len(changed[at : at + length]))
        case 1:
            del changed[at:]
        case 2:
            del changed[at : at + length]
        case 3:
            changed[at % 120] = chance.randrange(256)  # in the header
    return bytes(changed)


@pytest.mark.parametrize("seed", range(40))
def test_no_damage_ends_in_anything_but_one_line_and_what_is_saved_is_whole(path, tmp_path, seed):
    path.write_bytes(mutated(path.read_bytes(), random.Random(seed)))
    for words in (("list",), ("show",), ("check",), ("rescue", path, tmp_path / "good.sqlite")):
        result = rinkside("log", *words, *(() if words[0] == "rescue" else ("--log", path)))
        assert (result.exit_code, result.stderr.count("\n")) in ((0, 0), (2, 1)), result.exception
    if (tmp_path / "good.sqlite").exists():
        with Log(tmp_path / "good.sqlite") as log:
            assert not log.check().wrong
            assert all(
                fold(log.records(summary.session), GAMES, "saved") for summary in log.sessions()
            )


# --- rescue ---


@pytest.mark.parametrize(
    "how",
    [
        "the page above the records",
        "cut short",
        "a page of records",
        "a letter",
        "the start of the file",
    ],
)
def test_what_can_be_read_is_saved_and_what_is_lost_is_said(path, records, tmp_path, how):
    good = tmp_path / "good.sqlite"
    DAMAGE.get(how, lambda path: overwrite(path, 0))(path)
    before = path.read_bytes()
    result = rinkside("log", "rescue", path, good)
    assert (result.exit_code, result.stderr) == (0, "")
    assert path.read_bytes() == before
    with LogReader(good) as reader:
        saved, checked = reader.records(), reader.check()
        assert all(reader.frame(record.seq) == JPEG for record in saved if record.frame)
    assert not checked.wrong
    assert result.stdout.endswith(
        f"{good}: {checked.sessions} sessions, {checked.records} records and"
        f" {checked.frames} pictures are saved\n"
    )
    pictures = {record.seq: record for record in records}
    assert all(record.event == pictures[record.seq].event for record in saved), (
        "records keep their numbers"
    )
    if how in ("the page above the records", "the start of the file"):
        assert (checked.records, checked.frames, "lost: records" in result.stdout) == (
            54,
            24,
            False,
        )
    else:
        assert "lost: records " in result.stdout
        assert 0 < checked.records < 54
    with Log(good) as log:
        for summary in log.sessions():
            fold(log.records(summary.session), GAMES, "saved")
        play(log, 4, 3)


def test_after_a_lost_ruling_only_what_follows_is_saved(path, tmp_path):
    change(path, "UPDATE records SET sha256 = 'x' WHERE seq = 10")
    saved = rescue(path, tmp_path / "good.sqlite")
    assert (saved.sessions, saved.records) == (3, 54 - 17)
    assert saved.lost[0] == "records 10 cannot be read"
    assert (
        saved.lost[1]
        == "session 1: records 11-26 can be read and are left out: they do not follow without what"
        " is lost"
    )
    with LogReader(tmp_path / "good.sqlite") as reader:
        assert [record.seq for record in reader.records()] == [*range(1, 10), *range(27, 55)]


def test_what_does_not_rest_on_what_is_lost_is_saved(tmp_path):
    path = tmp_path / "log.sqlite"
    with Log(path) as log:
        session = play(log, 1, 4)
        session.append(VerdictReached(verdict="refused", code="c", message="not your turn"))
        session.end()
    change(path, "DELETE FROM records WHERE seq = 6")
    saved = rescue(path, tmp_path / "good.sqlite")
    assert (saved.records, saved.lost) == (6, ("records 6 cannot be read",))


def test_a_session_without_its_start_is_left_out(path, tmp_path):
    change(path, "UPDATE records SET event = 'x' WHERE seq = 27")
    saved = rescue(path, tmp_path / "good.sqlite")
    assert (saved.sessions, saved.records) == (2, 28)
    assert (
        saved.lost[1] == "session 27: records 28-52 can be read and are left out: its start is lost"
    )


def test_lost_pictures_are_said(path, tmp_path):
    change(path, "UPDATE frames SET jpeg = x'ffd8' WHERE seq IN (3, 5)")
    saved = rescue(path, tmp_path / "good.sqlite")
    assert (saved.records, saved.frames, saved.lost) == (
        54,
        22,
        ("the pictures of records 3, 5 cannot be read, where there were any",),
    )


@pytest.mark.parametrize("content", [b"", b"a shopping list\n" * 1000, JPEG])
def test_nothing_is_saved_of_what_is_no_log(tmp_path, content):
    (tmp_path / "bad.sqlite").write_bytes(content)
    result = rinkside("log", "rescue", tmp_path / "bad.sqlite", tmp_path / "good.sqlite")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "no record can be read" in result.stderr
    assert not (tmp_path / "good.sqlite").exists()


def test_nothing_is_overwritten(path, tmp_path):
    good = tmp_path / "good.sqlite"
    good.write_bytes(b"mine")
    assert "expected the name of a new file" in rinkside("log", "rescue", path, good).stderr
    assert good.read_bytes() == b"mine"


# --- logs of version 1 ---


@pytest.fixture
def old(path: Path, tmp_path: Path) -> Path:
    """The same log as 0.1.0 wrote it."""
    old = tmp_path / "old.sqlite"
    with closing(sqlite3.connect(old)) as db:
        db.executescript(VERSION_1)
        db.execute("ATTACH ? AS new", (str(path),))
        db.execute("INSERT INTO records SELECT seq, session, at_ms, event FROM new.records")
        db.execute("INSERT INTO frames SELECT seq, sha256, jpeg FROM new.frames")
        db.commit()
        db.execute("PRAGMA journal_mode = WAL")
    return old


def test_an_old_log_is_read_as_it_is(old, records):
    before = old.read_bytes()
    with LogReader(old) as reader:
        assert reader.records() == records
        assert [summary.records for summary in reader.sessions()] == [26, 26, 2]
    assert (
        "Its records get checksums when it is next written to"
        in rinkside("log", "check", "--log", old).stdout
    )
    assert old.read_bytes() == before


def test_an_old_log_that_is_written_to_gets_checksums(old, records):
    with Log(old) as log:
        new = log.append(Resumed(decided_by="red"), 0, 53)
        assert log.records() == (*records, new)
    assert (
        rinkside("log", "check", "--log", old).stdout
        == f"{old}: 3 sessions, 55 records and 24 pictures are whole\n"
    )
    change(old, "UPDATE records SET at_ms = 1 WHERE seq = 7")
    with pytest.raises(InputError, match="the checksum of record 7 is wrong"):
        Log(old)


def test_an_old_log_stays_as_it_is_where_it_cannot_be_brought_up_to_date(old, records):
    class Interrupted(sqlite3.Connection):
        def execute(self, sql, *values):
            if sql == "PRAGMA user_version = 2":
                raise KeyboardInterrupt
            return super().execute(sql, *values)

    with pytest.raises(KeyboardInterrupt):
        Log(
            old,
            connect=lambda *words, **options: sqlite3.connect(
                *words, factory=Interrupted, **options
            ),
        )
    with closing(sqlite3.connect(old)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (1,)
        assert [name for _, name, *_ in db.execute("PRAGMA table_info(records)")] == [
            "seq",
            "session",
            "at_ms",
            "event",
        ]
    with Log(old) as log:
        assert log.records() == records


def test_an_old_damaged_log_is_not_brought_up_to_date_but_saved(old, tmp_path):
    overwrite(old, pages_of(old, "records", 13)[1])
    before = old.read_bytes()
    with pytest.raises(InputError, match="rinkside log rescue"):
        Log(old)
    assert old.read_bytes() == before
    saved = rescue(old, tmp_path / "good.sqlite")
    assert 0 < saved.records < 54
    with LogReader(tmp_path / "good.sqlite") as reader:
        assert not reader.check().wrong


@pytest.mark.parametrize("session", [0, -1, 11])
def test_an_old_record_of_no_session_is_lost_and_what_rests_on_it_is_left_out(
    old, tmp_path, session
):
    """It has no checksum; a session's number is that of its first record."""
    change(old, "UPDATE records SET session = ? WHERE seq = 10", session)
    saved = rescue(old, tmp_path / "good.sqlite")
    assert saved.lost[0] == "records 10 cannot be read"
    assert (saved.sessions, saved.records) == (3, 54 - 17)


def test_all_records_of_an_old_log_are_saved_however_short_they_are(old, tmp_path):
    """How many a file can hold is known by its size."""
    change(old, "DELETE FROM frames")
    change(old, "DELETE FROM records WHERE seq > 1")
    with closing(sqlite3.connect(old)) as db, db:
        shortest = encode(Resumed(decided_by=""))
        rows = ((seq, 1, seq, shortest) for seq in range(2, 5001))
        db.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
        db.commit()
        db.execute("VACUUM")
    assert rescue(old, tmp_path / "good.sqlite").records == 5000


# --- numbers that SQLite does not know ---


@pytest.mark.parametrize(
    "number", [2**63, 10**30, 10**6000, -1, -(2**63) - 1, 0, 2**63 - 1], ids=range(7)
)
def test_a_number_of_no_session_is_said_however_large(path, records, number):
    with LogReader(path) as reader:
        with pytest.raises(
            InputError, match=r"expected the number of a session \(1, 27, 53\), got "
        ) as error:
            reader.records(number)
        assert len(str(error.value)) < 300
        assert reader.frame(number) is None
        assert reader.records(after=number) == (() if number > 0 else records)
        assert len(reader.records(most=max(number, 0))) == (54 if number > 0 else 0)


def test_a_time_beyond_64_bits_is_refused_and_the_next_record_written(path):
    with Log(path) as log:
        for at_ms in (2**63, -(2**63), 99999999999999999999):
            with pytest.raises(InputError, match="expected a time of 64 bits"):
                log.append(SessionEnded(), at_ms, 53)
        assert log.append(SessionEnded(), 2**63 - 1, 53).seq == 55


def test_a_session_is_asked_for_records_of_any_number(path):
    with Log(path) as log:
        session = Session.reopen(log, 53)
        for number in (10**30, -(10**30)):
            assert session.frame(number) is None
            assert len(session.records(number)) == (0 if number > 0 else 2)


def test_the_checksum_is_of_what_is_documented(path, records):
    """docs/LOG.md tells how to compute it without Rinkside."""
    import hashlib

    with closing(sqlite3.connect(path)) as db:
        (sha256,) = db.execute("SELECT sha256 FROM records WHERE seq = 7").fetchone()
    record = records[6]
    assert (
        sha256 == hashlib.sha256(f"7 1 {record.at_ms} {encode(record.event)}".encode()).hexdigest()
    )
