"""Evaluate the network on scenes that it was never trained on."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from training.eyes.cameras import View, angle_to, on_table
from training.eyes.detections import COUNTER, ELSE, POSES, Detection, Floats, detections
from training.eyes.model import KINDS, EyesNet
from training.eyes.product import COLOURS, sizes_of
from training.eyes.scenes import SIDE_PX, Objects, Rendered
from training.eyes.targets import EMPTY, PRINTED, UNKNOWN, Example, each_part, make_example
from training.eyes.trainer import VALIDATION_SEEDS, make_scenes

REPORTED_VISIBLE = 0.4
"""Visible share from which an object must be found; less visible ones may be."""
EDGE_PX = 6.0
"""Distance from the edge of a picture within which middles are not counted."""
NEAR_BASES, NEAR_PX = 0.5, 2.0
"""Largest distance between a detection and its object's middle: in bases, plus px."""
SURE, SURELY_THERE = 0.98, 0.8
"""Least probabilities of a confident detection: of pose and colour, and of existence."""
STEEP_DEG = (0.0, 20.0, 38.0, 90.0)
"""Limits of the angles from the vertical, in degrees, for which figures are reported separately."""
REPORTED_CHANCE = 0.4
"""Least probability of a detection that is counted."""
CACHE = "validation.pt"
UNITS = {"base_mm": "mm", "tip_mm": "mm", "heading_deg": "degrees"}


def validation(
    folder: Path, count: int, device: torch.device, side: int = SIDE_PX
) -> list[Rendered]:
    """Scenes of seeds that are not trained on, in groups.

    They are cached in the folder.
    """
    path = folder / CACHE
    if path.exists():
        stored = torch.load(path, map_location=device, weights_only=False)
        if stored["count"] >= count:
            groups: list[Rendered] = stored["groups"]
            return groups[: -(-count // stored["group"])]
    group = 1 if device.type == "cpu" else 64
    made = [
        make_scenes(VALIDATION_SEEDS + first, group, device, side)
        for first in range(0, count, group)
    ]
    if device.type == "cuda":  # faster to make than to read
        return made
    folder.mkdir(parents=True, exist_ok=True)
    torch.save(
        {
            "count": count,
            "group": group,
            "groups": [each_part(one, lambda part: part.cpu()) for one in made],
        },
        path,
    )
    return made


def evaluate_groups(net: EyesNet, groups: list[Rendered], device: torch.device) -> dict[str, Any]:
    """All figures, by the knowledge of the bare table, and in total."""
    rows: dict[str, list[dict[str, Any]]] = {}
    net = net.to(device).eval()
    for number, group in enumerate(groups):
        scenes = each_part(group, lambda part: part.to(device))
        for name, kind in (("unknown", UNKNOWN), ("empty", EMPTY), ("printed", PRINTED)):
            with torch.no_grad():
                shown = make_example(scenes, VALIDATION_SEEDS + 7 * number + kind, kind=kind)
                reported = detections(net(shown.picture), REPORTED_CHANCE)
            rows.setdefault(name, []).extend(rows_of(shown, scenes.view, reported))
    every = [row for some in rows.values() for row in some]
    return {name: figures(some) for name, some in {"all": every, **rows}.items()}


def rows_of(shown: Example, view: View, reported: list[list[Detection]]) -> list[dict[str, Any]]:
    """One row for each object that is present or detected."""
    side = shown.picture.shape[-1]
    objects = each_part(shown.objects, lambda part: part.cpu())
    place = each_part(view, lambda part: part.cpu())
    foot = torch.nn.functional.pad(on_table(place, objects.centre), (0, 1))
    steep = angle_to(place, foot)
    rows = []
    for scene, some in enumerate(reported):
        one = each_part(objects, partial(_at, scene))
        here = each_part(place, partial(_at, slice(scene, scene + 1)))
        rows += _rows_of_one(one, here, some, steep[scene], side)
    return rows


def _at(where: int | slice, part: torch.Tensor) -> torch.Tensor:
    return part[where]


def _rows_of_one(
    objects: Objects, view: View, reported: list[Detection], steep: torch.Tensor, side: int
) -> list[dict[str, Any]]:
    centre = objects.centre.double().numpy()
    there = [
        k for k in range(len(centre)) if objects.kind[k] >= 0 and _inside(centre[k], side, -2.0)
    ]
    near = np.full((len(there), len(reported)), 1e6)
    for i, k in enumerate(there):
        reach = NEAR_BASES * float(objects.base_px[k]) + NEAR_PX
        for j, one in enumerate(reported):
            far = float(np.hypot(*(one.centre - centre[k])))
            if far < reach:
                same = _group(int(objects.kind[k])) == one.best[0]
                near[i, j] = far + (0 if same else 0.5 * reach)
    pairs = [
        (there[i], j) for i, j in zip(*linear_sum_assignment(near), strict=True) if near[i, j] < 1e6
    ]
    rows = []
    paired = {k: reported[j] for k, j in pairs}
    for k in there:
        must = float(objects.visible[k]) >= REPORTED_VISIBLE and _inside(centre[k], side, EDGE_PX)
        rows.append(_row(objects, k, paired.get(k), view, float(steep[k]), must))
    used = {j for _, j in pairs}
    for j, one in enumerate(reported):
        if j not in used and _inside(one.centre, side, EDGE_PX):
            rows.append({"invented": one.best[0], "chance": one.best[1], "sure": _is_sure(one)})
    return rows


def _inside(place: Floats, side: int, edge: float) -> bool:
    return bool((place > edge).all() and (place < side - 1 - edge).all())


def _group(kind: int) -> int:
    """0 for a piece in any pose, else the kind."""
    return 0 if kind < POSES else kind


def _is_sure(one: Detection) -> bool:
    return (
        one.best[0] == 0
        and one.best[1] >= SURELY_THERE
        and one.poses.max() >= SURE
        and one.colours.max() >= SURE
    )


def _row(
    objects: Objects, k: int, found: Detection | None, view: View, steep: float, must: bool
) -> dict[str, Any]:
    """The true object, and its detection."""
    kind = int(objects.kind[k])
    row: dict[str, Any] = {
        "kind": kind,
        "steep": steep,
        "must": must,
        "found": found is not None,
        "clear": float(objects.clear[k]) > 0.5,
    }
    row |= {"name": int(objects.name[k]), "raised": float(objects.raised[k]) > 0.5}
    if found is None:
        return row
    row |= {
        "as": found.best[0],
        "chance": found.best[1],
        "sure": _is_sure(found),
        "as_name": int(found.colours.argmax()),
    }
    row["name_chance"] = float(found.colours.max())
    if kind < POSES:
        row |= _piece_row(objects, k, found, view)
        row["wrong"] = (
            row["as"] != 0
            or row["as_pose"] != kind
            or row["as_name"] != row["name"]
            or row["as_size"] != row["size"]
        )
    return row


def _piece_row(objects: Objects, k: int, found: Detection, view: View) -> dict[str, Any]:
    kind, base_px = int(objects.kind[k]), float(objects.base_px[k])
    truth = objects.points[k].double().numpy()
    turns = (
        [[(i + t) % 4 for i in range(4)] + [4] for t in range(4)] if kind == 0 else [list(range(5))]
    )
    off = min(
        (found.points - truth[turn] for turn in turns), key=lambda away: float(np.abs(away).sum())
    )
    base_mm = float(objects.edge[k].norm()) if kind == 0 else None
    row: dict[str, Any] = {
        "as_pose": int(found.chances[:POSES].argmax()),
        "pose_chance": float(found.poses.max()),
        "log_size": float(np.log(found.base_px / base_px)),
        "log_size_doubt": found.base_doubt,
        "points_bases": np.hypot(*off.T) / base_px,
        "points_doubts": np.abs(off) / found.doubts[:, None],
        "clear_said": found.clear > 0.5,
        "raised_said": found.raised > 0.5,
    }
    row |= _size_row(base_px, found.base_px, base_mm)
    if kind < 2 and not bool(objects.raised[k] > 0.5):
        row |= _on_table(found, truth, kind, view)
    return row


def _size_row(base_px: float, said_px: float, base_mm: float | None) -> dict[str, Any]:
    """The Looney size nearest to a piece's true base, and the one nearest to its predicted base.

    Sizes are compared by ratio, because the true scale is known.
    """
    sizes = np.log([base for base, _ in sizes_of("looney")])
    true = np.log(base_mm) if base_mm else sizes[1]
    own = int(np.abs(sizes - true).argmin())
    return {
        "size": own,
        "as_size": int(np.abs(sizes - sizes[own] - np.log(said_px / base_px)).argmin()),
    }


def _on_table(found: Detection, truth: Floats, kind: int, view: View) -> dict[str, Any]:
    """Error of a piece on the table: place in mm, heading in degrees.

    The points that touch the table are projected on to it.
    """

    def down(points: Floats) -> Floats:
        return on_table(view, torch.from_numpy(points).float()[None])[0].double().numpy()

    feet = slice(0, 4) if kind == 0 else slice(1, 3)
    base, true_base = down(found.points)[feet].mean(axis=0), down(truth)[feet].mean(axis=0)
    row = {"base_mm": float(np.hypot(*(base - true_base)))}
    if kind == 1:
        tip, true_tip = down(found.points)[4], down(truth)[4]
        way, true_way = tip - base, true_tip - true_base
        turn = np.degrees(np.arctan2(way[1], way[0]) - np.arctan2(true_way[1], true_way[0]))
        row |= {
            "tip_mm": float(np.hypot(*(tip - true_tip))),
            "heading_deg": float(abs((turn + 180) % 360 - 180)),
        }
    return row


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of rows."""
    out: dict[str, Any] = {}
    for name, group in (("piece", 0), ("counter", COUNTER), ("else", ELSE)):
        own = [row for row in rows if "kind" in row and _group(row["kind"]) == group]
        must = [row for row in own if row["must"]]
        right = [row for row in must if row["found"] and row["as"] == group]
        said = [row for row in rows if row.get("as") == group or row.get("invented") == group]
        good = [row for row in said if "kind" in row and _group(row["kind"]) == group]
        out[name] = {
            "there": len(must),
            "recall": share_of(len(right), len(must)),
            "precision": share_of(len(good), len(said)),
        }
    pieces = [row for row in rows if "as_pose" in row and row["must"] and row["as"] == 0]
    out["pose"] = {
        KINDS[k]: [
            sum(row["as_pose"] == j for row in pieces if row["kind"] == k) for j in range(POSES)
        ]
        for k in range(POSES)
    }
    out["pose_right"] = share_of(sum(row["as_pose"] == row["kind"] for row in pieces), len(pieces))
    for name, clear in (("colour_right_opaque", False), ("colour_right_clear", True)):
        some = [row for row in pieces if row["clear"] == clear]
        out[name] = share_of(sum(row["as_name"] == row["name"] for row in some), len(some))
    wrong_names: dict[str, int] = {}
    for row in pieces:
        if row["as_name"] != row["name"]:
            pair = f"{COLOURS[row['name']]} as {COLOURS[row['as_name']]}"
            wrong_names[pair] = wrong_names.get(pair, 0) + 1
    out["colours_mistaken"] = dict(sorted(wrong_names.items(), key=lambda one: -one[1])[:8])
    out["size_right"] = share_of(sum(row["as_size"] == row["size"] for row in pieces), len(pieces))
    out["size_error"] = spread_of([100 * abs(row["log_size"]) for row in pieces], "percent")
    out["points_bases"] = spread_of(
        [value for row in pieces for value in row["points_bases"]], "bases"
    )
    out |= {
        name: spread_of([row[name] for row in pieces if name in row], UNITS[name])
        for name in ("base_mm", "tip_mm", "heading_deg")
    }
    off = np.array([value for row in pieces for value in row["points_doubts"].ravel()])
    out["points_inside"] = {
        f"{p}": share_of(int((off < -np.log(1 - p / 100)).sum()), len(off)) for p in (50, 95)
    }
    sure = [row for row in rows if row.get("sure")]
    out["sure"] = {"told": len(sure), "wrong": sum(bool(row.get("wrong", True)) for row in sure)}
    out["by_steepness"] = {
        f"{low:g}-{high:g}": _steep(pieces, low, high) for low, high in pairwise(STEEP_DEG)
    }
    return out


def _steep(pieces: list[dict[str, Any]], low: float, high: float) -> dict[str, Any]:
    some = [row for row in pieces if low <= row["steep"] < high]
    right = share_of(sum(row["as_pose"] == row["kind"] for row in some), len(some))
    return {
        "pieces": len(some),
        "pose_right": right,
        "base_mm": spread_of([row["base_mm"] for row in some if "base_mm" in row], "mm"),
    }


def share_of(part: int, whole: int) -> float | None:
    """`part` divided by `whole`, rounded; None if `whole` is 0."""
    return round(part / whole, 4) if whole else None


def spread_of(values: list[float], unit: str) -> dict[str, Any]:
    """Median and 95th percentile of errors, with their unit."""
    if not values:
        return {"unit": unit, "p50": None, "p95": None}
    p50, p95 = np.percentile(np.array(values), [50, 95])
    return {"unit": unit, "p50": round(float(p50), 3), "p95": round(float(p95), 3)}
