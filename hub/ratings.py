"""Ratings of players in one game, by Glicko-2.

Source: Mark E. Glickman, "Example of the Glicko-2 system" (2012), whose names of quantities are
used. All games of a week are rated together; who did not play becomes less certain.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from hub.names import name_key
from hub.standings import HubGame

SCALE = 173.7178
"""Between ratings as they are shown and those of the formulas."""
MIDDLE, WIDEST = 1500.0, 350.0
"""Rating and deviation of somebody of whom nothing is known; no deviation is larger."""
TAU = 0.5
"""How fast volatility may change, as in the paper's example."""
CLOSE_ENOUGH = 1e-6
MOST_STEPS = 100
WEEK_MS = 7 * 24 * 3600 * 1000
MONDAY_MS = 4 * 24 * 3600 * 1000
"""The first Monday of 1970: weeks begin there, in UTC."""
SURE = 2.0
"""Deviations on either side that hold a rating with 95 %."""


@dataclass(frozen=True, slots=True)
class Rating:
    """What is known of how well somebody plays: a rating, its deviation, and how steady it is."""

    rating: float = MIDDLE
    deviation: float = WIDEST
    volatility: float = 0.06


Played = tuple[Rating, float]
"""A game: the opponent's rating before the period, and 1 for a win, 0.5 for a draw, 0."""


class RatedPlayer(msgspec.Struct, frozen=True, kw_only=True):
    """A player's line; `margin` is on either side of the rating, `games` how many were rated."""

    place: int
    player: str
    rating: float
    margin: float
    games: int


def rate(before: Rating, games: Sequence[Played]) -> Rating:
    """A rating after a period with these games; after none it is only less certain."""
    mu, phi = (before.rating - MIDDLE) / SCALE, before.deviation / SCALE
    if not games:
        wider = math.hypot(phi, before.volatility) * SCALE
        return Rating(before.rating, min(wider, WIDEST), before.volatility)
    information = gain = 0.0
    for opponent, share in games:
        weight = _g(opponent.deviation / SCALE)
        expected = 1 / (1 + math.exp(-weight * (mu - (opponent.rating - MIDDLE) / SCALE)))
        information += weight**2 * expected * (1 - expected)
        gain += weight * (share - expected)
    variance = 1 / information
    volatility = _volatility(before.volatility, phi, variance, variance * gain)
    phi_star = math.hypot(phi, volatility)
    phi_new = 1 / math.sqrt(1 / phi_star**2 + 1 / variance)
    mu_new = mu + phi_new**2 * gain
    return Rating(MIDDLE + SCALE * mu_new, min(SCALE * phi_new, WIDEST), volatility)


def _g(phi: float) -> float:
    """How much a game against somebody of this deviation says."""
    return 1 / math.sqrt(1 + 3 * phi**2 / math.pi**2)


def _volatility(sigma: float, phi: float, variance: float, delta: float) -> float:
    """Step 5 of the paper: the root of its function f, by the Illinois algorithm."""
    start = math.log(sigma**2)

    def f(x: float) -> float:
        both = phi**2 + variance + math.exp(x)
        return math.exp(x) * (delta**2 - both) / (2 * both**2) - (x - start) / TAU**2

    low = start
    if delta**2 > phi**2 + variance:
        high = math.log(delta**2 - phi**2 - variance)
    else:
        steps = next(k for k in range(1, MOST_STEPS) if f(start - k * TAU) >= 0)
        high = start - steps * TAU
    f_low, f_high = f(low), f(high)
    for _ in range(MOST_STEPS):
        if abs(high - low) <= CLOSE_ENOUGH:
            break
        between = low + (low - high) * f_low / (f_high - f_low)
        f_between = f(between)
        if f_between * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = between, f_between
    return math.exp(low / 2)


def ratings(games: Iterable[HubGame], now_ms: int) -> list[RatedPlayer]:
    """The players of finished games, which are all of one game, up to the week of `now_ms`.

    A game of several counts as one against each of the others. The order is that of what is sure:
    the rating less its margin.
    """
    last = deque(_weeks(games, now_ms), maxlen=1)
    return _ranked_players(last[0].known, last[0].called, last[0].counts) if last else []


class RatedWeek(msgspec.Struct, frozen=True, kw_only=True):
    """A player's rating after a week in which they played; `monday_ms` is when the week began."""

    monday_ms: int
    rating: float
    margin: float


def rating_histories(games: Iterable[HubGame], now_ms: int) -> dict[str, list[RatedWeek]]:
    """The ratings of the same players after each week in which they played, by `name_key`."""
    found: defaultdict[str, list[RatedWeek]] = defaultdict(list)
    for week in _weeks(games, now_ms):
        for key in week.rated:
            rating = week.known[key]
            found[key].append(
                RatedWeek(
                    monday_ms=week.number * WEEK_MS + MONDAY_MS,
                    rating=rating.rating,
                    margin=SURE * rating.deviation,
                )
            )
    return dict(found)


@dataclass(frozen=True, slots=True)
class _Week:
    """What is known after a week: ratings, names and numbers of games, and who was `rated` in it.

    All of it is by what tells players apart.
    """

    number: int
    known: Mapping[str, Rating]
    called: Mapping[str, str]
    counts: Mapping[str, int]
    rated: Sequence[str]


def _weeks(games: Iterable[HubGame], now_ms: int) -> Iterator[_Week]:
    """Every week from the first game on, also those without any."""
    weeks: defaultdict[int, list[HubGame]] = defaultdict(list)
    for one in games:
        if one.result.over:
            weeks[_week(one.began_ms)].append(one)
    called: dict[str, str] = {}
    known: dict[str, Rating] = {}
    counts: defaultdict[str, int] = defaultdict(int)
    for week in range(min(weeks), _week(now_ms) + 1) if weeks else ():
        played: defaultdict[str, list[Played]] = defaultdict(list)
        for one in weeks.get(week, ()):
            for key, name in _player_keys(one).values():
                called[key] = name
            for key, others in _results(one).items():
                counts[key] += bool(others)
                played[key] += [(known.get(other, Rating()), share) for other, share in others]
        known = {
            key: rate(known.get(key, Rating()), played.get(key, ()))
            for key in known.keys() | played.keys()
        }
        yield _Week(week, known, called, counts, [key for key in played if played[key]])


def _week(at_ms: int) -> int:
    return (at_ms - MONDAY_MS) // WEEK_MS


def _player_keys(game: HubGame) -> dict[str, tuple[str, str]]:
    """What tells the players of a game that have names apart, and the names, by colour."""
    return {
        colour: (name_key(name), " ".join(name.split()))
        for colour, name in game.result.names.items()
        if name_key(name)
    }


def _results(game: HubGame) -> dict[str, list[tuple[str, float]]]:
    """What each player has done against each of the others."""
    named, won = _player_keys(game), game.result.winners
    return {
        key: [
            (other, (1 + (colour in won) - (rival in won)) / 2)
            for rival, (other, _) in named.items()
            if other != key
        ]
        for colour, (key, _) in named.items()
    }


def _ranked_players(
    known: Mapping[str, Rating], called: Mapping[str, str], counts: Mapping[str, int]
) -> list[RatedPlayer]:
    def sure(key: str) -> float:
        return known[key].rating - SURE * known[key].deviation

    keys = [key for key in known if counts[key]]
    return [
        RatedPlayer(
            place=place,
            player=called[key],
            rating=known[key].rating,
            margin=SURE * known[key].deviation,
            games=counts[key],
        )
        for place, key in enumerate(sorted(keys, key=lambda key: (-sure(key), key)), 1)
    ]
