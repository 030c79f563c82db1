"""Files that people and programs exchange: read with the place of every mistake, written whole or not at all."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from table.errors import InputError

T = TypeVar("T")

_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def read_json(path: Path) -> Any:
    """The document in a JSON file; raises InputError where there is none, or NaN or infinity in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"{path}: expected a JSON file, but it cannot be read ({reason})") from error
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON: {error}") from error
    for place, number in _numbers(document, ""):
        if not math.isfinite(number):
            raise InputError(f"{path.name}: {place.lstrip('.')}: expected a finite number, got {number}")
    return document


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, flush it to disk, then rename: a reader sees the old file or the new one."""
    try:
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path}: expected a folder that can be written to ({error.strerror})") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise InputError(f"{path}: could not be written ({error.strerror}); nothing was changed") from error


def convert(raw: Any, kind: type[T], where: str) -> T:
    """`raw` as `kind`; raises InputError such as `table.json: board.square_mm: expected a `float`, got 'wide'`."""
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        found = _AT.match(str(error))
        what, place = (found["what"], found["path"] or "") if found else (str(error), "")
        what = re.sub(r", got `.*`$", "", what.replace("`", "")).removeprefix("Expected ")
        got, exact = _look_up(raw, place)
        expected = f"expected {what}" if not what.startswith(("Object", "Invalid")) else what[0].lower() + what[1:]
        shown = json.dumps(got, default=str)
        shown = shown if len(shown) <= 60 else shown[:57] + "..."
        raise InputError(f"{where}: {exact.lstrip('.') or 'document'}: {expected}, got {shown}") from error


def _look_up(raw: Any, path: str) -> tuple[Any, str]:
    """The value at msgspec's path; where the path says `[...]` (any element) the container is quoted."""
    place = ""
    for step in _STEP.finditer(path):
        key, index = step.groups()
        if key is not None and isinstance(raw, dict) and key in raw:
            raw, place = raw[key], f"{place}.{key}"
        elif index not in (None, "...") and isinstance(raw, list) and int(index) < len(raw):
            raw, place = raw[int(index)], f"{place}[{index}]"
        else:
            break
    return raw, place


def _numbers(node: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _numbers(value, f"{place}.{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from _numbers(value, f"{place}[{index}]")
    elif isinstance(node, float):
        yield place, node
