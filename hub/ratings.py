"""Ratings of players in one game, by Glicko-2.

Source: Mark E. Glickman, "Example of the Glicko-2 system" (2012), with its symbols. The rating
period is one week; deviations of inactive players grow.
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
"""Factor from the Glicko-2 scale to displayed ratings."""
MIDDLE, WIDEST = 1500.0, 350.0
"""Rating and deviation of a new player; the deviation is also the maximum."""
TAU = 0.5
"""System constant that limits changes of volatility; value of the paper's example."""
CLOSE_ENOUGH = 1e-6
MOST_STEPS = 100
WEEK_MS = 7 * 24 * 3600 * 1000
MONDAY_MS = 4 * 24 * 3600 * 1000
"""The first Monday of 1970, the start of week 0, in UTC."""
SURE = 2.0
"""Half-width of the 95 % interval of a rating, in deviations."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating, its deviation, and its volatility."""

    rating: float = MIDDLE
    deviation: float = WIDEST
    volatility: float = 0.06


Played = tuple[Rating, float]
"""A game: the opponent's rating before the period, and 1 for a win, 0.5 for a draw, 0."""


class RatedPlayer(msgspec.Struct, frozen=True, kw_only=True):
    """A player's row; `margin` is the 95 % half-width, `games` the number of rated games."""

    place: int
    player: str
    rating: float
    margin: float
    games: int


def rate(before: Rating, games: Sequence[Played]) -> Rating:
    """Update a rating by one period's games; without games only the deviation grows."""
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
    """The paper's g: weight of a game against an opponent of deviation `phi`."""
    return 1 / math.sqrt(1 + 3 * phi**2 / math.pi**2)


def _volatility(sigma: float, phi: float, variance: float, delta: float) -> float:
    """New volatility, step 5 of the paper: the root of f by the Illinois algorithm."""
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
    """Rate all named players of finished games of one kind, up to the week of `now_ms`.

    A game of several players counts as one game against each opponent. Rows are sorted by rating
    minus margin, highest first.
    """
    last = deque(_weeks(games, now_ms), maxlen=1)
    return _ranked_players(last[0].known, last[0].called, last[0].counts) if last else []


class RatedWeek(msgspec.Struct, frozen=True, kw_only=True):
    """A player's rating after a week with rated games; `monday_ms` is the start of the week."""

    monday_ms: int
    rating: float
    margin: float


def rating_histories(games: Iterable[HubGame], now_ms: int) -> dict[str, list[RatedWeek]]:
    """Ratings after each week in which a player played, by `name_key`."""
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
    """State after a week: ratings, names, numbers of games, and the keys `rated` in that week.

    All mappings are keyed by `name_key`.
    """

    number: int
    known: Mapping[str, Rating]
    called: Mapping[str, str]
    counts: Mapping[str, int]
    rated: Sequence[str]


def _weeks(games: Iterable[HubGame], now_ms: int) -> Iterator[_Week]:
    """Every week from the first game on, including weeks without games."""
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
    """Key and name of each named player, by colour."""
    return {
        colour: (name_key(name), " ".join(name.split()))
        for colour, name in game.result.names.items()
        if name_key(name)
    }


def _results(game: HubGame) -> dict[str, list[tuple[str, float]]]:
    """Shares (1, 0.5 or 0) of each player against each opponent, by key."""
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
