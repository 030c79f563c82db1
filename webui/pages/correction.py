"""The host's page for correcting misread pieces.

Pieces are dragged to their true places, the table is judged again, and people decide.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flask import Blueprint, Response, current_app, make_response, render_template, request

from referee.live.correction import CorrectedVerdict, PieceCorrection
from referee.sessions.misreadings import misreadings_data
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
"""Margin drawn around the pieces, as room for dragging."""


def fix(session: SessionPort, live: LivePort, instance: str) -> Blueprint:
    """The routes of the page, for hosts only."""
    page = _CorrectionPage(session, live, instance)
    routes = Blueprint("fix", __name__, url_prefix="/host/fix")
    routes.add_url_rule("", "page", page.show)
    routes.add_url_rule("", "judge", page.judge, methods=["POST"])
    return routes


@dataclass(frozen=True, slots=True)
class _CorrectionPage:
    """State of the page; public methods answer requests."""

    session: SessionPort
    live: LivePort
    instance: str

    def show(self) -> Response:
        """The page with the pieces as read on the last table ruled on."""
        try:
            record, table = self.live.last_table()
        except InputError as error:
            return self._without_table(error)
        return self._page(record, table, pieces_as_read(table, self.live.setup))

    def judge(self) -> Response:
        """The verdict on the corrected table; nothing is recorded."""
        try:
            record, table = self.live.last_table()
        except InputError as error:
            return self._without_table(error)
        read = pieces_as_read(table, self.live.setup)
        try:
            self._refuse_unless_current(record, table)
            pieces = [_correction(request.form, number, piece) for number, piece in enumerate(read)]
            again = self.live.reread(pieces)
        except Refusal as refusal:
            return self._page(record, table, read, refusal.message, status=refusal.status)
        except InputError as error:
            return self._page(record, table, read, message_of(error), status=409)
        return self._page(record, table, pieces, again=again)

    def _refuse_unless_current(self, record: int, table: Observation) -> None:
        """Raise Refusal if the form is for another table, or if a verdict could reveal votes."""
        if request.form.get("table") != _table_key(record, table):
            raise Refusal(
                409,
                "moved_on",
                sentences(
                    msg(
                        "The referee has made another ruling since this page was"
                        " loaded; nothing was done."
                    ),
                    msg("Here is the new one."),
                ),
            )
        if self.session.view().hidden:
            raise Refusal(
                409,
                "secret",
                msg(
                    "Votes are secret now, and a ruling could reveal them: judge"
                    " again once all have voted."
                ),
            )

    def _without_table(self, error: InputError) -> Response:
        """The page if no table can be corrected, with the reason."""
        return self._page(0, None, (), message_of(error), status=409)

    def _page(
        self,
        record: int,
        table: Observation | None,
        pieces: Sequence[PieceCorrection],
        notice: str = "",
        again: CorrectedVerdict | None = None,
        status: int = 200,
    ) -> Response:
        setup = self.live.setup
        page = render_template(
            "fix.html",
            view=self.session.view(),
            setup=setup,
            drawing=draw(setup, None),
            box=view_box(pieces, setup),
            record=record,
            table=_table_key(record, table) if table else "",
            pieces=pieces,
            drawn=(
                [(n, piece, outline(piece, table, setup)) for n, piece in in_drawing_order(pieces)]
                if table
                else []
            ),
            colours=_colours_in_play(setup),
            poses=POSES,
            notice=notice,
            again=again,
            misread=json.dumps(misreadings_data(again.misread)) if again and again.misread else "",
            instance=self.instance,
            token=current_app.config["FORM_TOKEN"],
        )
        return make_response(page, status)


def _table_key(record: int, table: Observation) -> str:
    """Form value that identifies the table."""
    return f"{record} {table.frame_seq}"


def _colours_in_play(setup: Setup) -> tuple[str, ...]:
    """The players' colours and the target's, if there is one; without duplicates."""
    return tuple(dict.fromkeys((*setup.game.colours, *filter(None, (setup.game.target,)))))


def pieces_as_read(table: Observation, setup: Setup) -> list[PieceCorrection]:
    """Every piece as it was read, plus a last entry for an undetected piece."""
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


def in_drawing_order(pieces: Sequence[PieceCorrection]) -> list[tuple[int, PieceCorrection]]:
    """Pieces with their numbers, in drawing order: those off the table first."""
    return sorted(enumerate(pieces), key=lambda numbered: numbered[1].there)


def view_box(pieces: Sequence[PieceCorrection], setup: Setup) -> tuple[float, float, float, float]:
    """The view box of the drawing, (x, y, width, height) of SVG.

    It contains the detected pieces with a margin of `AROUND_MM`, but little more than the table.
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
    """The top-view outline of a piece as SVG points; a leaning piece keeps the outline as read."""
    if piece.pose in POSES:
        solid: Solid = (upright if piece.pose == "upright" else lying)(
            setup.pieces[piece.size], piece.x_mm, piece.y_mm, piece.heading_deg
        )
    else:
        assert piece.index is not None, "only what was read leans"
        solid = table.pieces[piece.index].solid
    return " ".join(f"{x:.2f},{-y:.2f}" for x, y in solid.plan_mm())


def _correction(form: Mapping[str, str], number: int, read: PieceCorrection) -> PieceCorrection:
    """A piece from form fields; raises Refusal for an invalid place, size or pose."""
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
