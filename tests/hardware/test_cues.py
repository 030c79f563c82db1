"""What cues look like on a few lamps and on a strip: to people who see colours, and to those who
do not.
"""

from __future__ import annotations

import colorsys
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.backends.led_power import estimate_ma, limit
from hardware.backends.led_strip import Strip
from hardware.cues import DARK, LAMP_RGB, SIGNALS, TUNES, Cue, Mark, Rhythm
from hardware.lamp_levels import LEADER_LEVEL, lanterns
from table.pieces import COLOURS

PLAYERS = ("blue", "yellow", "red", "green")
TIMES_MS = np.arange(0, 12_000, 10)


def levels(rhythm: Rhythm) -> np.ndarray:
    return np.array([rhythm.level(at_ms) for at_ms in TIMES_MS])


def test_every_signal_has_a_rhythm_of_its_own():
    """Without any colour, and however it is begun, no signal looks like another."""
    rhythms = {signal: TUNES[signal].rhythm for signal in SIGNALS} | {
        f"answer {count}": Cue("choice", count=count).rhythm for count in (2, 3, 4)
    }
    for one, other in combinations(rhythms, 2):
        first, second = levels(rhythms[one]), levels(rhythms[other])
        shifts = range(rhythms[other].period_ms // 10)
        assert (
            min(
                np.abs(first[:700] - second[shift : shift + 700]).mean()
                for shift in shifts
                if shift + 700 <= len(second)
            )
            > 0.05
        ), (one, other)


@pytest.mark.parametrize("signal", SIGNALS)
def test_rhythms_stay_within_their_levels_and_repeat(signal):
    rhythm = TUNES[signal].rhythm
    seen = levels(rhythm)
    assert seen.min() >= 0
    assert seen.max() == max(level for level, _ in rhythm.steps)
    assert rhythm.level(rhythm.period_ms + 37) == rhythm.level(37)
    assert all(hold_ms >= rhythm.fade_ms for _, hold_ms in rhythm.steps), (
        "a fade is over before the next one begins"
    )


def test_nothing_flashes_so_fast_that_it_is_a_danger():
    """Photosensitive epilepsy: at most three flashes a second (WCAG 2.3.1) for whatever lights more
    than a few lamps.
    """
    for cue in (*map(Cue, SIGNALS), Cue("choice", count=9)):
        steps = cue.rhythm.steps
        rises = [at for at in range(len(steps)) if steps[at][0] - steps[at - 1][0] > 0.4]
        times_ms = np.cumsum([0, *(hold_ms for _, hold_ms in steps)])
        starts = [times_ms[at] + turn * times_ms[-1] for turn in (0, 1) for at in rises]
        assert all(
            later - earlier >= 1000 for earlier, later in zip(starts, starts[3:], strict=False)
        ), cue


def test_a_fade_goes_evenly_from_level_to_level():
    rhythm = Rhythm(((1.0, 100), (0.0, 100)), fade_ms=100)
    assert [rhythm.level(at_ms) for at_ms in (0, 50, 99.999, 100, 150)] == pytest.approx(
        [0, 0.5, 1, 1, 0.5], abs=1e-4
    )


def test_every_colour_of_pieces_can_be_lit():
    assert LAMP_RGB.keys() == set(COLOURS)
    assert len(set(LAMP_RGB.values())) == len(COLOURS)
    assert all(max(rgb) >= 60 for rgb in LAMP_RGB.values())


LOOKS = {
    "red": (355, 365, 0.9, 1.0),
    "orange": (8, 30, 0.9, 1.0),
    "yellow": (35, 60, 0.9, 1.0),
    "green": (110, 130, 0.9, 1.0),
    "cyan": (175, 185, 0.9, 1.0),
    "blue": (230, 250, 0.9, 1.0),
    "purple": (260, 290, 0.9, 1.0),
    "pink": (335, 350, 0.5, 0.85),
    "clear": (175, 185, 0.1, 0.3),
    "black": (15, 35, 0.5, 0.8),
}
"""Hues of lamps, from and to, in degrees, and how strong the colour is, from and to."""
BRIGHT = {"clear": (100, 200), "black": (50, 100), "grey": (50, 150)}
"""Brightness of lamps that are dim, from and to; others are bright."""


@pytest.mark.parametrize("colour", COLOURS)
def test_a_lamp_looks_like_the_pieces_of_its_player(colour):
    rgb = LAMP_RGB[colour]
    least, most = BRIGHT.get(colour, (200, 255))
    assert min(rgb) >= 0
    assert least <= max(rgb) <= most
    if colour in ("white", "grey"):
        assert len(set(rgb)) == 1
        return
    from_deg, to_deg, pale, strong = LOOKS[colour]
    hue, saturation, _ = colorsys.rgb_to_hsv(*rgb)
    assert from_deg <= 360 * hue <= to_deg or from_deg <= 360 * hue + 360 <= to_deg
    assert pale <= saturation <= strong


WARM_DEG, APART_DEG = 40, 20
"""Hues of what goes wrong, and how far two lamps' hues are apart that people tell apart."""


def hue_deg(rgb):
    return 360 * colorsys.rgb_to_hsv(*rgb)[0]


def test_the_verdict_lamp_says_by_its_colour_what_kind_of_news_there_is():
    """As bright as it can be, in the colours that people know from traffic: green, red, orange."""
    lit = {signal: tune.rgb for signal, tune in TUNES.items() if tune.rgb and any(tune.rgb)}
    assert all(max(rgb) == 255 and min(rgb) >= 0 for rgb in lit.values())
    assert 125 < hue_deg(lit["accepted"]) < 160, "a little blue, for who sees red and green alike"
    assert hue_deg(lit["refused"]) == 0
    for trouble in ("cannot see", "out of sync"):
        assert APART_DEG < hue_deg(lit[trouble]) < WARM_DEG, "neither red nor yellow"
    assert 300 < hue_deg(lit["camera lost"]) < 335, "magenta, like nothing of the game"
    for calm in ("settling", "paused"):
        assert 210 < hue_deg(lit[calm]) < 250, "blue: nobody has to do anything"
        assert min(lit[calm]) >= 100, "and pale"
    assert {lit[plain] for plain in ("asking", "hand")} == {(255, 255, 255)}


def test_short_flashes_are_short_and_long_ones_are_long():
    """People count and compare them: a long one is more than twice as long as a short one."""
    flashes_ms = {
        hold_ms
        for signal in ("refused", "asking", "out of sync", "camera lost", "accepted")
        for level, hold_ms in TUNES[signal].rhythm.steps
        if level == 1
    }
    short_ms = {hold_ms for hold_ms in flashes_ms if hold_ms < 250}
    assert short_ms
    assert min(short_ms) >= 100, "shorter ones are missed"
    assert min(flashes_ms - short_ms) > 2 * max(short_ms)
    assert max(flashes_ms) <= 1000


def test_a_short_signal_gives_way_to_what_follows():
    turn = Cue("turn", PLAYERS, of=("blue",))
    cue = Cue("accepted", PLAYERS, then=turn)
    assert cue.at(1199) == (cue, 1199)
    assert cue.at(1300) == (turn, 100)
    assert turn.at(1e9) == (turn, 1e9)
    assert Cue("refused", then=cue).at(6500 + 1200 + 5) == (turn, 5)


def test_whose_turn_it_is_and_who_leads_are_told_by_two_lamps():
    cue = Cue("turn", PLAYERS, of=("yellow",), leader="red")
    blue, yellow, red, green, verdict = lanterns(cue, 1800 - 1, 4)
    assert (blue.level, green.level, verdict.level) == (0, 0, 0)
    assert yellow.lit == pytest.approx(LAMP_RGB["yellow"], abs=1)
    assert red.level == LEADER_LEVEL
    assert lanterns(cue, 2700, 4)[1].level == pytest.approx(0.7, abs=0.01)


def test_those_who_are_too_close_take_turns():
    cue = Cue("too close", PLAYERS, of=("blue", "red"))
    for at_ms, lit in ((0, "blue"), (699, "blue"), (700, "red"), (1399, "red"), (1400, "blue")):
        assert [
            PLAYERS[seat] for seat, lamp in enumerate(lanterns(cue, at_ms, 4)[:4]) if lamp.level
        ] == [lit]


@pytest.mark.parametrize("count", range(1, 8))
def test_an_answer_flashes_as_often_as_its_place_says(count, strip):
    cue = Cue("choice", PLAYERS, of=("red",), count=count)
    seen = [lanterns(cue, at_ms, 4) for at_ms in range(0, cue.rhythm.period_ms, 10)]
    for lamp, lit in ((2, True), (4, True), (0, False)):
        levels_seen = [0.0, *(lamps[lamp].level for lamps in seen)]
        assert sum(later > earlier for earlier, later in pairwise(levels_seen)) == (
            count if lit else 0
        )
    frame = strip.frame(cue, 0)
    assert dashes(frame) == count
    assert {tuple(rgb) for rgb in frame[frame.any(axis=1)].tolist()} == {LAMP_RGB["red"]}
    unnamed = strip.frame(Cue("choice", PLAYERS, count=count), 0)
    assert {tuple(rgb) for rgb in unnamed[unnamed.any(axis=1)].tolist()} == {(255, 255, 255)}


def test_there_may_be_more_or_fewer_lamps_than_players():
    cue = Cue("over", PLAYERS, of=("green",))
    assert len(lanterns(cue, 0, 2)) == 3
    assert [lamp.level for lamp in lanterns(cue, 0, 6)] == [0, 0, 0, 1, 0, 0, 1]


def test_the_first_lamp_is_at_the_corner_that_settings_name(outline):
    for starts, first, clockwise_second in (
        ("near left", (0, 0), (0, 1)),
        ("near right", (600, 0), (-1, 0)),
        ("far right", (600, 400), (0, -1)),
        ("far left", (0, 400), (1, 0)),
    ):
        for clockwise in (False, True):
            strip = Strip(200, outline, starts, clockwise)
            assert np.abs(strip.places_mm[0] - first).max() <= 5
            assert len(np.unique(strip.places_mm.round(6), axis=0)) == 200
            if clockwise:
                assert np.sign((strip.places_mm[1] - strip.places_mm[0]).round(6)).tolist() == list(
                    clockwise_second
                )
        turned = Strip(200, outline, starts).places_mm
        x, y = turned.T
        assert np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) > 0, (
            "counter-clockwise as seen from above"
        )


def dashes(frame):
    """How many runs of lit lamps there are."""
    lit = frame.any(axis=1)
    return int(np.count_nonzero(lit & ~np.roll(lit, 1)))


def test_a_player_has_as_many_dashes_as_their_seat(strip):
    for seat, colour in enumerate(PLAYERS, 1):
        frame = strip.frame(Cue("turn", PLAYERS, of=(colour,)), 1800)
        assert dashes(frame) == seat
        assert {tuple(rgb) for rgb in frame[frame.any(axis=1)].tolist()} == {LAMP_RGB[colour]}


@pytest.mark.parametrize("leds", [16, 32, 100, 101])
@pytest.mark.parametrize("count", range(1, 9))
def test_dashes_take_an_eighth_of_the_strip_each_and_leave_a_quarter_dark(outline, leds, count):
    frame = Strip(leds, outline).frame(Cue("choice", PLAYERS, of=("red",), count=count), 0)
    lit = np.count_nonzero(frame.any(axis=1))
    share = leds * min(count, 6) / 8
    assert share - 2 * count <= lit <= share + count * (leds % 16 > 0)


@pytest.mark.parametrize("of", [PLAYERS[:2], PLAYERS[:3], PLAYERS])
def test_those_who_win_together_share_the_strip(outline, of):
    frame = Strip(240, outline).frame(Cue("over", PLAYERS, of=of), 0)
    lit = [tuple(rgb) for rgb in frame.tolist()]
    assert lit[0] == LAMP_RGB[of[0]], "the first one's begins"
    shares = [lit.count(LAMP_RGB[colour]) for colour in of]
    assert sum(shares) == 240
    assert max(shares) - min(shares) <= 30, "no more than an eighth apart"


def test_what_is_pointed_at_blinks_about_twice_a_second_and_never_goes_dark(strip):
    mark = Mark("spot", ((250, 30),))
    lamp = strip.marked(mark)[0]
    cue = Cue("turn", PLAYERS, marks=(mark,))
    seen = np.array([strip.frame(cue, at_ms)[lamp, 0] for at_ms in range(0, 2880, 20)])
    bright = seen == 255
    assert np.count_nonzero(bright & ~np.roll(bright, 1)) == pytest.approx(5.5, abs=0.5)
    assert 0.4 < bright.mean() < 0.6
    assert 20 <= seen.min() <= 60


def test_the_leader_is_at_the_four_corners(outline):
    strip = Strip(200, outline)
    lit = strip.places_mm[strip.frame(Cue("turn", PLAYERS, leader="red"), 0)[:, 0] == 127]
    corners = np.array([[0, 0], [600, 0], [600, 400], [0, 400]])
    apart_mm = np.linalg.norm(lit[:, None] - corners, axis=2)
    assert apart_mm.min(axis=1).max() < 60
    assert apart_mm.min(axis=0).max() < 10


@pytest.mark.parametrize(
    ("mark", "ends"),
    [
        (Mark("line", ((100, 100), (200, 200))), [(0, 0), (400, 400)]),
        (Mark("line", ((300, 50), (300, 90))), [(300, 0), (300, 400)]),
        (Mark("line", ((500, 350), (550, 350))), [(0, 350), (600, 350)]),
        (Mark("line", ((550, 200), (450, 300))), [(350, 400), (600, 150)]),
        (Mark("spot", ((250, 30),)), [(250, 0), (250, 400), (0, 30), (600, 30)]),
    ],
)
def test_marks_point_at_the_edge_of_the_board(outline, mark, ends):
    strip = Strip(500, outline)
    lit = strip.places_mm[strip.marked(mark)]
    apart_mm = np.linalg.norm(lit[:, None] - np.array(ends, float), axis=2)
    assert apart_mm.min(axis=1).max() <= 3 * 2000 / 500, "lamps are lit only there"
    assert apart_mm.min(axis=0).max() <= 2000 / 500, "and at every end"
    frame = strip.frame(Cue("turn", PLAYERS, marks=(mark,)), 0)
    assert frame[strip.marked(mark)].tolist() == [[255] * 3] * len(lit)


def test_a_line_through_one_point_points_at_that_point(strip):
    assert len(strip.marked(Mark("line", ((300, 0), (300, 0))))) == 3


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_lights_a_strip(strip, signal):
    cue = Cue(signal, PLAYERS, of=("blue", "red"))
    frames = [strip.frame(cue, at_ms) for at_ms in range(0, 4000, 50)]
    assert all(frame.shape == (100, 3) and frame.dtype == np.uint8 for frame in frames)
    assert any(frame.any() for frame in frames) == (signal != "dark")


def test_dark_is_dark(strip):
    assert not strip.frame(DARK, 0).any()


frames = (
    st.integers(1, 60)
    .flatmap(lambda n: st.binary(min_size=3 * n, max_size=3 * n))
    .map(lambda b: np.frombuffer(b, np.uint8).reshape(-1, 3))
)


@given(frames, st.floats(0.01, 1), st.floats(0, 4000))
def test_no_frame_draws_more_than_the_supply_gives(frame, brightness, supply_ma):
    limited = limit(frame, brightness, supply_ma)
    assert estimate_ma(limited) <= max(supply_ma, len(frame) * 1.0) + 1e-9
    assert (limited <= frame * brightness + 1e-9).all()


def test_current_of_a_white_strip():
    """60 mA a lamp and 1 mA when dark: 100 lamps need a supply of 6.1 A."""
    white = np.full((100, 3), 255, np.uint8)
    assert estimate_ma(white) == 6100
    assert estimate_ma(np.zeros_like(white)) == 100
    assert limit(white, 0.5, 1e9).tolist() == [[127] * 3] * 100
