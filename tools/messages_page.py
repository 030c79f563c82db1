"""Write docs/MESSAGES.md: all of Rinkside's texts, with all languages side by side.

`make messages` writes it; a test compares page and catalogues. The page is for proofreading.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from cli.main import main as rinkside
from tools.catalogues import LANGUAGES, ROOT, catalogue, texts

PAGE = ROOT / "docs" / "MESSAGES.md"
TEXT = """# Everything that Rinkside says

`make messages` writes this page from the catalogues; a test compares them. Sentences are sorted by
folder and file. `{{player}}` and `%(n)s` are fields. One and many are separated by a line. How to
write a sentence is in [STYLE.md](STYLE.md), how to translate one in [LANGUAGES.md](LANGUAGES.md).

{sentences}
# Commands

Help pages are in English only.

| command | what its help says |
|---|---|
{commands}
"""


def page() -> str:
    """The expected page."""
    return TEXT.format(
        sentences="\n".join(_sentences()),
        commands="\n".join(_row((name, _cell(text))) for name, text in commands()),
    )


def commands() -> Iterator[tuple[str, str]]:
    """Every command and option, with its help text."""
    yield from _help("rinkside", rinkside)


def _sentences() -> Iterator[str]:
    catalogues = [catalogue(language) for language in LANGUAGES]
    for room, in_room in groupby(texts(), lambda text: text.path.partition("/")[0]):
        yield f"# {room}\n"
        for path, in_file in groupby(in_room, lambda text: text.path):
            yield f"## {path}\n\n| English | Deutsch | Español |\n|---|---|---|"
            for text in in_file:
                cells = (text.forms, *(text.translations(one) for one in catalogues))
                yield _row("<br>".join(map(_cell, forms)) for forms in cells)
            yield ""


def _help(name: str, command: click.Command) -> Iterator[tuple[str, str]]:
    yield name, " ".join((command.help or "").split())
    for option in command.params:
        if isinstance(option, click.Option) and option.help and not option.hidden:
            long = (one for one in option.opts if one.startswith("--"))
            yield f"{name} {next(long, option.opts[-1])}", option.help
    if isinstance(command, click.Group):
        with click.Context(command, info_name=name) as context:
            for one in command.list_commands(context):
                if (inner := command.get_command(context, one)) is not None:
                    yield from _help(f"{name} {one}", inner)


def _cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("\n", "<br>")


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
