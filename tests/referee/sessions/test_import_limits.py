"""What `log import` takes from a hostile zip: little memory, none of the user's pictures, and
nothing that is damaged.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli.main import main
from referee.sessions.archive import MOST_LINE, RECORDS, import_session
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import SessionStarted, VerdictReached
from table.errors import InputError

pytestmark = pytest.mark.slow

MEMORY_BYTES = 600_000_000
JPEG = b"\xff\xd8\xff" + bytes(range(256)) * 40 + b"\xff\xd9"
PLACE = {"seq": 1, "session": 1, "at_ms": 0, "frame": False, "schema": 6}
START = PLACE | {"fact": "session_started", "game": "ice_boule", "players": ["red", "blue"]}
REFUSED = PLACE | {"fact": "ruled", "verdict": "refused", "code": "c", "said": ""}

IMPORT_EACH = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
from cli.main import main
for path in sys.argv[3:]:
    try:
        main(["log", "import", path, "--log", sys.argv[2]], standalone_mode=False)
    except Exception as error:
        print(type(error).__name__, error, flush=True)
"""


def zipped(path: Path, lines, members=(), method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A session of these lines; `members` are pairs of a name and a file's content."""
    with zipfile.ZipFile(path, "w", method) as archive:
        with archive.open(RECORDS, "w", force_zip64=True) as file:
            for line in lines:
                file.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "junk" else None)
    return path


def nested(seq: int, size: int) -> bytes:
    """A record of so many bytes whose evidence is empty lists, 30 times as large in memory."""
    start = json.dumps(REFUSED | {"seq": seq})[:-1].encode() + b', "evidence": {"x": ['
    return start + b"[]," * ((size - len(start) - 10) // 3) + b"[]]}}"


def with_pictures(count: int, size: int):
    """A session with so many pictures: its lines, and the pictures, which are nearly nothing when
    they are packed.
    """
    lines = [START, *(REFUSED | {"seq": seq, "frame": True} for seq in range(2, count + 2))]
    return lines, (
        (f"frames/{seq:06d}.jpg", b"\xff\xd8" + bytes(size - 2)) for seq in range(2, count + 2)
    )


JUNK = [("junk", random.Random(7).randbytes(1_000_000))]
"""With it, the zip unpacks to less than 200 times its size."""


def hostile(folder: Path) -> dict[Path, str]:
    """Zips that would take much, and what is said of each; an empty text for what is taken in."""
    lines, pictures = with_pictures(12, 12_000_000)
    members = ((f"frames/{number:06d}.jpg", b"") for number in range(30_000))
    big = zipped(folder / "cut.zip", [START, b'{"seq": ' + b"9" * 2_000_000 + b"}"], JUNK)
    return {
        zipped(
            folder / "zeros.zip", [b" " * 1_000_000] * 60
        ): "unpacks to at most 200 times its size",
        zipped(
            folder / "spaces.zip", [START, *([b" " * 250_000] * 80)], JUNK
        ): "line 2: expected a record as JSON",
        zipped(
            folder / "text.zip", [START, *([nested(2, MOST_LINE)] * 160)], JUNK
        ): "32 MB, got more",
        zipped(
            folder / "nested.zip", [START, *(nested(seq, MOST_LINE) for seq in range(2, 42))], JUNK
        ): "",
        zipped(folder / "deep.zip", [START, b"[" * 200_000]): "line 2: expected a record as JSON",
        zipped(
            folder / "records.zip", [START, *(REFUSED | {"seq": seq} for seq in range(2, 30_000))]
        ): "20000 records",
        zipped(folder / "members.zip", [START], members): " files in it, got ",
        zipped(folder / "pictures.zip", lines, (*JUNK, *pictures)): "",
        zipped(
            folder / "lzma.zip", [START], method=zipfile.ZIP_LZMA
        ): "expected a stored or deflated file, got method 14",
        big: "line 2: expected a record of at most 256 kB",
    }


def test_the_memory_of_an_import_stays_small_whatever_the_zip_holds(tmp_path: Path) -> None:
    message = hostile(tmp_path)
    child = [
        sys.executable,
        "-c",
        IMPORT_EACH,
        str(MEMORY_BYTES),
        str(tmp_path / "log.sqlite"),
        *map(str, message),
    ]
    done = subprocess.run(child, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == len(message), done.stdout + done.stderr
    for line, (path, expected) in zip(lines, message.items(), strict=True):
        if expected:
            assert line.startswith(f"Refused {path}")
            assert expected in line
        else:
            assert line.startswith(f"{path} is session ")


def test_a_directory_without_end_is_not_read(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "many.zip", [START], (("n" * 60_000 + str(number), b"") for number in range(40))
    )
    with (
        Log(tmp_path / "log.sqlite") as log,
        pytest.raises(InputError, match="expected a zip whose directory is at most 2 MB"),
    ):
        import_session(log, path)


def test_a_size_that_lies_is_found_out_and_nothing_is_taken_in(tmp_path: Path) -> None:
    lines, pictures = with_pictures(1, 3_000_000)
    path = zipped(tmp_path / "lies.zip", lines, pictures)
    message = (3_000_000).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(message, (2000).to_bytes(4, "little")))
    with Log(tmp_path / "log.sqlite") as log:
        with pytest.raises(InputError, match="damaged or something else"):
            import_session(log, path)
        assert log.records() == ()
        assert log.append(SessionStarted(game="ice_boule", players=("red", "blue")), 0).seq == 1


def test_more_may_be_allowed(tmp_path: Path) -> None:
    lines, pictures = with_pictures(3, 900_000)
    path = zipped(tmp_path / "pictures.zip", lines, (*JUNK, *pictures))
    words = ["log", "import", str(path), "--log", str(tmp_path / "log.sqlite")]
    refused = CliRunner().invoke(main, [*words, "--max-mb", "3"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert "expected at most 3 MB unpacked, got 3 MB; see --max-mb" in refused.stderr
    assert CliRunner().invoke(main, [*words, "--max-mb", "4"]).exit_code == 0


def test_pictures_without_room_are_left_out_and_none_of_the_users_own_go(tmp_path: Path) -> None:
    lines, _ = with_pictures(3, 10)
    path = zipped(
        tmp_path / "theirs.zip", lines, [(f"frames/{seq:06d}.jpg", JPEG) for seq in (2, 3, 4)]
    )
    with Log(tmp_path / "log.sqlite", frames_bytes=4 * len(JPEG)) as log:
        own = log.append(
            SessionStarted(game="ice_boule", players=("red", "blue")), 0, frame_jpeg=JPEG
        ).seq
        log.append(VerdictReached(verdict="refused", code="c", message=""), 5, own, JPEG)
        taken = import_session(log, path)
        assert (taken.frames, taken.left_out) == (2, 1)
        assert [record.frame for record in log.records()] == [True, True, False, True, True, False]
        assert {log.frame(seq) for seq in (1, 2, 4, 5)} == {JPEG}


def test_what_was_left_out_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines, _ = with_pictures(3, 10)
    path = zipped(
        tmp_path / "theirs.zip", lines, [(f"frames/{seq:06d}.jpg", JPEG) for seq in (2, 3, 4)]
    )
    monkeypatch.setattr("cli.log.Log", lambda target: Log(target, frames_bytes=len(JPEG)))
    result = CliRunner().invoke(
        main, ["log", "import", str(path), "--log", str(tmp_path / "log.sqlite")]
    )
    assert (result.exit_code, result.stderr) == (
        0,
        "rinkside: 2 of its 3 pictures were left out: the log is full\n",
    )


@pytest.mark.parametrize("number", [99999999999999999999, 2**53, -(2**60)])
@pytest.mark.parametrize("name", ["seq", "at_ms"])
def test_numbers_that_are_too_large_are_refused(tmp_path: Path, name: str, number: int) -> None:
    path = zipped(
        tmp_path / "large.zip", [START, REFUSED | {"seq": 2, "frame": True} | {name: number}]
    )
    with (
        Log(tmp_path / "log.sqlite") as log,
        pytest.raises(
            InputError, match="line 2: expected a record with numbers seq, session and at_ms"
        ),
    ):
        import_session(log, path)


def test_a_line_separator_in_a_name_is_no_end_of_a_line(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "names.zip",
        [json.dumps(START | {"names": {"red": "Anna\u2028B\x85"}}, ensure_ascii=False).encode()],
    )
    with Log(tmp_path / "log.sqlite") as log:
        number = import_session(log, path).session
    with LogReader(tmp_path / "log.sqlite") as reader:
        assert reader.sessions()[number - 1].names == {"red": "Anna\u2028B\x85"}
