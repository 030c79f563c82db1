"""Referee simulated games without eyes, and write docs/JUDGES.md (`make bench-judges`).

No picture is drawn: the judges are told what lies on the table, as it is, or with faults at random.
What is not ruled on rightly by eyes that never err is a fault of judges or rules; what ends a game,
or the log, with eyes that do err is a fault too.
"""

from __future__ import annotations

import datetime
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

import click
import cv2

from benchmarks.accuracy import ROOT, commit
from benchmarks.games import noted
from benchmarks.misreading import ALL
from benchmarks.playing import GAMES, PERIOD_MS, STUCK, Deed, Game, play, seeing_faults
from simulation.players.driver import MISTAKES

PAGE = ROOT / "docs" / "JUDGES.md"
WIDTH_PX = 320
"""Of the one picture that a table draws of itself when it is laid; nobody reads it."""
EYES = {"true": (0,), "bad": (0, 0, 0, 1)}
"""How many faults a table has, at random."""
VERDICTS = ("right", "asked", "not seen", "nothing", "wrong")

TEXT = """# Judges alone

Measured {date} ({commit}); `make bench-judges` writes this page. The same simulated games as in [GAMES.md](GAMES.md), players,
mistakes and cheating alike ({mistakes:.0%} before each move), but no picture is drawn or read: every {period:g} s the referee is told what
lies on the table. Dice are not read here, so people type what they show; rolls and shots that were ruled on as typed are left out
({typed} of them).

## Eyes that never err

Told of everything as it truly lies, though with the ± of an ordinary camera, for without it nothing in Ice Boule would be too close to call.

| game | games | to the end | lawful acts | as expected | asked: needed | not needed | otherwise | planted | as expected | asked | otherwise \
| wrong scores | errors |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{true}

A question is needed if two of its answers differ in what follows now: in Ice Boule in who leads, who throws next, the score or who wins, elsewhere
in anything. What is asked and not needed is {unneeded} of the acts of Ice Boule. A planted act is asked about where two lawful acts in one look
would leave the same table: two pyramids that one player moved at once may have been moved by two players in turn.

{otherwise}

## Eyes that err at random

In every fourth table that lies differently than the one before, something is told wrongly, in one of {kinds} ways at random: a piece is not
seen, seen twice, of another size or colour, the other way round, in doubt, off the board; counters, cover dice or tiles are missed or made up.
People answer what they are asked, take back and put right what was not ruled on as it was, and give up after {stuck} such acts in a row.
Errors are such as end the program, and logs from which the referee does not come back to the state that it had.

| game | games | to the end | lawful acts | as expected | asked | not seen | silent | wrong | planted | as expected | errors |
|---|---|---|---|---|---|---|---|---|---|---|---|
{bad}

{notes}
"""


def counted(found: Sequence[Game], lawful: bool) -> Counter[str]:
    """Verdicts on what was lawful or was not, without dice that were typed in."""
    return Counter(
        deed.verdict
        for one in found
        for deed in one.deeds
        if deed.lawful == lawful and not typed_in(deed.name, deed.verdict)
    )


def unneeded(found: Sequence[Game]) -> int:
    """What was lawful and asked about, though no answer changed anything."""
    asked = (
        deed
        for one in found
        for deed in one.deeds
        if deed.lawful and deed.verdict == "asked" and not typed_in(deed.name, deed.verdict)
    )
    return sum(not deed.needed for deed in asked)


def typed_in(name: str, verdict: str) -> bool:
    """Is it a die that was typed in, and ruled on as that?"""
    return name in ("roll", "shot") and verdict == "asked"


def true_row(game: str, found: Sequence[Game]) -> str:
    """What eyes that never err leave."""
    lawful, planted = counted(found, True), counted(found, False)
    cells = [
        *(game, len(found), sum(one.over for one in found)),
        *(lawful.total(), share(lawful), lawful["asked"] - unneeded(found), unneeded(found)),
        lawful.total() - lawful["right"] - lawful["asked"],
        *(planted.total(), share(planted), planted["asked"]),
        planted.total() - planted["right"] - planted["asked"],
        *(
            sum(one.over and one.scores != one.recorded for one in found),
            sum(bool(one.failed) for one in found),
        ),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def bad_row(game: str, found: Sequence[Game]) -> str:
    """What is left of a game before eyes that err."""
    lawful, planted = counted(found, True), counted(found, False)
    rest = [lawful[verdict] for verdict in VERDICTS[1:]]
    cells = [
        *(game, len(found), sum(one.over for one in found), lawful.total(), share(lawful), *rest),
        *(planted.total(), share(planted), sum(bool(one.failed) for one in found)),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def share(counts: Counter[str]) -> str:
    """How much was right; nothing of nothing."""
    return f"{counts['right']} ({counts['right'] / counts.total():.1%})" if counts else ""


def otherwise(played: Sequence[Game]) -> Iterator[str]:
    """A line for everything that true eyes saw and that was not ruled on as what it was, for each
    kind of act that was asked about, and for every error; what is asked in Ice Boule, and dice that
    are typed, are in the table.
    """
    asked: dict[tuple[str, str], list[Deed]] = defaultdict(list)
    for one in played:
        if one.failed:
            yield f"- {one.game} {one.seed}: ended with {one.failed}"
        for deed in one.deeds:
            if deed.verdict == "right" or (
                deed.verdict == "asked"
                and (one.game == "ice_boule" or typed_in(deed.name, deed.verdict))
            ):
                continue
            if deed.verdict == "asked":
                asked[one.game, deed.name].append(deed)
            else:
                yield (
                    f"- {one.game} {one.seed}: {deed.name} {', '.join(deed.moves[:3])}:"
                    f" {deed.verdict}. Said: {' / '.join(deed.said) or deed.panel}"
                )
    for (game, name), deeds in asked.items():
        yield f"- {game}: {name}: asked {len(deeds)} times. The first time: {deeds[0].said[0]}"


def page(played: dict[str, list[Game]], measured: str, before: str) -> str:
    """docs/JUDGES.md; `played` are the games before each kind of eyes, and the notes are those of
    the page as it was `before`.
    """
    kinds = {
        eyes: {game: [one for one in found if one.game == game] for game in GAMES}
        for eyes, found in played.items()
    }
    return TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=measured,
        mistakes=MISTAKES,
        period=PERIOD_MS / 1000,
        typed=sum(
            typed_in(deed.name, deed.verdict)
            for found in played.values()
            for one in found
            for deed in one.deeds
        ),
        true="\n".join(true_row(game, found) for game, found in kinds["true"].items()),
        unneeded=(
            f"{unneeded(kinds['true']['ice_boule']) / max(1, counted(kinds['true']['ice_boule'], True).total()):.2%}"
        ),
        otherwise="\n".join(otherwise(played["true"])) or "Nothing else was said than what was so.",
        kinds=len(ALL),
        stuck=STUCK,
        bad="\n".join(bad_row(game, found) for game, found in kinds["bad"].items()),
        notes=noted(before),
    )


def refereed(eyes: str, game: str, seed: int, measured: str) -> Game:
    """A game before such eyes, in a process of its own."""
    cv2.setNumThreads(1)
    return play(game, seed, width_px=WIDTH_PX, measured=measured, seeing=seeing_faults(EYES[eyes]))


@click.command()
@click.option("--games", default=50, show_default=True, help="Seeds of each game.")
@click.option(
    "--processes", default=2, show_default=True, help="Games that are played at the same time."
)
def main(games: int, processes: int) -> None:
    """Referee the games before both kinds of eyes, and write the page."""
    measured = commit()
    played: dict[str, list[Game]] = defaultdict(list)
    with ProcessPoolExecutor(processes) as pool:
        due = {
            pool.submit(refereed, eyes, game, seed, measured): eyes
            for seed in range(games)
            for game in GAMES
            for eyes in EYES
        }
        for done in as_completed(due):
            one = done.result()
            played[due[done]].append(one)
            counts = dict(Counter(deed.verdict for deed in one.deeds))
            print(
                f"{due[done]} {one.game} {one.seed}:"
                f" {one.failed or ('over' if one.over else 'given up')}, {counts},"
                f" {one.took_s:.0f} s",
                file=sys.stderr,
            )
    found = {
        eyes: sorted(games, key=lambda one: (GAMES.index(one.game), one.seed))
        for eyes, games in played.items()
    }
    PAGE.write_text(page(found, measured, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)


if __name__ == "__main__":
    main()
