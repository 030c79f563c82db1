"""The page of a ruling: picture, rule, evidence, and a button for each alternative."""

from __future__ import annotations

from flask import Blueprint, current_app, render_template, url_for

from referee.sessions.events import Choice
from table.messages import msg
from webui.api.routes import offered
from webui.interfaces import SessionPort
from webui.pages.phone import OBJECTED_TO
from webui.security.login import visitor
from webui.security.requests import Refusal


def ruling(session: SessionPort) -> Blueprint:
    """The route of a ruling, where hosts replace it and players appeal."""
    routes = Blueprint("ruling", __name__, url_prefix="/ruling")

    @routes.get("/<seq:seq>")
    def page(seq: int) -> str:
        view, who = session.view(), visitor()
        ruled = next(
            (row for row in view.verdicts if row.seq == seq and row.kind in OBJECTED_TO), None
        )
        if ruled is None:
            raise Refusal(
                404,
                "no_ruling",
                msg("Record {n} is not one of the newest rulings of this session.", n=seq),
            )
        instead: tuple[Choice, ...] = ()
        refusal = ""
        if who.role == "host" or who.seat:
            try:
                instead = offered(session, seq)
            except Refusal as refused:
                refusal = refused.message
        return render_template(
            "ruling.html",
            view=view,
            v=ruled,
            frame=ruled.frame or ruled.refers_to,
            frame_url=lambda number: url_for("api.frame", seq=number),
            appeals=[appeal for appeal in view.appeals if appeal.appeals == seq],
            instead=instead,
            refusal=refusal,
            token=current_app.config["FORM_TOKEN"],
        )

    return routes
