"""Referee whole simulated games through camera, eyes, judge and log, and write docs/GAMES.md (`make
bench-games`).

Players move, roll and vote, err and cheat; what the referee made of each act is set beside what
truly happened.  Every game leaves a file of results, so that a run that was broken off goes on
where it was, and the page is written from whatever was played.
"""

from __future__ import annotations

import datetime
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import click
import cv2
import msgspec

from benchmarks.accuracy import ROOT, commit
from benchmarks.playing import GAMES, PERIOD_MS, STUCK, Game, play
from simulation.players.driver import MISTAKES
from simulation.tables import WIDTH_PX
from table.files import write_whole

TEXT = """# Whole games, simulated

Measured {date} ({commits}); `make bench-games` writes this page. Nothing here is a photograph: `vision/scene*.py` draw the tables,
another one for every seed, before a camera of {width} pixels a row that is in focus and well exposed, and takes {fps:g} pictures a second.
Everything behind it is the real thing: settling, eyes, judge, session and log.

Players move, roll and vote by the rules, and with a chance of {mistakes:.0%} before each move something goes wrong: an illegal move, a wrong
piece taken, a nudged or exchanged one; then it is put back. A verdict is as expected if it is the only one, says what truly happened
(accepted moves to the letter, refusals with their code), and the record agrees with the truth afterwards. A question counts apart,
also where the table was first told as out of step, and so does a verdict that the table cannot be read: both are honest, and both cost the
players time. Silent: nothing was put on record for 6 s. Of {silent} silent ones the panel said in {told} what keeps the referee from ruling,
and in the others no more than whose turn it is. Wrong is all else.

In Zamboni Wars a real die is rolled in a corner of the table and read by the camera; where it is not read, its number is typed in, and
that counts as asked, as does a throw off the chessboard that nobody sees and its player tells. Games with odd seeds have cover dice. In
Ice Boule nobody cheats; pieces and target are knocked any distance, over or off, touch, roll off, stand on the target and on what stands there,
and that stack is pushed over; a throw is as expected if who leads, with how many points, and which pieces are in play is as it truly is.

Games are played to their end, {begun} of them here, of which {over} came to it. One is given up after {stuck} acts in a row on which nobody ruled
rightly, or where nobody does anything for two minutes; {failed} ended with an error. A game took {cost}
in one process; other programs ran beside it.

{counts}

{notes}

What went otherwise, for whoever wants to see it again (`rinkside demo --game GAME --seed SEED`):

{otherwise}
"""
COUNTS = """| game | games | to the end | given up | lawful acts | as expected | asked | not seen | silent | wrong | wrong scores not flagged |
|---|---|---|---|---|---|---|---|---|---|---|
{lawful}

Of all that was done, lawful or not, but for what was asked about and what could not be seen, was ruled on as expected: {ruled}.

Of what was planted:

| game | what | times | called as expected | asked | not seen | silent | wrong |
|---|---|---|---|---|---|---|---|
{planted}"""
NOTES = ("<!-- Found by looking; the benchmark leaves it as it is. -->", "<!-- Until here. -->")
"""What is between these on the page was not written by this program."""
NAMED = 3
"""Moves of an act that are told."""
TOLD = 300
"""Letters that are told of what was said."""
NAMES = {"nothing": "silent"}
ROLLS = ("roll", "shot")
VERDICTS = ("right", "asked", "not seen", "nothing", "wrong")


def lawful_row(game: str, found: Sequence[Game]) -> str:
    """Acts that the rules allow."""
    counts = Counter(deed.verdict for one in found for deed in one.deeds if deed.lawful)
    given_up = sum(not one.over and not one.failed for one in found)
    cells = [
        game,
        len(found),
        sum(one.over for one in found),
        given_up,
        counts.total(),
        *_shares(counts),
        sum(one.unflagged for one in found),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def planted_rows(game: str, found: Iterable[Game]) -> list[str]:
    """A row for every kind of thing that goes wrong."""
    planted: dict[str, Counter[str]] = {}
    for deed in (deed for one in found for deed in one.deeds if not deed.lawful):
        planted.setdefault(deed.name, Counter())[deed.verdict] += 1
    return [
        f"| {' | '.join(map(str, [game, name, counts.total(), *_shares(counts)]))} |"
        for name, counts in sorted(planted.items())
    ]


def _shares(counts: Counter[str]) -> list[str]:
    share = counts["right"] / max(1, counts.total())
    decimals = 2 if 0.9995 <= share < 1 else 1  # nearly all is not all
    return [
        f"{counts['right']} ({share:.{decimals}%})",
        *(str(counts[verdict]) for verdict in VERDICTS[1:]),
    ]


def otherwise(found: Iterable[Game]) -> list[str]:
    """A line for everything that was not as expected."""
    lines = []
    for one in found:
        typed = [deed for deed in one.deeds if deed.name in ROLLS and deed.verdict == "asked"]
        if typed:
            lines.append(
                f"- {one.game} {one.seed}: {len(typed)} of"
                f" {sum(deed.name in ROLLS for deed in one.deeds)} rolls and shots typed in."
            )
        for deed in one.deeds:
            if deed.verdict != "right" and deed not in typed:
                said = (
                    " / ".join(deed.said)
                    or f"nothing on record; on the panel: {deed.panel or 'whose turn it is'}"
                )
                said = said if len(said) <= TOLD else f"{said[:TOLD]} ..."
                moves = ", ".join(deed.moves[:NAMED]) + (" ..." if len(deed.moves) > NAMED else "")
                lines.append(
                    f"- {one.game} {one.seed}: {' '.join(filter(None, (deed.name, moves)))}:"
                    f" {NAMES.get(deed.verdict, deed.verdict)}. Said: {said}"
                )
        if one.failed:
            lines.append(f"- {one.game} {one.seed}: ended with {one.failed}")
    return lines


def ruled(game: str, found: Iterable[Game]) -> str:
    """The share ruled on as expected of what was ruled on without a question, or should have
    been.
    """
    counts = Counter(deed.verdict for one in found for deed in one.deeds)
    due = counts.total() - counts["asked"] - counts["not seen"]
    return f"{counts['right'] / due:.2%} of {due:,} ({game})" if due else f"nothing ({game})"


def noted(page: str) -> str:
    """What somebody wrote on a page, with the marks around it."""
    begin, end = NOTES
    return begin + page.partition(begin)[2].partition(end)[0] + end


def of_kinds(played: Sequence[Game]) -> dict[str, list[Game]]:
    """Games by their names, in the order of GAMES."""
    kinds = {kind: [one for one in played if one.game == kind] for kind in GAMES}
    return {kind: found for kind, found in kinds.items() if found}


def counts(played: Sequence[Game]) -> str:
    """What came of games, as tables."""
    kinds = of_kinds(played)
    return COUNTS.format(
        lawful="\n".join(lawful_row(kind, found) for kind, found in kinds.items()),
        ruled=", ".join(ruled(kind, found) for kind, found in kinds.items()),
        planted="\n".join(
            row for kind, found in kinds.items() for row in planted_rows(kind, found)
        ),
    )


def page(played: Sequence[Game], before: str) -> str:
    """docs/GAMES.md of games in the order of GAMES and seeds, with the notes of the page as it was
    before.
    """
    silent = [deed for one in played for deed in one.deeds if deed.verdict == "nothing"]
    costs = (
        f"{sum(one.took_s for one in found) / len(found):.0f} s ({kind})"
        for kind, found in of_kinds(played).items()
    )
    return TEXT.format(
        date=datetime.date.today().isoformat(),
        commits=", ".join(f"commit {one}" for one in dict.fromkeys(one.commit for one in played)),
        fps=1000 / PERIOD_MS,
        silent=len(silent),
        told=sum(bool(deed.panel) for deed in silent),
        width=" or ".join(str(width) for width in dict.fromkeys(one.width_px for one in played)),
        mistakes=MISTAKES,
        stuck=STUCK,
        begun=len(played),
        over=sum(one.over for one in played),
        failed=sum(bool(one.failed) for one in played) or "none",
        cost=", ".join(costs),
        counts=counts(played),
        notes=noted(before),
        otherwise="\n".join(otherwise(played)) or "- nothing",
    )


def _play_into(path: Path, game: str, seed: int, width_px: int, measured: str) -> Game:
    """Play a game in a process of its own and leave its file."""
    cv2.setNumThreads(1)
    played = play(game, seed, width_px=width_px, measured=measured)
    write_whole(path, msgspec.json.format(msgspec.json.encode(played), indent=1))
    return played


@click.command()
@click.option(
    "--game",
    "names",
    multiple=True,
    type=click.Choice(list(GAMES)),
    help="Only these games; all without it.",
)
@click.option("--games", default=50, show_default=True, help="Seeds of each game.")
@click.option(
    "--width", default=WIDTH_PX, show_default=True, help="Width of the camera's pictures in pixels."
)
@click.option(
    "--processes", default=2, show_default=True, help="Games that are played at the same time."
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help=(
        "Folder of results; games that have one are not played again.  [default:"
        " build/games/COMMIT]"
    ),
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "GAMES.md",
    help="The page to write.",
)
def main(
    names: tuple[str, ...], games: int, width: int, processes: int, results: Path | None, out: Path
) -> None:
    """Referee the games and write the page, from whatever was played if it is broken off."""
    measured = commit()
    folder = results or ROOT / "build" / "games" / measured.replace(", ", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    due = {
        (name, seed): folder / f"{name}-{seed}.json"
        for seed in range(games)
        for name in names or GAMES
    }
    due = {key: path for key, path in due.items() if not path.exists()}
    try:
        with ProcessPoolExecutor(processes) as pool:
            for done in as_completed(
                pool.submit(_play_into, path, *key, width, measured) for key, path in due.items()
            ):
                one = done.result()
                counts = dict(Counter(deed.verdict for deed in one.deeds))
                print(
                    f"{one.game} {one.seed}: {'over' if one.over else one.failed or 'given up'},"
                    f" {counts}, {one.took_s:.0f} s",
                    file=sys.stderr,
                )
    finally:
        played = [
            msgspec.json.decode(path.read_bytes(), type=Game) for path in folder.glob("*.json")
        ]
        if played:
            before = out.read_text(encoding="utf-8") if out.exists() else ""
            write_whole(
                out,
                page(
                    sorted(played, key=lambda one: (GAMES.index(one.game), one.seed)), before
                ).encode(),
            )
            print(f"wrote {out} from {len(played)} games in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
