"""Score photographs and films that were made worse and write docs/ROBUSTNESS.md (`make
bench-robustness`).

Every photograph with exact truth is read as it is, and darker, lighter, tinted, packed harder,
smaller, blurred, noisy and turned round; the filmed games are refereed in changed light, packed
harder, shaken and trembling.  Where the camera is said to be is held against the truth in pictures
that are made much worse (`benchmarks.camera_places`).
"""

from __future__ import annotations

import datetime
import json
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import cv2
import msgspec
import numpy as np

from benchmarks import camera_places
from benchmarks.accuracy import BENCH, KINDS, ROOT, commit, load_scoring, percent, spread
from benchmarks.bad_pictures import KINDS as CHANGES
from benchmarks.bad_pictures import Change, Taken, defocused, moved, noisy, small
from benchmarks.sequences import GAMES, refereed
from table.observation import Camera, Observation, observation_document
from table.table_config import Lens, Setup, load_table
from vision.cameras.frame import Frame, Image, swapped
from vision.cameras.image_files import read_image
from vision.localization.fiducials import MOST_MM, SURE_MM
from vision.observe import observe

Seen = tuple[Image, Setup]


def times(*factors: float) -> Callable[[Image, Setup], Seen]:
    """Levels of red, green and blue multiplied, and clipped."""

    def change(image: Image, setup: Setup) -> Seen:
        return np.clip(np.rint(image * np.array(factors)), 0, 255).astype(np.uint8), setup

    return change


def packed(quality: int) -> Callable[[Image, Setup], Seen]:
    """Packed as JPEG once more."""

    def change(image: Image, setup: Setup) -> Seen:
        _, data = cv2.imencode(".jpg", swapped(image), [cv2.IMWRITE_JPEG_QUALITY, quality])
        return swapped(np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)), setup

    return change


def half(image: Image, setup: Setup) -> Seen:
    """Half as wide and high, with a lens that says so."""
    lens = setup.camera
    width, height = lens.width // 2, lens.height // 2
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    matrix = ((fx / 2, 0.0, (cx + 0.5) / 2 - 0.5), (0.0, fy / 2, (cy + 0.5) / 2 - 0.5), last)
    small = np.asarray(
        cv2.resize(image[: 2 * height, : 2 * width], (width, height), interpolation=cv2.INTER_AREA),
        np.uint8,
    )
    return small, _with_lens(
        setup, msgspec.structs.replace(lens, width=width, height=height, matrix=matrix)
    )


def shaken(image: Image, setup: Setup) -> Seen:
    """Moved by 3 pixels, askew, while the shutter was open."""
    kernel = np.array([[0.25, 0.1, 0.0], [0.1, 0.1, 0.1], [0.0, 0.1, 0.25]])
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum()), np.uint8), setup


def turned(image: Image, setup: Setup) -> Seen:
    """By a camera that hangs the other way round: the picture turned by 180 degrees, and the lens
    with it.
    """
    lens = setup.camera
    (fx, _, cx), (_, fy, cy), last = lens.matrix
    k1, k2, p1, p2, *more = lens.distortion
    matrix = ((fx, 0.0, lens.width - 1 - cx), (0.0, fy, lens.height - 1 - cy), last)
    other = msgspec.structs.replace(lens, matrix=matrix, distortion=(k1, k2, -p1, -p2, *more))
    return np.ascontiguousarray(image[::-1, ::-1]), _with_lens(setup, other)


def _with_lens(setup: Setup, lens: Lens) -> Setup:
    return msgspec.structs.replace(setup, camera=lens)


def by(change: Change) -> Callable[[Image, Setup], Seen]:
    """A change of `benchmarks.bad_pictures`, the same for the same picture."""

    def worse(image: Image, setup: Setup) -> Seen:
        changed = change(
            Taken(image, setup, NOWHERE), np.random.default_rng(zlib.crc32(image.tobytes()))
        )
        return changed.image, changed.setup

    return worse


NOWHERE = Camera(np.eye(3), np.zeros(3), np.zeros((6, 6)), 0.0, ())
"""Where the camera is does not matter for these."""
WORSE: dict[str, Callable[[Image, Setup], Seen]] = {
    "as it is": times(1, 1, 1),
    "levels x 0.5": times(0.5, 0.5, 0.5),
    "levels x 1.5": times(1.5, 1.5, 1.5),
    "warm light": times(1.15, 1.0, 0.75),
    "cold light": times(0.8, 1.0, 1.15),
    "JPEG quality 60": packed(60),
    "half size": half,
    "shaken by 3 px": shaken,
    "turned by 180°": turned,
    "moved by 5 px": by(moved(5)),
    "out of focus by 4 px": by(defocused(4)),
    "noise of 20 levels": by(noisy(20)),
    "640 px wide": by(small(640)),
}


def read(folder: Path, change: Callable[[Image, Setup], Seen]) -> dict[str, Any] | None:
    """What is said of a photograph that was changed; None where it is given up."""
    setup = load_table(folder / "table.json")
    image, setup = change(read_image(folder / "image.jpg", setup).image, setup)
    seen = observe(Frame(0, 0, image), setup)
    return observation_document(seen) if isinstance(seen, Observation) else None


def row(scoring: Any, name: str) -> str:
    """A line of the table: every photograph changed in one way."""
    cases, given_up = [], 0
    for folder in sorted(
        folder for kind in KINDS for folder in (BENCH / "cases").glob(f"{kind}-*")
    ):
        said = read(folder, WORSE[name])
        given_up += said is None
        if said is None:
            pieces = len(json.loads((folder / "truth.json").read_text())["pieces"])
            cases.append(
                {
                    "case": folder.name,
                    "truth": pieces,
                    "pred": 0,
                    "matched": 0,
                    "rows": [],
                    "wrong": [{"failed": "given up"}],
                }
            )
        else:
            cases.append(scoring.score_case(folder, said))
    summary = scoring.summary(cases)
    classes = " / ".join(
        percent(summary[key]).removesuffix(" %") for key in ("colour", "size", "pose")
    )
    shares = f"{percent(summary['recall'])} | {percent(summary['precision'])} | {classes} %"
    figures = f"{spread(summary['base_mm'], 'mm')} | {percent(summary['inside_95_ellipse'])}"
    print(f"{name}: {summary['tables_all_right']}", file=sys.stderr)
    return f"| {name} | {given_up} | {shares} | {summary['tables_all_right']} | {figures} |"


def trembling(image: Image, setup: Setup) -> Seen:
    """By a camera that stands up to a quarter of a pixel aside, in a light that is up to 4 %
    brighter or darker: otherwise in every picture.
    """
    chance = np.random.default_rng(zlib.crc32(image.tobytes()))
    (right, down), light = chance.uniform(-0.25, 0.25, 2), chance.uniform(0.96, 1.04)
    move = np.array([[1.0, 0.0, right], [0.0, 1.0, down]])
    there = cv2.warpAffine(
        image, move, image.shape[1::-1], flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return times(light, light, light)(np.asarray(there, np.uint8), setup)


FILMS: dict[str, Callable[[Image, Setup], Seen]] = {
    "as they are": times(1, 1, 1),
    "levels x 0.6": times(0.6, 0.6, 0.6),
    "levels x 1.3": times(1.3, 1.3, 1.3),
    "warm light": WORSE["warm light"],
    "cold light": WORSE["cold light"],
    "JPEG quality 60": packed(60),
    "shaken by 3 px": shaken,
    "trembling and flickering": trembling,
}
FILM_QUALITY = 92


def film_row(name: str) -> str:
    """A line of the table of films: all of them, every picture changed in one way."""
    with tempfile.TemporaryDirectory() as folder:
        for film in sorted((BENCH / "sequences").iterdir()):
            _change_film(film, Path(folder) / film.name, FILMS[name])
        films = [refereed(game, Path(folder)) for game in GAMES]
    met = [
        f"{film.met} of {film.verdicts}"
        + (f", {film.false_calls} false" if film.false_calls else "")
        for film in films
    ]
    total = [
        sum(getattr(film, what) for film in films) for what in ("met", "verdicts", "false_calls")
    ]
    return f"| {name} | {' | '.join(met)} | {total[0]} of {total[1]} | {total[2]} |"


def _change_film(film: Path, to: Path, change: Callable[[Image, Setup], Seen]) -> None:
    setup = load_table(film / "table.json")
    (to / "frames").mkdir(parents=True)
    for one in film.glob("*.json*"):
        shutil.copy(one, to)
    for picture in (*film.glob("*.jpg"), *(film / "frames").iterdir()):
        image, _ = change(read_image(picture, setup).image, setup)
        cv2.imwrite(
            str(to / picture.relative_to(film)),
            swapped(image),
            [cv2.IMWRITE_JPEG_QUALITY, FILM_QUALITY],
        )


BEFORE = """Measured once, 2026-11-27, the same kinds: limits were chosen on 55 tables (3,410 pictures). Before places were gated 17 of 2,448
sure ones were 2 to 32 mm off there; now the worst of 2,469 is 1.70 mm off, by a bent card. On 34 other tables (2,108 pictures) 24 of 1,530 were
2 to 52 mm off; now 1,549 are sure, and the worst is 0.86 mm off, 302 are widened and 257 refused. Of the 1,506 that were sure and right 98 are
widened now and 9 refused; of the 408 pictures that were refused 131 are sure and 56 widened. The truth was in the 95 % ellipse at 84.0 % of
these areas' corners, now at 95.9 %. Two of these tables did lead to changes: a bent card that was 2.19 mm off as sure, and one seen by three
fiducials that was widened for nothing. On 15 drawn tables that were made after that (seeds 530000 on, 930 pictures) the worst of 658 sure places
is 0.93 mm off, 136 are widened, 136 refused, and 96.1 % are in. All 80 photographs that were not made worse have the same place to all digits as
before."""
"""What was measured when the limits were chosen; not measured again."""

TEXT = """# What bad pictures do

Measured {date} (commit {commit}); `make bench-robustness` writes this page. The photographs of [ACCURACY.md](ACCURACY.md), each made worse
in one way. Levels are those of the file, clipped at 255; "half size" and "turned" come with a lens in table.json that says so.

| | given up | found | reports that are pieces | colour / size / pose | tables without a mistake | base error p50 / p95 / max | in the 95 % ellipse |
|---|---|---|---|---|---|---|---|
{rows}

## The camera's place

Where the camera is said to be in {tables} tables on which no limit was chosen (photographs of `cases` and `hard`, drawn ones from seed
{seed} on), each made worse in {changes} ways, and how far off that is at the corner of the play area where it is most. A place is sure if it is
known to {sure_mm} mm there (1 sigma), else widened; one that would be known to {most_mm} mm or worse is refused, with the reason. "In the 95 %
ellipse": corners of the play area of which the truth is there, of sure and widened places. **No sure place may be off by more than 2 mm.**

| | pictures | sure | widened | refused | sure: off by, p50 | sure: worst | widened: worst | in the 95 % ellipse |
|---|---|---|---|---|---|---|---|---|
{places}

{before}

## Filmed games

The filmed games of [SEQUENCES.md](SEQUENCES.md), every picture of them changed in one way and packed again (JPEG quality {quality}): verdicts
given as expected, in time. Trembling and flickering: every picture is taken from up to a quarter of a pixel aside, in a light that is up
to 4 % brighter or darker.

| | {games} | all | false calls |
|---|{columns}---|---|
{films}
"""


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=ROOT / "docs" / "ROBUSTNESS.md",
    help="The page to write.",
)
def main(out: Path) -> None:
    """Read every photograph and referee every film, made worse in every way, and write the page."""
    scoring = load_scoring()
    tables, places = camera_places.rows()
    rows = [row(scoring, name) for name in WORSE]
    told = {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "rows": "\n".join(rows),
        "tables": tables,
        "seed": camera_places.DRAWN_SEED,
        "changes": sum(map(len, CHANGES.values())),
        "sure_mm": SURE_MM,
        "most_mm": MOST_MM,
        "places": "\n".join(places),
        "before": BEFORE,
        "quality": FILM_QUALITY,
        "games": " | ".join(GAMES.values()),
        "columns": "---|" * len(GAMES),
        "films": "\n".join(film_row(name) for name in FILMS),
    }
    out.write_text(TEXT.format(**told), encoding="utf-8")
    print(f"wrote {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
