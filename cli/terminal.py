"""The only writer to the terminal.

Names, reasons and file names are untrusted: control characters become spaces, or are escaped in
JSON, so that none moves the cursor. tests/test_house.py checks that no other module writes there.
"""

from __future__ import annotations

import gettext
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import IO, Any

import click
import segno
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from table.languages import TRANSLATIONS, Language, decimals, translation
from table.messages import msg, sentences
from table.text import printable

QR_BORDER = 3
"""Light modules around a QR code; the standard's four make it too high for some terminals."""
_language: Language = "en"


def ready() -> None:
    """Escape characters missing from the terminal's encoding as `\\u2713` instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def speak(code: Language) -> None:
    """Set the language of the terminal.

    Click translates its own texts by gettext, with the current domain and the environment's
    language.
    """
    global _language
    _language = code
    gettext.bindtextdomain("click", str(TRANSLATIONS))
    gettext.textdomain("click")
    os.environ["LANGUAGE"] = code


def language() -> Language:
    """The language of the terminal."""
    return _language


def in_language(text: str) -> str:
    """A message in the language of the terminal, or in English without a translation."""
    return translation(text, _language)


def say(*lines: str, err: bool = False, file: IO[str] | None = None) -> None:
    """Write lines to stdout or stderr, with messages in the language of the terminal.

    Control characters, including line breaks, are replaced.
    """
    for line in lines:
        click.echo(printable(in_language(line)), err=err, file=file)


def confirmed(question: str, default: bool = True) -> bool:
    """Ask a yes-or-no question in the language of the terminal."""
    return click.confirm(printable(in_language(question)), default)


def new_table(
    *headings: str, right: Collection[int] = (), whole: Collection[int] = (), caption: str = ""
) -> Table:
    """An empty table with headings and caption in the language of the terminal.

    `right` are the indices, from 0, of right-aligned columns; `whole` are those of columns without
    line wrapping.
    """
    below = in_language(caption) or None
    table = Table(box=SIMPLE_HEAD, caption=below, caption_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(
            in_language(heading),
            justify="right" if number in right else "left",
            no_wrap=number in whole,
        )
    return table


def number(text: str) -> str:
    """A number as text, optionally with ±, in the format of the terminal's language."""
    return decimals(text, _language)


def say_written(path: Path, before: Path | None = None) -> None:
    """Report that a file was written, and the path of the one it replaced."""
    kept = msg("What was there before is in {path}.", path=before) if before else ""
    say(sentences(msg("{path}: written.", path=path), kept))


def say_json(text: str) -> None:
    """Write a JSON document to stdout.

    Control characters in strings are escaped, which keeps the parsed value the same.
    """
    flat = text.replace("\n", " ")
    if printable(flat) != flat:
        text = "".join(
            sign if sign == "\n" or printable(sign) == sign else f"\\u{ord(sign):04x}"
            for sign in text
        )
    click.echo(text)


def say_text(text: str) -> None:
    """Write a trusted text, for a shell or a manual reader, unchanged."""
    click.echo(text, nl=False)


def ring(bell: str, err: bool = False) -> None:
    """Ring the terminal's bell."""
    click.echo(bell, nl=False, err=err)


@contextmanager
def progress(message: str) -> Iterator[Callable[[], object]]:
    """A progress bar on stderr with the elapsed time.

    Yields a function that counts one finished part. The bar is shown only on a terminal, and is
    removed afterwards.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    shown = console(err=True)
    if not shown.is_terminal:
        yield lambda: None
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=shown, transient=True) as bar:
        task = bar.add_task(printable(in_language(message)), total=None)
        yield lambda: bar.advance(task)


def console(err: bool = False) -> Console:
    """The console for tables, on stdout or stderr."""
    return _Console(stderr=err)


def draw_qr(text: str, err: bool = False) -> None:
    """Draw a QR code on a sufficiently wide terminal; nothing into a pipe, a file or a journal.

    Its colours are explicit, so that phones can read it on light and dark terminals.
    """
    terminal = console(err)
    lines = StringIO()
    segno.make(text, error="l", micro=False).terminal(lines, border=QR_BORDER, compact=True)
    rows = lines.getvalue().splitlines()
    if terminal.is_terminal and "utf" in terminal.encoding and len(rows[0]) <= terminal.width:
        for row in rows:
            terminal.print(Text(row, style="bright_white on black"))


class _Console(Console):
    """Console that filters every str written by rich, in a table or alone."""

    def render_str(self, text: str, **more: Any) -> Text:
        return super().render_str(printable(text), **more)
