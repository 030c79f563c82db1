"""Random acts before a judge that is not sure of one piece.

The true reading of that piece is the likelier one, or one of its rivals.  A judge may rule truly,
ask, or wait; what it must not do is take the likelier reading for granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any, Literal, NamedTuple

import numpy as np

from benchmarks.fuzz.acts import FUZZED
from benchmarks.fuzz.fuzzer import BLOCK, Fuzzed, FuzzedAct, Fuzzer, Position, verdict_line
from engines.verdict import Accepted, Noted, Refused, Verdict
from table.observation import SURE, Observation, SeenPiece
from table.pieces import PieceSet
from table.solids import lying, upright

Doubt = Literal["pose", "size", "colour", "place"]
Outcome = Literal["true", "open", "another reason", "presumed", "wrong"]
LEAST, MOST = 0.45, SURE - 0.01
"""How probable the likelier reading is."""
SHIFT_MM = (5.0, 25.0)
"""How far off a piece is read whose place is in doubt."""
CHANGED = 0.8
"""How often the piece in doubt is one that was moved or is new."""


class DoubtedAct(NamedTuple):
    """What a judge made of an act of which one piece is not sure."""

    doubt: Doubt
    misread: bool
    """True if the likelier reading is the wrong one."""
    outcome: Outcome
    line: str


def doubted_acts(game: str, seed: int, number: int) -> Iterator[DoubtedAct]:
    """The acts from one random position on, those that can be seen, each with two readings."""
    fuzzer = Fuzzer(FUZZED[game](), Random(f"{game} {seed} {number}"))
    chance = Random(f"doubts {game} {seed} {number}")
    at = fuzzer.begin()
    for act in range(BLOCK):
        deed, result, then = fuzzer.act(at)
        if deed.heard is None and deed.typed is None and not deed.table.hand:
            where = f"{game} seed {seed} act {BLOCK * number + act}: {result.effect}"
            for doubt, misread, seen in _readings(fuzzer.game, at, deed, chance):
                verdict = fuzzer.game.engine.judge(at.state, seen, at.before, fuzzer.game.board)
                outcome = _outcome(fuzzer, at, deed, verdict)
                line = f"{where}: unsure {doubt}: {verdict_line(verdict)}"
                yield DoubtedAct(doubt, misread, outcome, line)
        at = then


def _readings(
    game: Fuzzed, at: Position, deed: FuzzedAct, chance: Random
) -> Iterator[tuple[Doubt, bool, Observation]]:
    """The table with one piece in doubt: the wrong reading the likelier, then the right one."""
    seen, known = game.observed(deed.table), game.observed(at.table)
    colours = sorted({piece.colour for piece in (*seen.pieces, *known.pieces)})
    there = {_as_text(piece) for piece in known.pieces}
    changed = [k for k, piece in enumerate(seen.pieces) if _as_text(piece) not in there]
    places = changed if changed and chance.random() < CHANGED else range(len(seen.pieces))
    if not places:
        return
    at_index = chance.choice(places)
    true = seen.pieces[at_index]
    wrong = _misreadings(true, colours, game.sizes, chance)
    if not wrong:
        return
    doubt = chance.choice(sorted(wrong))
    other, p = chance.choice(wrong[doubt]), chance.uniform(LEAST, MOST)
    for misread, (best, rival) in ((True, (other, true)), (False, (true, other))):
        pieces = list(seen.pieces)
        pieces[at_index] = _in_doubt(best, rival, doubt, p)
        yield doubt, misread, replace(seen, pieces=tuple(pieces))


def _as_text(piece: SeenPiece) -> str:
    x_mm, y_mm = piece.base_mm
    return f"{piece} {x_mm:.2f} {y_mm:.2f}"


def _misreadings(
    piece: SeenPiece, colours: list[str], sizes: PieceSet, chance: Random
) -> dict[Doubt, list[SeenPiece]]:
    """What a piece may be taken for, by what is then wrong."""
    found: dict[Doubt, list[SeenPiece]] = {
        "colour": [replace(piece, colour=name) for name in colours if name != piece.colour]
    }
    if piece.on is None and piece.pose != "leaning":
        make = upright if piece.pose == "upright" else lying
        x_mm, y_mm = (float(value) for value in piece.base_mm)
        found["size"] = [
            replace(piece, size=size.name, solid=make(size, x_mm, y_mm, piece.heading_deg))
            for size in sizes.sizes
            if size.name != piece.size
        ]
        found["pose"] = [_otherwise(piece, sizes, chance)]
        found["place"] = [_elsewhere(piece, sizes, chance)]
    return {doubt: readings for doubt, readings in found.items() if readings}


def _otherwise(piece: SeenPiece, sizes: PieceSet, chance: Random) -> SeenPiece:
    """A piece that stands as one that lies, or the other way round, at about the same place."""
    middle = piece.solid.vertices_mm[:, :2].mean(axis=0)
    x_mm, y_mm, turn = float(middle[0]), float(middle[1]), chance.uniform(0, 360)
    size = sizes[piece.size]
    if piece.pose == "upright":
        solid, pose = lying(size, x_mm, y_mm, turn), "lying"
    else:
        solid, pose = upright(size, x_mm, y_mm, turn), "upright"
    return replace(piece, pose=pose, base_mm=middle, heading_deg=turn, solid=solid)


def _elsewhere(piece: SeenPiece, sizes: PieceSet, chance: Random) -> SeenPiece:
    """A piece read beside where it is, turned as it may be."""
    way, turn = chance.uniform(0, 2 * np.pi), chance.uniform(0, 360)
    place = piece.base_mm + chance.uniform(*SHIFT_MM) * np.array([np.cos(way), np.sin(way)])
    make = upright if piece.pose == "upright" else lying
    solid = make(sizes[piece.size], float(place[0]), float(place[1]), turn)
    return replace(piece, base_mm=place, heading_deg=turn, solid=solid)


def _in_doubt(best: SeenPiece, rival: SeenPiece, doubt: Doubt, p: float) -> SeenPiece:
    """The likelier reading as vision reports it: its rivals, and the ± that these add."""
    unsure = "pose" if doubt == "place" else doubt
    chances: dict[str, Any] = {f"{unsure}_probability": p}
    if doubt == "colour":
        return replace(best, **chances)
    other = replace(rival, **{f"{unsure}_probability": 1 - p})
    away = np.append(best.base_mm - rival.base_mm, 0.0)
    covariance = best.covariance + (1 - p) * np.outer(away, away)
    return replace(
        best, **chances, rivals=(other,), covariance=covariance, if_right=best.covariance
    )


def _outcome(fuzzer: Fuzzer, at: Position, deed: FuzzedAct, verdict: Verdict) -> Outcome:
    """What became of the act: see docs/DOUBTS.md."""
    truth = deed.truth
    if isinstance(verdict, Accepted | Noted) and verdict.moves:
        begins = truth.moves[: len(verdict.moves)] == verdict.moves
        right = begins or (
            truth.kind == "lawful" and fuzzer.leads_to_truth(at.state, verdict.moves, truth)
        )
        if right:
            return "true"
        return (
            "wrong" if truth.kind == "lawful" and "another size" not in deed.effect else "presumed"
        )
    if isinstance(verdict, Refused):
        if truth.kind == "lawful":
            stands = verdict.stands and fuzzer.leads_to_truth(at.state, verdict.stands, truth)
            return "true" if stands else "wrong"
        return "true" if fuzzer.names(truth, verdict) else "another reason"
    return "open"
