"""Cases of a benchmark: each runs once, whatever happens to others."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from benchmarks.harness import Benchmark
from benchmarks.harness.benchmark import Pairs, name_of
from benchmarks.harness.runner import CaseSelection, run_cases
from table.messages import msg

LEDGER = "BENCHMARK_LEDGER"
"""Names the file in which each run of a case is noted."""


class Square(msgspec.Struct, frozen=True):
    number: int
    square: int


def run(number: int) -> Square:
    """Squares a number; notes that it did, and fails where it was told to."""
    ledger = Path(os.environ[LEDGER])
    with ledger.open("a", encoding="utf-8") as file:
        print(number, file=file)
    if (ledger.parent / f"fails-{number}").exists():
        raise ValueError(f"no square of {number}")
    return Square(number, number**2)


def summarise(_options: object, pairs: Pairs) -> int:
    return sum(one.square for _, one in pairs)


SQUARES = Benchmark("SQUARES.md", lambda _options: range(5), run, summarise)


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    """The file of runs; beside it stand the files that let cases fail."""
    monkeypatch.setenv(LEDGER, str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def runs(ledger):
    return sorted(map(int, ledger.read_text(encoding="utf-8").split()))


def go(ledger, cases=range(5), **more):
    lines = []
    outcome = run_cases(
        SQUARES,
        list(cases),
        ledger.parent / "kept",
        more.pop("commit", "abc"),
        say=lines.append,
        **more,
    )
    return outcome, lines


def test_every_case_runs_and_results_come_in_the_order_of_the_cases(ledger):
    outcome, _ = go(ledger, [3, 1, 2])
    assert outcome.pairs == ((3, Square(3, 9)), (1, Square(1, 1)), (2, Square(2, 4)))
    assert outcome.failures == ()


def say_so(number: int) -> dict[str, str]:
    """A sentence of the referee's, which is more than text."""
    return {"said": msg("{n} pieces lie there.", n=number)}


def test_what_the_referee_said_is_kept_as_text(tmp_path):
    message = Benchmark("SAID.md", lambda _options: [3], say_so, lambda _options, pairs: len(pairs))
    outcome = run_cases(message, [3], tmp_path, "abc", say=lambda _line: None)
    assert outcome.pairs == ((3, {"said": "3 pieces lie there."}),)


def test_a_run_that_was_broken_off_goes_on_where_it_was(ledger):
    go(ledger, range(3))
    outcome, lines = go(ledger, range(5))
    assert runs(ledger) == [0, 1, 2, 3, 4]
    assert SQUARES.summarise(None, outcome.pairs) == 30
    assert lines[0].startswith("3 of 5 cases are in")


def test_a_failing_case_is_told_and_does_not_lose_the_others(ledger):
    (ledger.parent / "fails-2").touch()
    outcome, lines = go(ledger)
    assert [case for case, _ in outcome.pairs] == [0, 1, 3, 4]
    (failure,) = outcome.failures
    assert failure.case == "2"
    assert failure.error.startswith("ValueError: no square of 2 (test_runner.py, line ")
    assert any("2 failed" in line for line in lines)


def test_a_case_that_failed_runs_again_and_the_others_do_not(ledger):
    (ledger.parent / "fails-2").touch()
    go(ledger)
    (ledger.parent / "fails-2").unlink()
    outcome, _ = go(ledger)
    assert runs(ledger) == [0, 1, 2, 2, 3, 4]
    assert len(outcome.pairs) == 5
    assert outcome.failures == ()


def test_results_name_every_commit_that_they_are_of(ledger):
    go(ledger, range(2), commit="abc")
    outcome, _ = go(ledger, range(4), commit="def")
    assert outcome.commits == ("abc", "def")


def test_two_cases_of_one_name_are_refused(ledger):
    with pytest.raises(ValueError, match="same name"):
        go(ledger, [1, 1])


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("icefloe", "icefloe"),
        (7, "7"),
        (("of another size", 0.5), "of-another-size-0.5"),
        (("../out", "a/b"), "..-out-a-b"),
        (Square(2, 4), "2-4"),
    ],
)
def test_the_name_of_a_case_is_a_file_name(case, name):
    assert name_of(case) == name


def test_long_cases_that_begin_alike_have_names_of_their_own():
    one, other = ("x" * 300 + "a"), ("x" * 300 + "b")
    assert name_of(one) != name_of(other)
    assert len(name_of(one)) < 200


def test_a_few_cases_are_always_the_same_and_in_order():
    few = CaseSelection(20).of(range(1000))
    assert few == CaseSelection(20).of(range(1000))
    assert few == sorted(set(few))
    assert len(few) == 20
    assert few[0] < 500 < few[-1]
    assert CaseSelection(10).of(range(3)) == CaseSelection().of(range(3)) == [0, 1, 2]


def test_cases_are_chosen_by_a_text_in_their_names():
    cases = [("icefloe", 1), ("icefloe", 2), ("ice_boule", 1)]
    assert CaseSelection(only="icefloe").of(cases) == cases[:2]
    assert CaseSelection(1, "boule-1").of(cases) == cases[2:]


def test_a_text_that_is_in_no_name_is_an_error_with_names_to_try():
    with pytest.raises(ValueError, match="got 'ice floe'; try icefloe-1, ice_boule-1"):
        CaseSelection(only="ice floe").of([("icefloe", 1), ("ice_boule", 1)])
