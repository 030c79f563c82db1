"""Other names of players: an organiser says that two names are one person.

Records keep what was typed at the table; standings, ratings and events read a name through this.
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
"""Of one club."""


def aliases_of(db: Connection, club_id: int) -> dict[str, str]:
    """What players of a club are called, by the keys of their other names."""
    wanted = select(ALIASES.c.other_key, ALIASES.c.name).where(ALIASES.c.club_id == club_id)
    return {row.other_key: row.name for row in db.execute(wanted)}


def main_name(name: str, aliases: Mapping[str, str]) -> str:
    """What a player is called who gave this name."""
    return aliases.get(name_key(name), name)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name, as it was typed, and what the player is called."""

    other: str
    name: str


class Aliases:
    """The other names of all clubs.  Safe to use from many threads."""

    def __init__(self, store: Store, now_ms: Callable[[], int]) -> None:
        """`now_ms` is the hub's wall clock."""
        self._store, self._now_ms = store, now_ms

    def of(self, club_id: int) -> list[Alias]:
        """The other names of a club's players, by player."""
        wanted = select(ALIASES).where(ALIASES.c.club_id == club_id)
        with self._store.reading() as db:
            found = [Alias(row.other, row.name) for row in db.execute(wanted)]
        return sorted(found, key=lambda one: (name_key(one.name), name_key(one.other)))

    def merge(self, actor: Actor, other: str, name: str) -> None:
        """From now on, whoever is called `other` is `name`, in all games, old ones too.

        Raises Refusal for no names, or the same one.
        """
        other, name = read_name(other, "name"), read_name(name, "name")
        key = name_key(other)
        with self._store.writing() as db:
            known = aliases_of(db, actor.club_id)
            name = main_name(name, known)  # no name leads to one that leads on
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
            note(db, self._now_ms(), actor, "players merged", "")  # no names: they may be erased

    def part(self, actor: Actor, other: str) -> None:
        """A name is a player of its own again."""
        with self._store.writing() as db:
            mine = (ALIASES.c.club_id == actor.club_id, ALIASES.c.other_key == name_key(other))
            db.execute(delete(ALIASES).where(*mine))
            note(db, self._now_ms(), actor, "players parted", "")


def names_of(db: Connection, club_id: int, name: str) -> list[str]:
    """All names by which a player is known who is known by this one."""
    aliases = aliases_of(db, club_id)
    main = main_name(name, aliases)
    wanted = select(ALIASES.c.other, ALIASES.c.name).where(ALIASES.c.club_id == club_id)
    others = [row.other for row in db.execute(wanted) if name_key(row.name) == name_key(main)]
    return list({name_key(one): one for one in (name, main, *others)}.values())


def forget_names(db: Connection, club_id: int, names: Iterable[str]) -> None:
    """Delete what was said of these names."""
    keys = set(map(name_key, names))
    for other, target in aliases_of(db, club_id).items():
        if other in keys or name_key(target) in keys:
            mine = (ALIASES.c.club_id == club_id, ALIASES.c.other_key == other)
            db.execute(delete(ALIASES).where(*mine))
