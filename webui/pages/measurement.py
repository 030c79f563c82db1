"""The ruler's page: all gaps ranked, each with its ±."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from flask import Blueprint, Flask, Response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from referee.presentation.view_model import ranked
from table.messages import msg
from table.observation_document import Measurement, to_document
from webui.api.answers import MeasurementNow, json_answer
from webui.api.routes import picture
from webui.interfaces import RulerPort
from webui.site import bare_app
from webui.svg.board import draw


def create_ruler_app(ruler: RulerPort, hosts: Collection[str] = ()) -> Flask:
    """The page of a ruler, at / and /ruler."""
    routes, instance = Blueprint("ruler", __name__), secrets.token_hex(8)

    @routes.get("/")
    @routes.get("/ruler")
    def page() -> str:
        now = ruler.latest
        near = request.args.get("view") == "near"
        seen = to_document(now.observation) if now.observation else None
        rows = ranked(now.measurement)
        drawing = draw(ruler.setup, seen, rows, near)
        view = {"ranking": rows, "state": {}}
        return render_template(
            "ruler.html",
            now=now,
            view=view,
            drawing=drawing,
            near=near,
            lens=ruler.setup.camera,
            instance=instance,
        )

    @routes.get("/api/v1/measurement")
    def measurement() -> Response:
        now = ruler.latest
        measured = now.measurement or Measurement()
        return json_answer(
            MeasurementNow(
                status=now.status,
                message=now.message,
                frame_seq=now.frame_seq,
                at_ms=now.at_ms,
                gaps=measured.gaps,
                call=measured.call,
            )
        )

    @routes.get("/api/v1/camera.jpg")
    def camera() -> AnyResponse:
        return picture(ruler.jpeg(), msg("No picture from the camera yet."))

    app = bare_app(hosts)
    app.register_blueprint(routes)
    return app
