"""Strict parsing of announcements: facts that the camera cannot see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from table.errors import InputError
from table.files import convert, shown
from table.messages import msg

T = TypeVar("T", bound=msgspec.Struct)


def read_heard(heard: Mapping[str, Any], *forms: type[T]) -> T:
    """Convert an announcement to the one of `forms` that has its keys.

    Raises InputError where no form has these keys, or a value has the wrong type.
    """
    for form in forms:
        if set(form.__struct_fields__) == set(heard):
            return convert(dict(heard), form, "input")
    known = " or ".join(", ".join(form.__struct_fields__) for form in forms)
    raise InputError(
        msg("input: expected the keys {raw}, got {raw2}", raw=known, raw2=shown(dict(heard)))
    )


def check_player(player: str, players: Sequence[str]) -> None:
    """Raise InputError if the speaker is not a player."""
    if player not in players:
        raise InputError(
            msg(
                "input: player: expected {raw}, got {raw2}",
                raw=", ".join(players),
                raw2=repr(player),
            )
        )
