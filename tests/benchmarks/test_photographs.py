"""Which mistakes count as confident: those at which the document expresses no doubt."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.photographs import confident_mistakes
from table.observation import SURE

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
