"""Pyramids as physical objects: sizes, sets of sizes, colours."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import msgspec

from table.errors import InputError
from table.files import (
    MOST_TOML_BYTES,
    convert,
    keep_previous,
    parse_toml,
    quoted,
    read_text,
    short,
    write_whole,
)
from table.messages import msg, phrase

COLOURS = (
    "red",
    "yellow",
    "green",
    "blue",
    "black",
    "purple",
    "orange",
    "cyan",
    "white",
    "clear",
    "pink",
    "grey",
)
"""Colours of pyramids on sale. These names are used everywhere; RGB values belong to vision and the
panel.
"""


Word = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
"""A name in a file."""


@dataclass(frozen=True, slots=True)
class PieceSize:
    """One size of square pyramid; `wall_mm` is the thickness of its shell, 0 for a solid one.

    The errors are the ± of 95 % of a measured size, 0 where they are unknown.
    """

    name: str
    base_mm: float
    height_mm: float
    wall_mm: float = 1.5
    base_error_mm: float = 0.0
    height_error_mm: float = 0.0

    @property
    def slant_mm(self) -> float:
        """Height of a face, from the middle of a base edge to the tip."""
        return math.hypot(self.height_mm, self.base_mm / 2)

    @property
    def stack_step_mm(self) -> float:
        """Height that an equal piece below adds to a piece: the shell along the axis."""
        return self.wall_mm * self.slant_mm / (self.base_mm / 2)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Pyramid:
    """A colour and a size: `red medium`."""

    colour: str
    size: str

    def __str__(self) -> str:
        return f"{self.colour} {self.size}"

    @classmethod
    def parse(cls, text: str) -> Pyramid:
        """Parse a pyramid such as `red medium`; raises InputError."""
        colour, _, size = text.strip().partition(" ")
        if colour not in COLOURS or not size:
            raise InputError(
                msg(
                    "expected a colour and a size such as 'red medium', got {raw}", raw=quoted(text)
                )
            )
        return cls(colour, size)


@dataclass(frozen=True, slots=True)
class PieceSet:
    """Sizes sold or played together, by name, smallest first."""

    name: str
    sizes: tuple[PieceSize, ...]

    def __getitem__(self, name: str) -> PieceSize:
        for size in self.sizes:
            if size.name == name:
                return size
        raise InputError(
            msg(
                "expected a size of {name} ({raw}), got {raw2}",
                name=self.name,
                raw=short(", ".join(map(str, self.sizes))),
                raw2=quoted(name),
            )
        )

    def __contains__(self, name: object) -> bool:
        return any(size.name == name for size in self.sizes)


class _SizeRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    base_mm: Annotated[float, msgspec.Meta(ge=2, le=200)]
    height_mm: Annotated[float, msgspec.Meta(ge=2, le=200)]
    pips: int = 0
    base_error_mm: Annotated[float, msgspec.Meta(ge=0, le=20)] = 0.0
    height_error_mm: Annotated[float, msgspec.Meta(ge=0, le=20)] = 0.0


class _SetFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Word
    sizes: Annotated[dict[Word, Any], msgspec.Meta(max_length=20)]
    wall_mm: Annotated[float, msgspec.Meta(ge=0, le=20)] = 1.5


def load_piece_set(name: str, beside: Path | None = None) -> PieceSet:
    """Load the set `looney` or `piecepack`, or a measured one from a TOML file.

    A name that ends in `.toml` is a file, relative to the folder `beside`. Raises InputError.
    """
    if name.endswith(".toml"):
        path = (beside or Path()) / name
        where, text = path.name, read_text(path, phrase("a file of pyramid sizes"), MOST_TOML_BYTES)
    else:
        built_in = sorted(
            entry.name[:-5]
            for entry in resources.files("table.data").iterdir()
            if entry.name.endswith(".toml")
        )
        if name not in built_in:
            raise InputError(
                msg(
                    "expected pyramids of {raw}, or your own .toml file, got {raw2}",
                    raw=" or ".join(built_in),
                    raw2=quoted(name),
                )
            )
        where = f"{name}.toml"
        text = resources.files("table.data").joinpath(where).read_text(encoding="utf-8")
    return _parsed_set(text, where)


def _parsed_set(text: str, where: str) -> PieceSet:
    file = convert(parse_toml(text, where), _SetFile, where)
    if not file.sizes:
        raise InputError(msg("{where}: sizes: expected at least one size, got none", where=where))
    rows = {
        size: convert(row, _SizeRow, where, f"sizes.{size}") for size, row in file.sizes.items()
    }
    sizes = (
        PieceSize(
            size, row.base_mm, row.height_mm, file.wall_mm, row.base_error_mm, row.height_error_mm
        )
        for size, row in rows.items()
    )
    return PieceSet(file.name, tuple(sorted(sizes, key=lambda size: size.base_mm)))


def save_piece_set(pieces: PieceSet, path: Path) -> Path | None:
    """Write measured sizes as a TOML file; returns the path of the previous file's copy, if any.

    Raises InputError, with the file unchanged, for data that could not be read back.
    """
    walls = {size.wall_mm for size in pieces.sizes} or {0.0}
    lines = [f"name = {_toml_string(pieces.name)}", f"wall_mm = {walls.pop():g}"]
    for size in pieces.sizes:
        lines += [
            "",
            f"[sizes.{_toml_key(size.name)}]",
            f"base_mm = {size.base_mm:.2f}",
            f"base_error_mm = {size.base_error_mm:.2f}",
            f"height_mm = {size.height_mm:.2f}",
            f"height_error_mm = {size.height_error_mm:.2f}",
        ]
    text = "\n".join(lines) + "\n"
    _parsed_set(text, path.name)
    kept = keep_previous(path)
    write_whole(path, text.encode())
    return kept


def _toml_key(text: str) -> str:
    """Quote a TOML key unless it may be bare."""
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _toml_string(text)


def _toml_string(text: str) -> str:
    """Write a TOML basic string, escaped as in JSON."""
    return msgspec.json.encode(text).decode()
