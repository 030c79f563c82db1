"""The players' guide of docs/guide, served offline at /help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from flask import Blueprint, abort, render_template, url_for
from flask.blueprints import BlueprintSetupState
from markupsafe import Markup
from werkzeug.wrappers import Response

from table.games import found_games, package_of, package_text
from table.plugins import log_broken

GUIDE = Path(__file__).parents[1] / "guide"
FIRST = ("first-game", "measure", "troubleshooting", "buy", "build", "install")
PAGES = (*FIRST, *sorted({path.stem for path in GUIDE.glob("*.md")} - set(FIRST)))
"""Names of the guide's files in listed order: general pages, then one per game.

Games of other packages follow: see `games_pages`.
"""
GAME_PAGE = "guide.md"
"""File name of a game's page in the game's own package."""
DRAWINGS = frozenset(path.stem for path in GUIDE.glob("*.svg"))
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)]*)\)")


def help_pages() -> Blueprint:
    """The routes of the guide; applications with these routes link to it."""
    routes = Blueprint("help", __name__)

    @routes.record_once
    def offered(state: BlueprintSetupState) -> None:
        state.app.jinja_env.globals["has_help"] = True

    @routes.get("/help")
    @routes.get("/help/<name>")
    def page(name: str = PAGES[0]) -> str:
        names = (*PAGES, *games_pages())
        if name not in names:
            abort(404)
        titles = {one: heading(one) for one in names}
        return render_template("help.html", name=name, titles=titles, text=as_html(name))

    @routes.get("/help/<name>.svg")
    def drawing(name: str) -> Response:
        if name not in DRAWINGS:
            abort(404)
        return Response((GUIDE / f"{name}.svg").read_bytes(), mimetype="image/svg+xml")

    return routes


@cache
def games_pages() -> Mapping[str, str]:
    """Guide pages of other packages' games, by the game's name with dashes."""
    texts = {}
    for name, game in found_games().games.items():
        try:
            texts[name.replace("_", "-")] = package_text(game, GAME_PAGE)
        except ValueError as error:
            log_broken("the guide of", name, package_of(game), error)
    return {name: text for name, text in texts.items() if text and name not in PAGES}


@cache
def heading(name: str) -> str:
    """The title of a page of the guide."""
    return _source(name).partition("\n")[0].removeprefix("# ")


def as_html(name: str) -> Markup:
    """A page of the guide without its title."""
    from markdown_it import MarkdownIt

    text = LINK.sub(_link, _source(name).partition("\n")[2])
    drawn = re.sub(r"!\[([^\]]*)\]\(([\w-]+\.svg)\)", rf"![\1]({url_for('help.page')}/\2)", text)
    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(drawn)
    return Markup(
        html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    )


def _source(name: str) -> str:
    if name in games_pages():
        return games_pages()[name]
    return (GUIDE / f"{name}.md").read_text(encoding="utf-8")


def _link(found: re.Match[str]) -> str:
    """Rewrite a link: keep those to the guide or within the page, reduce others to text."""
    said, target = found.groups()
    name, dot, anchor = target.partition(".md")
    if dot and name in PAGES:
        return f"[{said}]({url_for('help.page', name=name)}{anchor})"
    return found.group() if target.startswith("#") else said
