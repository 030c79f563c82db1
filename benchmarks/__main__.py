"""`python -m benchmarks NAME [--options]`: measure, store the results and write the page."""

from __future__ import annotations

import ast
import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import click
import msgspec

from benchmarks.harness.benchmark import DOCS, ROOT, Benchmark
from benchmarks.harness.pages import Results, read_results, render_page, write_results
from benchmarks.harness.provenance import Provenance, commit, fingerprint
from benchmarks.harness.runner import CaseSelection, run_cases
from table.errors import InputError
from table.files import write_whole

SUITE = Path(__file__).parent / "suite"
RESULTS = Path(__file__).parent / "results"
BUILD = ROOT / "build" / "benchmarks"


def names() -> list[str]:
    """All benchmarks: the modules of benchmarks/suite/."""
    return sorted(path.stem for path in SUITE.glob("*.py") if path.stem != "__init__")


def about(name: str) -> str:
    """The first sentence of a benchmark's module, which is not imported."""
    text = ast.get_docstring(ast.parse((SUITE / f"{name}.py").read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def load(name: str) -> Benchmark:
    benchmark: Benchmark = import_module(f"benchmarks.suite.{name}").BENCHMARK
    return benchmark


def measure(
    benchmark: Benchmark, options: Any, chosen: CaseSelection, out: Path | None, processes: int
) -> int:
    """Run cases, store the results and write the page; 1 if a case failed or a promise was broken.

    Without `out` cases are kept in build/, results beside the benchmarks, and the page in docs/.
    """
    kept = (out / "cases" if out else BUILD) / benchmark.name / fingerprint()
    load_before = os.getloadavg()[0]
    try:
        cases = chosen.of(list(benchmark.cases(options)))
    except InputError as error:
        raise click.UsageError(str(error)) from error
    outcome = run_cases(benchmark, cases, kept, commit(), processes)
    if outcome.failures:
        for failure in outcome.failures:
            click.echo(f"{benchmark.name}: {failure.case} failed: {failure.error}", err=True)
        click.echo(f"The other {len(outcome.pairs)} results are in {kept}; no page.", err=True)
        return 1
    provenance = Provenance.of(outcome.commits, (load_before, os.getloadavg()[0]))
    results = Results(provenance, options, benchmark.summarise(options, outcome.pairs))
    write_results((out or RESULTS) / f"{benchmark.name}.json", results)
    write_page(benchmark, results, out)
    broken = [*(benchmark.broken(results.summary) if benchmark.broken else ())]
    for line in broken:
        click.echo(f"{benchmark.name}: broken: {line}", err=True)
    return int(bool(broken))


def write_page(benchmark: Benchmark, results: Results, out: Path | None) -> None:
    """What people wrote on the page in docs/ stays."""
    page = (out or DOCS) / benchmark.page
    known = page if page.exists() else DOCS / benchmark.page
    before = known.read_text(encoding="utf-8") if known.exists() else ""
    write_whole(page, render_page(benchmark, results, before).encode())
    click.echo(f"wrote {page}", err=True)


def option_of(field: msgspec.structs.FieldInfo, kind: Any) -> click.Option:
    """The command line's option for a field of a benchmark's options."""
    plain, meaning = get_args(kind)
    name = f"--{field.encode_name.replace('_', '-')}"
    return click.Option(
        [name, field.name], type=plain, default=field.default, show_default=True, help=meaning
    )


def command(name: str) -> click.Command:
    """What `python -m benchmarks NAME` does."""
    benchmark = load(name)
    hints = get_type_hints(benchmark.options, include_extras=True)
    fields = msgspec.structs.fields(benchmark.options)
    own = [option_of(field, hints[field.name]) for field in fields]
    return click.Command(
        name,
        callback=partial(_measure_or_render, benchmark),
        help=f"{about(name)}\n\nWrites docs/{benchmark.page}.",
        params=[*own, *_common_options(benchmark.processes)],
    )


def _measure_or_render(
    benchmark: Benchmark,
    count: int | None,
    only: str,
    out: Path | None,
    processes: int,
    render: bool,
    **options: Any,
) -> None:
    """Measure as the command line says, or write the page from stored results."""
    if (only or count is not None) and out is None:
        raise click.UsageError(
            "--cases and --only need --out: a page of a few cases is none for docs/"
        )
    if out:
        out.mkdir(parents=True, exist_ok=True)
    if render:
        stored = RESULTS / f"{benchmark.name}.json"
        if not stored.exists():
            raise click.ClickException(f"expected results in {stored}: measure first")
        write_page(benchmark, read_results(stored, benchmark), out)
        return
    sys.exit(
        measure(benchmark, benchmark.options(**options), CaseSelection(count, only), out, processes)
    )


def _common_options(processes: int) -> list[click.Option]:
    """The options that every benchmark has; `processes` is the default of --processes."""
    return [
        click.Option(
            ["--cases", "count"],
            type=click.IntRange(1),
            help="Only so many cases, drawn by chance, the same every time.",
        ),
        click.Option(
            ["--only"],
            default="",
            help="Only cases whose names, as progress tells them, have this text in them.",
        ),
        click.Option(
            ["--out"],
            type=click.Path(path_type=Path),
            help="A folder for page and results, instead of docs/ and benchmarks/results/.",
        ),
        click.Option(
            ["--processes"],
            default=processes,
            show_default=True,
            type=click.IntRange(1),
            help="Cases that run at once.",
        ),
        click.Option(
            ["--render"],
            is_flag=True,
            help="Measure nothing: write the page from the stored results.",
        ),
    ]


class Suite(click.Group):
    """One command a benchmark, imported when it is asked for."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return names()

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        return command(name) if name in names() else None

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Benchmarks"):
            formatter.write_dl([(name, about(name)) for name in names()])


def _print_list(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked:
        for name in names():
            click.echo(f"{name}: {about(name)}")
        context.exit()


main = Suite(
    help="Measure, store the results in benchmarks/results/ and write the page in docs/.",
    params=[
        click.Option(
            ["--list"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_list,
            help="Say which benchmarks there are.",
        )
    ],
)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
