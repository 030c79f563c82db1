"""Referee simulated games through camera, eyes, judge and log, and write docs/GAMES.md (`make bench-games`).

Players move, roll and vote, err and cheat; what the referee made of each act is set beside what truly happened.
"""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.accuracy import ROOT, commit
from referee.log import Log
from referee.loop import Referee
from referee.opening import opening
from referee.session import Session
from referee.simulated_games import MISTAKES, Done, Players
from referee.simulated_tables import KINDS, WIDTH_PX, camera_over, game_table, seat
from vision.cameras.simulated import SimulatedCamera
from vision.frame import Frame
from vision.watch import Watch

STUCK = 4
"""A stretch is given up after so many acts in a row on which nobody ruled rightly: people would mend the table or the light first."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The beginning of a game: all that was done, and scores in truth and in the record."""

    game: str
    seed: int
    done: tuple[Done, ...]
    scores: tuple[int, ...]
    recorded: tuple[int, ...]
    over: bool
    took_s: float

    @property
    def flagged(self) -> bool:
        """Do the scores differ, and was that told?"""
        return self.scores != self.recorded and self.done[-1].verdict != "right"


class _Until:
    """A camera whose film ends once the players have done so much at the table, or are stuck."""

    def __init__(self, camera: SimulatedCamera, players: Players, acts: int) -> None:
        self.name, self.simulated = camera.name, True
        self._camera, self._players, self._acts = camera, players, acts

    def read(self) -> Frame | None:
        seen = sum(one.act.said is None for one in self._players.done)
        return None if self._players.over or seen >= self._acts or stuck(self._players.done) else self._camera.read()

    def close(self) -> None:
        self._camera.close()


def stuck(done: Sequence[Done]) -> bool:
    """Does nothing that is done come right any more?"""
    return len(done) >= STUCK and not any(one.verdict in ("right", "asked") for one in done[-STUCK:])


def stretch(game: str, seed: int, acts: int, width_px: int = WIDTH_PX, mistakes: float = MISTAKES) -> Stretch:
    """The first `acts` acts that the camera sees of a game, refereed."""
    began_s = time.perf_counter()
    table = game_table(game, seed, width_px)
    with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
        started = opening(game, table.setup.game.colours, {}, table.setup, "simulated", datetime.datetime.now(datetime.UTC), simulated=True)
        with closing(Session.begin(log, started)) as session:
            players = seat(session, table, mistakes)
            Referee(_Until(camera_over(table, players), players, acts), table.setup, Watch(), session, table.empty).run()
            truth: Any = players.state
            recorded = session.ledger.state.scores
    return Stretch(game, seed, tuple(players.done), truth.scores, recorded, players.over, time.perf_counter() - began_s)


TEXT = """# Whole games, simulated

Measured {date} (commit {commit}); `make bench-games` writes this page. Nothing here is a photograph: `vision/scene*.py` draw the tables,
another one for every seed, before a camera of {width} pixels a row that is in focus and well exposed. Everything behind it is the real
thing: settling, eyes, judge, session and log.

Players move, roll and vote by the rules, and with a chance of {mistakes:.0%} before each move something goes wrong: an illegal move, a wrong
piece taken, a nudged or exchanged one; then it is put back. A verdict is as expected if it is the only one, says what truly happened
(accepted moves to the letter, refusals with their code), and the record agrees with the truth afterwards. A question counts apart,
and so does a verdict that the table cannot be read: both are honest, and both cost the players time. Silent: nothing was put on record
for 6 s; the panel may have said what it waits for. Wrong is all else.

These are stretches, not whole evenings: {games} games of each kind, each until {acts} acts were seen by the camera or it was over; what is
heard (dice, votes) comes on top. One is given up after {stuck} acts in a row on which nobody ruled rightly.

| game | games | over | given up | lawful acts | as expected | asked | not seen | silent | wrong | wrong scores not flagged |
|---|---|---|---|---|---|---|---|---|---|---|
{lawful}

Of what was planted:

| game | what | times | called as expected | asked | not seen | silent | wrong |
|---|---|---|---|---|---|---|---|
{planted}

What went otherwise, for whoever wants to see it again (`rinkside demo --game GAME --seed SEED`):

{otherwise}
"""
NAMED = 3
"""Moves of an act that are told."""
NAMES = {"nothing": "silent"}
VERDICTS = ("right", "asked", "not seen", "nothing", "wrong")


def lawful_row(game: str, found: list[Stretch]) -> str:
    """Acts that the rules allow."""
    counts = Counter(done.verdict for one in found for done in one.done if done.act.lawful)
    unflagged = sum(one.scores != one.recorded and not one.flagged for one in found)
    cells = [game, len(found), sum(one.over for one in found), sum(stuck(one.done) for one in found), counts.total(), *_shares(counts), unflagged]
    return f"| {' | '.join(map(str, cells))} |"


def planted_rows(game: str, found: list[Stretch]) -> list[str]:
    """A row for every kind of thing that goes wrong."""
    planted: dict[str, Counter[str]] = {}
    for done in (done for one in found for done in one.done if not done.act.lawful):
        planted.setdefault(done.act.name, Counter())[done.verdict] += 1
    return [f"| {' | '.join(map(str, [game, name, counts.total(), *_shares(counts)]))} |" for name, counts in sorted(planted.items())]


def _shares(counts: Counter[str]) -> list[str]:
    right = f"{counts['right']} ({counts['right'] / max(1, counts.total()):.1%})"
    return [right, *(str(counts[verdict]) for verdict in VERDICTS[1:])]


def otherwise(found: list[Stretch]) -> list[str]:
    """A line for everything that was not as expected."""
    lines = []
    for one in found:
        for done in one.done:
            if done.verdict != "right":
                said = " / ".join(getattr(event, "said", "") for event in done.events) or "nothing"
                moves = ", ".join(done.act.moves[:NAMED]) + (" ..." if len(done.act.moves) > NAMED else "")
                lines.append(f"- {one.game} {one.seed}: {done.act.name} {moves}: {NAMES.get(done.verdict, done.verdict)}. Said: {said}")
    return lines


@click.command()
@click.option("--game", "names", multiple=True, type=click.Choice(list(KINDS)), help="Only these games; all without it.")
@click.option("--games", default=10, show_default=True, help="Seeds of each game.")
@click.option("--acts", default=30, show_default=True, help="Acts at the table in each.")
@click.option("--width", default=WIDTH_PX, show_default=True, help="Width of the camera's pictures in pixels.")
@click.option("--out", type=click.Path(path_type=Path), default=ROOT / "docs" / "GAMES.md", help="The page to write.")
def main(names: tuple[str, ...], games: int, acts: int, width: int, out: Path) -> None:
    """Referee the games and write the page."""
    measured, rows, planted, others = commit(), [], [], []
    for name in names or tuple(KINDS):
        found = []
        for seed in range(games):
            found.append(stretch(name, seed, acts, width))
            counts = Counter(done.verdict for done in found[-1].done)
            print(f"{name} {seed}: {dict(counts)}, {found[-1].took_s:.0f} s", file=sys.stderr)
        rows.append(lawful_row(name, found))
        planted += planted_rows(name, found)
        others += otherwise(found)
    text = TEXT.format(
        date=datetime.date.today().isoformat(),
        commit=measured,
        width=width,
        mistakes=MISTAKES,
        stuck=STUCK,
        games=games,
        acts=acts,
        lawful="\n".join(rows),
        planted="\n".join(planted),
        otherwise="\n".join(others) or "- nothing",
    )
    out.write_text(text, encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
