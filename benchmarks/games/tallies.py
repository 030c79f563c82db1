"""What came of refereed games, counted for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from benchmarks.games.playing import GAMES, Game, RefereedAct

NAMED = 3
"""Moves of an act that are told."""
LONGEST_MESSAGE = 300
"""Letters that are told of what was said."""
NAMES = {"nothing": "no ruling"}
ROLLS = ("roll", "shot")
Verdicts = dict[str, int]
"""How often each verdict came: `right`, `asked`, `not seen`, `nothing` or `wrong`."""


class Tally(msgspec.Struct, frozen=True):
    """Games of one kind."""

    game: str
    games: int
    over: int
    """That came to their end."""
    given_up: int
    failed: int
    """That an error ended."""
    unflagged: int
    """Whose scores differ from the true ones, and nothing told of it."""
    lawful: Verdicts
    planted: dict[str, Verdicts]
    """By what was planted."""
    took_s: float | None = None
    """On average."""


def tallies(played: Sequence[Game]) -> tuple[Tally, ...]:
    """Games by their names, in the order of GAMES, those of other packages after them."""
    names = dict.fromkeys((*GAMES, *(one.game for one in played)))
    kinds = ((kind, [one for one in played if one.game == kind]) for kind in names)
    return tuple(tally(kind, found) for kind, found in kinds if found)


def tally(game: str, found: Sequence[Game]) -> Tally:
    deeds = [deed for one in found for deed in one.deeds]
    planted: dict[str, Counter[str]] = {}
    for deed in deeds:
        if not deed.lawful:
            planted.setdefault(deed.name, Counter())[deed.verdict] += 1
    return Tally(
        game=game,
        games=len(found),
        over=sum(one.over for one in found),
        given_up=sum(not one.over and not one.failed for one in found),
        failed=sum(bool(one.failed) for one in found),
        unflagged=sum(one.unflagged for one in found),
        lawful=dict(Counter(deed.verdict for deed in deeds if deed.lawful)),
        planted={name: dict(counts) for name, counts in sorted(planted.items())},
        took_s=sum(one.took_s for one in found) / len(found),
    )


def count_unneeded(found: Sequence[Game]) -> int:
    """What was lawful and asked about, though no answer changed anything."""
    return sum(
        deed.lawful and deed.verdict == "asked" and not is_typed_in(deed) and not deed.needed
        for one in found
        for deed in one.deeds
    )


def is_typed_in(deed: RefereedAct) -> bool:
    """Is it a die that was typed in, and ruled on as that?"""
    return deed.name in ROLLS and deed.verdict == "asked"


def unexpected_lines(found: Iterable[Game]) -> list[str]:
    """A line for everything that was not as expected."""
    lines = []
    for one in found:
        typed = [deed for deed in one.deeds if is_typed_in(deed)]
        if typed:
            lines.append(
                f"{one.game} {one.seed}: {len(typed)} of"
                f" {sum(deed.name in ROLLS for deed in one.deeds)} rolls and shots typed in."
            )
        for deed in one.deeds:
            if deed.verdict != "right" and deed not in typed:
                message = (
                    " / ".join(deed.message)
                    or f"nothing on record; on the panel: {deed.panel or 'whose turn it is'}"
                )
                message = (
                    message
                    if len(message) <= LONGEST_MESSAGE
                    else f"{message[:LONGEST_MESSAGE]} ..."
                )
                moves = ", ".join(deed.moves[:NAMED]) + (" ..." if len(deed.moves) > NAMED else "")
                lines.append(
                    f"{one.game} {one.seed}: {' '.join(filter(None, (deed.name, moves)))}:"
                    f" {NAMES.get(deed.verdict, deed.verdict)}. Said: {message}"
                )
        if one.failed:
            lines.append(f"{one.game} {one.seed}: ended with {one.failed}")
    return lines
