"""`rinkside measure --serve`: the page that measures photographs of the mat."""

from __future__ import annotations

import socket
import threading
from contextlib import closing, suppress

import msgspec

from calibration.photo_table import InPlay, printed_mat
from cli.photo import drawn_gaps, measured_gaps, photo_warnings, read_mat, sample_photo
from cli.serve_options import tell_address
from referee.presentation.view_model import ranked
from table.games import measuring
from table.messages import phrase, sentences
from table.observation_document import Measurement
from vision.cameras.image_files import encode_jpeg
from vision.cameras.photographs import decode_photograph
from webui import create_photo_app
from webui.interfaces import InPhoto, MeasuredPhoto, PhotoReader
from webui.server import listen, serving

QUALITY = 88
"""JPEG quality of the picture with the gaps drawn in."""


def photo_reader(scale: float = 1.0) -> PhotoReader:
    """A `PhotoReader` for the mat, printed at `scale` times its true size."""
    mat, (_, ruler) = printed_mat(scale), measuring()

    def read(data: bytes, name: str, named: InPhoto) -> MeasuredPhoto:
        in_play = InPlay(named.colours, named.target or None)
        reading = read_mat(decode_photograph(data, name), name, mat, in_play, ruler)
        measured = measured_gaps(reading, name, ruler)
        game = reading.setup.game
        return MeasuredPhoto(
            sentences(ruler.sentence(measured), photo_warnings(reading)),
            ranked(msgspec.convert(ruler.document(measured), Measurement)),
            encode_jpeg(drawn_gaps(reading, measured, ruler), QUALITY),
            InPhoto(game.target or "", game.colours),
            not (named.colours and named.target),
        )

    return read


def serve_measuring(scale: float, host: str, port: int, public_names: tuple[str, ...]) -> None:
    """Serve the page until Ctrl-C; raises InputError if the address is not available."""
    app = create_photo_app(photo_reader(scale), sample_photo, (socket.gethostname(), *public_names))
    with closing(listen(host, port)) as listening, serving(app, listening, bool(public_names)):
        tell_address(phrase("Measure photos"), listening)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
