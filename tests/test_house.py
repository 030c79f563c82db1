"""The house stands: who imports whom, how long things are, style, types, and what is in the
wheel.
"""

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
    "referee.sessions": ("table", "engines"),
    "referee.presentation": ("table", "engines", "hardware", "referee.sessions", "vision"),
    "referee.statistics": ("table", "engines", "referee.sessions", "referee.presentation"),
    "referee.devices": ("table", "hardware", "referee.sessions", "referee.presentation"),
    "referee.live": (
        "table",
        "engines",
        "vision",
        "calibration",
        "referee.sessions",
        "referee.presentation",
    ),
    "simulation": ("table", "engines", "vision", "referee.sessions", "referee.presentation"),
    "webui": ("table", "calibration", "referee"),
    "hub": ("table", "engines", "referee", "webui"),
    "cli": (
        "table",
        "engines",
        "vision",
        "calibration",
        "hardware",
        "referee",
        "simulation",
        "webui",
        "hub",
    ),
    "conformance": ("table", "engines", "hardware", "referee", "simulation", "webui"),
    "training": ("table", "vision", "simulation"),
}
"""Who may import whom.  Nothing imports `cli`, `conformance`, `training`, `benchmarks` or tests;
only `hub`, `cli` and `conformance` import `webui`, and only `cli` imports `hub`.
"""
CROSSING = {
    ("referee/sessions/session.py", "referee.presentation"),
    ("referee/sessions/status.py", "vision.cameras.frame"),
    ("referee/sessions/status.py", "vision.cameras.preview"),
}
"""Imports that go the wrong way still: a session renders its own page, and its status holds the
newest picture.
"""
PRODUCT = (
    "table",
    "vision",
    "calibration",
    "engines",
    "hardware",
    "referee",
    "simulation",
    "webui",
    "hub",
    "cli",
    "conformance",
)
"""The rooms that the wheel has."""


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
    """Line and module of every import, those inside functions too."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                yield node.lineno, module if module != "referee" else f"referee.{names[0].name}"


def room_of(module: str) -> str:
    """The room that a module is in, `referee.live` or `vision`; empty for what is not of this
    project.
    """
    return next((room for room in MAY_IMPORT if f"{module}.".startswith(f"{room}.")), "")


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_go_one_way(room: str) -> None:
    wrong = set()
    for path, text in sources(room.partition(".")[0]):
        if not f"{path.with_suffix('').as_posix().replace('/', '.')}.".startswith(f"{room}."):
            continue
        for _, name in imports(text):
            other = room_of(name)
            if (
                other
                and other != room
                and not any(f"{other}.".startswith(f"{one}.") for one in MAY_IMPORT[room])
            ):
                wrong.add((path.as_posix(), name))
    assert wrong == {
        (path, name) for path, name in CROSSING if path.startswith(f"{room.replace('.', '/')}/")
    }


def test_nothing_is_imported_from_the_tests() -> None:
    assert not [
        f"{path}:{line}"
        for path, text in sources(*PRODUCT, "training")
        for line, name in imports(text)
        if name.partition(".")[0] in ("tests", "benchmarks", "tools")
    ]


def test_tests_use_no_private_attribute_of_the_product() -> None:
    public = {"_asdict", "_fields", "_make", "_replace"}  # of named tuples
    found = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, text in sources("tests")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and node.attr not in public
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert found == []


def test_no_test_module_imports_another() -> None:
    """What they share is in tests/support."""
    assert not [
        f"{path}:{line}"
        for path, text in sources("tests")
        for line, name in imports(text)
        if re.search(r"\.(?:test_\w+|conftest)$", name)
    ]


def test_files_are_under_800_lines() -> None:
    assert not [
        f"{path}: {lines} lines"
        for path, text in sources()
        if (lines := len(text.splitlines())) >= 800
    ]


def test_functions_are_under_60_lines() -> None:
    assert not [
        f"{path}:{node.lineno}: {node.name}: {lines} lines"
        for path, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
        if (lines := node.end_lineno - node.lineno + 1) >= 60
    ]


MACHINE = re.compile(r"(?<![\w.])/(?:root|work|home|Users|tmp)/")
"""Folders of the machine something was written on."""


def test_no_file_names_a_folder_of_the_machine_it_was_written_on() -> None:
    wrong = []
    for path in committed():
        try:
            lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        wrong += [
            f"{path}:{number}: {line.strip()}"
            for number, line in enumerate(lines, 1)
            if MACHINE.search(line)
        ]
    assert not wrong


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_style() -> None:
    if message := run("ruff", "check", "--quiet", "--output-format", "concise", "."):
        pytest.fail(message, pytrace=False)


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11),
    reason="types are checked on Python 3.11, where NumPy's own types stand still",
)
def test_types() -> None:
    if message := run("mypy"):
        pytest.fail(message, pytrace=False)


NO_NETWORK = re.compile(
    r"No matching distribution found|Could not find a version|Temporary failure in name"
    r" resolution|Max retries exceeded"
)


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names in a wheel that is built from a copy of the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    for path in committed():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        copy2(ROOT / path, copy / path)
    failed = run(
        "pip", "wheel", "--quiet", "--no-deps", "--retries", "0", "--wheel-dir", str(out), str(copy)
    )
    if NO_NETWORK.search(failed):
        pytest.skip("setuptools, which builds the wheel, cannot be fetched without a network")
    assert not failed
    (wheel,) = out.glob("rinkside-*.whl")
    return zipfile.ZipFile(wheel).namelist()


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_rooms(wheel_names: list[str]) -> None:
    """Templates, styles and piece sizes too: what is missing here works in the checkout and fails
    for everybody else.
    """
    expected = {path.as_posix() for path in committed() if path.parts[0] in PRODUCT}
    assert expected - set(wheel_names) == set()


@pytest.mark.slow
def test_the_wheel_holds_nothing_else(wheel_names: list[str]) -> None:
    others = {name.split("/")[0] for name in wheel_names} - {*PRODUCT}
    assert [name for name in others if not name.endswith(".dist-info")] == []
    assert any(name.endswith("/licenses/LICENSE") for name in wheel_names)


DECODERS = re.compile(r"\bcv2\.(?:imread|imdecode)\w*|\bImage\.open\b")
"""What makes pixels of a file.  One place does, so that no file escapes its limits of size."""


UNTYPED = {("table/json_data.py", "JsonObject")}
"""The one name of an object whose keys no type says; its docstring says what may be one."""


def untyped_dicts(text: str) -> list[str]:
    """The places in which `dict[str, Any]` is written, by the name that has that type."""
    found = []

    def look(node: ast.AST, name: str) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.arg():
                name = node.arg if isinstance(node, ast.arg) else node.name
            case ast.AnnAssign(target=target):
                name = ast.unparse(target)
            case ast.Assign(targets=[target]):
                name = ast.unparse(target)
            case ast.Subscript() if ast.unparse(node) in ("dict[str, Any]", "Dict[str, Any]"):
                found.append(name)
            case ast.Constant(value=str(said)) if "dict[str, Any]" in said:
                found.append(name)
        for below in ast.iter_child_nodes(node):
            look(below, name)

    look(ast.parse(text), "")
    return found


def test_no_dict_of_anything_passes_between_rooms() -> None:
    """Structs, typed dictionaries and the names of `table.json_data` say what is in them."""
    found = {
        (path.as_posix(), name) for path, text in sources(*PRODUCT) for name in untyped_dicts(text)
    }
    assert found == UNTYPED


@pytest.mark.parametrize(
    "text",
    [
        "def name(seen: dict[str, Any]) -> None: ...",
        "def name() -> list[dict[str, Any]]: ...",
        "class Name:\n    name: dict[str, Any] | None = None",
        "name: 'dict[str, Any]' = {}",
        "Name = Mapping[str, dict[str, Any]]",
    ],
)
def test_a_dict_of_anything_is_found(text: str) -> None:
    assert len(untyped_dicts(text)) == 1
    assert untyped_dicts(text.replace("Any", "int")) == []


def test_pictures_are_decoded_in_one_place() -> None:
    found = {
        f"{path}: {name}" for path, text in sources(*PRODUCT) for name in DECODERS.findall(text)
    }
    assert found == {"vision/cameras/png.py: cv2.imdecode"}


READERS = re.compile(
    r"\.(?:read_text|read_bytes)\(|\bjson\.load\(|\btomllib\.loads?\(|\bcsv\.(?:reader|DictReader)\("
)
"""What reads files.  Those that people hand in are read in one place, table/files.py, which limits
their size and what is in them.
"""
READ_THEIR_OWN = {
    "table/files.py",
    "table/pieces.py",
    "calibration/lens/presets.py",
    "cli/hardware.py",
    "cli/home.py",
    "cli/new.py",
    "cli/photo.py",
    "conformance/notation.py",
    "conformance/sentences.py",
    "conformance/texts.py",
    "engines/rule_texts.py",
    "engines/zamboni_wars/board.py",
    "table/game_words.py",
    "vision/cameras/testing/fake_rpicam.py",
    "vision/networks/runtime.py",
    "webui/pages/help.py",
    "webui/svg/palette.py",
}
"""The one place, and who reads files of the program itself."""


def test_files_that_people_hand_in_are_read_in_one_place() -> None:
    found = {path.as_posix() for path, text in sources(*PRODUCT) if READERS.search(text)}
    assert found == READ_THEIR_OWN


def test_all_output_goes_through_the_terminal_module() -> None:
    """It takes out what moves a terminal's cursor; names and reasons come from people."""
    writes = re.compile(
        r"\bclick\.(?:echo|secho)\(|\bConsole\(|(?<!def )(?<![\w.])print\(|\bsys\.stdout\.write\("
    )
    found = {path.as_posix() for path, text in sources(*PRODUCT) if writes.search(text)}
    assert found == {"cli/terminal.py"}
