"""Files that people and programs exchange: read with the place of every mistake, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from table.errors import InputError
from table.text import check_unicode

T = TypeVar("T")

_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")
_TYPES = {"float": "a number", "int": "a whole number", "str": "text", "bool": "true or false", "array": "a list", "object": "an object"}
_LIMITS = {">=": "{} or more", ">": "more than {}", "<=": "{} or less", "<": "less than {}"}


def read_json(path: Path) -> Any:
    """The document in a JSON file; raises InputError where there is none."""
    text = read_text(path, "a JSON file")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise InputError(f"{path}: expected JSON, got lists or objects inside each other without end") from error
    except ValueError as error:
        raise InputError(f"{path}: expected JSON: {error}") from error


def read_text(path: Path, expected: str) -> str:
    """The text of a file that should be `expected`, a mark of byte order left out; raises InputError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{path}: expected {expected}, but it cannot be read ({reason})") from error


def write_whole(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file as `whole_file` does."""
    with whole_file(path, mode) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path, mode: int = 0o644) -> Iterator[BinaryIO]:
    """A file to write beside `path`, which is flushed to disk and then renamed: a reader sees the old file or the new one.

    `mode` says who may read it; before the end only its owner can.  Whatever is raised leaves `path` as it was; OSError becomes InputError.
    """
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path}: expected a folder that can be written to ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException as error:
        Path(beside).unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise InputError(f"{path}: could not be written ({error.strerror}); nothing was changed") from error


def convert(raw: Any, kind: type[T], where: str, at: str = "") -> T:
    """`raw`, found at the place `at` of the file `where`, as `kind`.

    Raises InputError such as `table.json: board.square_mm: expected 5 mm or more, got -3`; NaN, infinity and text that is no
    valid Unicode are never let in.
    """
    if not _sound(raw):
        check_unicode(raw, where)
        for place, number in _numbers(raw, at):
            if not math.isfinite(number):
                raise InputError(f"{where}: {_cut(place.lstrip('.')) or 'document'}: expected a finite number, got {number}")
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        found = _AT.match(str(error))
        what, path = (found["what"], found["path"] or "") if found else (str(error), "")
        got, place = _look_up(raw, path)
        if field := re.match(r"Object (missing required|contains unknown) field `(.*)`", what):
            missing = field[1] == "missing required"
            place = f"{place}.{field[2]}"
            expected, came = ("a value", "none") if missing else ("no field of this name", shown(got.get(field[2])))
        else:
            expected, came = _expected(what, " mm" if re.search(r"_mm[^.]*$", place) else ""), shown(got)
        place = _cut(f"{at}{place}".lstrip(".")) or "document"
        raise InputError(f"{where}: {place}: expected {expected}, got {came}") from error


def _sound(raw: Any) -> bool:
    """Can it be written as JSON in UTF-8?  Quick, as it decides nothing: what cannot is walked to find out where and why, if for any reason."""
    try:
        json.dumps(raw, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _expected(what: str, unit: str) -> str:
    """msgspec's "Expected `float` >= 5.0" in people's words: "5 mm or more"."""
    if limit := re.match(r"Expected `(?:float|int)` ([<>]=?) (\S+)$", what):
        return _LIMITS[limit[1]].format(f"{float(limit[2]):g}{unit}")
    if length := re.match(r"Expected `array` of length (?:([<>]=?) )?(\d+)", what):
        return f"a list of {_LIMITS[length[1]].format(length[2]) if length[1] else length[2]}"
    if types := re.match(r"Expected `([a-z |]+)`", what):
        return " or ".join(_TYPES.get(name, name) for name in types[1].split(" | "))
    return "a value that is known"


def shown(value: Any) -> str:
    """A value as JSON, short enough for one line of a message."""
    return _cut(json.dumps(value, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _look_up(raw: Any, path: str) -> tuple[Any, str]:
    """The value at msgspec's path; where the path says `[...]` (any element) the container is quoted."""
    place = ""
    for step in _STEP.finditer(path):
        key, index = step.groups()
        if key is not None and isinstance(raw, dict) and key in raw:
            raw, place = raw[key], f"{place}.{key}"
        elif index not in (None, "...") and isinstance(raw, list | tuple) and int(index) < len(raw):
            raw, place = raw[int(index)], f"{place}[{index}]"
        else:
            break
    return raw, place


def _numbers(node: Any, place: str) -> Iterator[tuple[str, float]]:
    """Every float in plain data with its place; a stack of its own, as documents can be nested deeper than Python's."""
    stack = [(place, node)]
    while stack:
        place, node = stack.pop()
        if isinstance(node, dict):
            stack.extend((f"{place}.{key}", value) for key, value in reversed(node.items()))
        elif isinstance(node, list | tuple):
            stack.extend((f"{place}[{index}]", node[index]) for index in reversed(range(len(node))))
        elif isinstance(node, float):
            yield place, node
