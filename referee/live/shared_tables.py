"""Tables of a log for sharing: pictures of the table alone, readings, and corrections.

They contain no names, dates or locations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from calibration.quality.scoring import score
from calibration.quality.truth import TruePiece, Truth
from referee.sessions.event_reader import LogReader
from referee.sessions.events import (
    Answered,
    Corrected,
    QuestionAsked,
    Record,
    Reopened,
    SessionStarted,
    TableChecked,
    Undone,
    VerdictReached,
)
from referee.sessions.misreadings import KEY, Misread, apply_corrections, read_misread
from table.errors import InputError
from table.files import convert
from table.json_data import JsonObject
from table.messages import msg
from table.observation import Camera, Observation, SeenPiece, observation_document
from table.observation_document import ObservationDocument, Piece
from table.solids import POSES, Solid
from table.table_config import Setup, parse_table, table_document
from vision.cameras.frame import Image
from vision.cameras.image_files import decode_image, encode_jpeg
from vision.cameras.reconnect import RULING_QUALITY
from vision.geometry.table_only import table_only
from vision.localization.fiducials import locate


class SharedTable(NamedTuple):
    """A picture of the table, a JPEG without metadata, with the setup to read it.

    `reading` is the reading at the ruling, `truth` the corrected pieces or None, `put_right` the
    number of pieces that differ. `name` identifies it for people here.
    """

    name: str
    jpeg: bytes
    setup: Setup
    reading: ObservationDocument
    truth: Truth | None
    put_right: int


def corrected_records(records: Sequence[Record]) -> tuple[int, ...]:
    """Records with a stored picture and a ruling that people corrected."""
    kept = {record.seq for record in records if record.frame}
    return tuple(sorted(_corrections(records).keys() & kept))


def shared_tables(
    log: LogReader, records: Sequence[Record], wanted: Collection[int]
) -> Iterator[SharedTable]:
    """Yield the tables of the wanted records, in order.

    Raises InputError for a record without a picture of a table that was read, or whose camera
    cannot be located, and for custom pieces.
    """
    corrections, table = _corrections(records), {}
    left = set(wanted)
    for record in records:
        event = record.event
        match event:
            case SessionStarted() | Reopened() | TableChecked() if event.table:
                table = event.table
            case VerdictReached() | QuestionAsked() if record.seq in left:
                if record.frame and event.observation is not None:
                    left.remove(record.seq)
                    yield _shared_table(
                        log, record.seq, event, corrections.get(record.seq, ()), table
                    )
            case _:
                pass
    if left:
        raise InputError(
            msg(
                "{path}: record {n}: expected a ruling or a question of this session whose"
                " picture is kept",
                path=log.path,
                n=min(left),
            )
        )


def _corrections(records: Sequence[Record]) -> dict[int, tuple[Misread, ...]]:
    """Corrected pieces by the record of their table; empty where there are none."""
    events = {record.seq: record.event for record in records}
    undone = {event.undoes for event in events.values() if isinstance(event, Undone)}
    found: dict[int, tuple[Misread, ...]] = {}
    for seq, event in events.items():
        if not isinstance(event, Corrected) or seq in undone:
            continue
        of = event.corrects
        while isinstance(behind := events.get(of), Corrected | Answered):
            of = behind.corrects if isinstance(behind, Corrected) else behind.question
        found[of] = event.misread
    return found


def _shared_table(
    log: LogReader,
    seq: int,
    event: VerdictReached | QuestionAsked,
    misread: tuple[Misread, ...],
    table: JsonObject,
) -> SharedTable:
    where = f"{log.path}: record {seq}"
    _check_pieces(table, where)
    setup = parse_table(table, f"{where}: table")
    image = decode_image(log.frame(seq) or b"", where)
    camera = _located(image, setup, where)
    read = _without_words(convert(event.observation, ObservationDocument, f"{where}: observation"))
    ruled = event.evidence.get(KEY)
    corrections = (*misread, *(read_misread(ruled) if isinstance(ruled, list) else ()))
    try:
        truth, put_right = _truth(read, corrections, camera, setup)
    except (ValueError, IndexError) as error:  # an imported log may contain anything
        raise InputError(
            msg("{where}: expected pieces as they are read ({raw})", where=where, raw=error)
        ) from error
    return SharedTable(
        f"record {seq}", _table_picture(image, camera, setup), setup, read, truth, put_right
    )


def shared_photo(
    image: Image, setup: Setup, read: ObservationDocument, truth: Truth | None, where: str
) -> SharedTable:
    """Prepare a photograph (h, w, 3), its reading and its truth for sharing.

    Raises InputError as `shared_tables` does; `where` names the photograph.
    """
    _check_pieces(table_document(setup), where)
    jpeg = _table_picture(image, _located(image, setup, where), setup)
    wrong = len(score(truth, read).mistakes) if truth else 0
    return SharedTable(where, jpeg, setup, _without_words(read), truth, wrong)


def _check_pieces(table: JsonObject, where: str) -> None:
    game = table.get("game")
    if isinstance(game, dict) and str(game.get("pieces", "")).endswith(".toml"):
        raise InputError(
            msg(
                "{where}: expected pyramids that Rinkside knows; a table with pieces of your own"
                " cannot be shared yet",
                where=where,
            )
        )


def _located(image: Image, setup: Setup, where: str) -> Camera:
    size = setup.camera.width, setup.camera.height
    camera = locate(image, setup) if image.shape[1::-1] == size else None
    if not isinstance(camera, Camera):
        raise InputError(
            msg("{where}: expected a picture in which the table can be located", where=where)
        )
    return camera


def _table_picture(image: Image, camera: Camera, setup: Setup) -> bytes:
    return encode_jpeg(table_only(image, camera, setup), RULING_QUALITY)


def _without_words(read: ObservationDocument) -> ObservationDocument:
    """Remove a game's measurements and sentences from a reading."""
    return msgspec.structs.replace(read, notes=(), gaps=msgspec.UNSET, call=msgspec.UNSET)


def _truth(
    read: ObservationDocument, corrections: Sequence[Misread], camera: Camera, setup: Setup
) -> tuple[Truth | None, int]:
    """Return the reading with people's corrections, and the number of corrected pieces.

    None without corrections. Of two corrections of a piece the first counts. Places remain those
    that the camera read.
    """
    seen = Observation(0, 0, camera, tuple(map(_piece_reading, read.pieces)))
    right = apply_corrections(seen, corrections, {}, setup)
    if not right.there:
        return None, 0
    document = observation_document(right.table)
    pieces = convert(document["pieces"], tuple[TruePiece, ...], "pieces")
    truth = Truth(
        kind=setup.game.name,
        pieces=tuple(msgspec.structs.replace(piece, place="read") for piece in pieces),
    )
    return truth, len(right.there)


def _piece_reading(piece: Piece) -> SeenPiece:
    covariance = np.zeros((3, 3))
    covariance[:2, :2] = piece.base_cov_mm2
    covariance[2, 2] = piece.heading_sigma_deg**2
    pose = next((pose for pose in POSES if pose == piece.pose), POSES[-1])
    return SeenPiece(
        piece.colour,
        piece.size,
        pose,
        np.array(piece.base_mm),
        piece.heading_deg,
        Solid(np.array(piece.vertices_mm)),
        covariance,
        piece.probability.colour,
        piece.probability.size,
        piece.probability.pose,
        None if piece.on is msgspec.UNSET else piece.on,
    )
