"""Which mistakes count as confident: those at which the document expresses no doubt.

`rinkside bench` counts what the scorer beside the checkout counts.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from benchmarks.harness import BENCH
from benchmarks.photographs import confident_mistakes, load_scorer
from calibration.quality.scoring import score, total
from calibration.quality.truth import parse_truth
from table.files import convert
from table.observation import SURE
from table.observation_document import ObservationDocument
from table.table_config import load_table

SURE_PIECE = {"base_mm": [100.0, 100.0], "probability": dict.fromkeys(("pose", "size"), SURE)}
DOUBTFUL = {"base_mm": [100.0, 100.0], "probability": {"pose": 0.9, "size": 1.0}}
MISSED = {"missed": ["red", "small", "upright", [100.0, 100.0]]}
INVENTED = {"invented": ["red", "small", "upright", [100.0, 100.0]]}
MISREAD = {"said": ["red"] * 3, "is": ["blue"] * 3, "at": [101.0, 99.0]}


@pytest.mark.parametrize(
    ("wrong", "pieces", "unread_mm", "count"),
    [
        (MISSED, [], [], 1),
        (MISSED, [], [[110.0, 100.0]], 0),
        (MISSED, [], [[200.0, 100.0]], 1),
        (INVENTED, [SURE_PIECE], [], 1),
        (INVENTED, [DOUBTFUL], [], 0),
        (INVENTED, [SURE_PIECE], [[100.0, 110.0]], 0),
        (MISREAD, [SURE_PIECE], [], 1),
        (MISREAD, [DOUBTFUL], [], 0),
        ({"called": ["red", 1], "is": ["blue", 1], "margin_mm": 0.1}, [SURE_PIECE], [], 0),
    ],
)
def test_a_mistake_is_confident_only_where_nothing_expresses_doubt(
    wrong: dict[str, Any], pieces: list[dict[str, Any]], unread_mm: list[list[float]], count: int
) -> None:
    document = {"pieces": pieces, "unread_mm": unread_mm}
    assert confident_mistakes({"wrong": [wrong]}, document) == count


@pytest.mark.skipif(not (BENCH / "score.py").is_file(), reason="its scorer is not beside here")
def test_bench_counts_as_the_scorer_of_the_photographs_does() -> None:
    ours, theirs = [], []
    for case in sorted((BENCH / "cases").glob("*-000[1-4]")):
        truth = json.loads((case / "truth.json").read_text())
        read = {"pieces": copy.deepcopy(truth["pieces"])}
        for piece in read["pieces"]:
            piece["probability"] = {"colour": 1.0, "size": 1.0, "pose": 1.0}
            piece |= {"base_cov_mm2": [[1, 0], [0, 1]], "heading_sigma_deg": 1.0}
            piece["base_mm"][0] += 0.5
        read["pieces"][0]["colour"] = "grey"
        moved = read["pieces"][-1]
        moved["footprint_mm"] = [[x + 9, y - 13] for x, y in moved["footprint_mm"]]
        theirs.append(load_scorer().score_case(case, read))
        checked = parse_truth(truth, "truth.json", load_table(case / "table.json"))
        ours.append(score(checked, convert(read, ObservationDocument, "reading")))
    said, summary = total(ours), load_scorer().summary(theirs)
    assert 0 < said.found < said.pieces == summary["pieces"]
    assert [len(one.matched) for one in ours] == [one["matched"] for one in theirs]
    assert round(said.found / said.pieces, 4) == summary["recall"]
    for name in ("colour", "size", "pose"):
        assert round(getattr(said, name) / said.found, 4) == summary[name]
    assert said.base_mm == pytest.approx(
        (summary["base_mm"]["p50"], summary["base_mm"]["p95"]), abs=0.01
    )
