"""`table.json` (`rinkside-table/1`): what a calibrated table knows about its camera, fiducials, board and game."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from table.boards import Board, Point
from table.documents import convert, read_json, write_whole
from table.errors import InputError
from table.pieces import COLOURS, PieceSet, PieceSize, load_piece_set
from table.solids import Array

FORMAT: Literal["rinkside-table/1"] = "rinkside-table/1"
Row = tuple[float, float, float]


class Lens(msgspec.Struct, frozen=True, kw_only=True):
    """Pinhole camera with OpenCV's distortion (k1, k2, p1, p2, k3 ...), for the full-size picture."""

    width: Annotated[int, msgspec.Meta(ge=64, le=20000)]
    height: Annotated[int, msgspec.Meta(ge=64, le=20000)]
    matrix: tuple[Row, Row, Row]
    distortion: Annotated[tuple[float, ...], msgspec.Meta(min_length=4, max_length=14)]


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """A printed fiducial; corners clockwise from its own top left as printed, in the table frame."""

    id: Annotated[int, msgspec.Meta(ge=0, le=1023)]
    corners_mm: tuple[Point, Point, Point, Point]


class Fiducials(msgspec.Struct, frozen=True, kw_only=True):
    """All fiducials lie in one plane, `z_mm` above where pieces stand (below 0: the board is thicker than the card)."""

    markers: Annotated[tuple[Marker, ...], msgspec.Meta(min_length=1)]
    dictionary: str = "DICT_4X4_50"
    z_mm: Annotated[float, msgspec.Meta(ge=-100, le=100)] = 0.0


class Counters(msgspec.Struct, frozen=True, kw_only=True):
    """Flat round counters, Icebreaker's icebergs."""

    colour: str
    diameter_mm: Annotated[float, msgspec.Meta(ge=3, le=100)]


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """What may lie on this table: the players' colours, the sizes in play, the target's colour in Ice Boule."""

    name: str
    colours: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    sizes: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    pieces: str = "looney"
    target: str | None = None
    counters: Counters | None = None


class _TableFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    format: Literal["rinkside-table/1"]
    camera: Lens
    fiducials: Fiducials
    board: Board
    game: Game


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """A table, read and checked."""

    camera: Lens
    fiducials: Fiducials
    board: Board
    game: Game
    pieces: PieceSet

    @property
    def sizes(self) -> tuple[PieceSize, ...]:
        """Sizes that may lie on this table."""
        return tuple(self.pieces[name] for name in self.game.sizes)

    @property
    def colours(self) -> tuple[str, ...]:
        """Colours that pieces on this table may have, the target's included."""
        return self.game.colours + ((self.game.target,) if self.game.target else ())

    def outline_mm(self) -> Array:
        """Outline of the play area, (n, 2)."""
        return self.board.outline()


def load_table(path: Path) -> Setup:
    """Read and check a `table.json`; raises InputError with the place of the first mistake."""
    return parse_table(read_json(path), path.name, beside=path.parent)


def parse_table(raw: object, where: str = "table.json", beside: Path | None = None) -> Setup:
    """Check a table that was read already; `beside` is the folder for piece sets of the user's own."""
    if isinstance(raw, dict) and raw.get("format", FORMAT) != FORMAT:
        raise InputError(f"{where}: format: expected {FORMAT!r}, got {raw['format']!r}; a newer Rinkside may have written it")
    file = convert(raw, _TableFile, where)
    _check_fiducials(file.fiducials, where)
    _check_game(file.game, where)
    try:
        pieces = load_piece_set(file.game.pieces, beside)
        setup = Setup(camera=file.camera, fiducials=file.fiducials, board=file.board, game=file.game, pieces=pieces)
        assert setup.sizes
    except InputError as error:
        raise InputError(f"{where}: game: {error}") from error
    return setup


def save_table(setup: Setup, path: Path) -> None:
    """Write a `table.json`, whole or not at all."""
    file = _TableFile(format=FORMAT, camera=setup.camera, fiducials=setup.fiducials, board=setup.board, game=setup.game)
    write_whole(path, msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n")


def _check_fiducials(fiducials: Fiducials, where: str) -> None:
    seen: dict[int, int] = {}
    for index, marker in enumerate(fiducials.markers):
        place = f"{where}: fiducials.markers[{index}]"
        if marker.id in seen:
            raise InputError(f"{place}.id: expected an id of its own, got {marker.id}, which marker [{seen[marker.id]}] has too")
        seen[marker.id] = index
        corners = np.array(marker.corners_mm)
        sides = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T)
        diagonals = np.hypot(*(corners[2:] - corners[:2]).T)
        if sides.min() < 5 or np.ptp(sides) > 0.02 * sides.max() or np.ptp(diagonals) > 0.02 * diagonals.max():
            got = ", ".join(f"{side:.1f}" for side in sides)
            raise InputError(f"{place}.corners_mm: expected the corners of a square of 5 mm or more, got sides of {got} mm")
        turn = np.cross(np.append(corners[1] - corners[0], 0), np.append(corners[2] - corners[1], 0))[2]
        if turn > 0:
            raise InputError(f"{place}.corners_mm: expected corners clockwise from the marker's own top left, got them counter-clockwise")


def _check_game(game: Game, where: str) -> None:
    named = [(f"colours[{index}]", colour) for index, colour in enumerate(game.colours)]
    if game.target is not None:
        named.append(("target", game.target))
    if game.counters is not None:
        named.append(("counters.colour", game.counters.colour))
    for place, colour in named:
        if colour not in COLOURS:
            raise InputError(f"{where}: game.{place}: expected a colour ({', '.join(COLOURS)}), got {colour!r}")
    twice = [colour for colour in game.colours if game.colours.count(colour) > 1]
    if twice:
        raise InputError(f"{where}: game.colours: expected each colour once, got {twice[0]!r} {len(twice)} times")
    if game.target in game.colours:
        raise InputError(f"{where}: game.target: expected a colour that no player has, got {game.target!r}")
