"""`rinkside plugins`: the parts that packages bring to Rinkside, and what is wrong with them."""

from __future__ import annotations

import click
import msgspec

from cli.terminal import console, in_language, new_table, say_json
from engines import GAMES, unusable_games
from engines.game import INTERFACE, facts
from hardware.plugins import GROUPS, device_plugins
from simulation.tables import find_players
from table.games import found_games
from table.messages import msg
from table.plugins import Broken, Plugin
from vision.cameras.plugins import camera_plugins


class Row(msgspec.Struct, frozen=True):
    """One part: its group of entry points, and its package.

    `interface` is the version of the interface it targets, None if unknown; `wrong` is why it
    cannot be used, empty if it can.
    """

    group: str
    name: str
    package: str
    version: str
    interface: int | None
    wrong: str = ""


@click.group()
def plugins() -> None:
    """List the games, players, cameras and devices that packages bring."""


@plugins.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_plugins(as_json: bool) -> None:
    """List every part by its group, and what is wrong with those that cannot be used."""
    rows = [*_games(), *_players(), *_devices()]
    if as_json:
        say_json(msgspec.json.format(msgspec.json.encode(rows), indent=1).decode())
        return
    table = new_table(msg("group"), msg("name"), msg("package"), msg("interface"), msg("state"))
    for column in table.columns:
        column.overflow = "fold"
    for row in rows:
        made_for = "" if row.interface is None else str(row.interface)
        package = f"{row.package} {row.version}".strip()
        table.add_row(row.group, row.name, package, made_for, in_language(row.wrong or msg("ok")))
    console().print(table, highlight=False, markup=False)


def _games() -> list[Row]:
    found = found_games()
    usable = [_row(found.plugins[name], facts(game).interface) for name, game in GAMES.items()]
    return usable + list(map(_broken, unusable_games()))


def _players() -> list[Row]:
    found = find_players()
    usable = [_row(plugin, INTERFACE) for plugin in found.plugins.values()]
    return usable + list(map(_broken, found.broken))


def _devices() -> list[Row]:
    """Cameras and devices of other packages."""
    cameras = camera_plugins()
    rows = [_row(cameras.plugins[name], one.interface) for name, one in cameras.parts.items()]
    rows += map(_broken, cameras.broken)
    for devices in map(device_plugins, GROUPS):
        rows += [_row(devices.plugins[name], one.interface) for name, one in devices.parts.items()]
        rows += map(_broken, devices.broken)
    return rows


def _row(plugin: Plugin, interface: int | None, wrong: str = "") -> Row:
    return Row(plugin.group, plugin.name, plugin.package, plugin.version, interface, wrong)


def _broken(broken: Broken) -> Row:
    return _row(broken.plugin, None, broken.why)
