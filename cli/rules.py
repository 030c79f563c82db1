"""`rinkside rules`: the options of a game."""

from __future__ import annotations

import json

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.table import Table

from cli.terminal import console, say_json
from engines import GAMES
from table.errors import InputError
from table.messages import msg


@click.command()
@click.argument("game")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def rules(game: str, as_json: bool) -> None:
    """List the options of GAME: what may be chosen, the default first.

    Each comes with the rule or ruling that it stands for.
    """
    if game not in GAMES:
        raise InputError(
            msg("expected a game ({raw}), got {raw2}", raw=", ".join(GAMES), raw2=repr(game))
        )
    rulings = GAMES[game].RULINGS
    if as_json:
        say_json(json.dumps(msgspec.to_builtins(rulings), indent=1, ensure_ascii=False))
        return
    table = Table(box=SIMPLE_HEAD)
    for heading in ("option", "values, default first", "stands for", "meaning"):
        table.add_column(heading)
    for ruling in rulings:
        table.add_row(ruling.name, ", ".join(ruling.values), ruling.cites, ruling.description)
    console().print(table, highlight=False)
