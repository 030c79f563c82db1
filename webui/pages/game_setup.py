"""The page for setting up a session: the table's state, then game, players and options."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping

from flask import Blueprint, Flask, current_app, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from calibration.sheets.catalogue import PAPER_NAMES, SHEETS
from calibration.wizard import JOBS
from referee.live.game_setup import Choice, beginnings, options, playable, strengths
from referee.sessions.start import parse_computers, parse_names
from table.errors import InputError, message_of
from table.messages import msg
from webui.api.routes import live_picture
from webui.interfaces import SetUpPort, TablePort
from webui.pages.calibration import lens_pages
from webui.pages.health import while_preparing
from webui.pages.host import table_facts
from webui.pages.sheets import sheet_answer
from webui.security.permissions import Access
from webui.security.ration import MOST_PICTURES_S, Ration
from webui.security.requests import Refusal
from webui.site import bare_app, guard_app

PLAYS, PLACE, NAME, COMPUTER, RULING = "plays ", "place ", "name ", "computer ", "ruling "
"""Prefixes of form fields; a colour, or an option of the game, follows."""
SET_UP = msg("The game is being set up on its page.")


def create_set_up_app(
    setting: SetUpPort, table: TablePort, access: Access, hosts: Collection[str] = ()
) -> Flask:
    """The page for setting up a session, at /.

    Hosts prepare the table and fill in the form; others see the progress.
    """
    routes, instance = Blueprint("set_up", __name__), secrets.token_hex(8)

    @routes.get("/")
    @routes.get("/play")
    def page() -> str:
        return _page(request.args.get("game", table.setup.game.name))

    @routes.post("/begin")
    def begin() -> AnyResponse:
        try:
            setting.begin(choice(request.form, table.setup.game.colours))
        except InputError as error:
            game = request.form.get("game", "")
            return make_response(_page(game, message_of(error)), 409)
        return redirect("/", 303)

    def _page(game: str, notice: str = "") -> str:
        games = playable(table.setup)
        chosen = (
            game
            if games.get(game) == ""
            else next((name for name, why in games.items() if not why), "")
        )
        return render_template(
            "set_up.html",
            begun=setting.look(),
            games=games,
            chosen=chosen,
            rulings=options(chosen) if chosen else (),
            beginnings=beginnings(chosen),
            strengths=strengths(chosen),
            steps=table.steps(),
            frame_seq=table.frame_seq,
            lens=table.setup.camera,
            sheets=SHEETS,
            papers=PAPER_NAMES,
            facts=table_facts(table.setup),
            colours=table.setup.game.colours,
            form=request.form,
            notice=notice,
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
        )

    app = bare_app(hosts)
    guard_app(app, access)
    lens, well = lens_pages(lambda: table.lens, "/lens", instance), while_preparing(SET_UP)
    for part in (routes, well, making_ready(table), lens):
        app.register_blueprint(part)
    return app


def making_ready(table: TablePort) -> Blueprint:
    """Routes for the table's state, and for the steps that prepare it."""
    routes, pictures = Blueprint("table", __name__), Ration(MOST_PICTURES_S)

    @routes.post("/table")
    def make_ready() -> AnyResponse:
        job = next((one for one in JOBS if one == request.form.get("job")), None)
        if job is None:
            raise Refusal(
                400, "bad_job", msg("Expected {raw}; nothing was done.", raw=", ".join(JOBS))
            )
        try:
            table.request_job(job)
        except InputError as error:
            raise Refusal(409, "not_now", message_of(error)) from error
        return redirect("/lens" if job == "lens" else "/", 303)

    @routes.get("/table.jpg")
    def camera() -> AnyResponse:
        return live_picture(pictures, table.jpeg)

    @routes.get("/print/<sheet>-<paper>.pdf")
    def sheet(sheet: str, paper: str) -> AnyResponse:
        return sheet_answer(sheet, paper)

    return routes


def choice(form: Mapping[str, str], colours: Collection[str]) -> Choice:
    """The choice in a form; raises InputError or Refusal for an invalid one."""
    players = sorted(
        (colour for colour in colours if PLAYS + colour in form),
        key=lambda colour: _place(form.get(PLACE + colour, "")),
    )
    names = [
        f"{colour}={name}" for colour in players if (name := form.get(NAME + colour, "").strip())
    ]
    rulings = {
        name.removeprefix(RULING): value for name, value in form.items() if name.startswith(RULING)
    }
    computers = [
        f"{colour}:{strength}"
        for colour in players
        if (strength := form.get(COMPUTER + colour, "")) and strengths(form.get("game", ""))
    ]
    begins = form.get("begins", "hand")
    return Choice(
        form.get("game", ""),
        tuple(players),
        rulings,
        parse_names(",".join(names)) if names else {},
        "" if begins == "hand" else begins,
        parse_computers(computers),
    )


def _place(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text):
        raise Refusal(
            400,
            "bad_place",
            msg(
                "Expected a place in the order of turns, such as 1, got '{raw}'; nothing was done.",
                raw=text[:40],
            ),
        )
    return int(text)
