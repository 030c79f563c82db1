"""Play whole games by hand on the virtual table, in a real browser, wrong acts and undo among them.

A person has one seat, with a mouse; simulated players have the others. Three more pages, as wide
as a phone, a tablet and a large screen, only watch: what shifts in them, and which text is there
for less than a second.
"""

from __future__ import annotations

import time
from random import Random
from typing import Annotated, Any

import msgspec
from playwright.sync_api import Browser, Page

from benchmarks.games.playing import GAMES
from benchmarks.harness import Benchmark, Pairs
from tests.support.virtual_games import NOT_COUNTED, err, play, put_back
from tests.support.virtual_hand import VirtualHand, virtual_hand
from tools.chromium import chromium

SEED, CHANCE = 5, 5
ACTS, ROUND = 4, 3
"""Acts between two mishaps; in every third of them an act is undone, in the others it is wrong."""
WINDOWS = ((390, 844), (1024, 768), (1920, 1080))
"""Width and height of the pages that watch, px."""
WATCH = """
window.shifts = [];
window.texts = [];
new PerformanceObserver((list) => {
  for (const one of list.getEntries())
    if (!one.hadRecentInput) shifts.push([one.startTime, one.value]);
}).observe({type: 'layout-shift', buffered: true});
addEventListener('DOMContentLoaded', () => {
  const look = () => {
    const {record} = document.querySelector('[data-record]').dataset;
    for (const part of ['turn', 'question', 'verdict']) {
      const text = document.querySelector(`[data-part=${part}]`)?.textContent.trim() ?? '';
      const last = texts.findLast(([, of]) => of === part);
      if (text !== last?.[2]) texts.push([performance.now(), part, text, record]);
    }
  };
  look();
  new MutationObserver(look).observe(document.body,
    {subtree: true, childList: true, characterData: true});
});
"""
MINUTE_MS, MOST_SHIFT = 60_000, 0.02
"""Layout shifts of a minute are summed, and may come to so much."""
FLICKER_MS = 1_000
"""A text that was replaced and is back within this time, with nothing new on record, has changed
without news.
"""
SETTLED_MS = 5_000
"""The page is there after this; what shifts while it loads is not counted."""


class Options(msgspec.Struct, frozen=True):
    acts: Annotated[int, "Most acts of the person in a game; 0: to its end."] = 0


class Case(msgspec.Struct, frozen=True):
    game: str
    acts: int


class Played(msgspec.Struct, frozen=True):
    game: str
    acts: int
    """Those of the person that count."""
    records: int
    wrong: int
    """Wrong acts of the person."""
    called: int
    """Those that did not count."""
    undone: int
    minutes: float
    outcome: str
    stuck: str
    """What the panel said where nothing happened any more; empty if that never was."""
    most_shift: tuple[float, ...]
    """Largest sum of layout shifts in a minute, for each of `WINDOWS`."""
    flickers: int
    """Texts of turn, question and ruling that changed without news."""


def cases(options: Options) -> list[Case]:
    return [Case(game, options.acts) for game in GAMES]


def run(case: Case) -> Played:
    with chromium() as browser, virtual_hand(browser, case.game, SEED) as hand:
        return _played(case, hand, [_watching(browser, hand, *size) for size in WINDOWS])


def _watching(browser: Browser, hand: VirtualHand, width: int, height: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.add_init_script(WATCH)
    page.route("**/camera.jpg*", lambda picture: picture.abort())  # its size is known without it
    page.goto(hand.page.url.partition("#")[0])
    return page


def _played(case: Case, hand: VirtualHand, watching: list[Page]) -> Played:
    me, chance, began = hand.setup.game.colours[0], Random(CHANCE), time.monotonic()
    hand.press(f'[data-sit="{me}"]')
    acts = wrong = called = undone = rounds = 0
    stuck = ""
    try:
        while not hand.view()["outcome"] and (not case.acts or acts < case.acts):
            acts += play(hand, me, chance, acts=ACTS)
            rounds += 1
            play(hand, me, chance, acts=None)
            if (view := hand.view())["outcome"]:
                break
            if rounds % ROUND:
                wrong += 1
                called += _errs(hand, view, me, chance)
            else:
                undone += 1
                hand.undo()
    except AssertionError as nothing_happens:
        stuck = str(nothing_happens)
    view = hand.view()
    seen = [page.evaluate("() => [window.shifts, window.texts]") for page in watching]
    return Played(
        game=case.game,
        acts=acts,
        records=view["seq"],
        wrong=wrong,
        called=called,
        undone=undone,
        minutes=(time.monotonic() - began) / 60,
        outcome=view["outcome"] or "",
        stuck=stuck,
        most_shift=tuple(most_in_a_minute(shifts) for shifts, _ in seen),
        flickers=sum(flickers(texts) for _, texts in seen),
    )


def _errs(hand: VirtualHand, before: dict[str, Any], me: str, chance: Random) -> bool:
    """Do something wrong and put it back: whether it did not count."""
    answer = err(hand, me, chance)
    put_back(hand)
    return answer["verdicts"][0]["verdict"] in NOT_COUNTED and answer["scores"] == before["scores"]


def most_in_a_minute(shifts: list[tuple[float, float]]) -> float:
    """Largest sum of shifts, each with its time in ms, within a minute."""
    late = [(at, value) for at, value in shifts if at > SETTLED_MS]
    return max(
        (sum(value for at, value in late if 0 <= at - first < MINUTE_MS) for first, _ in late),
        default=0.0,
    )


def flickers(texts: list[tuple[float, str, str, str]]) -> int:
    """How often a part had another text for less than `FLICKER_MS`, with nothing new on record.

    Each text has its time in ms, its part, what it says, and the newest record then.
    """
    found = 0
    for part in {part for _, part, _, _ in texts}:
        of_part = [(at, (text, record)) for at, named, text, record in texts if named == part]
        found += sum(
            before == after and back_ms - left_ms < FLICKER_MS
            for (_, before), (left_ms, _), (back_ms, after) in zip(
                of_part, of_part[1:], of_part[2:], strict=False
            )
        )
    return found


class Summary(msgspec.Struct, frozen=True):
    played: tuple[Played, ...]


def summarise(_options: Options, pairs: Pairs) -> Summary:
    return Summary(tuple(one for _, one in pairs))


def broken(summary: Summary) -> list[str]:
    stuck = [f"{one.game} was stuck: {one.stuck}" for one in summary.played if one.stuck]
    shifted = [
        f"{one.game} shifts by {most:.3f} in a minute at {width} px"
        for one in summary.played
        for (width, _), most in zip(WINDOWS, one.most_shift, strict=True)
        if most > MOST_SHIFT
    ]
    flickered = [
        f"{one.game} has {one.flickers} texts that change without news"
        for one in summary.played
        if one.flickers
    ]
    return stuck + shifted + flickered


BENCHMARK = Benchmark("PANEL.md", cases, run, summarise, Options, section=True, broken=broken)
