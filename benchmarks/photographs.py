"""Photographs with known truth: `rinkside observe` reads them, and a scorer scores what it says.

The scorer is not Rinkside's own.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from benchmarks.harness import BENCH, median, needs
from calibration.quality.scoring import is_confident

KINDS = {
    "boule": "Ice Boule",
    "storm": "Ice Storm",
    "zamboni": "Zamboni Wars",
    "icebreaker": "Icebreaker",
    "icefloe": "IceFloe",
}
"""Kinds of photographs, and the game that they show."""
DIFFICULTIES = {
    "room": "a room's light",
    "sun": "hard low light",
    "clutter": "clutter",
    "low": "steep camera",
    "dim": "dim, blurred",
    "small": "small pictures",
    "real": "smooth clear plastic",
}
"""Kinds of harder tables, and what makes them so."""
RINKSIDE = str(Path(sys.executable).with_name("rinkside"))
Spread = tuple[float, ...] | None
"""The median, the 95th percentile and the maximum; None where there is nothing to measure."""


class Scored(msgspec.Struct, frozen=True):
    """A photograph that was read: what the scorer says of it, and its cost.

    Wall-clock seconds and seconds of processor time.
    """

    score: dict[str, Any]
    wall_s: float = 0.0
    cpu_s: float = 0.0
    confident_mistakes: int | None = None
    """Mistakes at which nothing in the document expresses doubt."""

    @property
    def failed(self) -> bool:
        return any("failed" in wrong for wrong in self.score["wrong"])

    def mistakes(self) -> Iterator[str]:
        """Every mistake in words."""
        for wrong in self.score["wrong"]:
            parts = (
                f"{key} {value if isinstance(value, str) else json.dumps(value)}"
                for key, value in wrong.items()
            )
            yield f"{self.score['case']}: {'; '.join(parts)}"


class Scores(msgspec.Struct, frozen=True, omit_defaults=True):
    """What some photographs come to; None is what was not measured.  Shares are from 0 to 1."""

    title: str
    photographs: int | None = None
    pieces: int | None = None
    given_up: int | None = None
    recall: float | None = None
    precision: float | None = None
    colour: float | None = None
    size: float | None = None
    pose: float | None = None
    all_right: int | None = None
    """Photographs without a mistake."""
    confident_mistakes: int | None = None
    base_mm: Spread = None
    tip_mm: Spread = None
    heading_deg: Spread = None
    inside_95: float | None = None
    gap_mm: Spread = None
    gap_inside_95: float | None = None
    counters: tuple[int, int] | None = None
    """How many are right, of all."""
    tiles: tuple[int, int] | None = None
    calls: tuple[int, int, int] | None = None
    """Right, abstained and wrong."""
    wall_s: float | None = None
    cpu_s: float | None = None


@cache
def load_scorer(name: str = "score") -> ModuleType:
    """A scorer of BENCH as a module; ends the program with one line where it is not there."""
    spec = importlib.util.spec_from_file_location(name, needs(BENCH / f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None, "a .py file has a loader"
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    return scorer


def folders(kind: str) -> list[Path]:
    """The photographs of a kind."""
    return sorted(needs(BENCH / "cases").glob(f"{kind}-*"))


def harder_folders(difficulty: str) -> list[Path]:
    """The harder photographs of a difficulty, of all games."""
    return sorted(needs(BENCH / "hard").glob(f"*-{difficulty}-*"))


def observe(case: Path, with_empty: bool = False) -> tuple[dict[str, Any] | str, float, float]:
    """What the command prints of a case, or its complaint where it fails.

    Also the seconds it took, of wall-clock time and of processor time.
    """
    command = [RINKSIDE, "observe", str(case / "image.jpg"), "--table", str(case / "table.json")]
    command += ["--json", *(["--empty", str(case / "empty.jpg")] if with_empty else [])]
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return lines[-1].replace(f"{BENCH}/", ""), wall_s, cpu_s
    document: dict[str, Any] = json.loads(done.stdout)
    return document, wall_s, cpu_s


def read(case: Path, with_empty: bool = False) -> Scored:
    """A case, read by the command and scored."""
    answer, wall_s, cpu_s = observe(case, with_empty)
    found = score(case, answer)
    confident = None if isinstance(answer, str) else confident_mistakes(found, answer)
    return Scored(found, wall_s, cpu_s, confident)


def confident_mistakes(found: dict[str, Any], document: dict[str, Any]) -> int:
    """How many mistakes of a score (of the scorer) the document tells without any doubt.

    A missed piece counts if nothing unread is beside it, an invented or misread one if besides all
    its probabilities are at least SURE.
    """
    return sum(_is_confident(wrong, document) for wrong in found["wrong"])


def _is_confident(wrong: dict[str, Any], document: dict[str, Any]) -> bool:
    missed, invented, at_mm = wrong.get("missed"), wrong.get("invented"), wrong.get("at")
    if missed is None and invented is None and at_mm is None:
        return False
    place_mm = at_mm if at_mm is not None else (missed or invented)[3]
    pieces = document.get("pieces", ())
    sure = [(piece["base_mm"], min(piece["probability"].values())) for piece in pieces]
    return is_confident(place_mm, document.get("unread_mm", ()), sure, missed is not None)


def score(case: Path, heard: dict[str, Any] | str) -> dict[str, Any]:
    """What the scorer says of a document; with a complaint in its place nothing was found."""
    if isinstance(heard, str):
        pieces = json.loads((case / "truth.json").read_text())["pieces"]
        nothing = {"truth": len(pieces), "pred": 0, "matched": 0, "rows": []}
        return {"case": case.name, **nothing, "wrong": [{"failed": heard}]}
    scored: dict[str, Any] = load_scorer().score_case(case, heard)
    return scored


def scores(title: str, read: Sequence[Scored]) -> Scores:
    """Photographs taken together."""
    figures = load_scorer().summary([one.score for one in read])
    calls, counters, tiles = (figures.get(key) for key in ("calls", "counters", "board_state"))
    return Scores(
        title=title,
        photographs=len(read),
        pieces=figures["pieces"],
        given_up=sum(one.failed for one in read),
        all_right=int(figures["tables_all_right"].partition("/")[0]),
        confident_mistakes=_sum(one.confident_mistakes for one in read),
        inside_95=figures["inside_95_ellipse"],
        gap_inside_95=figures.get("gap_inside_95"),
        counters=counters and (counters[2], counters[0]),
        tiles=tiles and (tiles[0], tiles[1]),
        calls=calls and tuple(calls.get(key, 0) for key in ("right", "abstained", "wrong")),
        wall_s=median(one.wall_s for one in read),
        cpu_s=median(one.cpu_s for one in read),
        **{key: figures[key] for key in ("recall", "precision", "colour", "size", "pose")},
        **{
            key: _spread(figures.get(key)) for key in ("base_mm", "tip_mm", "heading_deg", "gap_mm")
        },
    )


def _sum(values: Iterable[int | None]) -> int | None:
    """None where none is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _spread(figures: dict[str, float | None] | None) -> Spread:
    values = [figures[key] for key in ("p50", "p95", "max")] if figures else []
    known = tuple(value for value in values if value is not None)
    return known or None


def mistakes(titled: Iterable[tuple[str, Scored]]) -> tuple[str, ...]:
    """Every mistake, behind the title of what it belongs to."""
    return tuple(f"{title}, {line}" for title, one in titled for line in one.mistakes())
