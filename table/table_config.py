"""`table.json` (`rinkside-table/1`): the configuration of a calibrated table.

Its camera, fiducials, board and game.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from table.boards import MOST_CORNERS, WORDS, Board, Open, Point
from table.errors import InputError
from table.files import convert, quoted, read_json, short, shown, write_whole
from table.json_data import JsonObject
from table.messages import Message, in_a_row, msg, phrase
from table.pieces import COLOURS, PieceSet, PieceSize, Word, load_piece_set
from table.solids import Array, signed_area

logger = logging.getLogger(__name__)

FORMAT: Literal["rinkside-table/1"] = "rinkside-table/1"
SMALLEST_GROUND_MM2 = 1000
MOST_MARKERS = 1000
"""Most markers: no ArUco dictionary has more."""
Parameter = Annotated[float, msgspec.Meta(ge=-1e6, le=1e6)]
Row = tuple[Parameter, Parameter, Parameter]
Orientation = Literal["sensor", "upright"]
"""Orientation of a camera's pictures: as the sensor wrote them, or turned by the file's rotation
flag.
"""
Square = tuple[tuple[Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)], ...], ...]
"""A square matrix, row by row."""


def rows_of(matrix: Array) -> Square:
    """Convert an array (n, n) to the form that is written."""
    return tuple(tuple(row) for row in matrix.tolist())


class Lens(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A camera's optics, for the full-size picture.

    `model` determines `distortion`, in OpenCV's terms. `pinhole` has k1, k2, p1, p2, k3 ...;
    `fisheye` has k1 to k4, and its radius grows with the angle. `covariance` (p, p) is that of the
    first p of fx, fy, cx, cy and distortion; without it they are exact.
    """

    width: Annotated[int, msgspec.Meta(ge=64, le=20000)]
    height: Annotated[int, msgspec.Meta(ge=64, le=20000)]
    matrix: tuple[Row, Row, Row]
    distortion: Annotated[tuple[Parameter, ...], msgspec.Meta(min_length=4, max_length=14)]
    model: Literal["pinhole", "fisheye"] = "pinhole"
    covariance: Square = ()
    first_estimate: bool = False
    """True if estimated from one photograph of the table, or from the maker's data; a lens
    calibration is better.
    """
    focus_dpt: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    """Focus during the calibration in dioptres (1/m), if the camera reports it."""
    orientation: Orientation = "sensor"
    """Orientation of the calibration pictures; all others are read in the same one."""


class Marker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A printed fiducial.

    Corners clockwise from its own top left as printed, in the table frame.
    """

    id: Annotated[int, msgspec.Meta(ge=0, le=1023)]
    corners_mm: tuple[Point, Point, Point, Point]

    def around_mm(self, times: float) -> Array:
        """Corners (4, 2) of a square about the same middle, scaled by `times`."""
        corners = np.array(self.corners_mm)
        middle = corners.mean(axis=0)
        return np.asarray(middle + times * (corners - middle))


class Fiducials(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fiducials, all in one plane, `z_mm` above the plane of the pieces.

    Negative if the board is thicker than the card.

    `covariance` (3 n, 3 n) is that of the markers' places, each x and y of the middle in mm and
    heading in rad. Without it they are exact.
    """

    markers: Annotated[tuple[Marker, ...], msgspec.Meta(min_length=1, max_length=MOST_MARKERS)]
    dictionary: str = "DICT_4X4_50"
    z_mm: Annotated[float, msgspec.Meta(ge=-100, le=100)] = 0.0
    covariance: Square | msgspec.UnsetType = msgspec.UNSET


class Counters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Flat round counters."""

    colour: str
    diameter_mm: Annotated[float, msgspec.Meta(ge=3, le=100)]


class Game(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may lie on this table.

    The players' colours, the sizes in play, and the target's colour if the game has one.
    """

    name: Word
    colours: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=20)]
    sizes: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=20)]
    pieces: Annotated[str, msgspec.Meta(max_length=255)] = "looney"
    target: str | None = None
    counters: Counters | None = None


Level = Annotated[float, msgspec.Meta(gt=0, le=4)]


class LearnedColour(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A colour as it looks on this table, in its light.

    `light` is the linear reflectance of its plastic, (red, green, blue), relative to white paper.
    """

    colour: str
    light: tuple[Level, Level, Level]


class DiceCorner(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Area where a six-sided die is rolled, and the size of the die.

    `outline_mm` (n, 2) lies on a surface `z_mm` above z = 0; by default that of the fiducials.
    """

    outline_mm: Annotated[tuple[Point, ...], msgspec.Meta(min_length=3, max_length=MOST_CORNERS)]
    edge_mm: Annotated[float, msgspec.Meta(ge=8, le=40)] = 16.0
    z_mm: Annotated[float, msgspec.Meta(ge=-100, le=100)] | None = None


class CoverDice(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Six-sided dice that lie on the board as cover.

    Their faces do not matter; `edge_mm` is the edge of each.
    """

    edge_mm: Annotated[float, msgspec.Meta(ge=8, le=30)] = 16.0


class TableFields(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The fields of a `table.json` beside its format.

    This is the only list of its fields, for reading, writing, messages and the test of
    docs/FORMATS.md.
    """

    camera: Lens
    fiducials: Fiducials
    board: Board
    game: Game
    learned_colours: tuple[LearnedColour, ...] = ()
    dice_corner: DiceCorner | None = None
    cover_dice: CoverDice | None = None


class _Header(msgspec.Struct, frozen=True):
    format: Literal["rinkside-table/1"]


class Setup(TableFields, frozen=True, kw_only=True):
    """A checked table, with the sizes of its pieces."""

    pieces: PieceSet

    @property
    def sizes(self) -> tuple[PieceSize, ...]:
        """Sizes that may lie on this table."""
        return tuple(self.pieces[name] for name in self.game.sizes)

    @property
    def colours(self) -> tuple[str, ...]:
        """Colours that pieces on this table may have, including the target's."""
        return self.game.colours + ((self.game.target,) if self.game.target else ())

    def outline_mm(self) -> Array:
        """Outline of the play area, (n, 2)."""
        return self.board.outline()


def load_table(path: Path) -> Setup:
    """Read and check a `table.json`; raises InputError with the place of the first mistake."""
    return parse_table(read_json(path), path.name, beside=path.parent)


def parse_table(raw: object, where: str = "table.json", beside: Path | None = None) -> Setup:
    """Check the document of a table.

    `beside` is the folder of custom piece sets.
    """
    if isinstance(raw, dict):
        _check_words(raw, where)
    convert(raw, _Header, where)
    assert isinstance(raw, dict), "it has a header"
    fields = {name: value for name, value in raw.items() if name != "format"}
    file = convert(fields, TableFields, where)
    _check_lens(file.camera, where)
    _check_fiducials(file.fiducials, where)
    _check_board(file.board, where)
    _check_game(file.game, where)
    _check_learned(file.learned_colours, where)
    try:
        pieces = load_piece_set(file.game.pieces, beside)
    except InputError as error:
        raise InputError(
            msg("{where}: game.pieces: {text}", where=where, text=error.message)
        ) from error
    for index, name in enumerate(file.game.sizes):
        if name not in pieces:
            known = f"{pieces.name} ({short(', '.join(map(str, pieces.sizes)))})"
            raise InputError(
                msg(
                    "{where}: game.sizes[{n}]: expected a size of {raw}, got {raw2}",
                    where=where,
                    n=index,
                    raw=known,
                    raw2=quoted(name),
                )
            )
    return Setup(pieces=pieces, **_fields(file))


def save_table(setup: Setup, path: Path) -> None:
    """Write a `table.json`, whole or not at all.

    Raises InputError for a table that could not be read back.
    """
    document = table_document(setup)
    parse_table(document, path.name, beside=path.parent)
    logger.info("writing %s", path)
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def table_document(setup: Setup) -> JsonObject:
    """Convert a table to plain data, which `parse_table` reads back."""
    document: JsonObject = msgspec.to_builtins(TableFields(**_fields(setup)))
    return {"format": FORMAT} | document


def _fields(table: TableFields) -> JsonObject:
    return {name: getattr(table, name) for name in TableFields.__struct_fields__}


def _other_format(written: object, where: str) -> Message:
    """Describe a wrong format: another kind, or another version."""
    kind = written.partition("/")[0] if isinstance(written, str) else ""
    if kind == "rinkside-sheet":
        return msg(
            "{where}: expected a table.json, got a printed sheet; make its table with"
            " rinkside calibrate printed",
            where=where,
        )
    if kind.startswith("rinkside-") and kind != FORMAT.partition("/")[0]:
        return msg(
            "{where}: expected a table.json, got a file of format {raw}",
            where=where,
            raw=shown(written),
        )
    return msg(
        "{where}: format: expected {raw}, got {raw2}; a newer Rinkside may have written it",
        where=where,
        raw=repr(FORMAT),
        raw2=shown(written),
    )


def _check_words(raw: JsonObject, where: str) -> None:
    """Check the text fields that determine the others.

    They are checked first, so that messages can list the choices.
    """
    if (written := raw.get("format", FORMAT)) != FORMAT:
        raise InputError(_other_format(written, where))
    board = raw.get("board")
    for field, words in WORDS.items():
        if (
            isinstance(board, dict)
            and isinstance(expected := board.get(field), str)
            and expected not in words
        ):
            raise InputError(
                msg(
                    "{where}: board.{field}: expected {raw} or {raw2}, got {raw3}",
                    where=where,
                    field=field,
                    raw=", ".join(words[:-1]),
                    raw2=words[-1],
                    raw3=quoted(expected),
                )
            )


def _check_lens(lens: Lens, where: str) -> None:
    (fx, skew, cx), (zero, fy, cy), last = lens.matrix
    if not (
        fx > 0
        and fy > 0
        and skew == zero == 0
        and last == (0, 0, 1)
        and 0 < cx < lens.width
        and 0 < cy < lens.height
    ):
        shape = phrase(
            "[[fx, 0, cx], [0, fy, cy], [0, 0, 1]] with fx and fy above 0 and (cx, cy) inside the"
            " picture"
        )
        raise InputError(
            msg(
                "{where}: camera.matrix: expected {text}, got {raw}",
                where=where,
                text=shape,
                raw=[list(row) for row in lens.matrix],
            )
        )
    counts, expected = (
        ((4,), phrase("4 numbers for a fisheye lens"))
        if lens.model == "fisheye"
        else ((4, 5, 8, 12, 14), phrase("4, 5, 8, 12 or 14 numbers"))
    )
    if (count := len(lens.distortion)) not in counts:
        raise InputError(
            msg(
                "{where}: camera.distortion: expected {text}, got {n}",
                where=where,
                text=expected,
                n=count,
            )
        )
    if (size := len(lens.covariance)) > 4 + count:
        raise InputError(
            msg(
                "{where}: camera.covariance: expected at most {n} rows, one per parameter,"
                " got {n2}",
                where=where,
                n=4 + count,
                n2=size,
            )
        )
    _check_covariance(lens.covariance, f"{where}: camera.covariance")


def _check_covariance(rows: Square, place: str) -> None:
    """Check that a covariance is square, symmetric and positive semidefinite."""
    size = len(rows)
    if any(len(row) != size for row in rows):
        raise InputError(
            msg(
                "{place}: expected {n} numbers in each of its {n} rows, got {raw}",
                place=place,
                n=size,
                raw=short(", ".join(str(len(row)) for row in rows)),
            )
        )
    matrix = np.array(rows).reshape(size, size)
    scale = (
        np.sqrt(np.outer(np.abs(np.diag(matrix)), np.abs(np.diag(matrix)))) + np.finfo(float).tiny
    )
    if (np.abs(matrix - matrix.T) > 1e-6 * scale).any() or (
        size and np.linalg.eigvalsh(matrix / scale).min() < -1e-6
    ):
        raise InputError(
            msg(
                "{place}: expected a covariance (symmetric, no negative variances), got"
                " another matrix",
                place=place,
            )
        )


def _check_fiducials(fiducials: Fiducials, where: str) -> None:
    named = re.fullmatch(r"DICT_([4-7])X\1_(50|100|250|1000)", fiducials.dictionary)
    if not named:
        got = quoted(fiducials.dictionary)
        raise InputError(
            msg(
                "{where}: fiducials.dictionary: expected the name of an ArUco"
                " dictionary such as DICT_4X4_50, got {raw}",
                where=where,
                raw=got,
            )
        )
    for index, marker in enumerate(fiducials.markers):
        place = f"{where}: fiducials.markers[{index}]"
        if marker.id >= int(named[2]):
            raise InputError(
                msg(
                    "{place}.id: expected an id of {raw}, below {n}, got {n2}",
                    place=place,
                    raw=fiducials.dictionary,
                    n=named[2],
                    n2=marker.id,
                )
            )
        _check_square(np.array(marker.corners_mm), f"{place}.corners_mm")
    if fiducials.covariance is not msgspec.UNSET:
        if (size := len(fiducials.covariance)) != 3 * len(fiducials.markers):
            raise InputError(
                msg(
                    "{where}: fiducials.covariance: expected {n} rows, 3 per marker, got {n2}",
                    where=where,
                    n=3 * len(fiducials.markers),
                    n2=size,
                )
            )
        _check_covariance(fiducials.covariance, f"{where}: fiducials.covariance")
    _check_apart(fiducials, where)


def _check_apart(fiducials: Fiducials, where: str) -> None:
    """Check that every marker has its own id and place."""
    ids = [marker.id for marker in fiducials.markers]
    middles = np.array([marker.corners_mm for marker in fiducials.markers]).mean(axis=1)
    sides_mm = np.array(
        [
            np.hypot(*np.subtract(marker.corners_mm[0], marker.corners_mm[1]))
            for marker in fiducials.markers
        ]
    )
    for other in range(1, len(ids)):
        place = f"{where}: fiducials.markers[{other}]"
        if ids[other] in ids[:other]:
            raise InputError(
                msg(
                    "{place}.id: expected a unique id, got {n}, which marker [{n2}] also has",
                    place=place,
                    n=ids[other],
                    n2=ids.index(ids[other]),
                )
            )
        apart_mm = np.hypot(*(middles[:other] - middles[other]).T)
        if len(near := np.flatnonzero(apart_mm < (sides_mm[:other] + sides_mm[other]) / 2)):
            raise InputError(
                msg(
                    "{place}.corners_mm: expected a position of its own, got one {mm} mm"
                    " from marker [{n}]",
                    place=place,
                    mm=f"{apart_mm[near[0]]:.1f}",
                    n=near[0],
                )
            )


def _check_square(corners_mm: Array, place: str) -> None:
    sides = np.hypot(*(np.roll(corners_mm, -1, axis=0) - corners_mm).T)
    diagonals = np.hypot(*(corners_mm[2:] - corners_mm[:2]).T)
    if (
        sides.min() < 5
        or np.ptp(sides) > 0.02 * sides.max()
        or np.ptp(diagonals) > 0.02 * diagonals.max()
    ):
        got, across = (
            in_a_row((f"{length:.1f}" for length in lengths), "mm")
            for lengths in (sides, diagonals)
        )
        raise InputError(
            msg(
                "{place}: expected the corners of a square of at least 5 mm, got sides of"
                " {text} and diagonals of {text2} mm",
                place=place,
                text=got,
                text2=across,
            )
        )
    if signed_area(corners_mm) > 0:
        raise InputError(
            msg(
                "{place}: expected corners clockwise from the marker's own top left, got"
                " counter-clockwise ones",
                place=place,
            )
        )


def _check_board(board: Board, where: str) -> None:
    if (
        isinstance(board, Open)
        and abs(area_mm2 := signed_area(board.outline())) < SMALLEST_GROUND_MM2
    ):
        raise InputError(
            msg(
                "{where}: board.outline_mm: expected an outline around at least {n} mm²,"
                " got {n2} mm²",
                where=where,
                n=SMALLEST_GROUND_MM2,
                n2=f"{abs(area_mm2):.0f}",
            )
        )


def _check_colour(colour: str, where: str, place: str) -> None:
    if colour not in COLOURS:
        raise InputError(
            msg(
                "{where}: {place}: expected a colour ({raw}), got {raw2}",
                where=where,
                place=place,
                raw=", ".join(COLOURS),
                raw2=quoted(colour),
            )
        )


def _check_game(game: Game, where: str) -> None:
    named = [(f"colours[{index}]", colour) for index, colour in enumerate(game.colours)]
    if game.target is not None:
        named.append(("target", game.target))
    if game.counters is not None:
        named.append(("counters.colour", game.counters.colour))
    for place, colour in named:
        _check_colour(colour, where, f"game.{place}")
    for field, names in (("colours", game.colours), ("sizes", game.sizes)):
        for index, name in enumerate(names):
            if name in names[:index]:
                raise InputError(
                    msg(
                        "{where}: game.{field}[{n}]: expected each of the {field} once, got"
                        " {raw} again",
                        where=where,
                        field=field,
                        n=index,
                        raw=quoted(name),
                    )
                )
    if game.target in game.colours:
        raise InputError(
            msg(
                "{where}: game.target: expected a colour that no player has, got {raw}",
                where=where,
                raw=quoted(game.target),
            )
        )


def _check_learned(learned: tuple[LearnedColour, ...], where: str) -> None:
    names = [one.colour for one in learned]
    for index, name in enumerate(names):
        _check_colour(name, where, f"learned_colours[{index}].colour")
        if name in names[:index]:
            raise InputError(
                msg(
                    "{where}: learned_colours[{n}].colour: expected each colour once, got"
                    " {raw} again",
                    where=where,
                    n=index,
                    raw=quoted(name),
                )
            )
