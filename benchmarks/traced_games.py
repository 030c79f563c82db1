"""Referee the beginnings of whole games before path-traced tables, and write docs/TRACED_GAMES.md
(`make bench-traced-games`).

Players and referee are those of `benchmarks.games`; only the light is another.  It costs some
seconds a table and core, so that what was traced is kept, and a later referee that rules alike
looks at the same pictures.
"""

from __future__ import annotations

import datetime
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache, partial
from pathlib import Path

import click
import cv2
import numpy as np

from benchmarks.accuracy import ROOT, commit
from benchmarks.games import counts, otherwise
from benchmarks.playing import GAMES, Game, play
from simulation.render.ground import Colours
from simulation.render.scene import Scene
from table.files import write_whole
from table.observation import Camera
from table.table_config import Setup
from training.traced import Tracer

FIRST = 5000
"""The first seed, none of which is among those of docs/GAMES.md."""
PATHS = 24
"""Paths a pixel."""
BRIGHTEST = 2.0
"""Light that is kept, at most; 1 is paper under a lamp of power 1."""
KEPT_QUALITY = 95
TEXT = """# Games before traced tables

Measured {date} ({commits}) with OpenCV {opencv}; `make bench-traced-games` writes this page.

The games are played as those of [GAMES.md](GAMES.md), by other seeds, {acts} acts of each from the first on: one that is not over then counts as
given up. What lies on the table is not drawn: it is path-traced with Mitsuba, as the tables of [TRACED.md](TRACED.md), by {paths} paths a pixel
before a camera of {width} pixels a row. Dice and arms are drawn over it. Every game is on another table in another light, but for Ice Boule, which is
always on the table of the demo. No networks or thresholds were chosen with these in view; that a nest was told as a smaller one was found in
one of them (Zamboni Wars 5001), and mended. What the columns mean stands in [GAMES.md](GAMES.md).

{counts}

What went otherwise:

{otherwise}
"""


class KeptTracer(Tracer):
    """Traces each table of a game once, and keeps its light as a picture in a folder.

    What is traced follows from `seed`: not from the camera's noise, and so from how many pictures
    were taken before.
    """

    def __init__(self, folder: Path, seed: int, setup: Setup, camera: Camera) -> None:
        super().__init__(setup, camera, PATHS)
        self._folder, self._rng = folder, np.random.default_rng([seed, 43])
        folder.mkdir(parents=True, exist_ok=True)

    def light(self, scene: Scene, rng: np.random.Generator) -> Colours:
        del rng
        bodies = [
            body.vertices_mm.round(3).tobytes() + repr(body.rgb).encode()
            for body in (*scene.slabs, *scene.pieces)
        ]
        path = self._folder / f"{hashlib.sha256(b''.join(bodies)).hexdigest()[:16]}.jpg"
        if not path.exists():
            write_whole(path, _packed(super().light(scene, self._rng)))
        return _unpacked(path).copy()


def _packed(light: Colours) -> bytes:
    """Light (h, w, 3) as a JPEG of its roots: dark places need finer steps."""
    levels = (
        (255 * np.sqrt(light[..., ::-1].clip(0, BRIGHTEST) / BRIGHTEST)).round().astype(np.uint8)
    )
    return cv2.imencode(".jpg", levels, [cv2.IMWRITE_JPEG_QUALITY, KEPT_QUALITY])[1].tobytes()


@lru_cache(maxsize=2)
def _unpacked(path: Path) -> Colours:
    levels = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR)
    assert levels is not None, f"{path}: expected a JPEG that this program wrote; delete it"
    return np.asarray(BRIGHTEST * (levels[..., ::-1].astype(np.float32) / 255) ** 2, np.float32)


def _play(folder: Path, game: str, seed: int, acts: int, measured: str) -> Game:
    """Play in a process of its own."""
    cv2.setNumThreads(1)
    before = lru_cache(maxsize=1)(
        partial(KeptTracer, folder / f"{game}-{seed}", seed)
    )  # one for the empty table and the game
    return play(game, seed, acts, measured=measured, before=before)


def page(played: Sequence[Game], acts: int) -> str:
    """docs/TRACED_GAMES.md of games in the order of GAMES and seeds."""
    return TEXT.format(
        date=datetime.date.today().isoformat(),
        commits=", ".join(f"commit {one}" for one in dict.fromkeys(one.commit for one in played)),
        opencv=cv2.__version__,
        acts=acts,
        paths=PATHS,
        width=" or ".join(str(width) for width in dict.fromkeys(one.width_px for one in played)),
        counts=counts(played),
        otherwise="\n".join(otherwise(played)) or "- nothing",
    )


@click.command()
@click.option(
    "--game",
    "names",
    multiple=True,
    type=click.Choice(list(GAMES)),
    help="Only these games; all without it.",
)
@click.option("--games", default=4, show_default=True, help="Seeds of each game.")
@click.option("--first", default=FIRST, show_default=True, help="The first seed.")
@click.option("--acts", default=15, show_default=True, help="Acts of each game.")
@click.option(
    "--processes", default=2, show_default=True, help="Games that are played at the same time."
)
@click.option(
    "--tables",
    type=click.Path(path_type=Path),
    default=ROOT / "build" / "traced" / "games",
    help="Where tables are kept; delete them to trace anew.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "TRACED_GAMES.md",
    help="The page to write.",
)
def main(
    names: tuple[str, ...],
    games: int,
    first: int,
    acts: int,
    processes: int,
    tables: Path,
    out: Path,
) -> None:
    """Trace, referee and write the page."""
    measured, played = commit(), []
    due = [(name, seed) for seed in range(first, first + games) for name in names or GAMES]
    with ProcessPoolExecutor(
        processes, max_tasks_per_child=1
    ) as pool:  # Mitsuba keeps memory of every table
        for done in as_completed(
            pool.submit(_play, tables, name, seed, acts, measured) for name, seed in due
        ):
            one = done.result()
            played.append(one)
            print(
                f"{one.game} {one.seed}: {dict(Counter(deed.verdict for deed in one.deeds))},"
                f" {one.took_s:.0f} s",
                file=sys.stderr,
            )
    write_whole(
        out, page(sorted(played, key=lambda one: (GAMES.index(one.game), one.seed)), acts).encode()
    )
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
