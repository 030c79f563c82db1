"""`truth.json` (`rinkside-truth/1`): the stated truth about a photographed table."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from table.boards import Point
from table.errors import InputError
from table.files import convert, quoted
from table.messages import msg
from table.pieces import COLOURS
from table.table_config import Setup

Place = Literal["measured", "read"]
"""Source of a piece's place: measured by hand, or from a reading whose other properties were
corrected by hand.
"""


class TruePiece(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A true piece; `base_mm`, `tip_mm` and `heading_deg` as in an observation.

    `footprint_mm` is its area of contact; without it pieces are compared by `base_mm`.
    """

    colour: Annotated[str, msgspec.Meta(max_length=40)]
    size: Annotated[str, msgspec.Meta(max_length=40)]
    pose: Literal["upright", "lying", "leaning"]
    base_mm: Point
    tip_mm: Point | None = None
    heading_deg: float | None = None
    footprint_mm: Annotated[tuple[Point, ...], msgspec.Meta(max_length=20)] = ()
    place: Place = "measured"


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """All pieces on the play area; `kind` is the game's name, or another word.

    Other fields, such as those on how a picture was drawn, are ignored.
    """

    format: Literal["rinkside-truth/1"] = "rinkside-truth/1"
    kind: Annotated[str, msgspec.Meta(max_length=100)] = ""
    pieces: Annotated[tuple[TruePiece, ...], msgspec.Meta(max_length=500)]


def parse_truth(raw: object, where: str, setup: Setup) -> Truth:
    """Validate a parsed truth; raises InputError with the place of a mistake.

    Every piece must have a colour that Rinkside knows and a size of this table.
    """
    truth = convert(raw, Truth, where)
    for index, piece in enumerate(truth.pieces):
        for field, got, known in (
            ("colour", piece.colour, COLOURS),
            ("size", piece.size, setup.game.sizes),
        ):
            if got not in known:
                raise InputError(
                    msg(
                        "{where}: pieces[{n}].{field}: expected {raw}, got {raw2}",
                        where=where,
                        n=index,
                        field=field,
                        raw=", ".join(known),
                        raw2=quoted(got),
                    )
                )
    return truth
