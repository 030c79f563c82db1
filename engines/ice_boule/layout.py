"""Projectiles in play around the target, nearest first, and how neighbours compare.

Written `yellow 12.05 < blue 29.37 ~ yellow 29.50`. `<` is nearer (clearly measured, or decided by
people), `=` equal (decided by people). `~` is too close to call, listed by best estimate. Pieces
between two `<` are one block: all doubtful pieces in it are in doubt with each other. Between
pieces of one colour `<` is only the order of listing. Distances are mm, `touching`, or `on` for a
piece that stands on the target. Pieces of different players on the target are equal. Without pieces
in play it is `nothing`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engines.errors import InvalidNotation
from table.messages import SENTENCES, Listing, Number, Value, Word, msg
from table.pieces import COLOURS

TOUCHING = "touching"
ON = "on"
NOTHING = "nothing"
FARTHEST_MM = 100_000.0
UNMEASURED_MM = 10_000.0
"""Larger than any table: greater distances are unknown ones."""
_NUMBER = re.compile(r"\d{1,6}(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Lie:
    """One projectile in play, by its distance from the target; kept to 0.01 mm."""

    colour: str
    gap_mm: float
    on_target: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.gap_mm <= FARTHEST_MM:
            raise InvalidNotation(
                msg(
                    "expected a distance of 0 to {n} mm, got {mm}",
                    n=f"{FARTHEST_MM:.0f}",
                    mm=self.gap_mm,
                )
            )
        if self.on_target and self.gap_mm:
            raise InvalidNotation(
                msg("expected no gap for a piece on the target, got {mm} mm", mm=self.gap_mm)
            )
        object.__setattr__(self, "gap_mm", round(self.gap_mm, 2))

    @property
    def worth(self) -> int:
        """Points that it is worth if it counts (printed rules, "Distances and Scoring")."""
        return 2 if self.on_target else 1

    @property
    def measured(self) -> bool:
        """True if the distance is known, and not only the order."""
        return self.gap_mm < UNMEASURED_MM

    @property
    def distance(self) -> str:
        """Format the distance: `on`, `touching` or mm."""
        if self.on_target:
            return ON
        return f"{self.gap_mm:.2f}" if self.gap_mm else TOUCHING

    @property
    def rank(self) -> tuple[bool, float]:
        """A sort key that rises with the distance; on the target comes before touching it."""
        return not self.on_target, self.gap_mm

    def __str__(self) -> str:
        return f"{self.colour} {self.distance}"

    @classmethod
    def parse(cls, text: str) -> Lie:
        """Parse `blue 57.52`, `blue touching` or `blue on`; raises InvalidNotation."""
        colour, _, distance = text.partition(" ")
        if colour not in COLOURS or not (distance in (ON, TOUCHING) or _NUMBER.fullmatch(distance)):
            raise InvalidNotation(
                msg(
                    "expected a colour and a distance such as 'blue 57.52', 'blue touching' or"
                    " 'blue on', got {raw}",
                    raw=repr(text),
                )
            )
        return cls(colour, 0.0 if distance in (ON, TOUCHING) else float(distance), distance == ON)


@dataclass(frozen=True, slots=True)
class Layout:
    """Projectiles in play, nearest first.

    `relations[k]` (`<`, `=` or `~`) stands between `lies[k]` and `lies[k + 1]`.
    """

    lies: tuple[Lie, ...] = ()
    relations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.relations) != max(len(self.lies) - 1, 0) or not set(self.relations) <= set(
            "<=~"
        ):
            raise InvalidNotation(
                msg(
                    "expected '<', '=' or '~' between each two of {n} pieces, got {raw}",
                    n=len(self.lies),
                    raw=repr(" ".join(self.relations)),
                )
            )
        for near, relation, far in zip(self.lies, self.relations, self.lies[1:], strict=False):
            if near.rank > far.rank:
                raise InvalidNotation(
                    msg(
                        "expected the nearest piece first, got '{raw}' before '{raw2}'",
                        raw=near,
                        raw2=far,
                    )
                )
            if relation == "=" and near.rank != far.rank:
                raise InvalidNotation(
                    msg(
                        "expected equal distances on both sides of '=', got '{raw} = {raw2}'",
                        raw=near,
                        raw2=far,
                    )
                )
        standing = [lie.colour for lie in self.lies if lie.on_target]
        if len(set(standing)) > 1 and set(self.relations[: len(standing) - 1]) != {"="}:
            raise InvalidNotation(
                msg(
                    "expected '=' between pieces of different players that stand on the target, got"
                    " '{raw}'",
                    raw=self,
                )
            )

    def __str__(self) -> str:
        if not self.lies:
            return NOTHING
        rest = (
            f" {relation} {lie}"
            for relation, lie in zip(self.relations, self.lies[1:], strict=True)
        )
        return f"{self.lies[0]}{''.join(rest)}"

    @property
    def in_words(self) -> Listing:
        """Format the layout as a part of a message.

        Colours are translated, and numbers written as in each language.
        """
        return Listing(tuple(map(_part_value, str(self).split(" "))), SENTENCES)

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Parse a layout: `yellow 12.05 < blue 29.37`, or `nothing`; raises InvalidNotation."""
        if text == NOTHING:
            return cls()
        parts = re.split(r"\s*([<=~])\s*", text)
        return cls(tuple(map(Lie.parse, parts[::2])), tuple(parts[1::2]))

    @classmethod
    def sorted(cls, lies: Sequence[Lie], relations: Sequence[str]) -> Layout:
        """Like the constructor, with all pieces on the target equal (ruling ice_boule.10)."""
        standing = [lie.colour for lie in lies if lie.on_target]
        level = "=" if len(set(standing)) > 1 else "<"
        return cls(
            tuple(lies),
            (level,) * max(len(standing) - 1, 0) + tuple(relations[max(len(standing) - 1, 0) :]),
        )

    def of(self, colour: str) -> tuple[Lie, ...]:
        """Lies of one colour, nearest first."""
        return tuple(lie for lie in self.lies if lie.colour == colour)

    def relation(self, i: int, j: int) -> str:
        """Relation known between `lies[i]` and `lies[j]`, i < j: `<`, `=` or `~`."""
        between = self.relations[i:j]
        return "<" if "<" in between else "~" if "~" in between else "="

    @property
    def leaders(self) -> frozenset[str]:
        """Colours that share the leading distance, by best estimate; empty without pieces."""
        return self._colours(self._runs("=")[0]) if self.lies else frozenset()

    @property
    def lead_in_doubt(self) -> bool:
        """True if who leads depends on a distance too close to call."""
        return bool(self.lies) and self._doubtful(self._runs("=~")[0])

    def points(self, colour: str) -> int:
        """Points of a colour for its pieces nearer than every other colour's, by best estimate."""
        total = 0
        for run in self._runs("="):
            if self._colours(run) != {colour}:
                break
            total += sum(self.lies[k].worth for k in run)
        return total

    def points_in_doubt(self, colour: str) -> bool:
        """True if the points of the leading colour depend on a distance too close to call."""
        for run in self._runs("=~"):
            if self._colours(run) != {colour}:
                return colour in self._colours(run) and self._doubtful(run)
        return False

    def contested(self) -> range:
        """Places of the nearest pieces of several colours that no `<` separates.

        A doubtful lead or score depends on them.
        """
        return next((run for run in self._runs("=~") if len(self._colours(run)) > 1), range(0))

    def _runs(self, links: str) -> list[range]:
        """Runs of neighbours joined by relations in `links`."""
        breaks = [
            0,
            *(k + 1 for k, relation in enumerate(self.relations) if relation not in links),
            len(self.lies),
        ]
        return [range(start, stop) for start, stop in pairwise(breaks)]

    def _colours(self, run: range) -> frozenset[str]:
        return frozenset(self.lies[k].colour for k in run)

    def _doubtful(self, run: range) -> bool:
        """True if a run between two `<` has several colours that are not all equal by decision."""
        return len(self._colours(run)) > 1 and "~" in self.relations[run.start : run.stop - 1]


def _part_value(part: str) -> Value:
    if part in COLOURS:
        return Word(part)
    return Number(part) if _NUMBER.fullmatch(part) else part
