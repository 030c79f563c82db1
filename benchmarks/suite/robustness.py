"""Score photographs that were made worse.

Every photograph with exact truth is read as it is, and darker, lighter, tinted, packed harder,
smaller, blurred, noisy and turned round.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs
from benchmarks.photographs import KINDS, Scored, Scores, folders, score, scores
from benchmarks.worse_pictures import WORSE
from table.observation import Observation, observation_document
from table.table_config import load_table
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.observe import observe


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    """Changes, and photographs."""
    names = [folder.name for kind in KINDS for folder in folders(kind)]
    return ((change, name) for change in WORSE for name in names)


def run(case: tuple[str, str]) -> Scored:
    change, name = case
    folder = BENCH / "cases" / name
    setup = load_table(folder / "table.json")
    image, setup = WORSE[change](read_image(folder / "image.jpg", setup).image, setup)
    seen = observe(Frame(0, 0, image), setup)
    answer = observation_document(seen) if isinstance(seen, Observation) else "given up"
    return Scored(score(folder, answer))


def summarise(_options: NoOptions, pairs: Pairs) -> tuple[Scores, ...]:
    by_change: dict[str, list[Scored]] = {}
    for (change, _), one in pairs:
        by_change.setdefault(change, []).append(one)
    return tuple(scores(change, found) for change, found in by_change.items())


BENCHMARK = Benchmark("ROBUSTNESS.md", cases, run, summarise, section=True)
