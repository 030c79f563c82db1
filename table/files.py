"""Read and write files that people and programs exchange.

Errors name the place of a mistake, and files are written whole or not at all. Every text file given
to a command is read here, so that the limits below hold for all of them.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from table.errors import InputError
from table.json_data import JsonObject
from table.messages import NONE, Message, as_message, msg, phrase
from table.text import check_unicode

T = TypeVar("T")

MOST_TEXT_BYTES = 4 << 20
"""Most bytes of a JSON file or inputs.jsonl. A table.json has 10 kB, one with 50 fiducials and
their covariance 500 kB.
"""
MOST_TOML_BYTES = 256 << 10
MOST_DEPTH = 32
"""Most levels of nested lists and objects."""
MOST_NUMBER = 2**53
"""Largest number. Larger ones are not always exact in JSON, and no length, time or count comes
near.
"""
MOST_SHOWN = 60
"""Most characters of a file quoted in a message."""

_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_TYPES = {
    "float": phrase("a number"),
    "int": phrase("a whole number"),
    "str": phrase("text"),
    "bool": phrase("true or false"),
    "array": phrase("a list"),
    "object": phrase("an object"),
}
_KEY = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![^\s{{,\[]){_KEY}(?:[ \t]*+\.[ \t]*+{_KEY}){{15}}")
"""A TOML key of 16 parts (`a.b.c`). The time of Python's parser grows with the square of their
number, to hours for a file of 100 kB.
"""


def read_bytes(path: Path, expected: str, most_bytes: int) -> bytes:
    """Return the content of a file that should be `expected`.

    Raises InputError if it cannot be read, is larger than `most_bytes`, or is no regular file. A
    pipe may never deliver anything, and a device may never end.
    """
    try:
        handle = os.open(
            path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        )  # opening a pipe without a writer would block
    except OSError as error:
        raise _unreadable(path, expected, error) from error
    except ValueError as error:  # a null byte or a lone surrogate in the name
        raise InputError(
            msg("{path}: expected the name of a file ({raw})", path=path, raw=error)
        ) from error
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InputError(
                msg(
                    "{path}: expected {text}, got {text2}",
                    path=path,
                    text=expected,
                    text2=_kind(about.st_mode),
                )
            )
        with open(handle, "rb", closefd=False) as file:
            data = file.read(about.st_size + 1) if about.st_size <= most_bytes else b""
    except OSError as error:
        raise _unreadable(path, expected, error) from error
    finally:
        os.close(handle)
    if max(about.st_size, len(data)) > most_bytes:
        raise InputError(
            msg(
                "{path}: expected {text}, at most {raw}, got a larger file",
                path=path,
                text=expected,
                raw=_size(most_bytes),
            )
        )
    return data


def _unreadable(path: Path, expected: str, error: OSError) -> InputError:
    return InputError(
        msg(
            "{path}: expected {text}, but it cannot be read ({raw})",
            path=path,
            text=expected,
            raw=error.strerror,
        )
    )


def _kind(mode: int) -> Message:
    kinds = {
        stat.S_IFDIR: phrase("a folder"),
        stat.S_IFIFO: phrase("a pipe"),
        stat.S_IFCHR: phrase("a device"),
        stat.S_IFBLK: phrase("a device"),
        stat.S_IFSOCK: phrase("a socket"),
    }
    return kinds.get(stat.S_IFMT(mode), phrase("something else"))


def _size(count: int) -> str:
    return f"{count >> 20} MB" if count >= 1 << 20 else f"{count >> 10} kB"


def read_text(path: Path, expected: str, most_bytes: int = MOST_TEXT_BYTES) -> str:
    """Return the text of a file that should be `expected`, without a byte order mark.

    Raises InputError.
    """
    try:
        return read_bytes(path, expected, most_bytes).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            msg(
                "{path}: expected {text}, but it cannot be read (it is not text)",
                path=path,
                text=expected,
            )
        ) from error


def read_json(path: Path) -> Any:
    """Parse a JSON file; raises InputError without one."""
    return parse_json(read_text(path, phrase("a JSON file")), str(path), path.name)


def read_json_lines(path: Path, expected: str) -> Iterator[tuple[str, Any]]:
    """Yield each line of a JSON Lines file, with its place (`inputs.jsonl: line 3`).

    Raises InputError.
    """
    for number, line in enumerate(read_text(path, expected).split("\n"), 1):
        if line.strip():
            where = f"{path.name}: line {number}"
            yield where, parse_json(line, where)


def read_toml(path: Path) -> JsonObject:
    """Parse a TOML file; raises InputError without one."""
    text = read_text(path, phrase("a TOML file"), MOST_TOML_BYTES)
    return parse_toml(text, str(path), path.name)


def parse_json(text: str | bytes, where: str, place: str = "") -> Any:
    """Parse JSON, checked as `check_plain` does.

    `where` names the text in messages, `place` the value inside it.
    """
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise InputError(
            msg("{where}: expected JSON, got endlessly nested lists or objects", where=where)
        ) from error
    except ValueError as error:
        raise InputError(
            msg("{where}: expected JSON: {raw}", where=where, raw=short(str(error)))
        ) from error
    check_plain(document, place or where)
    return document


def parse_toml(text: str, where: str, place: str = "") -> JsonObject:
    """Parse TOML, checked as `check_plain` does.

    `where` names the text in messages, `place` the value inside it.
    """
    if _LONG_KEY.search(text):
        raise InputError(
            msg("{where}: expected TOML: a key has at most 15 parts (a.b.c has 3)", where=where)
        )
    try:
        document = tomllib.loads(text)
    except RecursionError as error:
        raise InputError(
            msg("{where}: expected TOML, got endlessly nested lists or tables", where=where)
        ) from error
    except ValueError as error:  # TOMLDecodeError, and numbers with too many digits
        raise InputError(
            msg("{where}: expected TOML: {raw}", where=where, raw=short(str(error)))
        ) from error
    check_plain(document, place or where)
    return document


def check_plain(document: Any, where: str, most_depth: int = MOST_DEPTH) -> None:
    """Raise InputError unless plain data is safe to process.

    That means at most `most_depth` nested lists and objects, finite numbers, integers up to
    MOST_NUMBER, and text without lone surrogates.
    """
    for path, node in _walk(document):
        if isinstance(node, dict | list) and len(path) >= most_depth:
            raise InputError(
                msg(
                    "{where}: expected at most {n} levels of nested lists or objects, got more",
                    where=where,
                    n=most_depth,
                )
            )
        if isinstance(node, float) and not math.isfinite(node):
            raise _not_finite(where, path, node)
        if isinstance(node, int) and abs(node) > MOST_NUMBER:
            raise InputError(
                msg(
                    "{where}: {raw}: expected a number up to {n}, got one with {n2} bits",
                    where=where,
                    raw=_place(path),
                    n=MOST_NUMBER,
                    n2=node.bit_length(),
                )
            )
    check_unicode(document, where)


def _not_finite(where: str, path: Sequence[str | int], number: float) -> InputError:
    return InputError(
        msg(
            "{where}: {raw}: expected a finite number, got {raw2}",
            where=where,
            raw=_place(path),
            raw2=number,
        )
    )


def _walk(document: Any) -> Iterator[tuple[list[str | int], Any]]:
    """Yield every value in plain data, with its path of keys and indexes.

    The path is one list, modified during the iteration. An explicit stack is used, as data can
    exceed Python's recursion limit and have a million values.
    """
    path: list[str | int] = []
    yield path, document
    stack = [_parts(document)]
    while stack:
        for key, node in stack[-1]:
            path.append(key)
            yield path, node
            stack.append(_parts(node))
            break
        else:
            stack.pop()
            if path:
                path.pop()


def _parts(node: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(node, dict):
        return iter(node.items())
    return iter(enumerate(node) if isinstance(node, list | tuple) else ())


def _place(path: Sequence[str | int]) -> str:
    """Format the path of a value: `board.outline_mm[2]`."""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{short(step)}" for step in path)
    return _short_place(place.lstrip(".")) or "document"


def short(text: str, most: int = MOST_SHOWN) -> str:
    """Shorten text from a file for one line of a message."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _short_place(place: str) -> str:
    """Shorten a path from the front; only nonsense keys make long ones."""
    return place if len(place) <= 2 * MOST_SHOWN else f"...{place[3 - 2 * MOST_SHOWN :]}"


def check_output(out: Path, *inputs: Path | None) -> None:
    """Raise InputError if `out` could not be written, before any work is done.

    It is also refused if it is one of the files to be read.
    """
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(msg("{out}: expected the name of a file in an existing folder", out=out))
    _check_regular(out)
    for path in inputs:
        if path is not None and (
            out.resolve() == path.resolve()
            or (out.exists() and path.exists() and out.samefile(path))
        ):
            raise InputError(
                msg(
                    "{out}: expected an output file other than {path}, which is an input",
                    out=out,
                    path=path,
                )
            )


def create_folder(folder: Path) -> None:
    """Create a folder if it is missing; raises InputError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            msg(
                "{folder}: expected a folder that can be created and written to ({raw})",
                folder=folder,
                raw=error.strerror,
            )
        ) from error


def _check_regular(out: Path) -> None:
    """Raise InputError for a device or a pipe: renaming a file over one would remove it."""
    if out.exists() and not (out.is_file() or out.is_dir()):
        raise InputError(
            msg(
                "{out}: expected the name of a file to write, got {text}",
                out=out,
                text=_kind(out.stat().st_mode),
            )
        )


def write_whole(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file as `whole_file` does."""
    with whole_file(path, mode) as file:
        file.write(data)


def keep_previous(path: Path) -> Path | None:
    """Copy a file that will be replaced to PATH.bak, whole or not at all.

    None if there is no such file.
    """
    if not path.exists():
        return None
    kept = path.with_name(f"{path.name}.bak")
    write_whole(kept, read_bytes(path, phrase("a file that can be replaced"), MOST_TEXT_BYTES))
    return kept


@contextmanager
def whole_file(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Open a file beside `path` for writing; at the end it is flushed to disk and renamed.

    A reader sees the old file or the new one. `mode` sets who may read it; until the end only its
    owner can. An exception leaves `path` unchanged; OSError becomes InputError.
    """
    _check_regular(path)
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    except OSError as error:
        raise InputError(
            msg(
                "{path}: expected a folder that can be written to ({raw})",
                path=path,
                raw=error.strerror,
            )
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException as error:  # also Ctrl-C and MemoryError
        Path(beside).unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise InputError(
            msg(
                "{path}: could not be written ({raw}); nothing was changed",
                path=path,
                raw=error.strerror,
            )
        ) from error


def convert(
    raw: Any,
    kind: type[T],
    where: str,
    at: str = "",
    restored: Callable[[type, Any], Any] | None = None,
) -> T:
    """Convert `raw` to the type `kind`.

    `where` is the file, `at` the place in it; `restored` creates types that JSON does not have.
    Raises InputError such as `table.json: board.square_mm: expected 5 mm or more, got -3`. NaN,
    infinity and invalid Unicode are always refused.
    """
    if not _sound(raw):
        check_unicode(raw, where)
        for steps, value in _walk(raw):
            if isinstance(value, float) and not math.isfinite(value):
                raise _not_finite(where, [*([at] if at else []), *steps], value)
    try:
        return msgspec.convert(raw, kind, dec_hook=restored)
    except msgspec.ValidationError as error:
        found = _AT.match(str(error))
        what, path = (found["what"], found["path"] or "") if found else (str(error), "")
        got, place = _look_up(raw, path)
        if field := re.match(r"Object (missing required|contains unknown) field `(.*)`", what):
            missing = field[1] == "missing required" or not isinstance(got, dict)
            place = f"{place}.{short(field[2])}"
            expected, came = (
                (phrase("a value"), NONE)
                if missing
                else (phrase("no field of this name"), shown(got.get(field[2])))
            )
        else:
            expected, came = (
                _expected_text(what, " mm" if re.search(r"_mm[^.]*$", place) else ""),
                shown(got),
            )
        place = _short_place(f"{at}{place}".lstrip(".")) or "document"
        raise InputError(
            msg(
                "{where}: {place}: expected {text}, got {text2}",
                where=where,
                place=place,
                text=expected,
                text2=came,
            )
        ) from error


def _sound(raw: Any) -> bool:
    """True if the value can be written as JSON in UTF-8.

    A quick pre-check: a value that fails it is searched for the place and the reason.
    """
    try:
        json.dumps(raw, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _expected_text(what: str, unit: str) -> Message:
    """Translate msgspec's "Expected `float` >= 5.0" for people: "5 mm or more"."""
    if limit := re.match(r"Expected `(?:float|int)` ([<>]=?) (\S+)$", what):
        return _limit_text(limit[1], f"{float(limit[2]):g}{unit}")
    if length := re.match(r"Expected `array` of length (?:([<>]=?) )?(\d+)", what):
        count = _limit_text(length[1], length[2]) if length[1] else length[2]
        return phrase("a list of {text}", text=count)
    if length := re.match(r"Expected `str` of length ([<>]=?) (\d+)", what):
        return phrase("text of {text} characters", text=_limit_text(length[1], length[2]))
    if types := re.match(r"Expected `([a-z |]+)`", what):
        first, *others = (as_message(_TYPES.get(name, name)) for name in types[1].split(" | "))
        for other in others:
            first = phrase("{text} or {text2}", text=first, text2=other)
        return first
    return phrase("a known value")


def _limit_text(sign: str, amount: str) -> Message:
    match sign:
        case ">=":
            return phrase("{mm} or more", mm=amount)
        case ">":
            return phrase("more than {mm}", mm=amount)
        case "<=":
            return phrase("{mm} or less", mm=amount)
        case _:
            return phrase("less than {mm}", mm=amount)


def shown(value: Any) -> str:
    """Format a value as JSON, short enough for one line of a message."""
    try:
        return short(json.dumps(value, default=str))
    except (ValueError, RecursionError):  # a number of thousands of digits, or endless nesting
        return "something too large to show"


def quoted(text: str, most: int = MOST_SHOWN) -> str:
    """Quote text from a file, short enough for one line of a message."""
    return repr(short(text, most))


def _look_up(raw: Any, path: str) -> tuple[Any, str]:
    """Return the value at msgspec's path.

    If the path has `[...]` (any element), the container is returned.
    """
    place = ""
    for step in _STEP.finditer(path):
        key, index = step.groups()
        if key is not None and isinstance(raw, dict) and key in raw:
            raw, place = raw[key], f"{place}.{short(key)}"
        elif index not in (None, "...") and isinstance(raw, list | tuple) and int(index) < len(raw):
            raw, place = raw[int(index)], f"{place}[{index}]"
        else:
            break
    return raw, place
