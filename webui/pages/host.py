"""The host's page: the table's code to join by, seats, new codes, devices, the table's facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import segno
from flask import (
    Blueprint,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from table.boards import Chessboard, Coasters, Hex, Open, Tiles
from table.messages import Message, in_a_row, msg, phrase
from table.table_config import Setup
from webui.addresses import url_for_phones
from webui.interfaces import LivePort, SessionPort
from webui.security.login import COOKIE, keep, visitor
from webui.security.permissions import Access
from webui.security.requests import Refusal, incoming
from webui.security.seats import Seats

Devices = Callable[[], Mapping[str, str]]
"""Fault of each connected part, by its name; empty if it works."""


KINDS: dict[type, Message] = {
    Open: phrase("open ground"),
    Chessboard: phrase("chessboard"),
    Hex: phrase("hexagons"),
    Coasters: phrase("coasters"),
    Tiles: phrase("tiles"),
}


def host(
    session: SessionPort,
    live: LivePort,
    access: Access,
    seats: Seats,
    address: Callable[[], str],
    devices: Devices,
) -> Blueprint:
    """The routes for hosts only.

    `address` returns the panel's current address for phones; empty if there is none.
    """
    page = _HostPage(session, live, access, seats, address, devices)
    routes = Blueprint("host", __name__, url_prefix="/host")
    routes.add_url_rule("", "page", page.show)
    routes.add_url_rule("/free", "free", page.free_seat, methods=["POST"])
    routes.add_url_rule("/code", "code", page.renew_code, methods=["POST"])
    return routes


@dataclass(frozen=True, slots=True)
class _HostPage:
    """State of the page; public methods answer requests."""

    session: SessionPort
    live: LivePort
    access: Access
    seats: Seats
    address: Callable[[], str]
    devices: Devices

    def show(self) -> str:
        return self._page()

    def free_seat(self) -> AnyResponse:
        self.seats.free(request.form.get("seat", ""), by="the host")
        return redirect(url_for("host.page"), 303)

    def renew_code(self) -> AnyResponse:
        """Create a new code; this logs out holders of the old one, except the requesting host."""
        match request.form.get("which", ""):
            case "table":
                return self._renew_table_code()
            case "host":
                return self._renew_host_code()
            case other:
                raise Refusal(
                    400,
                    "bad_code",
                    msg(
                        "Expected the code of the host or the table, got '{raw}'; nothing was"
                        " done.",
                        raw=other[:40],
                    ),
                )

    def _renew_table_code(self) -> AnyResponse:
        self.access.codes.renew("table")
        others = (colour for colour in self.seats.held() if colour != visitor().seat)
        self.seats.free(*others, by="the host")
        return redirect(url_for("host.page"), 303)

    def _renew_host_code(self) -> AnyResponse:
        """The page with the new code, which is shown only once."""
        response: Response = make_response(self._page(self.access.codes.renew("host")))
        return keep(response, self.access.renewed(request.cookies.get(COOKIE, "")))

    def _page(self, new_host_code: str = "") -> str:
        base, table_code = _base(self.address()), self.access.codes.now.table
        return render_template(
            "host.html",
            view=self.session.view(),
            held=self.seats.held(),
            table_code=table_code,
            fresh=new_host_code,
            base=base,
            qr=qr(f"{base}{url_for('join.page')}#{table_code}") if base else "",
            live=self.live.latest,
            devices=self.devices(),
            facts=table_facts(self.live.setup),
            token=current_app.config["FORM_TOKEN"],
        )


def table_facts(setup: Setup) -> list[tuple[str, Message]]:
    """Facts about the table and its camera, with their sources."""
    lens, game = setup.camera, setup.game
    learned = [colour.colour for colour in setup.learned_colours]
    lens_known = (
        phrase("first estimate, not calibrated yet")
        if lens.first_estimate
        else phrase("calibrated")
        if lens.covariance
        else phrase("not calibrated here; results may be off")
    )
    size_mm = setup.outline_mm().max(axis=0) - setup.outline_mm().min(axis=0)
    return [
        ("picture", Message(f"{lens.width} × {lens.height} px")),
        ("lens", lens_known),
        ("markers", Message(str(len(setup.fiducials.markers)))),
        (
            "board",
            phrase(
                "{text}, {n} × {n2} mm",
                text=KINDS[type(setup.board)],
                n=f"{size_mm[0]:.0f}",
                n2=f"{size_mm[1]:.0f}",
            ),
        ),
        (
            "colours",
            (
                phrase("learned in this light: {players}", players=in_a_row(learned, "colour"))
                if learned
                else phrase("as sold: {players}", players=in_a_row(setup.colours, "colour"))
            ),
        ),
        ("pieces", phrase("{sizes} ({raw})", sizes=in_a_row(game.sizes, "size"), raw=game.pieces)),
    ]


def qr(text: str) -> Markup:
    """A QR code as inline SVG with CSS classes and no inline style."""
    return Markup(
        segno.make(text, error="m", micro=False).svg_inline(
            border=3, omitsize=True, svgclass="qr", lineclass=None
        )
    )


def _base(address: str) -> str:
    """The panel's URL for phones, the same as in the terminal."""
    named = incoming().named
    if named is None or not request.host:
        return address
    return url_for_phones(address, request.host_url.rstrip("/"), named.name)
