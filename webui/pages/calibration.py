"""Pages of calibrations: a lens with its target, and a board's corners by hand."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from table.messages import msg
from webui.api.routes import picture
from webui.interfaces import CornersPort, LensPort
from webui.security.codes import Codes
from webui.security.permissions import Access
from webui.security.requests import Refusal
from webui.site import bare_app, guard_app

CORNERS = ("far left", "far right", "near right", "near left")


def create_lens_app(
    lens: LensPort, hosts: Collection[str] = (), access: Access | None = None
) -> Flask:
    """The page of a lens calibration, for hosts; `access` as in `create_app`."""
    return _app(lens_pages(lambda: lens, "", secrets.token_hex(8)), hosts, access)


def lens_pages(lens: Callable[[], LensPort | None], at: str, instance: str) -> Blueprint:
    """The routes of the running lens calibration, if any.

    Its page is at the path `at`, with a link back to /.
    """
    routes = Blueprint("guide", __name__)

    def begun() -> LensPort:
        if (now := lens()) is None:
            raise Refusal(404, "no_lens", msg("No lens calibration is running."))
        return now

    @routes.get(at or "/")
    def page() -> str:
        return render_template(
            "lens.html",
            now=begun().look(),
            back=at != "",
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
        )

    @routes.get("/api/v1/lens")
    def state() -> Response:
        return jsonify(asdict(begun().look()))

    @routes.get("/api/v1/camera.jpg")
    def camera() -> AnyResponse:
        return picture(begun().jpeg(), msg("No picture from the camera yet."))

    @routes.post(f"{at}/end")
    def end() -> AnyResponse:
        begun().end()
        return redirect(url_for("guide.page"), 303)

    return routes


def create_corners_app(
    table: CornersPort, hosts: Collection[str] = (), access: Access | None = None
) -> Flask:
    """The page for dragging the board's corners to their places in a photograph, for hosts.

    `access` as in `create_app`.
    """
    routes, instance = Blueprint("guide", __name__), secrets.token_hex(8)

    @routes.get("/")
    def page() -> str:
        return _page()

    @routes.get("/api/v1/corners")
    def state() -> Response:
        return jsonify(asdict(table.look()))

    @routes.get("/api/v1/camera.jpg")
    def photograph() -> AnyResponse:
        return picture(table.jpeg(), msg("There is no photo."))

    @routes.post("/corners")
    def put() -> AnyResponse:
        try:
            if not table.put([_corner(request.form, name) for name in CORNERS]):
                raise Refusal(
                    409,
                    "not_now",
                    msg(
                        "Expected each of the four corners once, inside the photo;"
                        " nothing was done."
                    ),
                )
        except Refusal as refusal:
            response: Response = make_response(_page(refusal.message))
            response.status_code = refusal.status
            return response
        return redirect(url_for("guide.page"), 303)

    def _page(notice: str = "") -> str:
        now = table.look()
        corners = list(zip(CORNERS, now.corners_px, strict=True))
        return render_template(
            "corners.html",
            now=now,
            corners=corners,
            notice=notice,
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
        )

    return _app(routes, hosts, access)


def _app(routes: Blueprint, hosts: Collection[str], access: Access | None) -> Flask:
    app = bare_app(hosts)
    guard_app(app, access or Access(Codes()))
    app.register_blueprint(routes)
    return app


def _corner(form: Mapping[str, str], name: str) -> tuple[float, float]:
    """A corner (x, y) in pixels from a form field such as `412, 96.5`."""
    text = form.get(name, "")
    number = r"\s*(-?[0-9]{1,5}(?:\.[0-9]{1,3})?)\s*"
    if not (match := re.fullmatch(f"{number},{number}", text)):
        raise Refusal(
            400,
            "bad_corner",
            msg(
                "Expected the {corner} corner as x, y in pixels, such as 412, 96.5, got '{raw}';"
                " nothing was done.",
                corner=name,
                raw=text[:40],
            ),
        )
    return float(match[1]), float(match[2])
