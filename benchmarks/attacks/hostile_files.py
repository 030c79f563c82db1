"""Change files at random and hand them to the commands that read them.

`python -m benchmarks.attacks.hostile_files --count 5000`. Every format that a command reads is
changed as bytes, and those with a structure as documents too, so that a change gets past the
parser. Each file goes through the command line in a process that has 10 s of processor time and 600
MB for it. A command may do its work, or refuse the file in one short line. Anything else is a
fault: a traceback, a second line, a control character, a crash, a process that does not end.
"""

from __future__ import annotations

import copy
import io
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from benchmarks.harness import ROOT
from cli.main import COMMANDS
from cli.main import main as rinkside
from table.errors import InputError
from webui.security.codes import Codes

MOST_CPU_S, PATIENCE_S, MOST_BYTES, MOST_SAID = 10.0, 60.0, 600 << 20, 500
"""Of processor time; of time in all, after which a command waits for something that does not come;
of memory; characters of a refusal.
"""
MOST_PLACES = 20_000
"""Values of a document, of which one is changed."""
CASES_A_CHILD = 50
"""A process is ended after so many, so that its greatest memory is that of few files."""

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves a terminal's cursor or turns its text; line ends do not count."""
Mutate = Callable[[bytes, random.Random], bytes]
Words = list[str]


@dataclass(frozen=True, slots=True)
class Format:
    """A file format: the name of its good file, and the command lines that read it."""

    name: str
    commands: tuple[str, ...]
    mutate: tuple[Mutate, ...]
    weight: int = 1


@dataclass(slots=True)
class Outcome:
    """Counts and faults of a run.

    Files by format, how commands ended, faults in words, and the peak memory of a process in bytes.
    """

    files: Counter[str] = field(default_factory=Counter)
    exits: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    peak_bytes: int = 0


# --- changes ---

TOKENS: tuple[bytes, ...] = (
    b"\\ud800",
    b"\\u0000",
    b"\\u001b[2J",
    b"\x1b[31m",
    b"\xed\xa0\x80",
    b"\xff\xfe",
    b"\x00",
    b"1e999",
    b"-1e308",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"-1",
    b"0",
    b'""',
    b"[]",
    b"{}",
    b"9" * 30,
    b"9" * 400,
    b"{" * 500,
    b"[" * 2000,
    b"a." * 200,
    b"'" * 3,
    b'"' * 3,
    b"\n",
    b"=",
    b"inf",
    b"\xe2\x80\xae",
    b"x" * 3000,
    b"2026-11-27",
    b"0x" + b"f" * 300,
)
NASTY = (
    "\ud800",
    "\x1b[2J\x07",
    "\u202e",
    "\x9b31m",
    "\u2028",
    "a\0b",
    "x" * 5000,
    "{" * 900,
    "[red]",
    "=1+1",
    "",
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**53,
    2**64,
    10**400,
    -1e308,
    1e308,
    1e-308,
    1e6,
    0.5,
    float("nan"),
    float("inf"),
    [],
    {},
    [[]],
    [0] * 2000,
    [[0, 0] for _ in range(3000)],
    {"a": {}},
    "../up.toml",
    "/dev/zero",
    "looney",
    "red",
    "hex",
    "tiles",
    "coasters",
    "chessboard",
    *NASTY,
    *NASTY,
)
"""What a value of a document becomes."""


def change_bytes(data: bytes, rng: random.Random) -> bytes:
    """One to four changes: bits and bytes, what is cut out, doubled, cut off or put in."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(out) + 1)
        length = rng.choice((1, 1, 2, 4, 16, 200, max(1, len(out) // 5)))
        match rng.randrange(6):
            case 0 if at < len(out):
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                out[at : at + length] = rng.randbytes(length)
            case 2:
                del out[at : at + length]
            case 3:
                out[at:at] = out[at : at + length] * rng.choice((1, 2, 50))
            case 4 if rng.random() < 0.3:
                del out[at:]
            case _:
                out[at : at + rng.choice((0, 0, 1, length))] = rng.choice(TOKENS)
    return bytes(out)


def change_document(data: bytes, rng: random.Random) -> bytes:
    """Change one to three values of a JSON document.

    They become others, are left out, doubled, or renamed.
    """
    root = [json.loads(data)]
    for _ in range(rng.randint(1, 3)):
        places = list(itertools.islice(_places(root), MOST_PLACES))
        holder, key = rng.choice(places)
        match rng.randrange(5):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice(NASTY)] = holder.pop(key)
            case 2 if isinstance(holder[key], list) and len(holder[key]) < 500:
                holder[key] *= rng.choice((0, 2, 300))
            case 3 if isinstance(holder[key], int | float) and abs(holder[key]) < 1e15:
                holder[key] *= rng.choice((-1, 0, 1e-9, 1.5, 1e3, 1e9, 1e300))
            case _:
                holder[key] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(root[0], ensure_ascii=rng.random() < 0.8).encode("utf-8", "surrogatepass")


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every value in a document, as what holds it and where."""
    parts = (
        list(node.items())
        if isinstance(node, dict)
        else list(enumerate(node))
        if isinstance(node, list)
        else []
    )
    for key, value in parts:
        yield node, key
        yield from _places(value)


def change_line(data: bytes, rng: random.Random) -> bytes:
    """One line of JSON lines, as a document."""
    lines = data.split(b"\n")
    at = rng.choice([index for index, line in enumerate(lines) if line.strip()])
    lines[at] = change_document(lines[at], rng)
    return b"\n".join(lines)


def change_header(data: bytes, rng: random.Random) -> bytes:
    """Another size in the header of a JPEG or PNG, and in a PNG its checksum mended."""
    width, height = (rng.choice((0, 1, 63, 480, 5000, 30000, 65535)) for _ in range(2))
    if data.startswith(b"\x89PNG"):
        kind = bytes([rng.choice((1, 8, 16)), rng.choice((0, 2, 3, 4, 6)), 0, 0, rng.randrange(2)])
        body = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + kind
        return data[:12] + body + zlib.crc32(body).to_bytes(4, "big") + data[33:]
    at = data.find(b"\xff\xc0")
    return data[: at + 5] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + data[at + 9 :]


def change_zip(data: bytes, rng: random.Random) -> bytes:
    """A session whose zip is whole and whose records or pictures are changed."""
    source, packed = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    names = source.namelist()
    changed = rng.choice(names)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            held = source.read(name)
            if name == changed:
                held = rng.choice(
                    (change_line, change_bytes)
                    if name.endswith("jsonl")
                    else (change_bytes, change_header)
                )(held, rng)
            archive.writestr(name, held)
    return packed.getvalue()


def change_log(data: bytes, rng: random.Random) -> bytes:
    """A log whose database is whole and one of whose events is changed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite"
        path.write_bytes(data)
        db = sqlite3.connect(path)
        seq, event = rng.choice(db.execute("SELECT seq, event FROM records").fetchall())
        change = rng.choice((change_document, change_bytes))
        text = change(event.encode(), rng)
        db.execute(
            "UPDATE records SET event = ? WHERE seq = ?",
            (text.decode(errors="replace") if rng.random() < 0.8 else text, seq),
        )
        db.commit()
        db.close()
        return path.read_bytes()


JSON, TEXT = (change_document, change_document, change_bytes), (change_bytes,)
PICTURE = (change_bytes, change_header)
SHOW = (
    "log list",
    "log show 1",
    "log show 1 --json",
    "log players",
    "log scores OUT.csv",
    "log gaps OUT.csv",
    "log export 1 OUT.zip",
    "replay 1",
)
FORMATS = (
    Format(
        "table.json",
        ("calibrate recheck PHOTO --table FILE", "observe PHOTO --table FILE --picture OUT.png"),
        JSON,
        3,
    ),
    Format("lens.json", ("calibrate printed BOARD --lens FILE --out OUT.json",), JSON, 2),
    Format(
        "board.json",
        (
            "calibrate printed FILE --lens LENS --out OUT.json",
            "calibrate frame PHOTO --table FILE --out OUT.json",
        ),
        JSON,
        2,
    ),
    Format("pieces.toml", ("calibrate recheck PHOTO --table OWN",), TEXT, 2),
    Format("rinkside.toml", ("hardware list --settings FILE",), TEXT, 2),
    Format(
        "inputs.jsonl",
        ("referee --table TABLE --camera folder:FRAMES --players red,blue --inputs FILE",),
        (change_line, change_bytes),
    ),
    Format("access.json", ("codes FILE",), JSON, 2),
    Format(
        "session.zip",
        ("log import FILE --log OUT.sqlite",),
        (change_zip, change_zip, change_bytes),
        2,
    ),
    Format(
        "log.sqlite",
        tuple(f"{words} --log FILE" for words in SHOW),
        (change_log, change_log, change_bytes),
        3,
    ),
    Format(
        "photo.jpg",
        ("calibrate recheck FILE --table TABLE", "observe FILE --table TABLE"),
        PICTURE,
        2,
    ),
    Format("empty.jpg", ("observe PHOTO --empty FILE --table TABLE",), PICTURE),
    Format(
        "photo.png",
        ("calibrate recheck FILE --table TABLE", "observe FILE --table TABLE"),
        PICTURE,
        2,
    ),
    *(
        Format(
            f"film.{kind}",
            ("referee --table TABLE --camera video:FILE --players red,blue",),
            (change_bytes,),
        )
        for kind in ("avi", "mp4", "mkv")
    ),
)


# --- one case ---


@dataclass(frozen=True, slots=True)
class Case:
    """A file that was changed, and the command line that reads it."""

    number: int
    format: Format
    good: Path
    seed: int

    def run(self, folder: Path) -> tuple[str, str]:
        """How the command ended and, where that is a fault, what it is."""
        rng = random.Random(f"{self.seed} {self.number}")
        path = folder / self.format.name
        path.write_bytes(
            rng.choice(self.format.mutate)((self.good / self.format.name).read_bytes(), rng)
        )
        command = rng.choice(self.format.commands)
        places = {
            "FILE": path,
            "PHOTO": self.good / "photo.jpg",
            "BOARD": self.good / "board.json",
            "LENS": self.good / "lens.json",
            "TABLE": self.good / "table.json",
            "OWN": folder / "own.json",
            "FRAMES": self.good / "frames",
            "OUT": folder / "out",
        }
        shutil.copy(self.good / "own.json", folder / "own.json")
        words = [_filled(word, places) for word in command.split()]
        ended, fault = _ended(words, len(str(folder)))
        return ended, fault and f"{self.number} {self.format.name}: rinkside {command}: {fault}"


def _filled(word: str, places: dict[str, Path]) -> str:
    for name, path in places.items():
        word = word.replace(name, str(path))
    return word


def _ended(words: Words, path_length: int) -> tuple[str, str]:
    if words[0] == "codes":
        try:
            Codes(Path(words[1]))
        except InputError as error:
            return "refused", _wrong(f"rinkside: {error}\n", path_length)
        return "done", ""
    result = CliRunner().invoke(rinkside, words, env={"COLUMNS": "100"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return "traceback", "".join(traceback.format_exception(result.exception)).strip()[-1500:]
    if found := CONTROL.search(result.stdout + result.stderr):
        return "control", f"a control character in what is printed: {found[0]!r}"
    return (
        ("done", "")
        if result.exit_code in (0, 1)
        else ("refused", _wrong(result.stderr, path_length))
    )


def _wrong(message: str, path_length: int) -> str:
    """What is wrong with a refusal."""
    lines = [line for line in message.splitlines() if not line.startswith("rinkside: left out: ")]
    if len(lines) != 1 or not lines[0].startswith("rinkside: "):
        return f"expected one line, got {message[-600:]!r}"
    return (
        f"a line of {len(lines[0])} characters: {lines[0][:300]!r}"
        if len(lines[0]) > MOST_SAID + 2 * path_length
        else ""
    )


# --- many ---


def attack(
    count: int,
    seed: int,
    formats: Sequence[Format] = FORMATS,
    say: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """Hand `count` changed files to commands; the same for the same seed.

    It copies the process that calls it, which therefore must have no threads and be small: a fresh
    one, as `main` is.
    """
    outcome = Outcome()
    for module, _ in COMMANDS.values():
        import_module(module)  # once, and not in every process
    with tempfile.TemporaryDirectory() as name:
        good = Path(name) / "good"
        good.mkdir()
        # By another process: one that has drawn has threads, and must not be copied.
        subprocess.run(
            [sys.executable, "-m", "benchmarks.attacks.good_files", str(good)], check=True, cwd=ROOT
        )
        weighted = [one for one in formats for _ in range(one.weight)]
        cases = [
            Case(number, weighted[number % len(weighted)], good, seed) for number in range(count)
        ]
        while cases:
            done = _some(cases[:CASES_A_CHILD], Path(name), outcome)
            cases = cases[done:]
            say(
                f"{count - len(cases)} of {count} files, {len(outcome.faults)} faults,"
                f" {outcome.peak_bytes >> 20} MB at most"
            )
    return outcome


def _some(cases: Sequence[Case], folder: Path, outcome: Outcome) -> int:
    """Run cases in a process of their own, as many as it comes to; how many those are."""
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        ours.close()
        _work(cases, folder, theirs)
    theirs.close()
    count = 0
    for case in cases:
        ended, fault = _answer(ours)
        count += 1
        outcome.files[case.format.name] += 1
        outcome.exits[ended] += 1
        if fault:
            outcome.faults.append(
                fault if ended != "gone" else f"{case.number} {case.format.name}: {fault}"
            )
        if ended == "gone":
            os.kill(child, signal.SIGKILL)
            break
    ours.close()
    _, _, used = os.wait4(child, 0)
    outcome.peak_bytes = max(outcome.peak_bytes, used.ru_maxrss << 10)
    return count


def _answer(ours: Connection) -> tuple[str, str]:
    try:
        if not ours.poll(PATIENCE_S):
            return "gone", f"no end after {PATIENCE_S:g} s"
        ended, fault = ours.recv()
    except EOFError:
        return "gone", "the process crashed"
    return str(ended), str(fault)


def _work(cases: Sequence[Case], folder: Path, theirs: Connection) -> None:
    """What the process does: every case in a folder of its own; it never returns."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - what libraries say beside the command
    os.dup2(sys.stderr.fileno(), 2)
    for case in cases:
        with tempfile.TemporaryDirectory(dir=folder) as own:
            begun = time.process_time()
            try:
                ended, fault = case.run(Path(own))
                if not fault and (used := time.process_time() - begun) > MOST_CPU_S:
                    ended, fault = (
                        "slow",
                        f"{case.number} {case.format.name}: {used:.0f} s of processor time",
                    )
                theirs.send((ended, fault))
            except BaseException:
                theirs.send(
                    (
                        "traceback",
                        (
                            f"{case.number} {case.format.name}: in the benchmark:"
                            f" {traceback.format_exc()[-800:]}"
                        ),
                    )
                )
    os._exit(0)


@click.command()
@click.option("--count", default=5000, show_default=True)
@click.option("--seed", default=1, show_default=True)
@click.option("--only", multiple=True, help="Formats, such as table.json.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document at the end.")
def main(count: int, seed: int, only: tuple[str, ...], as_json: bool) -> None:
    """Count what commands do with files that were changed by chance."""
    begun = time.monotonic()
    outcome = attack(
        count,
        seed,
        [one for one in FORMATS if not only or one.name in only],
        lambda message: print(message, file=sys.stderr, flush=True),
    )
    if as_json:
        print(json.dumps({name: getattr(outcome, name) for name in outcome.__slots__}))
        return
    for fault in outcome.faults:
        print(fault)
    print(
        f"{count} files in {time.monotonic() - begun:.0f} s: {dict(outcome.files)};"
        f" {dict(outcome.exits)}; {len(outcome.faults)} faults; ",
        end="",
    )
    print(f"{outcome.peak_bytes >> 20} MB at most")


if __name__ == "__main__":
    main()
