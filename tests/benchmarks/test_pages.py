"""Pages of benchmarks: they say what is stored, and keep what people wrote."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from click.testing import CliRunner

from benchmarks.__main__ import RESULTS, load, main, names
from benchmarks.attacks.kills import KilledProcess
from benchmarks.harness import DOCS, Provenance
from benchmarks.harness.pages import (
    BY_HAND,
    TEMPLATES,
    percent,
    read_results,
    render_page,
    replace_between,
    right_of,
    row,
    spread,
    write_results,
)
from benchmarks.harness.provenance import fingerprint
from benchmarks.suite.kill import Lived

STORED = [path.stem for path in sorted(RESULTS.glob("*.json"))]


def page(benchmark):
    return (DOCS / benchmark.page).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", STORED)
def test_the_page_in_docs_is_what_the_stored_results_give(name):
    benchmark = load(name)
    results = read_results(RESULTS / f"{name}.json", benchmark)
    assert render_page(benchmark, results, page(benchmark)) == page(benchmark), (
        f"run `python -m benchmarks {name} --render`"
    )


@pytest.mark.parametrize("name", STORED)
def test_results_are_read_as_they_were_written(name, tmp_path):
    benchmark = load(name)
    results = read_results(RESULTS / f"{name}.json", benchmark)
    write_results(tmp_path / "again.json", results)
    assert (tmp_path / "again.json").read_text() == (RESULTS / f"{name}.json").read_text()


def test_every_benchmark_has_a_template_and_a_page():
    assert [name for name in names() if not (TEMPLATES / f"{name}.md").exists()] == []
    assert [name for name in names() if not (DOCS / load(name).page).exists()] == []
    assert set(STORED) <= set(names())


def test_results_that_are_not_those_of_a_benchmark_are_refused(tmp_path):
    path = tmp_path / "kill.json"
    path.write_text('{"provenance": {}, "options": null, "summary": {"lives": "many"}}')
    with pytest.raises(msgspec.ValidationError, match=r"Expected `int`, got `str` - at `\$.lives`"):
        read_results(path, load("kill"))


def test_what_people_wrote_on_a_page_stays():
    benchmark = load("judges")
    results = read_results(RESULTS / "judges.json", benchmark)
    begin, end = BY_HAND
    text = render_page(
        benchmark, results, f"Before. {begin}\nSeen: {{{{ bad }}}} light.\n{end} After."
    )
    assert f"{begin}\nSeen: {{{{ bad }}}} light.\n{end}" in text
    assert "Before." not in text
    assert "After." not in text


def test_a_section_takes_the_place_of_the_one_before_and_leaves_the_rest():
    first = replace_between("# By hand\n", "kill", "One.\n")
    more = f"{first}\nBy hand, too.\n"
    again = replace_between(more, "kill", "Two.\n")
    assert again == more.replace("One.", "Two.")
    assert again.startswith("# By hand\n\n<!-- kill: ")


def test_a_section_without_an_end_is_refused():
    cut = replace_between("", "kill", "One.\n").replace("<!-- kill end -->", "")
    with pytest.raises(ValueError, match="expected <!-- kill end -->"):
        replace_between(cut, "kill", "Two.\n")


def test_the_line_of_a_measurement_says_what_is_known():
    assert str(Provenance(date="2026-11-27")) == "Measured 2026-11-27"
    whole = Provenance("2026-11-27", "0.2.0", ("abc", "def"), "aarch64", 4, "3.13.1", "5.0.0")
    assert str(whole) == (
        "Measured 2026-11-27 with Rinkside 0.2.0 (commit abc, def) on 4 cores aarch64,"
        " Python 3.13.1, OpenCV 5.0.0"
    )


def test_figures_are_printed_as_a_page_needs_them():
    assert row(["a", "", 3]) == "| a | | 3 |"
    assert (percent(0.98765), percent(0.5, 0), percent(None)) == ("98.8 %", "50 %", "–")
    assert (right_of(2999, 3000), right_of(3, 4), right_of(0, 0)) == (
        "2999 (99.97%)",
        "3 (75.0%)",
        "",
    )
    assert (spread((0.1, 2.0), "mm"), spread(None, "mm")) == ("0.10 / 2.00 mm", "–")


def test_a_few_cases_are_measured_into_a_folder_of_their_own(tmp_path):
    """The whole way: `--cases`, results, page, and once more without measuring again."""
    before = page(load("lens"))
    words = ["lens", "--runs", "4", "--cases", "2", "--out", str(tmp_path)]
    first = CliRunner().invoke(main, words)
    assert first.exit_code == 0, first.output
    written = (tmp_path / "CALIBRATION.md").read_text(encoding="utf-8")
    assert ": 2 runs, each a random lens" in written
    assert [line for line in written.splitlines() if line.startswith("#")] == [
        line for line in before.splitlines() if line.startswith("#")
    ]
    again = CliRunner().invoke(main, words)
    assert "2 of 2 cases are in" in again.output
    assert (tmp_path / "CALIBRATION.md").read_text(encoding="utf-8").splitlines()[5:] == (
        written.splitlines()[5:]
    )
    assert page(load("lens")) == before


def test_processes_measure_what_one_does(tmp_path):
    for processes in ("1", "2"):
        out = tmp_path / processes
        words = ["lens", "--runs", "2", "--processes", processes, "--out", str(out)]
        assert CliRunner().invoke(main, words).exit_code == 0
    one, two = (read_results(tmp_path / name / "lens.json", load("lens")) for name in ("1", "2"))
    assert one.summary.models == two.summary.models
    # Sums over the corners are added up in another order where OpenCV has one thread.
    assert one.summary.focal_percent == pytest.approx(two.summary.focal_percent, rel=1e-4)


def kill(lives: int) -> Lived:
    """Stands in for the killing: one life fails."""
    if lives == 1:
        raise ValueError("it lived on")
    return Lived((KilledProcess(3, 0.1),) * lives, 30)


def invoke_kill(monkeypatch, out, *words):
    monkeypatch.setattr("benchmarks.__main__.load", lambda _name: replace(load("kill"), run=kill))
    return CliRunner().invoke(main, ["kill", *words, "--out", str(out)])


def test_a_run_with_a_failed_case_says_so_and_writes_nothing(monkeypatch, tmp_path):
    message = invoke_kill(monkeypatch, tmp_path, "--lives", "1")
    assert message.exit_code == 1
    assert "1 failed: ValueError: it lived on" in message.output
    assert not (tmp_path / "LOG.md").exists()
    assert not (tmp_path / "kill.json").exists()


def test_pages_that_two_benchmarks_write_keep_both(monkeypatch, tmp_path):
    """Their cases have the same names, and are kept apart."""
    (tmp_path / "cases" / "evening" / fingerprint()).mkdir(parents=True)
    (tmp_path / "cases" / "evening" / fingerprint() / "2.json").write_text("not of this benchmark")
    assert invoke_kill(monkeypatch, tmp_path, "--lives", "2").exit_code == 0
    written = (tmp_path / "LOG.md").read_text(encoding="utf-8")
    assert "was killed with SIGKILL 2 times" in written
    assert "8 hours of Ice Boule" in written


def test_a_page_of_a_few_cases_is_none_for_the_docs():
    for words in (["--cases", "2"], ["--only", "7"]):
        message = CliRunner().invoke(main, ["lens", *words])
        assert message.exit_code == 2
        assert "--cases and --only need --out" in message.output


def test_a_promise_that_is_broken_is_told_and_the_command_fails():
    chaos = load("chaos")
    stored = read_results(RESULTS / "chaos.json", chaos)
    assert [*chaos.broken(stored.summary)] == []
    worse = msgspec.structs.replace(stored.summary[0], failed="record 7 is gone")
    (line,) = chaos.broken((worse, *stored.summary[1:]))
    assert line.endswith(": record 7 is gone")
    results = msgspec.structs.replace(stored, summary=(worse, *stored.summary[1:]))
    assert "**Broken: record 7 is gone**" in render_page(chaos, results, "")


def test_what_was_never_measured_cannot_be_rendered(monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.__main__.RESULTS", tmp_path)
    message = CliRunner().invoke(main, ["lens", "--render", "--out", str(tmp_path)])
    assert message.exit_code == 1
    assert "measure first" in message.output


def test_all_benchmarks_are_listed_with_what_they_do():
    message = CliRunner().invoke(main, ["--list"]).output
    assert [line.partition(":")[0] for line in message.splitlines()] == names()
    assert all(line.endswith(".") for line in message.splitlines())


@pytest.mark.parametrize(("option", "value"), [("--game", "chess"), ("--only", "no such case")])
def test_what_no_case_is_of_is_refused_in_one_line_that_names_the_option(tmp_path, option, value):
    message = CliRunner().invoke(main, ["games", option, value, "--out", str(tmp_path)])
    assert message.exit_code == 2
    assert message.output.splitlines()[-1].startswith(f"Error: {option}: expected ")
