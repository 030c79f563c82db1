"""What `make` says when it cannot set up, and that it sets up only once.  Python is played by shell
scripts: nothing is installed here.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

OLD = '[ "$1" = --version ] && echo "Python 3.9.2"; exit 1'
NO_VENV = 'case "$2" in *ensurepip*) exit 1;; esac'
NO_NETWORK = """case "$2" in venv) mkdir -p .venv/bin && printf '#!/bin/sh\\nexit 1\\n' >.venv/bin/python && chmod +x .venv/bin/python;; esac"""  # noqa: E501
NO_ROOM = '[ "$2" = venv ] && exit 1; exit 0'


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The project's Makefile in a folder of its own, deaf to the make that may have started the
    tests.
    """
    shutil.copy(ROOT / "Makefile", folder)
    if not (folder / "pyproject.toml").exists():
        (folder / "pyproject.toml").touch()
    surroundings = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MAKE", "MFLAGS", "PYTHON"))
    }
    return subprocess.run(
        ["make", "--no-print-directory", *words],
        cwd=folder,
        env=surroundings,
        capture_output=True,
        text=True,
        check=False,
    )


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("python", "says"),
    [
        (
            OLD,
            (
                "make: expected Python 3.11 or newer, ./python is 'Python 3.9.2'; install one and"
                " run: make PYTHON=python3.12 demo"
            ),
        ),
        (
            NO_VENV,
            (
                "make: ./python cannot make environments; on Debian and Raspberry Pi OS run: sudo"
                " apt install python3-venv"
            ),
        ),
        (
            NO_ROOM,
            "make: ./python could not make .venv; is the disk full or this folder read-only?",
        ),
        (
            NO_NETWORK,
            (
                "make: packages could not be fetched (above is why); this step needs the internet:"
                " run make again when there is some"
            ),
        ),
    ],
    ids=["Python too old", "no venv module", "venv fails", "no network"],
)
def test_what_is_missing_is_told_in_one_line(python: str, says: str, tmp_path: Path) -> None:
    script(tmp_path / "python", python)
    done = make(tmp_path, "demo", "PYTHON=./python")
    assert done.returncode == 2
    first, *rest = done.stderr.splitlines()
    assert first == says
    assert all(line.startswith("make: *** ") for line in rest)


def set_up(folder: Path) -> None:
    """As a first run leaves it, but that every program only says its name and what it was given."""
    version = "{}.{}".format(*sys.version_info)
    script(folder / ".venv/bin/python", 'echo "python $*"')
    script(folder / ".venv/bin/rinkside", 'echo "rinkside $*"')
    (folder / ".venv/made-for").write_text(f"{folder} {version}\n")
    now_ns = (folder / ".venv/made-for").stat().st_mtime_ns
    for name, seconds_ago in (
        ("pyproject.toml", 20),
        (".venv/made-for", 20),
        (".venv/ready", 10),
        (".venv/ready-dev", 10),
    ):
        (folder / name).touch()
        os.utime(folder / name, ns=(now_ns, now_ns - seconds_ago * 10**9))


@pytest.mark.parametrize(
    ("target", "runs"),
    [
        ("demo", "rinkside demo --port 8080\n"),
        ("test", "python -m pytest --numprocesses=auto --dist=worksteal -m not long\n"),
    ],
)
def test_a_second_run_installs_nothing(target: str, runs: str, tmp_path: Path) -> None:
    set_up(tmp_path)
    done = make(tmp_path, target, "ARGS=--port 8080", f"PYTHON={sys.executable}")
    assert done.stdout == runs
    assert done.stderr == ""


def test_new_dependencies_are_installed(tmp_path: Path) -> None:
    set_up(tmp_path)
    os.utime(tmp_path / "pyproject.toml")
    installs, runs = make(tmp_path, "demo", f"PYTHON={sys.executable}").stdout.splitlines()
    assert installs.startswith("python -m pip install ")
    assert runs == "rinkside demo"


def test_a_folder_that_was_moved_gets_an_environment_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    set_up(tmp_path / "before")
    (tmp_path / "before").rename(tmp_path / "after")
    done = make(tmp_path / "after", "demo", f"PYTHON={script(tmp_path / 'python', NO_ROOM)}")
    assert done.stderr.startswith(f"make: {tmp_path / 'python'} could not make .venv")


RECORDED = """
case "$2" in
  venv) echo "$*" >>calls; mkdir -p .venv/bin
    for name in python rinkside; do
      printf '#!/bin/sh\\necho %s "$*"\\n' $name >.venv/bin/$name; chmod +x .venv/bin/$name
    done;;
  *version_info*:2*) echo 3.13;;
esac"""


def test_on_a_raspberry_pi_the_environment_sees_the_systems_packages(tmp_path: Path) -> None:
    """It stays such a one for every target, and is made anew only where people say so."""
    script(tmp_path / "python", RECORDED)
    made, *rest = ("-m venv --clear --system-site-packages .venv", "-m venv --clear .venv")
    done = make(tmp_path, "PYTHON=./python", "PI=1")
    assert done.returncode == 0, done.stderr
    assert "rinkside demo" not in done.stdout
    assert (tmp_path / "calls").read_text().splitlines() == [made]
    assert make(tmp_path, "PYTHON=./python", "demo").stdout == "rinkside demo\n"
    assert (tmp_path / "calls").read_text().splitlines() == [made]
    assert make(tmp_path, "PYTHON=./python", "demo", "PI=").stdout.endswith("rinkside demo\n")
    assert (tmp_path / "calls").read_text().splitlines() == [made, *rest]
