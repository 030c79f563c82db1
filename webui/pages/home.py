"""The home page: play, try it, sessions, set up, devices. Games run in processes of their own."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, get_args

from flask import Blueprint, Flask, current_app, redirect, render_template, request, url_for
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from table.errors import InputError, message_of
from table.messages import msg
from webui.interfaces import Activity, HomePort
from webui.pages.health import Health, health_pages, home_metrics
from webui.pages.help import help_pages
from webui.security.incoming import LARGER_BODIES, MOST_UPLOAD_BYTES
from webui.security.permissions import Access
from webui.security.requests import Refusal, error
from webui.site import bare_app, guard_app

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

MEASURE = "/measure"
"""Path of the page that measures a photograph; its card is shown if `others` has the page."""


def create_home_app(
    home: HomePort,
    access: Access,
    hosts: Collection[str] = (),
    others: Mapping[str, Callable[[], Flask]] | None = None,
) -> Flask:
    """The home page, at /.

    `others` maps the first part of a path to a factory of an application, which is loaded on first
    use: `{"/sessions": ...}`.
    """
    app = bare_app(hosts, api=False)
    guard_app(app, access)
    app.register_blueprint(_routes(home, MEASURE if others and MEASURE in others else ""))
    app.register_blueprint(help_pages())
    app.register_blueprint(health_pages(lambda: _health(home), home_metrics))
    app.jinja_env.globals["is_home"] = True
    app.register_error_handler(NotFound, _go_home)
    if others and MEASURE in others:
        app.config[LARGER_BODIES] = {MEASURE: MOST_UPLOAD_BYTES}
    _load_in_background(app, others or {})
    return app


def _routes(home: HomePort, measure: str) -> Blueprint:
    routes, instance = Blueprint("home", __name__), secrets.token_hex(8)

    def shown(template: str, **more: Any) -> str:
        return render_template(
            template, now=home.look(), instance=instance, token=current_app.config["FORM_TOKEN"],
            **more,
        )  # fmt: skip

    @routes.get("/")
    def page() -> str:
        return shown("home.html", games=home.games(), taught=home.taught(), measure=measure)

    @routes.get("/devices")
    def devices() -> str:
        return shown("devices.html", devices=home.devices())

    @routes.get("/devices/picture.jpg")
    def picture() -> Response:
        jpeg = home.picture(request.args.get("camera", ""))
        if jpeg is None:  # an image, because browsers show an error page as a broken one
            drawing = current_app.send_static_file("no-picture.svg")
            drawing.status_code = 404
            return drawing
        return Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    @routes.post("/start")
    def start() -> Response:
        activity = request.form.get("activity", "")
        if activity not in get_args(Activity):
            raise Refusal(
                400,
                "bad_activity",
                msg(
                    "Expected {raw}; nothing was done.", raw=", ".join(get_args(Activity))
                ),
            )  # fmt: skip
        try:
            home.start(activity, request.form.get("game", ""))  # type: ignore[arg-type]
        except InputError as error:
            raise Refusal(409, "not_now", message_of(error)) from error
        return redirect(url_for("home.page"), 303)

    @routes.post("/cancel")
    def cancel() -> Response:
        home.cancel()
        return redirect(url_for("home.page"), 303)

    @routes.post("/shut-down")
    def shut_down() -> Response:
        home.shut_down()
        return current_app.make_response(shown("home.html", games=(), taught=(), measure=""))

    return routes


def _health(home: HomePort) -> Health:
    now = home.look()
    if now.over:
        return Health(False, msg("Rinkside is shutting down."))
    if now.starting is not None:
        return Health(True, msg("A game is starting."))
    return Health(True, msg("The home page is open; no game is running."))


def _go_home(_error: NotFound) -> Response:
    """Redirect pages of an ended game to the home page; programs get 404."""
    if request.method == "GET" and not request.path.startswith("/api/"):
        return redirect(url_for("home.page"), 303)
    return error(404, "not_found", msg("There is nothing here; no game is running."))


def _load_in_background(app: Flask, others: Mapping[str, Callable[[], Flask]]) -> None:
    """Dispatch paths to other applications, each of which is made on its first request."""
    own, made = app.wsgi_app, dict[str, Flask]()

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Any:
        first = f"/{environ.get('PATH_INFO', '').lstrip('/').partition('/')[0]}"
        if first not in others:
            return own(environ, start_response)
        if first not in made:
            made[first] = others[first]()
            made[first].config["FORM_TOKEN"] = app.config["FORM_TOKEN"]
        return made[first].wsgi_app(environ, start_response)

    app.wsgi_app = answer  # type: ignore[method-assign]
