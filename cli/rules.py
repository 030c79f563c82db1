"""`rinkside rules`: the house rules of one game, or of all."""

from __future__ import annotations

import json

import click
import msgspec
from rich.table import Table

from cli.options import GameName
from cli.terminal import console, in_language, new_table, say, say_json
from engines import GAMES
from engines.game import facts
from table.messages import msg


@click.command()
@click.argument("game", type=GameName(), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def rules(game: str | None, as_json: bool) -> None:
    """List the house rules of GAME, or of all games, the default first."""
    if as_json:
        documents = {name: msgspec.to_builtins(GAMES[name].RULINGS) for name in GAMES}
        wanted = documents[game] if game else documents
        say_json(json.dumps(wanted, indent=1, ensure_ascii=False))
        return
    if game:
        console().print(_options(game), highlight=False)
        return
    for name, played in GAMES.items():
        say(f"{in_language(facts(played).title)} ({name})")
        console().print(_options(name), highlight=False)


def _options(game: str) -> Table:
    table = new_table(
        msg("option"), msg("values, default first"), msg("stands for"), msg("meaning")
    )
    for ruling in GAMES[game].RULINGS:
        table.add_row(
            ruling.name, ", ".join(ruling.values), ruling.cites, in_language(ruling.description)
        )
    return table
