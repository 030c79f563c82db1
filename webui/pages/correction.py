"""The host's page for correcting misread pieces.

They are dragged to where they lie, the table is judged again, and people decide what counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np
from flask import Blueprint, Response, current_app, make_response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from referee.live.correction import CorrectedVerdict, PieceCorrection
from referee.sessions.misreadings import plain
from table.errors import InputError, message_of
from table.messages import msg, sentences
from table.observation import Observation
from table.solids import Solid, lying, upright
from table.table_config import Setup
from webui.interfaces import LivePort, SessionPort
from webui.security.requests import Refusal
from webui.svg.board import draw

POSES = ("upright", "lying")
AROUND_MM = 100.0
"""Width of the part of the table that is drawn around the pieces, so that they can be dragged
there.
"""


def fix(session: SessionPort, live: LivePort, instance: str) -> Blueprint:
    """The routes of the page, for hosts only."""
    routes = Blueprint("fix", __name__, url_prefix="/host/fix")

    @routes.get("")
    def page() -> AnyResponse:
        try:
            record, table = live.last_table()
        except InputError as error:
            return _page(0, (), message_of(error), None, 409)
        return _page(record, as_read(table, live.setup), "", None)

    @routes.post("")
    def judge() -> AnyResponse:
        try:
            record, table = live.last_table()
            if request.form.get("table") != f"{record} {table.frame_seq}":
                raise Refusal(
                    409,
                    "moved_on",
                    sentences(
                        msg(
                            "Another table was ruled on since this page was drawn; nothing was"
                            " done."
                        ),
                        msg("This is the new one."),
                    ),
                )
            if session.view().hidden:
                raise Refusal(
                    409,
                    "secret",
                    msg(
                        "Votes are secret now, and a verdict may show them: judge it again once"
                        " all have voted."
                    ),
                )
            pieces = [
                _told(request.form, number, read)
                for number, read in enumerate(as_read(table, live.setup))
            ]
        except InputError as error:
            return _page(0, (), message_of(error), None, 409)
        except Refusal as refusal:
            return _page(record, as_read(table, live.setup), refusal.message, None, refusal.status)
        try:
            return _page(record, pieces, "", live.reread(pieces))
        except InputError as error:
            return _page(record, as_read(table, live.setup), message_of(error), None, 409)

    def _page(
        record: int,
        pieces: Sequence[PieceCorrection],
        notice: str,
        again: CorrectedVerdict | None,
        status: int = 200,
    ) -> Response:
        table = live.last_table()[1] if pieces else None
        response: Response = make_response(
            render_template(
                "fix.html",
                view=session.view(),
                setup=live.setup,
                drawing=draw(live.setup, None),
                box=view_box(pieces, live.setup),
                record=record,
                table=f"{record} {table.frame_seq}" if table else "",
                pieces=pieces,
                drawn=(
                    [
                        (n, piece, outline(piece, table, live.setup))
                        for n, piece in below_first(pieces)
                    ]
                    if table
                    else []
                ),
                colours=tuple(
                    dict.fromkeys(
                        (*live.setup.game.colours, *filter(None, (live.setup.game.target,)))
                    )
                ),
                poses=POSES,
                notice=notice,
                again=again,
                misread=json.dumps(plain(again.misread)) if again and again.misread else "",
                instance=instance,
                token=current_app.config["FORM_TOKEN"],
            )
        )
        response.status_code = status
        return response

    return routes


def as_read(table: Observation, setup: Setup) -> list[PieceCorrection]:
    """Every piece as it was read, and at the end one more that is not there yet.

    That one is for a piece that was not detected.
    """
    read = []
    for index, piece in enumerate(table.pieces):
        x_mm, y_mm = (round(float(value), 1) for value in piece.base_mm)
        read.append(
            PieceCorrection(
                index, piece.colour, piece.size, piece.pose, x_mm, y_mm, round(piece.heading_deg, 1)
            )
        )
    x_mm, y_mm = setup.outline_mm().mean(axis=0)
    return [
        *read,
        PieceCorrection(
            None,
            setup.game.colours[0],
            setup.game.sizes[0],
            "upright",
            round(float(x_mm), 1),
            round(float(y_mm), 1),
            0.0,
            there=False,
        ),
    ]


def below_first(pieces: Sequence[PieceCorrection]) -> list[tuple[int, PieceCorrection]]:
    """Pieces with their numbers, in drawing order: those that are not on the table first."""
    return sorted(enumerate(pieces), key=lambda numbered: numbered[1].there)


def view_box(pieces: Sequence[PieceCorrection], setup: Setup) -> tuple[float, float, float, float]:
    """The view box of the drawing, (x, y, width, height) of SVG.

    It shows the pieces that were read and `AROUND_MM` around them, but not much more than the
    table.
    """
    outline_mm = setup.outline_mm()
    read_mm = np.array(
        [(piece.x_mm, piece.y_mm) for piece in pieces if piece.index is not None] or outline_mm
    )
    low = np.maximum(read_mm.min(axis=0) - AROUND_MM, outline_mm.min(axis=0) - AROUND_MM / 4)
    high = np.minimum(read_mm.max(axis=0) + AROUND_MM, outline_mm.max(axis=0) + AROUND_MM / 4)
    width, height = (round(float(length), 1) for length in high - low)
    return round(float(low[0]), 1), round(-float(high[1]), 1), width, height


def outline(piece: PieceCorrection, table: Observation, setup: Setup) -> str:
    """The outline of a piece from above as points of SVG; of one that leans, as it was read."""
    if piece.pose in POSES:
        solid: Solid = (upright if piece.pose == "upright" else lying)(
            setup.pieces[piece.size], piece.x_mm, piece.y_mm, piece.heading_deg
        )
    else:
        assert piece.index is not None, "only what was read leans"
        solid = table.pieces[piece.index].solid
    return " ".join(f"{x:.2f},{-y:.2f}" for x, y in solid.plan_mm())


def _told(form: Mapping[str, str], number: int, read: PieceCorrection) -> PieceCorrection:
    """A piece as the form says; raises Refusal where it is no place, size or pose."""
    size, pose = form.get(f"size {number}", ""), form.get(f"pose {number}", "")
    if pose not in (*POSES, read.pose) or len(size) > 40:
        raise Refusal(
            400,
            "bad_piece",
            msg(
                "Expected a piece that is upright or lying, got '{raw}'; nothing was done.",
                raw=pose[:40],
            ),
        )
    x_mm, y_mm, heading_deg = (_number(form, f"{name} {number}") for name in ("x", "y", "heading"))
    return PieceCorrection(
        read.index,
        form.get(f"colour {number}", "")[:40],
        size,
        pose,
        x_mm,
        y_mm,
        heading_deg,
        f"there {number}" in form,
    )


def _number(form: Mapping[str, str], name: str) -> float:
    text = form.get(name, "").strip().replace(",", ".")
    if not re.fullmatch(r"-?[0-9]{1,5}(\.[0-9]{1,3})?", text):
        raise Refusal(
            400,
            "bad_piece",
            msg(
                "Expected a place in mm and a heading in degrees, such as 331.8, got '{raw}';"
                " nothing was done.",
                raw=text[:40],
            ),
        )
    return float(text)
