"""The ruler's page: every gap ranked with its ±, and nothing else."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from typing import Any

from flask import Blueprint, Flask, Response, jsonify, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from table.messages import msg
from table.observation import observation_document
from webui.api.routes import picture
from webui.app import bare_app
from webui.interfaces import RulerPort
from webui.svg.board import draw


def create_ruler_app(ruler: RulerPort, hosts: Collection[str] = ()) -> Flask:
    """The page of a ruler, at / and /ruler."""
    routes, instance = Blueprint("ruler", __name__), secrets.token_hex(8)

    @routes.get("/")
    @routes.get("/ruler")
    def page() -> str:
        now = ruler.latest
        near = request.args.get("view") == "near"
        seen = observation_document(now.observation) if now.observation else None
        rows = (
            [{"place": place, **gap} for place, gap in enumerate(now.measurement["gaps"], 1)]
            if now.measurement
            else []
        )
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
        document: dict[str, Any] = now.measurement or {"gaps": [], "call": None}
        return jsonify(
            {"status": now.status, "said": now.said, "frame_seq": now.frame_seq, "at_ms": now.at_ms}
            | document
        )

    @routes.get("/api/v1/camera.jpg")
    def camera() -> AnyResponse:
        return picture(ruler.jpeg(), msg("The camera has given no picture yet."))

    app = bare_app(hosts)
    app.register_blueprint(routes)
    return app
