"""Everything that people read is marked for translation, and every catalogue has it."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Message
from babel.messages.mofile import read_mo, write_mo
from jinja2 import Environment, nodes

import webui
from table.languages import TRANSLATIONS
from tools.catalogues import catalogue, texts
from webui.i18n import LANGUAGES

ROOM = Path(webui.__file__).parent
TEMPLATES = sorted(path for path in ROOM.rglob("templates/**/*") if path.is_file())
MARKING = {"_", "gettext", "ngettext", "pgettext"}
TRANSLATING = {"localized", "word", "cited"}
READ = {"aria-label", "aria-valuetext", "alt", "title", "placeholder"}
"""Attributes that people read or hear."""
IN_EVERY_LANGUAGE = {"Rinkside", "mm", "px", "min", "XXXX", "CSV", "JSON"}
CODES = sorted(set(LANGUAGES) - {"en"})


# ---- templates: what they write, with nothing of what is marked
# ------------------------------------------------------------


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d_]{2,}", text)) - IN_EVERY_LANGUAGE


def shown(node: nodes.Node) -> Iterator[str]:
    """The constants that an expression may write."""
    match node:
        case nodes.Const(value=str(text)):
            yield text
        case nodes.Call(node=nodes.Name(name=name)) if name in MARKING:
            return
        case nodes.Call():
            yield from (
                text for part in node.args for text in shown(part) if re.search(r"^[A-Z]|\s", text)
            )
        case nodes.Filter(name=name):
            if name not in TRANSLATING:
                yield from shown(node.node)
        case nodes.CondExpr():
            yield from (text for part in (node.expr1, node.expr2) if part for text in shown(part))
        case nodes.Dict():
            yield from (text for pair in node.items for text in shown(pair.value))
        case nodes.Getattr() | nodes.Getitem() | nodes.Compare():
            return
        case _:
            for part in node.iter_child_nodes():
                yield from shown(part)


def written(node: nodes.Node) -> Iterator[str]:
    """What a template writes, in its order; `0` where something stands that is handed in or
    marked.
    """
    match node:
        case nodes.TemplateData(data=data):
            yield data
        case nodes.Output():
            for part in node.nodes:
                yield from (
                    written(part)
                    if isinstance(part, nodes.TemplateData)
                    else (" ".join(shown(part)) or "0",)
                )
        case nodes.Assign(node=value):
            yield from (
                f"<p>{text}</p>" for text in shown(value) if re.search(r"^[A-Z][a-z]", text)
            )
        case nodes.For(iter=nodes.Tuple() as several):
            yield from (
                f"<p>{text}</p>" for text in shown(several) if re.search(r"^[A-Z][a-z]", text)
            )
            for part in node.body:
                yield from written(part)
        case nodes.Block(name="body_data"):
            yield f"<p {''.join(text for part in node.body for text in written(part))}></p>"
        case _:
            for part in node.iter_child_nodes():
                yield from written(part)


class Reader(HTMLParser):
    """Collects the words that people would read."""

    def __init__(self) -> None:
        super().__init__()
        self.unmarked: set[str] = set()

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in READ:
                self.unmarked |= words(value or "")

    def handle_data(self, data: str) -> None:
        self.unmarked |= words(data)


def unmarked(environment: Environment, source: str) -> set[str]:
    reader = Reader()
    reader.feed("".join(written(environment.parse(source))))
    reader.close()
    return reader.unmarked


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_unmarked_words(app, path):
    assert unmarked(app.jinja_env, path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    "source",
    [
        "<p>Your turn</p>",
        '<p aria-label="Your turn"></p>',
        "<p>{% if view %}{{ _('Good') }}{% else %}turn{% endif %}</p>",
        "<p>{{ 'turn' if view else _('Good') }}</p>",
        "<p>{{ _('Good') ~ ' turn' }}</p>",
        "<img alt=\"{{ 'turn' if view else 'Good' }}\">",
        "{% set label = {'a': 'Good turn'} %}",
        "{% for key, label in (('', 'Good turn'),) %}{{ label }}{% endfor %}",
        "{{ heading('Good turn') }}",
        "<p>{{ view.turn|default('turn') }}{{ 'turn'|capitalize }}</p>",
    ],
)
def test_a_word_that_is_not_marked_is_found(app, source):
    assert "turn" in unmarked(app.jinja_env, source)


@pytest.mark.parametrize(
    "source",
    [
        (
            "<p class=\"turn {{ 'good' if view }}\">{{ _('Your turn') }} {{ view.turn|localized }}"
            " 12 mm</p>"
        ),
        "{% trans n=view.n %}{{ n }} turn{% pluralize %}{{ n }} turns{% endtrans %}",
        "<p title=\"{{ _('Your turn') }}\">{{ 'turn'|word }}{{ view['turn'] }}</p>",
    ],
)
def test_a_word_that_is_marked_is_not(app, source):
    assert unmarked(app.jinja_env, source) == set()


@pytest.mark.parametrize("path", sorted(ROOM.glob("static/*.js")), ids=lambda path: path.name)
def test_scripts_say_nothing_of_their_own(path):
    code = re.sub(r"^\s*//.*$| // .*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    literals = [part or other for part, other in re.findall(r'"([^"\n]*)"|`([^`]*)`', code)]
    message = [
        text
        for text in literals
        if re.search(
            r"^[A-Z][a-z]+\W*$|[a-z]{2,}[,.;:]? [a-z]{2,}", re.sub(r"\$\{[^}]*\}", "0", text)
        )
    ]
    assert set(message) <= {
        "Accept",
        "input, select, textarea",
        "button, select, summary, a",
        ".board, .board-under",
        "#fix details",
        "at work",
        ".readings input",
        "Enter",
        "(prefers-reduced-motion: reduce)",
        "Delete",
    }


def test_style_sheets_say_nothing():
    for path in ROOM.glob("static/*.css"):
        assert not [
            text
            for text in re.findall(r'content:\s*"([^"]*)"', path.read_text(encoding="utf-8"))
            if words(text)
        ]


# ---- catalogues
# ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def marked() -> set[tuple[str | None, str | tuple[str, ...]]]:
    """Everything that is marked, as (context, text or texts)."""
    return {
        (text.context, text.forms[0] if len(text.forms) == 1 else text.forms) for text in texts()
    }


def translated(code: str, domain: str = "rinkside") -> list[tuple[Message, list[str], list[str]]]:
    """Messages with what is said in English, and what in the language: more than one where there is
    a plural.
    """
    several = [
        (message, message.id, message.string) for message in catalogue(code, domain) if message.id
    ]
    return [
        (message, *([one] if isinstance(one, str) else list(one) for one in texts))
        for message, *texts in several
    ]


@pytest.mark.parametrize("code", CODES)
def test_catalogues_have_what_is_marked_and_nothing_else(code, marked):
    """`make words` brings them in step; then what is empty or fuzzy wants a translator."""
    assert {(message.context, message.id) for message, _, _ in translated(code)} == marked


DOMAINS = ("rinkside", "click")


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("code", CODES)
def test_everything_is_translated_by_people(code, domain):
    assert [
        message.id
        for message, _, texts in translated(code, domain)
        if message.fuzzy or not all(texts)
    ] == []


def fields(text: str) -> set[str]:
    """The names of what is filled in, and the tags that stand around it."""
    return set(re.findall(r"%\((\w+)\)s|(?<!\{)\{(\w+)(?::\w+|!r)?\}|(</?\w+[^>]*>)|(%%)", text))


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("code", CODES)
def test_languages_fill_in_the_same(code, domain):
    wrong = [
        (english, texts)
        for _, english, texts in translated(code, domain)
        for text in texts
        if fields(text) not in map(fields, english)
    ]
    assert wrong == []


@pytest.mark.parametrize("code", CODES)
def test_no_translation_breaks_out_of_an_attribute(code):
    assert [
        texts
        for _, english, texts in translated(code)
        if not any("<" in text for text in english) and re.search('["<>]', "".join(texts))
    ] == []


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("code", CODES)
def test_what_is_compiled_is_what_is_written(code, domain):
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(code, domain))
    compiled.seek(0)
    with (TRANSLATIONS / code / "LC_MESSAGES" / f"{domain}.mo").open("rb") as there:
        assert says(there) == says(compiled), "run `make words`"


def says(compiled):
    """What a compiled catalogue says for each sentence, without its header, which names the version
    of Babel that wrote it.
    """
    return [(one.id, one.string) for one in read_mo(compiled) if one.id]


def test_catalogues_go_into_the_wheel():
    settings = tomllib.loads((ROOM.parent / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["webui"]
    kept = {path for pattern in patterns for path in ROOM.glob(pattern)}
    compiled = {
        TRANSLATIONS / code / "LC_MESSAGES" / f"{domain}.mo" for code in CODES for domain in DOMAINS
    }
    assert compiled <= kept
