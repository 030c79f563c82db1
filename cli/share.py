"""`rinkside share`: publish pictures of a session, without people and rooms."""

from __future__ import annotations

from base64 import b64encode
from contextlib import nullcontext
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from calibration.quality.truth import parse_truth
from cli.corpus import PICTURE, files_of, write_corpus
from cli.log import latest, which_log
from cli.options import complain
from cli.paths import log_path
from cli.photo import read_frame
from cli.terminal import confirmed, progress, say
from referee.live.shared_tables import SharedTable, corrected_records, shared_photo, shared_tables
from referee.sessions.event_store import LogReader
from table.errors import InputError
from table.files import check_output, create_folder, read_json, write_whole
from table.messages import msg
from table.observation_document import to_document
from table.table_config import load_table
from vision.cameras.image_files import read_image

PREVIEW = "preview.html"
MOST_SHARED = 200
"""Maximum number of pictures per file; all are in memory until the user has reviewed them."""


@click.command()
@click.argument("target", metavar="OUT.zip", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--anonymous",
    is_flag=True,
    help="Only the table: no names, dates, rooms or people. Nothing else can be shared.",
)
@click.option("--session", type=click.IntRange(1), help="The session [default: the latest].")
@click.option(
    "--seq",
    "listed",
    metavar="A,B,...",
    help="Records whose pictures to share [default: those that people corrected].",
)
@click.option(
    "--all-corrections", is_flag=True, help="Share what people corrected in every session."
)
@click.option("--photo", type=click.Path(path_type=Path), help="Share this photo instead.")
@click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    help="table.json of the photo, with its lens.",
)
@click.option(
    "--truth",
    "truth_path",
    type=click.Path(path_type=Path),
    help="truth.json: what lies on the photo (docs/FORMATS.md).",
)
@click.option(
    "--preview",
    type=click.Path(path_type=Path, file_okay=False),
    help="A folder in which the preview stays.",
)
@click.option("--yes", is_flag=True, help="Write it without a question.")
@which_log
def share(
    target: Path,
    anonymous: bool,
    session: int | None,
    listed: str | None,
    all_corrections: bool,
    photo: Path | None,
    table_path: Path | None,
    truth_path: Path | None,
    preview: Path | None,
    yes: bool,
    path: Path | None,
) -> None:
    """Pack pictures of the table with what was read and what people corrected.

    For a report of a misread table, or for everybody's test set. You see a preview first. Look
    whether a hand or a face is over the table.
    """
    _check_options(target, anonymous)
    chosen = bool(session or listed or all_corrections)
    if all_corrections and (session or listed):
        raise InputError(msg("--all-corrections: expected without --session and --seq"))
    if bool(photo) != bool(table_path) or (truth_path and not photo) or (photo and chosen):
        raise InputError(
            msg("--photo: expected with --table, if you like --truth, and no records of a session")
        )
    with progress(msg("Reading the pictures")):
        tables = (
            [_photo(photo, table_path, truth_path)]
            if photo and table_path
            else _from_log(path or log_path(), session, _seqs(listed), all_corrections)
        )
    if _agreed(tables, target, preview, yes):
        _refuse_existing(target)
        write_corpus(target, tables)
        say(msg("{path}: pictures written: {n}", path=target, n=len(tables)))
    else:
        say(msg("Nothing was written."))


def _photo(photo: Path, table_path: Path, truth_path: Path | None) -> SharedTable:
    setup = load_table(table_path)
    whole = read_image(photo, setup)
    read = to_document(read_frame(whole, setup, str(photo)).seen)
    truth = parse_truth(read_json(truth_path), str(truth_path), setup) if truth_path else None
    return shared_photo(whole.image, setup, read, truth, str(photo))


def _from_log(
    path: Path, session: int | None, seqs: tuple[int, ...] | None, all_corrections: bool
) -> list[SharedTable]:
    with LogReader(path) as reader:
        tables = (
            _of_all_sessions(reader)
            if all_corrections
            else _tables(reader, session or latest(reader), seqs)
        )
    if tables:
        return tables
    raise InputError(
        msg(
            "{path}: expected a ruling that people corrected, found none with a picture; name"
            " records with --seq",
            path=path,
        )
    )


def _check_options(target: Path, anonymous: bool) -> None:
    if not anonymous:
        raise InputError(
            msg(
                "expected --anonymous: only the table is shared; rinkside log export carries a"
                " whole session with names and rooms"
            )
        )
    if target.suffix.lower() != ".zip":
        raise InputError(
            msg(
                "{path}: expected a name that ends in .zip, got {raw}",
                path=target,
                raw=repr(target.name),
            )
        )
    check_output(target)
    _refuse_existing(target)


def _refuse_existing(target: Path) -> None:
    if target.exists():
        raise InputError(msg("{path}: expected a new file, but it is there already", path=target))


def _seqs(listed: str | None) -> tuple[int, ...] | None:
    """Parse record numbers; None without any.  Raises InputError."""
    if listed is None:
        return None
    words = [word.strip() for word in listed.split(",")]
    if wrong := next((word for word in words if not (word.isascii() and word.isdigit())), None):
        raise InputError(msg("--seq: expected numbers of records, got {raw}", raw=repr(wrong[:40])))
    return tuple(int(word) for word in words if len(word) < 16)


def _of_all_sessions(reader: LogReader) -> list[SharedTable]:
    """Corrected tables of all sessions; sessions that cannot be shared are reported and skipped."""
    tables: list[SharedTable] = []
    for summary in reader.sessions():
        try:
            tables += _tables(reader, summary.session, None, MOST_SHARED - len(tables))
        except InputError as error:
            complain(msg("skipped: {text}", text=error.message))
    return tables


def _tables(
    reader: LogReader, session: int, seqs: tuple[int, ...] | None, most: int = MOST_SHARED
) -> list[SharedTable]:
    records = reader.records(session)
    wanted = corrected_records(records) if seqs is None else seqs
    if len(wanted) > most:
        raise InputError(
            msg(
                "{path}: expected at most {n} pictures at once, got {n2}; name some with --seq",
                path=reader.path,
                n=most,
                n2=len(wanted),
            )
        )
    return list(shared_tables(reader, records, wanted))


def _agreed(tables: list[SharedTable], target: Path, preview: Path | None, yes: bool) -> bool:
    """Show a preview and ask for confirmation; True to write."""
    for number, table in enumerate(tables, 1):
        lens = table.setup.camera
        picture = f"{number:04d}: {table.name}, {lens.width} x {lens.height} px"
        say(
            msg(
                "{raw}, pieces read: {n}, put right: {n2}",
                raw=picture,
                n=len(table.reading.pieces),
                n2=table.put_right,
            )
        )
    if yes and preview is None:
        return True
    with TemporaryDirectory() if preview is None else nullcontext(preview) as folder:
        page = Path(folder) / PREVIEW
        create_folder(page.parent)
        write_whole(page, _page(tables).encode(), 0o600)
        say(msg("All that would be in it is on {path}", path=page))
        return yes or confirmed(msg("Write {path}?", path=target.name), False)


def _page(tables: list[SharedTable]) -> str:
    """Preview of all content as one self-contained page."""
    parts = []
    for number, table in enumerate(tables, 1):
        files = files_of(table)
        picture = b64encode(files.pop(PICTURE)).decode()
        parts.append(
            f'<h2>{number:04d}</h2><img alt="" style="max-width:100%"'
            f' src="data:image/jpeg;base64,{picture}">'
        )
        parts += [
            f"<details><summary>{name}</summary><pre>{escape(data.decode())}</pre></details>"
            for name, data in files.items()
        ]
    body = "".join(parts)
    return f'<!doctype html><meta charset="utf-8"><title>rinkside share</title>{body}'
