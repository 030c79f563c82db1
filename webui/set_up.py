"""The page on which a session is set up: what is known of the table, then game, players and options."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Mapping

from flask import Blueprint, Flask, Response, current_app, make_response, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from referee.opening import parse_names
from referee.setting_up import Choice, options, playable
from table.errors import InputError
from webui.access import Access
from webui.app import bare_app, guarded
from webui.guard import Refusal
from webui.host import table_facts
from webui.ports import SetUpPort

PLAYS, PLACE, NAME, RULING = "plays ", "place ", "name ", "ruling "
"""Form fields begin with these; what follows is a colour, or an option of the game."""


def create_set_up_app(setting: SetUpPort, access: Access, hosts: Collection[str] = ()) -> Flask:
    """The page of a session that is being set up, at /; hosts fill it in, others see that it goes on."""
    routes, instance = Blueprint("set_up", __name__), secrets.token_hex(8)

    @routes.get("/")
    @routes.get("/play")
    def page() -> str:
        return _page(request.args.get("game", setting.setup.game.name))

    @routes.post("/begin")
    def begin() -> AnyResponse:
        try:
            setting.begin(choice(request.form, setting.setup.game.colours))
        except InputError as error:
            refused: Response = make_response(_page(request.form.get("game", ""), str(error)))
            refused.status_code = 409
            return refused
        return redirect("/", 303)

    def _page(game: str, notice: str = "") -> str:
        games = playable(setting.setup)
        chosen = game if games.get(game) == "" else next((name for name, why in games.items() if not why), "")
        return render_template(
            "set_up.html",
            begun=setting.look(),
            games=games,
            chosen=chosen,
            rulings=options(chosen) if chosen else (),
            facts=table_facts(setting.setup),
            colours=setting.setup.game.colours,
            form=request.form,
            notice=notice,
            instance=instance,
            token=current_app.config["FORM_TOKEN"],
        )

    app = bare_app(hosts)
    guarded(app, access)
    app.register_blueprint(routes)
    return app


def choice(form: Mapping[str, str], colours: Collection[str]) -> Choice:
    """What a form chose; raises InputError or Refusal where it makes no sense."""
    players = sorted((colour for colour in colours if PLAYS + colour in form), key=lambda colour: _place(form.get(PLACE + colour, "")))
    names = [f"{colour}={name}" for colour in players if (name := form.get(NAME + colour, "").strip())]
    rulings = {name.removeprefix(RULING): value for name, value in form.items() if name.startswith(RULING)}
    return Choice(form.get("game", ""), tuple(players), rulings, parse_names(",".join(names)) if names else {})


def _place(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,3}", text):
        raise Refusal(400, "bad_place", f"Expected a place in the order of turns, such as 1, got {text[:40]!r}; nothing was done.")
    return int(text)
