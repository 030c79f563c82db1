"""The table `[hardware.mqtt]` of a settings file: which broker, as which table, what it may do."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Annotated, Literal, get_args
from urllib.parse import urlsplit

import msgspec

from table.errors import InputError
from table.files import quoted, shown
from table.languages import Language
from table.messages import msg

Command = Literal["rule", "appeal", "pause", "resume", "next"]
"""Commands that a message may contain, named as buttons; `pause` and `resume` are the two halves of
`rule`.
"""
COMMANDS: tuple[Command, ...] = get_args(Command)
PORTS = {"mqtt": 1883, "mqtts": 8883}
"""Default port by scheme of a broker's address; `mqtts` uses TLS."""
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
Topic = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
WORD = re.compile(r"[A-Za-z0-9_-]+")
"""Characters that Home Assistant allows in an identifier of a topic."""


class MqttSettings(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="broker",
):
    """A broker.

    `table` names this table in topics and in Home Assistant, `discovery` is the first part of Home
    Assistant's topics (empty: it is told nothing). `names`: players are called by the names that
    they gave, not only by their colours. `commands` are what messages under `command` may ask for,
    and `buttons` are those of others, such as Zigbee buttons: by topic and action, what each does.
    """

    url: Annotated[str, msgspec.Meta(max_length=200)]
    username: str = ""
    password: str = ""
    ca_file: str | None = None
    table: Name = "table"
    discovery: Annotated[str, msgspec.Meta(max_length=40)] = "homeassistant"
    names: bool = False
    language: Language | None = None
    commands: tuple[Command, ...] = ("rule", "appeal", "pause", "resume")
    buttons: dict[Topic, dict[Name, Command]] = {}

    def __repr__(self) -> str:
        """Leave out the password, which must not get into a log."""
        return f"MqttSettings(url={self.url!r}, table={self.table!r})"

    @property
    def tls(self) -> bool:
        """True if the connection is encrypted."""
        return urlsplit(self.url).scheme == "mqtts"

    @property
    def host(self) -> str:
        """The broker's name or address."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """The broker's port."""
        parts = urlsplit(self.url)
        return parts.port or PORTS[parts.scheme]

    def topic(self, name: str) -> str:
        """Full name of a topic of this table: `rinkside/v1/table/state`."""
        return f"rinkside/v1/{self.table}/{name}"


def check_mqtt(settings: MqttSettings, where: str) -> None:
    """Raise InputError that begins with `where` and names the first wrong setting."""
    _check_url(settings.url, where)
    for setting in ("table", "discovery"):
        value = getattr(settings, setting)
        if value and not WORD.fullmatch(value):
            raise InputError(
                msg(
                    "{where}: hardware.mqtt.{setting}: expected letters, digits, - and _ only,"
                    " got {raw}",
                    where=where,
                    setting=setting,
                    raw=quoted(value),
                )
            )
    if settings.password and not settings.username:
        raise InputError(
            msg("{where}: hardware.mqtt.username: expected one with the password, got none",
                where=where)
        )  # fmt: skip
    if settings.ca_file is not None and not os.path.isabs(settings.ca_file):
        raise InputError(
            msg(
                "{where}: hardware.mqtt.ca_file: expected a path that begins with /, got {raw}",
                where=where,
                raw=quoted(settings.ca_file),
            )
        )
    for topic in settings.buttons:
        if any(sign in topic for sign in "+#\0"):
            raise InputError(
                msg(
                    "{where}: hardware.mqtt.buttons: expected topics without + and #, got {raw}",
                    where=where,
                    raw=quoted(topic),
                )
            )


def _check_url(url: str, where: str) -> None:
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and parts.hostname and parts.port != 0
        bare = url.rstrip("/") == f"{parts.scheme}://{parts.netloc}" and "@" not in parts.netloc
    except ValueError:  # an invalid port, or unbalanced brackets
        good = bare = False
    if not (good and bare):
        # The address may contain a password by mistake: it is not quoted.
        raise InputError(
            msg(
                "{where}: hardware.mqtt.url: expected mqtt://NAME or mqtts://NAME, with :PORT"
                " perhaps, and name and password in settings of their own, got {text}",
                where=where,
                text=shown(url if "@" not in url else "...@..."),
            )
        )


def check_secret(settings: MqttSettings, path: Path) -> None:
    """Raise InputError where other users may read a file with a password."""
    if settings.password and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InputError(
            msg(
                "{path}: hardware.mqtt.password: expected a file that only its owner can read;"
                " run: chmod 600 {path2}",
                path=path.name,
                path2=path,
            )
        )
