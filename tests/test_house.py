"""The house stands: who imports whom, how long things are, style, types, and what is in the wheel."""

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copy2

import pytest

ROOT = Path(__file__).parents[1]

MAY_IMPORT = {
    "table": (),
    "engines": ("table",),
    "vision": ("table",),
    "calibration": ("table", "vision"),
    "hardware": ("table",),
    "referee": ("table", "engines", "vision", "calibration", "hardware"),
    "webui": ("table", "referee"),
}
COMPOSITION_ROOT = re.compile(r"referee/(cli|commands_\w+)\.py")
"""The command line puts the house together; it alone may know the panel."""


def committed() -> list[Path]:
    """Files that git knows or would take, relative to the root."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("git, which knows what belongs to the checkout, cannot be asked")
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def sources(*folders: str) -> Iterator[tuple[Path, str]]:
    for path in committed():
        if path.suffix == ".py" and (not folders or path.parts[0] in folders):
            yield path, (ROOT / path).read_text(encoding="utf-8")


def imports(text: str) -> Iterator[tuple[int, str]]:
    """Line and top-level package of every import, those inside functions too."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name.partition(".")[0]) for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_go_one_way(room: str) -> None:
    allowed = {room, *MAY_IMPORT[room]}
    wrong = []
    for path, text in sources(room):
        also = {"webui"} if COMPOSITION_ROOT.fullmatch(path.as_posix()) else set()
        wrong += [f"{path}:{line} imports {name}" for line, name in imports(text) if name in MAY_IMPORT.keys() - allowed - also]
    assert not wrong


def test_nothing_is_imported_from_the_tests() -> None:
    assert not [f"{path}:{line}" for path, text in sources(*MAY_IMPORT) for line, name in imports(text) if name in ("tests", "benchmarks")]


def test_files_are_under_800_lines() -> None:
    assert not [f"{path}: {lines} lines" for path, text in sources() if (lines := len(text.splitlines())) >= 800]


def test_functions_are_under_60_lines() -> None:
    wrong = []
    for path, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno and node.end_lineno - node.lineno >= 59:
                wrong.append(f"{path}:{node.lineno} {node.name}: {node.end_lineno - node.lineno + 1} lines")
    assert not wrong


MACHINE = re.compile(r"(?<![\w.])/(?:root|work|home|Users|tmp)/")
"""Folders of the machine something was written on."""


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    wrong = []
    for path in committed():
        try:
            lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        wrong += [f"{path}:{number}: {line.strip()}" for number, line in enumerate(lines, 1) if MACHINE.search(line)]
    assert not wrong


def run(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_style() -> None:
    if said := run("ruff", "check", "--quiet", "--output-format", "concise", "."):
        pytest.fail(said, pytrace=False)


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="types are checked on Python 3.11, where NumPy's own types stand still")
def test_types() -> None:
    if said := run("mypy"):
        pytest.fail(said, pytrace=False)


NO_NETWORK = re.compile(r"No matching distribution found|Could not find a version|Temporary failure in name resolution|Max retries exceeded")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names in a wheel that is built from a copy of the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for path in committed():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        copy2(ROOT / path, copy / path)
    failed = run("pip", "wheel", "--quiet", "--no-deps", "--retries", "0", "--wheel-dir", str(out), str(copy))
    if NO_NETWORK.search(failed):
        pytest.skip("setuptools, which builds the wheel, cannot be fetched without a network")
    assert not failed
    (wheel,) = out.glob("rinkside-*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_the_wheel_holds_every_file_of_the_rooms(wheel_names: list[str]) -> None:
    """Templates, styles and piece sizes too: what is missing here works in the checkout and fails for everybody else."""
    expected = {path.as_posix() for path in committed() if path.parts[0] in MAY_IMPORT}
    assert expected - set(wheel_names) == set()


def test_the_wheel_holds_nothing_else(wheel_names: list[str]) -> None:
    others = {name.split("/")[0] for name in wheel_names} - MAY_IMPORT.keys()
    assert [name for name in others if not name.endswith(".dist-info")] == []
    assert any(name.endswith("/licenses/LICENSE") for name in wheel_names)


DECODERS = re.compile(r"\bcv2\.(?:imread|imdecode)\w*|\bImage\.open\b")
"""What makes pixels of a file.  One place does, so that no file escapes its limits of size."""


def test_pictures_are_decoded_in_one_place() -> None:
    found = {f"{path}: {name}" for path, text in sources(*MAY_IMPORT) for name in DECODERS.findall(text)}
    assert found == {"vision/cameras/png.py: cv2.imdecode"}


READERS = re.compile(r"\.(?:read_text|read_bytes)\(|\bjson\.load\(|\btomllib\.loads?\(|\bcsv\.(?:reader|DictReader)\(")
"""What reads files.  Those that people hand in are read in one place, table/documents.py, which limits their size and what is in them."""
READ_THEIR_OWN = {
    "table/documents.py",
    "table/pieces.py",
    "calibration/lens_known.py",
    "engines/clauses.py",
    "engines/zamboni_wars/board.py",
    "vision/networks.py",
    "webui/palette.py",
    "webui/wording.py",
}
"""The one place, and who reads files of the program itself."""


def test_files_that_people_hand_in_are_read_in_one_place() -> None:
    found = {path.as_posix() for path, text in sources(*MAY_IMPORT) if READERS.search(text) and "training" not in path.parts}
    assert found == READ_THEIR_OWN


def test_all_output_goes_through_the_terminal_module() -> None:
    """It takes out what moves a terminal's cursor; names and reasons come from people."""
    writes = re.compile(r"\bclick\.(?:echo|secho)\(|\bConsole\(|(?<!def )(?<![\w.])print\(|\bsys\.stdout\.write\(")
    found = {path.as_posix() for path, text in sources(*MAY_IMPORT) if writes.search(text) and "training" not in path.parts}
    assert found == {"referee/terminal.py"}
