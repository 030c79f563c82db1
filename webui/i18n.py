"""Localisation of pages: texts by gettext, numbers by the language's format.

Templates mark their own texts with `_`, `ngettext` and `{% trans %}`.  Texts from other packages
(verdicts, refusals, colours, states) are English in the code and the log; they pass through
`localized`, or through `word` where markup is not allowed.  Answers to programs are in English.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Blueprint, Flask, current_app, g, redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from referee.presentation.announcements import announcement_in
from referee.presentation.session_view import Decision
from table.game_words import MESSAGE
from table.languages import (
    Language,
    capital,
    catalogue,
    decimals,
    split_sentences,
    translated,
    translation,
)
from table.messages import SENTENCES, Listing, Message, Plain
from webui.filters import clauses_in_words

LANGUAGES = {"en": "English", "de": "Deutsch", "es": "Español"}
"""Native names by code; the first is the source language."""
COOKIE, COOKIE_S = "language", 365 * 24 * 3600


def speak(app: Flask) -> None:
    """Translate the templates of `app` to the visitor's language, which any page can change."""
    jinja = app.jinja_env
    jinja.add_extension("jinja2.ext.i18n")
    jinja.policies["ext.i18n.trimmed"] = True
    jinja.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        lambda text: catalogue(language()).gettext(text),
        lambda one, many, count: catalogue(language()).ngettext(one, many, count),
        newstyle=True,
        pgettext=lambda context, text: catalogue(language()).pgettext(context, text),
    )
    jinja.filters.update(
        localized=localized, word=word, called=called, cited=cited, capital=capital, number=number
    )
    app.context_processor(lambda: {"language": language(), "languages": LANGUAGES})
    app.register_blueprint(_routes())


def language() -> Language:
    """Language code for the answer to the current request.

    It is the one chosen on a page, else the best match of Accept-Language.
    """
    if "language" not in g:
        chosen = request.cookies.get(COOKIE, "")
        g.language = (
            chosen
            if chosen in LANGUAGES
            else request.accept_languages.best_match(LANGUAGES, default="en")
        )
    code: Language = g.language
    return code


def localized(text: str) -> str | Markup:
    """Texts from other packages in the language of the page.

    Texts without a translation are marked as English.
    """
    if isinstance(text, Message) and not isinstance(text.content, Plain):
        return _message(text)
    if (whole := translated(text, language())) is not None:
        return whole
    each = [(one, translated(one, language())) for one in split_sentences(text)]
    return Markup(" ").join(
        found if found is not None else Markup('<span lang="en">{}</span>').format(one)
        for one, found in each
    )


def _message(message: Message) -> str | Markup:
    """A message in the language of the page; `localized` handles parts without a template."""
    content, code = message.content, language()
    if isinstance(content, Listing) and content.joint == SENTENCES:
        return Markup(" ").join(_message(Message(item)) for item in content.items)
    if isinstance(content, Plain):
        return localized(content.text)
    return translation(message, code)


def word(text: str, context: str = MESSAGE) -> str:
    """As `localized`, as plain text: for attributes, drawings and lists of options.

    Words of other contexts are looked up unchanged.
    """
    return translation(text, language(), context)


def called(verdict: Decision) -> dict[str, str]:
    """A verdict's spoken call (`call`), and its language code (`lang`)."""
    words, code = announcement_in(verdict, language())
    return {"call": words, "lang": code}


def number(value: float, places: int = 0) -> str:
    """A number with `places` decimals and the language's decimal separator."""
    return decimals(f"{value:.{places}f}", language())


def cited(rests_on: str) -> str:
    """A verdict's rules; sections keep the names of the printed rules."""
    return word(clauses_in_words(rests_on))


def _routes() -> Blueprint:
    routes = Blueprint("language", __name__)

    @routes.post("/language")
    def choose() -> Response:
        """Store a language in a cookie, and redirect to the page that it was chosen on.

        An unknown language resets the choice to the browser's own.
        """
        code = request.form.get("language", "")
        try:
            page = urlsplit(request.referrer or "")
        except ValueError:  # brackets without an address
            page = urlsplit("")
        back = current_app.url_map.bind("").test(page.path, "GET")
        response = redirect(
            f"/{page.path.lstrip('/')}?{page.query}".rstrip("?") if back else "/", 303
        )
        if code in LANGUAGES:
            response.set_cookie(
                COOKIE,
                code,
                max_age=COOKIE_S,
                httponly=True,
                samesite="Strict",
                secure=request.is_secure,
            )
        else:
            response.delete_cookie(COOKIE, httponly=True, samesite="Strict")
        return response

    return routes
