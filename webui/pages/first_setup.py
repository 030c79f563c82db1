"""The page for the first set-up of a table, step by step."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Event

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from calibration.first_setup import STEPS, BoardChoice, Step
from calibration.sheets.catalogue import PAPER_NAMES
from table.errors import InputError, message_of
from table.messages import msg
from table.pieces import COLOURS
from table.printed_boards import printed_tables
from webui.api.routes import live_picture
from webui.interfaces import FirstSetUpPort, Next
from webui.pages.health import while_preparing
from webui.pages.sheets import sheet_answer
from webui.security.permissions import Access
from webui.security.ration import MOST_PICTURES_S, Ration
from webui.security.requests import Refusal
from webui.site import bare_app, guard_app

LETTER_COUNTRIES = re.compile(r"-(?:us|ca|mx|ph|cl|co|ve)\b", re.IGNORECASE)
"""Browser languages of countries that use Letter paper."""
MOST_COLOURS = 6


def create_first_set_up_app(
    first: FirstSetUpPort,
    save: Callable[[], None],
    leave: Callable[[Next], None],
    access: Access,
    hosts: Collection[str] = (),
) -> Flask:
    """The page, at /.

    `save` stores the table, or raises InputError; `leave` ends the set-up after the page was sent,
    and gets the next action.
    """
    app = bare_app(hosts, api=False)
    guard_app(app, access)
    app.register_blueprint(_routes(first, save, leave))
    app.register_blueprint(while_preparing(msg("The table is being set up on its page.")))
    app.register_blueprint(_pictures(first))
    return app


def _routes(
    first: FirstSetUpPort, save: Callable[[], None], leave: Callable[[Next], None]
) -> Blueprint:
    routes = Blueprint("set_up", __name__)
    page = _Page(first, secrets.token_hex(8))

    def does(path: str, act: Callable[[], object]) -> None:
        def view() -> AnyResponse:
            if refused := page.refused(act):
                return refused
            return redirect(url_for("set_up.show"), 303)

        routes.add_url_rule(path, path[1:], view, methods=["POST"])

    routes.add_url_rule("/", "show", page.show)
    does("/camera", lambda: first.choose_camera(request.form.get("spec", "")))
    does("/sheet", lambda: first.choose_sheet(request.form.get("sheet", "")))
    does("/printed", lambda: first.printed(board_of(request.form)))
    does("/measure", first.measure)
    does("/back", lambda: first.back(_step(request.form.get("step", ""))))

    @routes.post("/save")
    def keep() -> AnyResponse:
        then: Next = "play" if request.form.get("then") == "play" else "home"
        if refused := page.refused(save):
            return refused
        page.saved.set()
        done: Response = make_response(page.show())
        done.call_on_close(lambda: leave(then))
        return done

    return routes


@dataclass(frozen=True, slots=True)
class _Page:
    """Renders the page, and tracks whether the table is saved."""

    first: FirstSetUpPort
    instance: str
    saved: Event = field(default_factory=Event)

    def show(self, notice: str = "") -> str:
        """The page, with an optional notice."""
        now, tables = self.first.look(), printed_tables()
        return render_template(
            "first_setup.html",
            now=now,
            saved=self.saved.is_set(),
            steps=STEPS,
            done=STEPS.index(now.step),
            tables=tables,
            table=tables[now.board.sheet] if now.board else None,
            papers=sorted(PAPER_NAMES, key=lambda name: name != usual_paper()),
            colours=COLOURS,
            most=MOST_COLOURS,
            notice=notice,
            instance=self.instance,
            token=current_app.config["FORM_TOKEN"],
        )

    def refused(self, act: Callable[[], object]) -> Response | None:
        """Run an action; on failure the page with the reason, else None."""
        try:
            act()
        except InputError as error:
            response: Response = make_response(self.show(message_of(error)))
            response.status_code = 409
            return response
        return None


def _step(name: str) -> Step:
    """The step with this name; raises Refusal for an unknown one."""
    step = next((one for one in STEPS if one == name), None)
    if step is None:
        message = msg("Expected {raw}; nothing was done.", raw=", ".join(STEPS))
        raise Refusal(400, "bad_step", message)
    return step


def _pictures(first: FirstSetUpPort) -> Blueprint:
    """Routes of camera pictures and printable sheets, for hosts."""
    routes, ration = Blueprint("first", __name__), Ration(MOST_PICTURES_S)

    @routes.get("/cameras/<seq:number>.jpg")
    def thumbnail(number: int) -> AnyResponse:
        cameras = first.look().cameras
        return live_picture(
            ration, lambda: first.jpeg(cameras[number].spec) if number < len(cameras) else None
        )

    @routes.get("/camera.jpg")
    def camera() -> AnyResponse:
        return live_picture(ration, first.jpeg)

    @routes.get("/checked.jpg")
    def checked() -> AnyResponse:
        return live_picture(ration, first.checked)

    @routes.get("/print/<sheet>-<paper>.pdf")
    def sheet(sheet: str, paper: str) -> AnyResponse:
        return sheet_answer(sheet, paper)

    return routes


def usual_paper() -> str:
    """The usual paper for the browser's language."""
    first = request.headers.get("Accept-Language", "").partition(",")[0]
    return "Letter" if LETTER_COUNTRIES.search(first) else "A4"


def board_of(form: Mapping[str, str]) -> BoardChoice:
    """The printed board in a form; raises InputError unless the bar is a length."""
    bar = form.get("bar_mm", "").strip().replace(",", ".")
    if not re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,3})?", bar):
        raise InputError(
            msg("The bar: expected a length in mm, such as 99.6, got '{raw}'.", raw=bar[:40])
        )
    colours = [form.get(f"colour {number}", "") for number in range(1, MOST_COLOURS + 1)]
    return BoardChoice(
        form.get("sheet", ""),
        float(bar),
        tuple(colour for colour in colours if colour),
        form.get("target", ""),
    )
