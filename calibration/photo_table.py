"""The table of a single photograph: a printed mat, and a lens that is estimated from it.

No table.json and no calibrated lens are needed. Lens parameters that the photograph does not
determine stay uncertain, and widen every ±.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import msgspec
import numpy as np

from calibration.table.printed import scale_printed, unknown_lens
from calibration.table.single_image import LEAST_FIDUCIALS, UnfitMarkerError, first_lens
from table.errors import InputError
from table.game_facts import DefaultTable, Measuring
from table.games import table_facts
from table.messages import any_of, msg
from table.observation import Observation
from table.pieces import COLOURS, load_piece_set
from table.printed_boards import printed_setup, printed_tables
from table.table_config import Game, Setup, rows_of
from vision.cameras.frame import Frame, Image
from vision.cameras.photographs import Photograph
from vision.observe import observe
from vision.pipeline import TableReader
from vision.resolution import scale_to_detail

RARE_COLOURS = ("clear", "pink", "grey")
"""Colours that are in play only if they are named, because white and black pieces look similar."""
JOINED_MM, JOINED_RAD = 0.4, 0.003
"""Errors of a fiducial's place and heading on a mat that is joined from pages, 1 sigma."""
IN_PLAY = 0.5
"""Least probability of a colour, on a piece, that puts it in play."""


@dataclass(frozen=True, slots=True, eq=False)
class PhotoTable:
    """A photograph (h, w, 3) at its real resolution, and the table in it with its lens."""

    image: Image
    setup: Setup


@dataclass(frozen=True, slots=True)
class InPlay:
    """Contents of the table as stated by the user; unstated ones are read off the photograph."""

    colours: tuple[str, ...] = ()
    target: str | None = None
    sizes: tuple[str, ...] = ()


def printed_mat(scale: float = 1.0) -> Setup:
    """The mat of `rinkside print`, printed `scale` times as large as intended.

    All sizes of its game's pieces are in play, and all colours but rare ones. Its lens is a
    placeholder. Raises InputError if no installed game measures on a mat.
    """
    _, name, usual = _mat()
    game = Game(
        name=name,
        colours=tuple(colour for colour in COLOURS if colour not in RARE_COLOURS),
        sizes=tuple(size.name for size in load_piece_set(usual.pieces).sizes),
        pieces=usual.pieces,
    )
    setup = printed_setup(usual, game, unknown_lens(1640, 1232))
    joined = np.tile([JOINED_MM, JOINED_MM, JOINED_RAD], len(setup.fiducials.markers))
    fiducials = msgspec.structs.replace(setup.fiducials, covariance=rows_of(np.diag(joined**2)))
    return scale_printed(msgspec.structs.replace(setup, fiducials=fiducials), scale)


def mat_sheet() -> str:
    """The name of the mat among the sheets of `rinkside print`; raises InputError without one."""
    return _mat()[0]


def _mat() -> tuple[str, str, DefaultTable]:
    """The first printed board of a game that measures: names of sheet and game, and the table."""
    for sheet, (game, usual) in printed_tables().items():
        if table_facts(game).measuring is not None:
            return sheet, game, usual
    raise InputError(msg("expected a game that measures on a printed mat, but none is installed"))


def photo_table(photograph: Photograph, draft: Setup) -> PhotoTable:
    """The table of a draft as a photograph shows it; the draft's lens is not used.

    A fiducial whose edges are not visible is left out if there are enough others. Raises InputError
    if the photograph shows too little.
    """
    shown = scale_to_detail(photograph.image, draft.fiducials)
    focal_px = photograph.focal_px and photograph.focal_px / shown.shrink
    try:
        first = first_lens(shown.image, draft.fiducials, draft.board, focal_px)
    except UnfitMarkerError as error:
        if len(draft.fiducials.markers) <= LEAST_FIDUCIALS:
            raise
        return photo_table(photograph, _without(draft, error.marker))
    exact = draft.fiducials.covariance is msgspec.UNSET
    return PhotoTable(
        shown.image,
        msgspec.structs.replace(
            draft, camera=first.lens, fiducials=draft.fiducials if exact else first.fiducials
        ),
    )


def _without(draft: Setup, marker: int) -> Setup:
    """The draft without one of its fiducials."""
    fiducials = draft.fiducials
    kept = [index for index, one in enumerate(fiducials.markers) if one.id != marker]
    covariance = fiducials.covariance
    if covariance is not msgspec.UNSET:
        rows = (3 * np.array(kept)[:, None] + np.arange(3)).ravel()
        covariance = rows_of(np.array(covariance)[np.ix_(rows, rows)])
    markers = tuple(fiducials.markers[index] for index in kept)
    return msgspec.structs.replace(
        draft, fiducials=msgspec.structs.replace(fiducials, markers=markers, covariance=covariance)
    )


def read_photo(table: PhotoTable, named: InPlay, ruler: Measuring) -> tuple[Setup, Observation]:
    """The setup with the pieces in play, and the observation.

    Sizes, colours and target that are not `named` are taken from a first reading. The photograph is
    then read again with nothing else in play, which is more reliable. Raises InputError if it
    cannot be read, or the target is not clear.
    """
    setup = _with_game(table.setup, named)
    seen = observed(table.image, setup, every_colour=bool(named.colours))
    if not seen.pieces:
        raise InputError(msg("expected the target and pieces on the mat, but no piece was found"))
    target = named.target or _likely_target(seen, ruler)
    found = InPlay(
        named.colours or _colours_in_play(seen, target),
        target,
        named.sizes or (Counter(piece.size for piece in seen.pieces).most_common(1)[0][0],),
    )
    narrowed = _with_game(setup, found)
    if narrowed.game != setup.game:
        seen = observed(table.image, narrowed)
    if named.target is None:
        _likely_target(seen, ruler)
    return narrowed, seen


def _with_game(setup: Setup, named: InPlay) -> Setup:
    game = setup.game
    target = named.target or game.target
    colours = tuple(one for one in named.colours or game.colours if one != target)
    return msgspec.structs.replace(
        setup,
        game=msgspec.structs.replace(
            game, colours=colours, target=target, sizes=named.sizes or game.sizes
        ),
    )


def observed(image: Image, setup: Setup, *, every_colour: bool = True) -> Observation:
    """Observation of the table in a photograph; raises InputError if it is unusable.

    `every_colour` as for `TableReader`.
    """
    seen = observe(Frame(0, 0, image), setup, reader=TableReader(every_colour=every_colour))
    if isinstance(seen, Observation):
        return seen
    raise InputError(seen.reason)


def _colours_in_play(seen: Observation, target: str) -> tuple[str, ...]:
    """Colours of pieces on the mat and beside it, except the target's, in the usual order."""
    found = {
        piece.colour
        for piece in (*seen.pieces, *seen.off_board)
        if piece.colour_probability >= IN_PLAY
    }
    found |= {piece.colour for piece in seen.pieces}
    return tuple(one for one in COLOURS if one in found and one != target) or tuple(
        one for one in COLOURS[:2] if one != target
    )


def _likely_target(seen: Observation, ruler: Measuring) -> str:
    likely = ruler.likely_targets(seen)
    if len(likely) == 1:
        return likely[0]
    if len(likely) > 1:
        raise InputError(
            msg(
                "expected one upright piece that is alone in its colour as the target, got {n}"
                " ({text}); name the target's colour",
                n=len(likely),
                text=any_of(likely),
            )
        )
    raise InputError(
        msg(
            "no piece is surely the target: expected one upright piece that is alone in its"
            " colour; name the target's colour"
        )
    )
