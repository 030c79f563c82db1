"""Referee filmed games in changed light, packed harder, shaken and trembling."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import msgspec

from benchmarks.films import GAMES, Counted, merge_counts, referee_films
from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs, needs
from benchmarks.worse_pictures import WORSE_FILMS, SetupPicture
from table.table_config import Setup, load_table
from vision.cameras.frame import Image, swapped
from vision.cameras.image_files import read_image

FILM_QUALITY = 92


class Summary(msgspec.Struct, frozen=True):
    quality: int
    """Of the JPEGs that pictures are packed in again."""
    films: dict[str, dict[str, Counted]]
    """By change and game; `all` are all games together."""


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    return ((change, game) for change in WORSE_FILMS for game in GAMES)


def run(case: tuple[str, str]) -> Counted:
    change, game = case
    with tempfile.TemporaryDirectory() as folder:
        for film in sorted(needs(BENCH / "sequences").iterdir()):
            if load_table(film / "table.json").game.name == game:
                _change_film(film, Path(folder) / film.name, WORSE_FILMS[change])
        return referee_films(game, Path(folder))


def _change_film(film: Path, to: Path, change: Callable[[Image, Setup], SetupPicture]) -> None:
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


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    films: dict[str, dict[str, Counted]] = {}
    for (change, game), counted in pairs:
        films.setdefault(change, {})[game] = counted
    for by_game in films.values():
        by_game["all"] = merge_counts([*by_game.values()])
    return Summary(FILM_QUALITY, films)


BENCHMARK = Benchmark("ROBUSTNESS.md", cases, run, summarise, section=True)
