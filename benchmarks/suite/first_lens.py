"""What a lens that is estimated from the photograph itself costs, beside the one that is given."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.harness import BENCH, Benchmark, NoOptions, Pairs
from benchmarks.photographs import KINDS, RINKSIDE, Scored, Scores, folders, observe, score, scores


class Result(msgspec.Struct, frozen=True):
    """What was read; None where the lens was refused."""

    scored: Scored | None


class Summary(msgspec.Struct, frozen=True):
    photographs: int
    refused: int
    rows: tuple[Scores, ...]
    gap_times: tuple[float, float] | None
    """How many times as large the gap error is, in the median and at 95 %."""


GIVEN, OWN = "given", "from the photograph"


def cases(_options: NoOptions) -> Iterator[tuple[str, str]]:
    """Photographs, and where the camera is from."""
    for kind in KINDS:
        yield from ((folder.name, camera) for camera in (GIVEN, OWN) for folder in folders(kind))


def run(case: tuple[str, str]) -> Result:
    name, camera = case
    folder = BENCH / "cases" / name
    if camera == GIVEN:
        return Result(Scored(score(folder, observe(folder)[0])))
    with tempfile.TemporaryDirectory() as beside:
        own = Path(beside)
        (own / "image.jpg").symlink_to(folder / "image.jpg")
        table = json.loads((folder / "table.json").read_text())
        del table["camera"]
        (own / "draft.json").write_text(json.dumps(table))
        words = ["calibrate", "frame", "image.jpg", "--table", "draft.json", "--out", "table.json"]
        done = subprocess.run([RINKSIDE, *words], cwd=own, capture_output=True, check=False)
        answer = observe(own)[0] if done.returncode == 0 else ""
    return Result(None if isinstance(answer, str) else Scored(score(folder, answer)))


def summarise(_options: NoOptions, pairs: Pairs) -> Summary:
    read: dict[tuple[str, str], list[Scored]] = {}
    for (name, camera), one in pairs:
        if one.scored is not None:
            read.setdefault((name.partition("-")[0], camera), []).append(one.scored)
    rows = {
        (kind, camera): scores(f"{KINDS[kind]}, camera {camera}", found)
        for (kind, camera), found in read.items()
    }
    gaps = [rows[key].gap_mm for key in (("boule", GIVEN), ("boule", OWN)) if key in rows]
    return Summary(
        len({name for (name, _), _ in pairs}),
        sum(one.scored is None for _, one in pairs),
        tuple(rows.values()),
        (gaps[1][0] / gaps[0][0], gaps[1][1] / gaps[0][1])
        if len(gaps) == 2 and all(gaps)
        else None,
    )


BENCHMARK = Benchmark("CALIBRATION.md", cases, run, summarise, section=True)
