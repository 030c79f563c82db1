"""What one piece that is read badly in one table costs, and write docs/FAULTS.md (`make
bench-faults`).

The filmed games are read once; then they are refereed again and again from what was read, with one
piece of one table at rest changed each time, and scored as the films are.  RINKSIDE_BENCH names the
folder with score_sequences.py and sequences/ (see CONTRIBUTING.md).
"""

from __future__ import annotations

import datetime
import json
import platform
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.accuracy import BENCH, ROOT, commit, load_scoring
from benchmarks.sequences import GAMES
from cli.referee import verdict_document
from referee.live.recorded_inputs import read_inputs
from referee.live.referee import Referee
from referee.sessions.event_store import Log
from referee.sessions.session import Session
from referee.sessions.start import as_played, opening
from table.clearance import clearance
from table.observation import Observation, SeenPiece, Unusable
from table.solids import lying, upright
from table.table_config import Setup, load_table
from vision.cameras.base import open_camera
from vision.cameras.frame import Frame
from vision.cameras.image_files import read_image
from vision.change_gate import Watch

PAGE = ROOT / "docs" / "FAULTS.md"
Reading = Observation | Unusable
SAME_MM = 6.0
"""A piece is looked for this near to where it was read in the last picture of its table."""
STILL_MM = 2.0
"""A piece that was read farther from any of its colour than this has come."""
BESIDE_MM = 70.0
"""A piece that is not there is seen this far from one that is."""


def not_seen(seen: Observation, k: int, _setup: Setup) -> Observation:
    """Nothing tells that piece `k` is there."""
    left = seen.pieces[:k] + seen.pieces[k + 1 :]
    return replace(
        seen,
        pieces=tuple(
            replace(piece, on=None if piece.on in (None, k) else piece.on - (piece.on > k))
            for piece in left
        ),
    )


def unread(seen: Observation, k: int, setup: Setup) -> Observation:
    """Something is told to lie where piece `k` is."""
    return replace(not_seen(seen, k, setup), unread_mm=(*seen.unread_mm, seen.pieces[k].base_mm))


def in_doubt(seen: Observation, k: int, _setup: Setup) -> Observation:
    """How piece `k` lies is not sure."""
    return _read_as(seen, k, replace(seen.pieces[k], pose_probability=0.6))


def as_another_size(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k` is surely told to be of the size next to its own."""
    piece, sizes = seen.pieces[k], list(setup.game.sizes)
    at = sizes.index(piece.size)
    if piece.pose == "leaning" or len(sizes) == 1:
        return seen
    return _read_as(
        seen,
        k,
        _placed(replace(piece, size=sizes[at + 1 if at + 1 < len(sizes) else at - 1]), setup),
    )


def in_another_colour(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k` is surely told to be the next player's."""
    piece, colours = seen.pieces[k], list(setup.game.colours)
    if piece.colour not in colours:
        return seen
    return _read_as(
        seen, k, replace(piece, colour=colours[(colours.index(piece.colour) + 1) % len(colours)])
    )


def turned_round(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k`, which lies, surely lies the other way round."""
    piece = seen.pieces[k]
    if piece.pose != "lying":
        return seen
    return _read_as(
        seen,
        k,
        _placed(replace(piece, base_mm=piece.tip_mm, heading_deg=piece.heading_deg + 180), setup),
    )


def in_another_pose(seen: Observation, k: int, setup: Setup) -> Observation:
    """Piece `k` surely stands where it lies, or lies where it stands."""
    piece = seen.pieces[k]
    ahead = (
        np.array([np.cos(np.deg2rad(piece.heading_deg)), np.sin(np.deg2rad(piece.heading_deg))])
        * setup.pieces[piece.size].slant_mm
        / 2
    )
    if piece.pose == "leaning":
        return seen
    if piece.pose == "lying":
        return _read_as(
            seen, k, _placed(replace(piece, pose="upright", base_mm=piece.base_mm + ahead), setup)
        )
    return _read_as(
        seen, k, _placed(replace(piece, pose="lying", base_mm=piece.base_mm - ahead), setup)
    )


def where_none_is(seen: Observation, k: int, setup: Setup) -> Observation:
    """Another piece just like piece `k` is surely told to lie beside it."""
    (left, near), (right, far) = (
        setup.outline_mm().min(axis=0) + BESIDE_MM / 4,
        setup.outline_mm().max(axis=0) - BESIDE_MM / 4,
    )
    for turn in np.arange(12) * np.pi / 6:
        x, y = base_mm = seen.pieces[k].base_mm + BESIDE_MM * np.array([np.cos(turn), np.sin(turn)])
        other = _placed(replace(seen.pieces[k], base_mm=base_mm, on=None), setup)
        if (
            left <= x <= right
            and near <= y <= far
            and all(clearance(other.solid, piece.solid).mm > 0 for piece in seen.pieces)
        ):
            return replace(seen, pieces=(*seen.pieces, other))
    return seen


def unread_beside(seen: Observation, k: int, setup: Setup) -> Observation:
    """Something is told to lie beside piece `k`, and nothing does."""
    more = where_none_is(seen, k, setup).pieces[len(seen.pieces) :]
    return replace(seen, unread_mm=(*seen.unread_mm, more[0].base_mm)) if more else seen


def _read_as(seen: Observation, k: int, piece: SeenPiece) -> Observation:
    return replace(
        seen, pieces=(*seen.pieces[:k], replace(piece, rivals=()), *seen.pieces[k + 1 :])
    )


def _placed(piece: SeenPiece, setup: Setup) -> SeenPiece:
    """The piece with the solid that it has as it is told to lie."""
    z_mm = float(piece.solid.vertices_mm[:, 2].min())
    return replace(
        piece,
        solid=(lying if piece.pose == "lying" else upright)(
            setup.pieces[piece.size], *piece.base_mm, piece.heading_deg, z_mm
        ),
    )


Fault = Callable[[Observation, int, Setup], Observation]
FAULTS: dict[str, Fault] = {
    "told as something unread": unread,
    "in doubt how it lies": in_doubt,
    "not seen at all": not_seen,
    "something unread beside it": unread_beside,
    "of another size": as_another_size,
    "of another colour": in_another_colour,
    "the other way round": turned_round,
    "standing, and it lies, or the other way": in_another_pose,
    "twice, where it is and beside that": where_none_is,
}


@dataclass(frozen=True, slots=True)
class Film:
    """A filmed game as it was read, picture by picture."""

    folder: Path
    game: str
    players: tuple[str, ...]
    setup: Setup
    readings: tuple[Reading, ...]
    expected: tuple[dict[str, Any], ...]

    @classmethod
    def read(cls, folder: Path, scorer: Any) -> Film:
        """All of its pictures, read as a camera's are, and what a referee must say of them."""
        setup = load_table(folder / "table.json")
        setup = as_played(setup.game.name, setup, {})
        empty, watch, readings = read_image(folder / "empty.jpg", setup), Watch(), []
        with closing(open_camera(f"folder:{folder / 'frames'}", setup)) as camera:
            while (frame := camera.read()) is not None:
                readings.append(watch(frame, setup, empty))
        return cls(
            folder,
            setup.game.name,
            tuple(setup.game.colours),
            setup,
            tuple(readings),
            tuple(scorer.lines(folder / "expected.jsonl")),
        )

    def tables(self) -> Iterator[list[int]]:
        """The pictures of each table at rest, without a hand."""
        found: list[int] = []
        for k, seen in enumerate(self.readings):
            if isinstance(seen, Observation) and not seen.moving and not seen.hand:
                found.append(k)
            elif found:
                yield found
                found = []
        if found:
            yield found

    def refereed(self, readings: Sequence[Reading]) -> list[dict[str, Any]]:
        """What `rinkside referee --json` prints of these readings."""
        by_seq = {seen.frame_seq: seen for seen in readings}
        with tempfile.TemporaryDirectory() as folder, Log(Path(folder) / "log.sqlite") as log:
            started = opening(
                self.game, self.players, {}, self.setup, "a film", datetime.datetime.now(UTC)
            )
            with closing(Session.begin(log, started)) as session:
                inputs = read_inputs(self.folder / "inputs.jsonl")
                Referee(
                    Blank(readings),
                    self.setup,
                    lambda frame, *_: by_seq[frame.seq],
                    session,
                    inputs=inputs,
                ).run()
                records = session.records()
        told = [(record.event, verdict_document(record)) for record in records]
        return [
            json.loads(json.dumps(document | {"moves": getattr(event, "moves", ())}))
            for event, document in told
            if document
        ]


class Blank:
    """A camera whose pictures nobody looks at."""

    name, simulated = "a film", False

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._left = list(readings)

    def read(self) -> Frame | None:
        if not self._left:
            return None
        seen = self._left.pop(0)
        return Frame(seen.frame_seq, seen.at_ms, np.zeros((8, 8, 3), np.uint8))

    def close(self) -> None:
        pass


@dataclass(slots=True)
class Cost:
    """What faults of a kind cost in a game."""

    faults: int = 0
    lost: int = 0
    worst: int = 0
    false_calls: int = 0
    untrue: int = 0
    """Moves that were ruled on in hindsight and had not happened."""


def scored(scorer: Any, film: Film, said: list[dict[str, Any]]) -> tuple[int, int]:
    """Verdicts that are met in time, and false calls, as score_sequences.py counts them."""
    met, used, before = 0, set(), -1
    for want in film.expected:
        near = [(k, got) for k, got in enumerate(said) if before < got["t_ms"] <= want["t_ms"]]
        before = want["t_ms"]
        met += any(
            scorer.same({key: value for key, value in want.items() if key != "t_ms"}, got)
            for _, got in near
        )
        used |= {k for k, got in near if got["code"] == want["code"]}
    return met, sum(
        k not in used and got["verdict"] in ("accepted", "refused") for k, got in enumerate(said)
    )


def costs(scorer: Any, film: Film, fault: Fault, rng: random.Random) -> Cost:
    """Every table of a film with one piece that came, and with one that lay there, read badly."""
    cost, whole = Cost(), film.refereed(film.readings)
    met, _ = scored(scorer, film, whole)
    played = {move for one in whole for move in _without_mm(one)}
    before: tuple[SeenPiece, ...] = ()
    for table in film.tables():
        last = film.readings[table[-1]]
        assert isinstance(last, Observation)
        came = [
            piece
            for piece in last.pieces
            if not any(_near(piece, other, STILL_MM) for other in before)
        ]
        lay = [piece for piece in last.pieces if not any(piece is other for other in came)]
        before = last.pieces
        for pieces in filter(None, (came, lay)):
            piece = rng.choice(pieces)
            readings = [
                _hurt(seen, piece, fault, film.setup) if k in table else seen
                for k, seen in enumerate(film.readings)
            ]
            if all(one is other for one, other in zip(readings, film.readings, strict=True)):
                continue
            said = film.refereed(readings)
            now_met, false_calls = scored(scorer, film, said)
            cost.faults += 1
            cost.lost += met - now_met
            cost.worst = max(cost.worst, met - now_met)
            cost.false_calls += false_calls
            cost.untrue += sum(
                not played.issuperset(_without_mm(one))
                for one in said
                if one["evidence"].get("in_hindsight")
            )
    return cost


def _without_mm(verdict: dict[str, Any]) -> list[str]:
    """Its moves; those of Ice Boule have distances in them, which another reading changes a
    little.
    """
    return [re.sub(r"\d+\.\d+", "", move) for move in verdict["moves"]]


def _near(a: SeenPiece, b: SeenPiece, mm: float) -> bool:
    return a.colour == b.colour and bool(np.hypot(*(a.base_mm - b.base_mm)) < mm)


def _hurt(seen: Reading, piece: SeenPiece, fault: Fault, setup: Setup) -> Reading:
    if not isinstance(seen, Observation):
        return seen
    k = next((k for k, one in enumerate(seen.pieces) if _near(one, piece, SAME_MM)), None)
    return seen if k is None else fault(seen, k, setup)


def page(found: dict[str, dict[str, Cost]], films: list[Film]) -> str:
    """The page, in Markdown."""
    rows = []
    for name, by_game in found.items():
        cells = [
            (
                f"{cost.lost / cost.faults:.1f} ({cost.worst}) of {cost.faults}"
                if (cost := by_game[game]).faults
                else ""
            )
            for game in GAMES
        ]
        rows.append(f"| {name} | {' | '.join(cells)} |")
    verdicts = {film.game: str(len(film.expected)) for film in films}
    costs = [cost for by_game in found.values() for cost in by_game.values()]
    faults, false_calls, untrue = (
        sum(getattr(cost, what) for cost in costs) for what in ("faults", "false_calls", "untrue")
    )
    return f"""# One piece read badly

Measured {datetime.datetime.now(UTC):%Y-%m-%d} (commit {commit()}), Python {platform.python_version()}; `make bench-faults` writes this page.

What does it cost if the eyes fail once, and nobody at the table looks at the panel, answers, or puts anything right? The filmed games of
[SEQUENCES.md](SEQUENCES.md) were read, and refereed again from what was read with one piece of one table at rest changed: once one that had
just come there, once one that lay there before, in every table of every film. From the fifth row on what is wrong is told as sure. Verdicts
that are then not given in time: mean (most) of so many faults. One is the least where the fault hides what was done.

| | {" | ".join(GAMES.values())} |
|---|---|---|---|---|---|
| verdicts expected | {" | ".join(verdicts[game] for game in GAMES)} |
{chr(10).join(rows)}

In {faults} faults {false_calls} calls came that nobody asked for, most of them refusals of dice and votes that the referee was not
ready for, and verdicts that came late; {untrue} moves were ruled on in hindsight that had not happened. How the referee looks back is told
in [LOG.md](LOG.md).
"""


if __name__ == "__main__":
    from benchmarks.misread_start import section

    scorer = load_scoring("score_sequences", "sequences/")
    films = [
        Film.read(path.parent, scorer)
        for path in sorted((BENCH / "sequences").glob("*/expected.jsonl"))
    ]
    found: dict[str, dict[str, Cost]] = defaultdict(dict)
    for film in films:
        for name, fault in FAULTS.items():
            found[name][film.game] = costs(scorer, film, fault, random.Random(7))
            print(f"{film.folder.name}: {name}: {found[name][film.game]}", flush=True)
    PAGE.write_text(page(found, films) + section(films), encoding="utf-8")
