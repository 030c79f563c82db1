"""Mistakes that are made on purpose: which there are, which tests are asked, and who notices."""

from __future__ import annotations

import pytest

from benchmarks.mutants import draw_sample, mutants, nearest
from tests.support.paths import ROOT

MODULE = '''"""Text with 3 < 4 in it."""

WAIT_S = 2.0
MOST, NONE = 9, 0
"""More than 9 is too much."""


def late(now_s: float, words: list[str]) -> bool:
    return now_s > WAIT_S + 1 and "x" not in words
'''


@pytest.mark.parametrize("constants", [False, True])
def test_comparisons_and_constants_are_changed_and_nothing_else(tmp_path, constants):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    found = list(mutants(path, constants))
    assert [one.message for one in found] == [
        "now_s > WAIT_S + 1 -> now_s >= WAIT_S + 1",
        "now_s > WAIT_S + 1 -> now_s <= WAIT_S + 1",
        "'x' not in words -> 'x' in words",
        *(
            [
                "WAIT_S: 2.0 -> 6.0",
                "WAIT_S: 2.0 -> 0.6666666666666666",
                "(MOST, NONE): 9 -> 27",
                "(MOST, NONE): 9 -> 3",
            ]
            if constants
            else []
        ),
    ]


def test_a_mistake_is_in_the_code_and_the_file_stays_as_it_is(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(MODULE)
    late = {}
    for one in mutants(path, constants=True):
        exec(one.code(), space := {})
        late[one.message] = [space["late"](now_s, []) for now_s in (1.0, 3.0, 5.0)]
    assert late["now_s > WAIT_S + 1 -> now_s >= WAIT_S + 1"] == [False, True, True]
    assert late["'x' not in words -> 'x' in words"] == [False, False, False]
    assert late["WAIT_S: 2.0 -> 6.0"] == [False, False, False]
    assert late["WAIT_S: 2.0 -> 0.6666666666666666"] == [False, True, True]
    assert path.read_text() == MODULE


@pytest.mark.parametrize(
    ("room", "module", "first", "among"),
    [
        ("hardware", "backends/mqtt.py", "hardware/test_mqtt.py", "hardware/test_mqtt.py"),
        (
            "referee/live",
            "judging.py",
            "referee/live/test_referee.py",
            "referee/live/test_boule_end.py",
        ),
        (
            "referee/sessions",
            "events.py",
            "referee/sessions/test_events.py",
            "referee/sessions/test_archive.py",
        ),
    ],
)
def test_the_nearest_tests_are_named_after_a_module_or_import_it(room, module, first, among):
    found = nearest(room, ROOT / room / module)
    assert found[0] == ROOT / "tests" / first
    assert ROOT / "tests" / among in found
    assert len(found) <= 12


def test_a_sample_is_the_same_every_time_and_in_order():
    every = list(range(100))
    assert draw_sample(every, 0, 1) == draw_sample(every, 200, 1) == every
    some = draw_sample(every, 10, 1)
    assert some == draw_sample(every, 10, 1) == sorted(set(some))
    assert some != draw_sample(every, 10, 2)
