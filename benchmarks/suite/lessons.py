"""Do every lesson of every game by hand on its page, in a real browser, in every language."""

from __future__ import annotations

import time
from collections.abc import Iterator

import msgspec

from benchmarks.games.playing import GAMES
from benchmarks.harness import Benchmark, Pairs
from simulation.tutor import lessons_of
from tests.support.pupil import until_done
from tests.support.virtual_hand import virtual_hand
from tools.chromium import chromium
from webui.i18n import LANGUAGES


class Options(msgspec.Struct, frozen=True):
    """There are none."""


class Case(msgspec.Struct, frozen=True):
    game: str
    language: str


class Taught(msgspec.Struct, frozen=True):
    game: str
    language: str
    lessons: int
    done: int
    minutes: float
    stuck: str
    """What was said where a lesson could not be done; empty if all were."""


class Summary(msgspec.Struct, frozen=True):
    rows: tuple[Taught, ...]


def cases(_options: Options) -> Iterator[Case]:
    yield from (Case(game, language) for game in GAMES for language in LANGUAGES)


def run(case: Case) -> Taught:
    began, done, stuck = time.monotonic(), 0, ""
    with chromium() as browser, virtual_hand(browser, case.game, locale=case.language) as hand:
        lessons = lessons_of(case.game, hand.setup)
        try:
            for lesson in lessons:
                until_done(hand, lesson)
                done += 1
                if done < len(lessons):
                    hand.page.click("#lesson-next")
        except AssertionError as nothing_happens:
            stuck = str(nothing_happens)
    minutes = (time.monotonic() - began) / 60
    return Taught(case.game, case.language, len(lessons), done, minutes, stuck)


def summarise(_options: Options, pairs: Pairs) -> Summary:
    return Summary(tuple(result for _, result in pairs))


def broken(summary: Summary) -> list[str]:
    return [f"{one.game} in {one.language}: {one.stuck}" for one in summary.rows if one.stuck]


BENCHMARK = Benchmark("LESSONS.md", cases, run, summarise, Options, broken=broken)
