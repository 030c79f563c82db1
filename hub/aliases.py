"""Aliases of players: an organiser declares that two names are one person.

Records keep the name typed at the table; standings, ratings and events resolve it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from hub.audit import Actor, note
from hub.names import name_key
from hub.store import ALIASES, Store
from hub.tables import read_name
from table.messages import msg
from webui.security.requests import Refusal

MOST_ALIASES = 2000
"""Maximum number of aliases per club."""


def aliases_of(db: Connection, club_id: int) -> dict[str, str]:
    """Main names of a club's players, by the `name_key` of each alias."""
    wanted = select(ALIASES.c.other_key, ALIASES.c.name).where(ALIASES.c.club_id == club_id)
    return {row.other_key: row.name for row in db.execute(wanted)}


def main_name(name: str, aliases: Mapping[str, str]) -> str:
    """The main name of a player who gave this name."""
    return aliases.get(name_key(name), name)


@dataclass(frozen=True, slots=True)
class Alias:
    """An alias as it was typed, and the player's main name."""

    other: str
    name: str


class Aliases:
    """The aliases of all clubs.  Thread-safe."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        """`now_ms` is the hub's wall clock."""
        self._store, self._now_ms = store, now_ms

    def of(self, club_id: int) -> list[Alias]:
        """The aliases of a club, sorted by main name."""
        wanted = select(ALIASES).where(ALIASES.c.club_id == club_id)
        with self._store.reading() as db:
            found = [Alias(row.other, row.name) for row in db.execute(wanted)]
        return sorted(found, key=lambda one: (name_key(one.name), name_key(one.other)))

    def merge(self, actor: Actor, other: str, name: str) -> None:
        """Make `other` an alias of `name`, in past and future games.

        Raises Refusal for an invalid name, or if both are the same.
        """
        other, name = read_name(other, "name"), read_name(name, "name")
        key = name_key(other)
        with self._store.writing() as db:
            known = aliases_of(db, actor.club_id)
            name = main_name(name, known)  # aliases form no chains
            if name_key(name) == key or len(known) >= MOST_ALIASES:
                raise Refusal(
                    400, "bad_alias", msg("Expected two different names; nothing was done.")
                )
            mine = ALIASES.c.club_id == actor.club_id
            for one, target in known.items():
                if name_key(target) == key:
                    db.execute(
                        update(ALIASES).where(mine, ALIASES.c.other_key == one).values(name=name)
                    )
            db.execute(delete(ALIASES).where(mine, ALIASES.c.other_key == key))
            made = {"club_id": actor.club_id, "other_key": key, "other": other, "name": name}
            db.execute(insert(ALIASES).values(**made))
            note(db, self._now_ms(), actor, "players merged", "")  # without names

    def part(self, actor: Actor, other: str) -> None:
        """Delete an alias, so that the name is a separate player again."""
        with self._store.writing() as db:
            mine = (ALIASES.c.club_id == actor.club_id, ALIASES.c.other_key == name_key(other))
            db.execute(delete(ALIASES).where(*mine))
            note(db, self._now_ms(), actor, "players parted", "")


def names_of(db: Connection, club_id: int, name: str) -> list[str]:
    """All names of the player who has this name."""
    aliases = aliases_of(db, club_id)
    main = main_name(name, aliases)
    wanted = select(ALIASES.c.other, ALIASES.c.name).where(ALIASES.c.club_id == club_id)
    others = [row.other for row in db.execute(wanted) if name_key(row.name) == name_key(main)]
    return list({name_key(one): one for one in (name, main, *others)}.values())


def forget_names(db: Connection, club_id: int, names: Iterable[str]) -> None:
    """Delete all aliases that mention these names."""
    keys = set(map(name_key, names))
    for other, target in aliases_of(db, club_id).items():
        if other in keys or name_key(target) in keys:
            mine = (ALIASES.c.club_id == club_id, ALIASES.c.other_key == other)
            db.execute(delete(ALIASES).where(*mine))
