"""Games as text, as PGN is for chess: tags, then the moves in the notation of the game's engine.

`docs/FORMATS.md` describes it. The tag `Start` is a state of the engine and holds players and house
rules, so that the moves can be played again by the rules alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engines.first_player import RolledFirst, Rolling, turn_order
from engines.game import Game, winners_of
from referee.sessions.secret_votes import hidden_votes
from referee.sessions.state import Games, SessionState, history
from table.errors import InputError, message_of
from table.messages import Message, msg, phrase
from table.pieces import COLOURS
from table.text import printable

UNKNOWN = "?"
"""Value of an unknown tag, as in PGN."""
OPEN = "*"
"""Result of an unfinished game."""
SHARES = {1.0: "1", 0.5: "1/2", 0.0: "0"}
RESIGNS, STILL_IN_TURN = "resigns", "still in turn"
NEEDED = ("Game", "Players", "Result", "Scores", "Start")
MOST_BYTES, MOST_LINE = 64 << 20, 10_000
"""Most bytes of a file of games, and most characters of a line."""
_TAG = re.compile(r'\[([A-Z][A-Za-z0-9_]{0,39}) "((?:[^"\\]|\\["\\])*)"\]')
_NUMBER = re.compile(r"[1-9][0-9]{0,5}\. ")
_RESIGNS = re.compile(rf"{RESIGNS} ([a-z]+)(?: \(({STILL_IN_TURN})\))?")


@dataclass(frozen=True, slots=True)
class GameText:
    """A game as text.

    `players` are colours in turn order, `names` people's by colour, `rules` house rules that differ
    from the defaults. `start` is the engine's first state, and `moves` are lines in its notation or
    `resigns COLOUR`. `shares` are the players' results, 1, 0.5 or 0; empty while the game runs.
    """

    game: str
    players: tuple[str, ...]
    start: str
    moves: tuple[str, ...]
    scores: tuple[float, ...]
    shares: tuple[float, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    event: str = ""
    site: str = ""
    date: str = ""
    round: str = ""


def game_text(ledger: SessionState) -> GameText | None:
    """Convert a game of a session to text; None before the first player is determined.

    Hidden votes are left out.
    """
    if isinstance(ledger.state, Rolling):
        return None
    engine = ledger.engine.game if isinstance(ledger.engine, RolledFirst) else ledger.engine
    state = next((before for _, before, _, _ in history(ledger)), ledger.state)
    players = turn_order(ledger.players, state.players[0])
    hidden = set(hidden_votes(ledger).values())
    moves: list[str] = []
    left = len(players)
    for entry in ledger.standing:
        if entry.resigned:
            left -= 1
            in_turn = left > 1 and not entry.passed_over
            moves.append(f"{RESIGNS} {entry.resigned}" + f" ({STILL_IN_TURN})" * in_turn)
        elif not entry.is_first_player_ruling and entry.seq not in hidden:
            moves += entry.moves
    scores = engine.state_document(ledger.state)["scores"]
    over = ledger.outcome is not None
    return GameText(
        game=ledger.started.game,
        players=players,
        start=str(engine.set_up(players, ledger.options, ledger.board)),
        moves=tuple(moves),
        scores=tuple(float(scores[player]) for player in players),
        shares=shares_of(players, ledger.winners) if over else (),
        names=dict(ledger.started.names),
        rules=dict(ledger.options),
        date=ledger.started.started_utc[:10],
    )


def texts_of(ledger: SessionState | None) -> list[GameText]:
    """The games of a session that have begun, oldest first."""
    found: list[GameText] = []
    while ledger is not None:
        found += [one] if (one := game_text(ledger)) else []
        ledger = ledger.earlier
    return found[::-1]


def shares_of(players: Sequence[str], winners: Sequence[str]) -> tuple[float, ...]:
    """Return 1 for a single winner, 0.5 for shared winners, and for all without a winner."""
    win = 1.0 if len(winners) == 1 else 0.5
    return tuple(win if one in winners or not winners else 0.0 for one in players)


# ---- writing


def write_games(games: Iterable[GameText]) -> str:
    """Write games as text, one after another."""
    return "\n".join(map(_pgn_text, games))


def _pgn_text(game: GameText) -> str:
    tags = {
        "Event": game.event or UNKNOWN,
        "Site": game.site or UNKNOWN,
        "Date": game.date.replace("-", ".") or "????.??.??",
        "Round": game.round or UNKNOWN,
        "Game": game.game,
        "Players": " ".join(game.players),
        **{colour.capitalize(): game.names.get(colour, UNKNOWN) for colour in game.players},
        "Result": _result(game.shares),
        "Scores": " ".join(f"{one:g}" for one in game.scores),
        "Rules": " ".join(f"{name}={value}" for name, value in game.rules.items()) or "-",
        "Start": game.start,
    }
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags.items()]
    numbered = [f"{number}. {move}" for number, move in enumerate(game.moves, 1)]
    return "\n".join([*lines, "", *numbered, _result(game.shares), ""])


def _result(shares: Sequence[float]) -> str:
    return "-".join(SHARES[one] for one in shares) or OPEN


def _quoted(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')


# ---- reading


def read_games(text: str, where: str) -> list[GameText]:
    """Parse games; `where` names the text in messages.

    Lines that begin with `;` or `%` are comments. Raises InputError with the line.
    """
    games: list[GameText] = []
    tags: dict[str, str] = {}
    moves: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        place, line = f"{where}: line {number}", raw.strip()
        if not line or line.startswith((";", "%")):
            continue
        if len(line) > MOST_LINE:
            raise _unexpected_error(
                place, phrase("a line of at most {n} letters", n=MOST_LINE), line
            )
        if line.startswith("["):
            if moves:
                raise _unexpected_error(
                    place, phrase("the result {raw}", raw=tags.get("Result", OPEN)), line
                )
            name, value = _tag(place, line)
            if name in tags:
                raise _unexpected_error(place, phrase("the tag {raw} once", raw=name), line)
            tags[name] = value
        elif tags and line == tags.get("Result"):
            games.append(_parse_game(place, tags, moves))
            tags, moves = {}, []
        elif tags and (found := _NUMBER.match(line)):
            moves.append(line[found.end() :])
        else:
            raise _unexpected_error(
                place,
                phrase("a tag, a move such as {raw}, or the result", raw=repr("1. ...")),
                line,
            )
    if tags:
        raise _unexpected_error(where, phrase("the result {raw}", raw=tags.get("Result", OPEN)), "")
    return games


def _tag(place: str, line: str) -> tuple[str, str]:
    found = _TAG.fullmatch(line)
    if found is None:
        raise _unexpected_error(place, phrase("a tag such as {raw}", raw='[Event "Cup"]'), line)
    return found[1], re.sub(r"\\(.)", r"\1", found[2])


def _parse_game(place: str, tags: Mapping[str, str], moves: Sequence[str]) -> GameText:
    for name in NEEDED:
        if name not in tags:
            raise _unexpected_error(place, phrase("the tag {raw}", raw=name), "")
    players = tuple(tags["Players"].split())
    if not players or not set(players) <= set(COLOURS) or len(set(players)) < len(players):
        raise _unexpected_error(
            place, phrase("each colour once in {raw}", raw="Players"), tags["Players"]
        )
    scores = _numbers(place, tags["Scores"])
    result = {text: share for share, text in SHARES.items()}
    parts = [] if tags["Result"] == OPEN else tags["Result"].split("-")
    if len(scores) != len(players) or (parts and len(parts) != len(players)):
        raise _unexpected_error(
            place, phrase("{raw} of all players", raw="Scores, Result"), tags["Scores"]
        )
    if not set(parts) <= set(result):
        raise _unexpected_error(
            place, phrase("1, 1/2 or 0 for each player in {raw}", raw="Result"), tags["Result"]
        )
    rules = tags.get("Rules", "-")
    named = {colour: tags.get(colour.capitalize(), UNKNOWN) for colour in players}
    date = tags.get("Date", "")
    return GameText(
        game=tags["Game"],
        players=players,
        start=tags["Start"],
        moves=tuple(moves),
        scores=scores,
        shares=tuple(result[one] for one in parts),
        names={colour: name for colour, name in named.items() if name != UNKNOWN},
        rules=dict(one.partition("=")[::2] for one in rules.split()) if rules != "-" else {},
        event=_known_value(tags.get("Event", "")),
        site=_known_value(tags.get("Site", "")),
        date="" if UNKNOWN in date else date.replace(".", "-"),
        round=_known_value(tags.get("Round", "")),
    )


def _known_value(value: str) -> str:
    return "" if value == UNKNOWN else value


def _numbers(place: str, text: str) -> tuple[float, ...]:
    parts = text.split()
    if not all(re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", one) for one in parts):
        raise _unexpected_error(place, phrase("numbers in {raw}", raw="Scores"), text)
    return tuple(map(float, parts))


def _unexpected_error(place: str, expected: Message, got: str) -> InputError:
    return InputError(
        msg(
            "{where}: expected {text}, got {raw}",
            where=place,
            text=expected,
            raw=repr(printable(got)[:60]),
        )
    )


# ---- playing again


@dataclass(frozen=True, slots=True)
class Replayed:
    """Result of a replayed game: the last state, scores and winners by colour."""

    state: str
    scores: Mapping[str, float]
    winners: tuple[str, ...]
    over: bool


def replay(text: GameText, games: Games, where: str) -> Replayed:
    """Replay a game by its rules.

    Raises InputError, `where` first, for an unknown game, illegal moves, or a result that differs
    from the text.
    """
    if text.game not in games:
        raise _unexpected_error(where, phrase("one of {raw}", raw=", ".join(games)), text.game)
    engine = games[text.game]
    resigned: list[str] = []
    try:
        state = engine.State.parse(text.start)
        if tuple(state.players) != text.players:
            raise _unexpected_error(
                where,
                phrase("a start of the players {raw}", raw=" ".join(text.players)),
                text.start,
            )
        for move in text.moves:
            state = _after(engine, state, move, text.players, resigned)
    except InputError as error:
        raise InputError(msg("{where}: {text}", where=where, text=error.message)) from error
    except ValueError as error:
        raise InputError(msg("{where}: {text}", where=where, text=message_of(error))) from error
    left = [one for one in text.players if one not in resigned]
    outcome = engine.outcome(state)
    won = winners_of(outcome) if outcome is not None else left if len(left) == 1 else ()
    over = outcome is not None or (len(left) == 1 < len(text.players))
    scores = engine.state_document(state)["scores"]
    done = Replayed(str(state), scores, tuple(one for one in text.players if one in won), over)
    _check(text, done, where)
    return done


def _after(
    engine: Game, state: object, move: str, players: Sequence[str], resigned: list[str]
) -> object:
    """Return the state after a line of moves; players who resign are added to `resigned`."""
    if not (found := _RESIGNS.fullmatch(move)):
        return engine.play(state, engine.parse_move(move))
    if found[1] not in players or found[1] in resigned:
        raise _unexpected_error(move, phrase("a player who has not resigned"), found[1])
    resigned.append(found[1])
    goes_on = len(players) - len(resigned) > 1 and not found[2]
    return engine.resign(state, found[1]) if goes_on else state


def _check(text: GameText, done: Replayed, where: str) -> None:
    """Raise InputError if a game's result differs from its tags."""
    scores = tuple(float(done.scores[one]) for one in text.players)
    shares = shares_of(text.players, done.winners) if done.over else ()
    if (scores, shares) != (text.scores, text.shares):
        said, came = (
            f"{_result(shares_)} {' '.join(f'{one:g}' for one in scores_)}"
            for shares_, scores_ in ((text.shares, text.scores), (shares, scores))
        )
        raise _unexpected_error(where, phrase("moves that come to {raw}", raw=said), came)


def replayed(games: Iterable[GameText], known: Games, where: str) -> Iterator[Replayed]:
    """Replay games one after another; raises InputError as `replay` does."""
    for number, one in enumerate(games, 1):
        yield replay(one, known, f"{where}: game {number}")
