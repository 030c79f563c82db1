"""`rinkside backup` and `rinkside restore`."""

from __future__ import annotations

from pathlib import Path

import click

from cli.backup.pack import Manifest, pack
from cli.backup.unpack import MOST_BYTES, unpack
from cli.options import max_mb_option, settings_option
from cli.paths import data_folder
from cli.terminal import say
from table.errors import InputError
from table.files import check_output
from table.messages import msg
from table.table_config import load_table

data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the log [default: the user's data folder; a service has /var/lib/rinkside].",
)


@click.command()
@click.argument("target", metavar="OUT.zip", type=click.Path(path_type=Path, dir_okay=False))
@data_option
@click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    help="Keep this table.json, with its lens.json and piece set.",
)
@settings_option
@click.option(
    "--empty", type=click.Path(path_type=Path), help="Keep this picture of the empty table."
)
def backup(
    target: Path,
    data: Path | None,
    table_path: Path | None,
    settings: Path | None,
    empty: Path | None,
) -> None:
    """Write everything to one file: sessions, codes, table, lens and settings.

    What is in the data folder is found by itself. A game may be played meanwhile.
    """
    if target.suffix.lower() != ".zip":
        raise InputError(
            msg(
                "{path}: expected a name that ends in .zip, got {raw}",
                path=target,
                raw=repr(target.name),
            )
        )
    check_output(target, table_path, settings, empty)
    named = _table_files(table_path) if table_path else {}
    if settings:
        named["rinkside.toml"] = settings
    if empty:
        named[f"empty{empty.suffix.lower()}"] = empty
    manifest = pack(data or data_folder(), named, target)
    say(msg("{path} has {raw}.", path=target, raw=_file_list(manifest)))
    say(msg("It contains the codes of this table and pictures of it: keep it to yourself."))


def _table_files(path: Path) -> dict[str, Path]:
    """A table and its associated files, by their names in the backup."""
    files = {"table.json": path}
    pieces = load_table(path).game.pieces
    for name in ("lens.json", *([pieces] if pieces.endswith(".toml") else [])):
        if path.with_name(Path(name).name).is_file():
            files[Path(name).name] = path.with_name(Path(name).name)
    return files


@click.command()
@click.argument("source", metavar="IN.zip", type=click.Path(path_type=Path, dir_okay=False))
@data_option
@max_mb_option(MOST_BYTES)
def restore(source: Path, data: Path | None, max_mb: int) -> None:
    """Restore a backup to the data folder.

    Everything is checked first. What was there is kept beside it. Stop Rinkside first.
    """
    folder = data or data_folder()
    manifest, old = unpack(source, folder, max_mb * 10**6)
    listed, made = _file_list(manifest), manifest.made_utc
    say(msg("{path} has {raw} again, as of {raw2}.", path=folder, raw=listed, raw2=made))
    if old is not None:
        say(msg("What was there before is in {path}", path=old))


def _file_list(manifest: Manifest) -> str:
    return ", ".join(sorted(manifest.files))
