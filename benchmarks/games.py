"""Referee whole simulated games through camera, eyes, judge and log, and write docs/GAMES.md (`make bench-games`).

Players move, roll and vote, err and cheat; what the referee made of each act is set beside what truly happened.  Every game leaves
a file of results, so that a run that was broken off goes on where it was, and the page is written from whatever was played.
"""

from __future__ import annotations

import datetime
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import cv2
import msgspec

from benchmarks.accuracy import ROOT, commit
from engines.ice_boule.layout import Layout
from referee.events import Answered, Asked, Declared, Ruled
from referee.log import Log
from referee.loop import Referee
from referee.opening import opening
from referee.rolled import dice_corner_watch
from referee.session import Session
from referee.simulated_games import MISTAKES, Done, Players
from referee.simulated_table import demo_place, demo_setup
from referee.simulated_tables import KINDS, WIDTH_PX, camera_over, game_table, seat
from referee.simulation import Players as BoulePlayers
from referee.simulation import true_layout
from table.documents import write_whole
from vision.cameras.simulated import SimulatedCamera
from vision.frame import Frame
from vision.watch import Watch

GAMES = ("ice_boule", *KINDS)
PERIOD_MS = 500
"""Between two pictures: as long as a table has to be at rest, so that nobody draws and reads pictures that only pass the time."""
IDLE_FRAMES = 240
"""A game in which nobody did anything for so long has come to a stop: two minutes."""
STUCK = 4
"""A game is given up after so many acts in a row on which nobody ruled rightly: people would mend the table or the light first."""


class Deed(msgspec.Struct, frozen=True):
    """Something that was done, and what the referee made of it: `verdict` is as in `Done`, `said` what was put on record.

    `panel` is what the panel said when the players gave up waiting, empty if no more than whose turn it is.
    """

    name: str
    lawful: bool
    moves: tuple[str, ...]
    verdict: str
    said: tuple[str, ...]
    panel: str = ""


class Game(msgspec.Struct, frozen=True):
    """A game: all that was done, and scores in truth and in the record; `failed` is the error that ended it, if one did."""

    game: str
    seed: int
    commit: str
    width_px: int
    deeds: tuple[Deed, ...]
    scores: tuple[float, ...] = ()
    recorded: tuple[float, ...] = ()
    over: bool = False
    frames: int = 0
    took_s: float = 0.0
    failed: str = ""

    @property
    def unflagged(self) -> bool:
        """Do the scores differ, and nothing told of it?"""
        return self.scores != self.recorded and bool(self.deeds) and self.deeds[-1].verdict == "right"


class _Until:
    """A camera whose film ends once the game is over, the players have done so much at the table, or are stuck."""

    def __init__(self, camera: SimulatedCamera, players: Players, acts: int | None) -> None:
        self.name, self.simulated, self.frames = camera.name, True, 0
        self.panel: Callable[[], str] = str
        """What the panel says now that is more than whose turn it is."""
        self.deeds: list[Deed] = []
        self._camera, self._players, self._acts, self._acted = camera, players, acts, 0

    def read(self) -> Frame | None:
        seen = sum(one.act.said is None for one in self._players.done)
        idle = self.frames - self._acted > IDLE_FRAMES
        if self._players.over or seen == self._acts or idle or stuck([one.verdict for one in self._players.done]):
            return None
        self.frames += 1
        frame = self._camera.read()
        if done := self._players.done[len(self.deeds) :]:
            self.deeds += [_deed(one, self.panel()) for one in done]
            self._acted = self.frames
        return frame

    def close(self) -> None:
        self._camera.close()


def stuck(verdicts: Sequence[str]) -> bool:
    """Does nothing that is done come right any more?"""
    return len(verdicts) >= STUCK and not {"right", "asked"} & {*verdicts[-STUCK:]}


def play(game: str, seed: int, acts: int | None = None, width_px: int = WIDTH_PX, mistakes: float = MISTAKES, measured: str = "") -> Game:
    """A game, or so many acts of it that the camera sees, refereed; `measured` is the commit."""
    began_s = time.perf_counter()
    table = game_table(game, seed, width_px)
    with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
        started = opening(
            game, table.setup.game.colours, table.rulings, table.setup, "simulated", datetime.datetime.now(datetime.UTC), simulated=True
        )
        with closing(Session.begin(log, started)) as session:
            players = seat(session, table, mistakes)
            camera = _Until(camera_over(table, players, PERIOD_MS), players, acts)
            failed = ""
            referee = Referee(camera, table.setup, Watch(), session, table.empty, dice=dice_corner_watch(table.setup))
            camera.panel = lambda: _more_than_the_turn(referee.latest.said, session)
            try:
                referee.run()
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"
            truth: Any = players.state
            scores, recorded = truth.scores, session.ledger.state.scores
    took_s = time.perf_counter() - began_s
    return Game(game, seed, measured, width_px, tuple(camera.deeds), scores, recorded, players.over, camera.frames, took_s, failed)


def play_boule(seed: int, throws: int | None = None, measured: str = "") -> Game:
    """A game of Ice Boule, or so many throws of it, refereed; its players follow the referee, and what it says is set beside the table."""
    began_s = time.perf_counter()
    setup = demo_setup()
    with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
        started = opening("ice_boule", setup.game.colours, {}, setup, "simulated", datetime.datetime.now(datetime.UTC), simulated=True)
        with closing(Session.begin(log, started)) as session:
            players = BoulePlayers(session, setup, seed)
            camera = _Throws(SimulatedCamera(setup, demo_place(), players.scene_at, seed, PERIOD_MS), players, session, throws)
            failed = ""
            try:
                Referee(camera, setup, Watch(), session).run()
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"
            over = session.ledger.engine.outcome(session.ledger.state) is not None
            recorded = session.ledger.state.scores
    took_s = time.perf_counter() - began_s
    width_px = setup.camera.width
    return Game("ice_boule", seed, measured, width_px, tuple(camera.deeds), tuple(camera.scores), recorded, over, camera.frames, took_s, failed)


class _Throws:
    """A camera whose film ends with a game of Ice Boule; beside it stands somebody who measures every throw and counts the points."""

    def __init__(self, camera: SimulatedCamera, players: BoulePlayers, session: Session, throws: int | None) -> None:
        self.name, self.simulated, self.frames = camera.name, True, 0
        self.deeds: list[Deed] = []
        self.scores = [0] * len(session.ledger.players)
        self._camera, self._players, self._session, self._throws = camera, players, session, throws
        self._seq, self._taken_back, self._asked = session.ledger.seq, 0, False

    def read(self) -> Frame | None:
        self._compare()
        ledger = self._session.ledger
        over = ledger.engine.outcome(ledger.state) is not None
        if over or len(self.deeds) == self._throws or stuck([one.verdict for one in self.deeds]):
            return None
        self.frames += 1
        return self._camera.read()

    def close(self) -> None:
        self._camera.close()

    def _compare(self) -> None:
        """What was ruled since the last frame, with the table as it lies: nobody touches it before the next one."""
        for record in self._session.records(self._seq):
            self._seq, event = record.seq, record.event
            if isinstance(event, Asked):
                self._asked = True
            elif isinstance(event, Ruled | Answered | Declared):
                self._told(event)
        for _ in range(self._players.taken_back - self._taken_back):
            self.deeds.append(Deed("throw", True, (), "nothing", ()))
        self._taken_back = self._players.taken_back

    def _told(self, event: Ruled | Answered | Declared) -> None:
        said = (getattr(event, "said", ""),)
        if isinstance(event, Ruled) and event.verdict != "accepted":
            self.deeds.append(Deed("throw", True, event.moves, "not seen" if event.verdict == "cannot_see" else "wrong", said))
            return
        if not event.moves:
            return
        state: Any = self._session.ledger.state
        truth = true_layout(self._players.table)
        table, name = self._players.table, event.moves[-1].partition(" ")[0]
        in_play = table.target is not None and table.in_play(table.target)
        right = in_play if name == "target" else not in_play if name == "void" else agrees(state.layout, truth)
        self.deeds.append(Deed(name, True, event.moves, ("asked" if self._asked else "right") if right else "wrong", said))
        self._asked = False
        if state.end is not None and state.end.kind == "won" and len(truth.leaders) == 1:
            (leader,) = truth.leaders
            self.scores[state.players.index(leader)] += truth.points(leader)


def agrees(layout: Layout, truth: Layout) -> bool:
    """Does a record say what counts as it is: which pieces are in play, who leads, with how many points?  What it calls too close it leaves open."""
    pieces, leaders = sorted(lie.colour for lie in layout.lies), layout.leaders
    if pieces != sorted(lie.colour for lie in truth.lies):
        return False
    if layout.lead_in_doubt:
        return True
    return leaders == truth.leaders and all(layout.points_in_doubt(one) or layout.points(one) == truth.points(one) for one in leaders)


def _deed(done: Done, panel: str) -> Deed:
    said = tuple(getattr(event, "said", "") for event in done.events)
    return Deed(done.act.name, done.act.lawful, done.act.moves, done.verdict, said, "" if done.events else panel)


def _more_than_the_turn(said: str, session: Session) -> str:
    ledger = session.ledger
    return "" if said == ledger.engine.state_document(ledger.state)["turn"] else said


TEXT = """# Whole games, simulated

Measured {date} ({commits}); `make bench-games` writes this page. Nothing here is a photograph: `vision/scene*.py` draw the tables,
another one for every seed, before a camera of {width} pixels a row that is in focus and well exposed, and takes {fps:g} pictures a second.
Everything behind it is the real thing: settling, eyes, judge, session and log.

Players move, roll and vote by the rules, and with a chance of {mistakes:.0%} before each move something goes wrong: an illegal move, a wrong
piece taken, a nudged or exchanged one; then it is put back. A verdict is as expected if it is the only one, says what truly happened
(accepted moves to the letter, refusals with their code), and the record agrees with the truth afterwards. A question counts apart,
and so does a verdict that the table cannot be read: both are honest, and both cost the players time. Silent: nothing was put on record
for 6 s. Of {silent} silent ones the panel said in {told} what keeps the referee from ruling, and in the others no more than whose turn it is.
Wrong is all else.

In Zamboni Wars a real die is rolled in a corner of the table and read by the camera; where it is not read, its number is typed in, and
that counts as asked, as does a throw off the chessboard that nobody sees and its player tells. Games with odd seeds have cover dice. In
Ice Boule nobody cheats, pieces are knocked, touch and roll off; a throw is as expected if who leads, with how many points, and which
pieces are in play is as it truly is.

Games are played to their end, {begun} of them here, of which {over} came to it. One is given up after {stuck} acts in a row on which nobody ruled
rightly, or where nobody does anything for two minutes; {failed} ended with an error. A game took {cost}
in one process; other programs ran beside it.

| game | games | to the end | given up | lawful acts | as expected | asked | not seen | silent | wrong | wrong scores not flagged |
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
TOLD = 300
"""Letters that are told of what was said."""
NAMES = {"nothing": "silent"}
ROLLS = ("roll", "shot")
VERDICTS = ("right", "asked", "not seen", "nothing", "wrong")


def lawful_row(game: str, found: Sequence[Game]) -> str:
    """Acts that the rules allow."""
    counts = Counter(deed.verdict for one in found for deed in one.deeds if deed.lawful)
    given_up = sum(not one.over and not one.failed for one in found)
    cells = [game, len(found), sum(one.over for one in found), given_up, counts.total(), *_shares(counts), sum(one.unflagged for one in found)]
    return f"| {' | '.join(map(str, cells))} |"


def planted_rows(game: str, found: Iterable[Game]) -> list[str]:
    """A row for every kind of thing that goes wrong."""
    planted: dict[str, Counter[str]] = {}
    for deed in (deed for one in found for deed in one.deeds if not deed.lawful):
        planted.setdefault(deed.name, Counter())[deed.verdict] += 1
    return [f"| {' | '.join(map(str, [game, name, counts.total(), *_shares(counts)]))} |" for name, counts in sorted(planted.items())]


def _shares(counts: Counter[str]) -> list[str]:
    right = f"{counts['right']} ({counts['right'] / max(1, counts.total()):.1%})"
    return [right, *(str(counts[verdict]) for verdict in VERDICTS[1:])]


def otherwise(found: Iterable[Game]) -> list[str]:
    """A line for everything that was not as expected."""
    lines = []
    for one in found:
        typed = [deed for deed in one.deeds if deed.name in ROLLS and deed.verdict == "asked"]
        if typed:
            lines.append(f"- {one.game} {one.seed}: {len(typed)} of {sum(deed.name in ROLLS for deed in one.deeds)} rolls and shots typed in.")
        for deed in one.deeds:
            if deed.verdict != "right" and deed not in typed:
                said = " / ".join(deed.said) or f"nothing on record; on the panel: {deed.panel or 'whose turn it is'}"
                said = said if len(said) <= TOLD else f"{said[:TOLD]} ..."
                moves = ", ".join(deed.moves[:NAMED]) + (" ..." if len(deed.moves) > NAMED else "")
                lines.append(
                    f"- {one.game} {one.seed}: {' '.join(filter(None, (deed.name, moves)))}: {NAMES.get(deed.verdict, deed.verdict)}. Said: {said}"
                )
        if one.failed:
            lines.append(f"- {one.game} {one.seed}: ended with {one.failed}")
    return lines


def page(played: Sequence[Game]) -> str:
    """docs/GAMES.md of games in the order of GAMES and seeds."""
    kinds = {kind: [one for one in played if one.game == kind] for kind in GAMES}
    kinds = {kind: found for kind, found in kinds.items() if found}
    silent = [deed for one in played for deed in one.deeds if deed.verdict == "nothing"]
    costs = (f"{sum(one.took_s for one in found) / len(found):.0f} s ({kind})" for kind, found in kinds.items())
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
        lawful="\n".join(lawful_row(kind, found) for kind, found in kinds.items()),
        planted="\n".join(row for kind, found in kinds.items() for row in planted_rows(kind, found)),
        otherwise="\n".join(otherwise(played)) or "- nothing",
    )


def _play_into(path: Path, game: str, seed: int, width_px: int, measured: str) -> Game:
    """Play a game in a process of its own and leave its file."""
    cv2.setNumThreads(1)
    played = play_boule(seed, measured=measured) if game == "ice_boule" else play(game, seed, width_px=width_px, measured=measured)
    write_whole(path, msgspec.json.format(msgspec.json.encode(played), indent=1))
    return played


@click.command()
@click.option("--game", "names", multiple=True, type=click.Choice(list(GAMES)), help="Only these games; all without it.")
@click.option("--games", default=50, show_default=True, help="Seeds of each game.")
@click.option("--width", default=WIDTH_PX, show_default=True, help="Width of the camera's pictures in pixels.")
@click.option("--processes", default=2, show_default=True, help="Games that are played at the same time.")
@click.option(
    "--results", type=click.Path(path_type=Path), help="Folder of results; games that have one are not played again.  [default: build/games/COMMIT]"
)
@click.option("--out", type=click.Path(path_type=Path), default=ROOT / "docs" / "GAMES.md", help="The page to write.")
def main(names: tuple[str, ...], games: int, width: int, processes: int, results: Path | None, out: Path) -> None:
    """Referee the games and write the page, from whatever was played if it is broken off."""
    measured = commit()
    folder = results or ROOT / "build" / "games" / measured.replace(", ", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    due = {(name, seed): folder / f"{name}-{seed}.json" for seed in range(games) for name in names or GAMES}
    due = {key: path for key, path in due.items() if not path.exists()}
    try:
        with ProcessPoolExecutor(processes) as pool:
            for done in as_completed(pool.submit(_play_into, path, *key, width, measured) for key, path in due.items()):
                one = done.result()
                counts = dict(Counter(deed.verdict for deed in one.deeds))
                print(f"{one.game} {one.seed}: {'over' if one.over else one.failed or 'given up'}, {counts}, {one.took_s:.0f} s", file=sys.stderr)
    finally:
        played = [msgspec.json.decode(path.read_bytes(), type=Game) for path in folder.glob("*.json")]
        if played:
            out.write_text(page(sorted(played, key=lambda one: (GAMES.index(one.game), one.seed))), encoding="utf-8")
            print(f"wrote {out} from {len(played)} games in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
