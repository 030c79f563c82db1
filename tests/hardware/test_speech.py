"""A voice that is a program of the machine: what is said is given to it, the newest cuts off what
is said, and what goes wrong is told.
"""

from __future__ import annotations

import io
import os
import stat
import subprocess
import threading
import tomllib

import numpy as np
import pytest

from hardware.backends.speech import Espeak
from hardware.factory import open_devices
from hardware.settings import parse_settings
from table.errors import InputError

SPEAKS = '#!/bin/sh\necho "$$ $* $(cat)" > "{heard}"\n{then}\n'


@pytest.fixture
def install(tmp_path, monkeypatch):
    """install("exec sleep 1000"): a program that tells of what it is to say, and goes on so; gives
    a reader of one telling: pid, words and all.
    """
    heard = tmp_path / "heard"
    os.mkfifo(heard)

    def make(then):
        program = tmp_path / "espeak-ng"
        program.write_text(SPEAKS.format(heard=heard, then=then))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        return lambda: heard.read_text().rstrip().split(" ", 1)

    return make


def test_what_is_said_is_spoken_and_the_newest_cuts_off_the_rest(install):
    hear = install("exec sleep 1000")
    voice = Espeak(180, "de")
    assert voice.language == "de"
    voice.say("Yellow takes cyan 2; `rm -r` $HOME.")
    first, words = hear()
    assert words == "-v de -s 180 --stdin Yellow takes cyan 2; `rm -r` $HOME."
    voice.say("-f Blue leads.")
    second, words = hear()
    assert words.endswith("--stdin -f Blue leads.")
    voice.close()
    for pid in (first, second):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)
    assert voice.error == ""


def test_what_could_not_be_said_is_told_until_something_was(install):
    hear = install('exit "$(echo "$*" | grep -c 160)"')
    voice = Espeak(160)
    voice.say("Blue leads.")
    os.waitid(os.P_PID, int(hear()[0]), os.WEXITED | os.WNOWAIT)
    voice.close()
    assert "failed with exit code 1" in voice.error


def test_a_sentence_is_said_to_its_end(install, monkeypatch):
    """Fifteen words at the slowest take 11 s; whether they were heard is known in half a minute."""
    install("")
    given = []
    monkeypatch.setattr(Espeak, "begin", lambda _voice, steps: given.extend(steps))
    voice = Espeak(80)
    voice.say("Blue leads.")
    voice.close()
    [(words, hold_ms)] = given
    assert words == "Blue leads."
    assert 15 / 80 * 60 * 1000 < hold_ms < 30_000


class Deaf:
    """A program that does not end when it is told to."""

    returncode = None

    def __init__(self, *_args, **_kwargs):
        self.stdin = io.BytesIO()
        self.waited_s = []
        self.killed = threading.Event()
        programs.append(self)

    def poll(self):
        return None

    def terminate(self):
        pass

    def wait(self, timeout=None):
        self.waited_s.append(timeout)
        if not self.killed.is_set():
            raise subprocess.TimeoutExpired("espeak-ng", timeout)

    def kill(self):
        self.killed.set()


programs = []


def test_a_program_that_does_not_end_is_killed_in_a_few_seconds(install, monkeypatch):
    install("")
    monkeypatch.setattr("hardware.backends.speech.subprocess.Popen", Deaf)
    voice = Espeak(160)
    voice.say("Blue leads.")
    while not programs:
        assert voice.playing
    voice.close()
    assert programs[0].killed.is_set()
    first_s, _ = programs[0].waited_s
    assert 1 <= first_s <= 5


def test_a_program_that_is_gone_is_told(install, tmp_path):
    install("")
    voice = Espeak(160)
    (tmp_path / "espeak-ng").unlink()
    voice.say("Blue leads.")
    while voice.error == "":
        assert voice.playing
    voice.close()
    assert "cannot be run" in voice.error


def test_a_voice_that_is_not_installed_is_no_other_voice(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = parse_settings(
        tomllib.loads('[hardware.voice]\nkind = "espeak-ng"\n'), "rinkside.toml"
    )
    with pytest.raises(
        InputError,
        match=r"^hardware\.voice\.kind: expected espeak-ng .* sudo apt install espeak-ng$",
    ):
        open_devices(settings, np.zeros((4, 2)), lambda _text: None)


@pytest.mark.parametrize("wrong", ['kind = "festival"', 'kind = "espeak-ng"\nwords_a_minute = 900'])
def test_a_wrong_setting_is_named(wrong):
    with pytest.raises(
        InputError, match=r"rinkside\.toml: hardware\.voice\.(kind|words_a_minute): expected"
    ):
        parse_settings(tomllib.loads(f"[hardware.voice]\n{wrong}\n"), "rinkside.toml")
