"""Begin or continue a session: the players, the table and the camera."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import metadata

from engines import GAMES, facts_of
from engines.computer_player import STRENGTHS, Strength
from referee.sessions.event_store import Log, LogReader
from referee.sessions.events import Record, Reopened, SessionStarted
from referee.sessions.first_player import Lot, draw_lot, first_player_decision
from referee.sessions.piece_fit import check_pieces
from referee.sessions.session import Session
from referee.sessions.state import fold
from referee.sessions.table_identity import last_table, lens_difference, table_difference
from table.errors import InputError, error_summary
from table.messages import as_message, msg
from table.table_config import Setup, table_document

LONGEST_NAME = 40


def played_setup(game: str, setup: Setup, rulings: Mapping[str, str]) -> Setup:
    """Return the table with the pieces that a game's rulings put on it."""
    return facts_of(game).as_played(setup, rulings)


def opening(
    game: str,
    players: tuple[str, ...],
    rulings: dict[str, str],
    setup: Setup,
    camera: str,
    started: datetime,
    simulated: bool = False,
    names: Mapping[str, str] | None = None,
    begins: str = "",
    lot: Lot = draw_lot,
    computers: Mapping[str, Strength] | None = None,
) -> SessionStarted:
    """Return the first fact of a session.

    `camera` is its name for people, `started` a time with time zone, `names` people's names by
    colour. `begins` and `lot` are as in `first_player_decision`. `computers` are the strengths of
    computer players, by colour.

    Raises InputError for a player whose colour is not on the table, and for pieces that do not suit
    the board or the rulings. Also for a name or a computer player of somebody who does not play,
    and for computer players in a game without them.
    """
    _check_players(players, setup)
    check_pieces(game, rulings, setup)
    for colour in names or ():
        if colour not in players:
            raise InputError(
                msg(
                    "--names: expected names for players ({raw}), got one for {raw2}",
                    raw=", ".join(players),
                    raw2=repr(colour),
                )
            )
    _check_computers(game, players, computers or {})
    return SessionStarted(
        game=game,
        players=players,
        rulings=rulings,
        camera=as_message(camera),
        simulated=simulated,
        started_utc=started.isoformat(timespec="seconds"),
        table=table_document(played_setup(game, setup, rulings)),
        version=metadata.version("rinkside"),
        names=dict(names or {}),
        computers=dict(computers or {}),
        **first_player_decision(begins, game, players, lot)._asdict(),
    )


def reopened(
    log: Log,
    number: int,
    setup: Setup,
    camera: str,
    at: datetime,
    empty_jpeg: bytes | None = None,
    new_lens: bool = False,
) -> Session:
    """Reopen a session of the log; the reopening is recorded as a fact.

    An ended session is continued too: the game may not have been over. Raises InputError for
    another board or piece set, and for another lens without consent (`new_lens`); cards may lie
    elsewhere.
    """
    session = Session.reopen(log, number)
    _check_players(session.ledger.players, setup)
    changes = _changes(session.id, session.records(), setup, new_lens)
    session.append(reopening(setup, camera, at, changes), empty_jpeg)
    return session


def resumable_session(log: LogReader, setup: Setup, simulated: bool = False) -> int | None:
    """Return the newest session of a log, reopened; None if its game is over, or without one.

    Only sessions of a simulated table are considered, or only the others. Raises InputError as
    `reopened` does if it cannot continue at this table.
    """
    numbers = [row.session for row in log.sessions() if row.simulated is simulated]
    if not numbers:
        return None
    records = log.records(numbers[-1])
    state = fold(records, GAMES, f"{log.path}: session {numbers[-1]}")
    if state.outcome is not None:
        return None
    _check_players(state.players, setup)
    _changes(numbers[-1], records, setup, new_lens=False)
    return numbers[-1]


def _changes(number: int, records: tuple[Record, ...], setup: Setup, new_lens: bool) -> str:
    """Describe changes that people consent to; empty for none.

    Raises InputError without consent, or if consent is impossible.
    """
    before = last_table(records)
    if not before:
        return ""
    try:
        wrong, lens = table_difference(before, setup), lens_difference(before, setup)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            msg(
                "--resume {n}: expected a session with its table, but the recorded table"
                " cannot be read ({raw})",
                n=number,
                raw=error_summary(error),
            )
        ) from error
    if wrong:
        raise InputError(
            msg("--resume {n}: {text}; use the table.json of that table", n=number, text=wrong)
        )
    if not lens:
        return ""
    if not new_lens:
        raise InputError(
            msg(
                "--resume {n}: expected the lens used before, got a different one ({text});"
                " to continue anyway: --new-lens",
                n=number,
                text=lens,
            )
        )
    return msg("The game continued with a different lens: {raw}.", raw=lens)


def reopening(setup: Setup, camera: str, at: datetime, message: str = "") -> Reopened:
    """Return the fact that a session continues.

    `camera` and `at` as in `opening`, `message` as in `Reopened`.
    """
    at_utc, version = at.isoformat(timespec="seconds"), metadata.version("rinkside")
    return Reopened(
        camera=as_message(camera),
        reopened_utc=at_utc,
        table=table_document(setup),
        version=version,
        message=as_message(message),
    )


def _check_players(players: Sequence[str], setup: Setup) -> None:
    for player in players:
        if player not in setup.game.colours:
            raise InputError(
                msg(
                    "players: expected colours of table.json ({raw}), got {raw2}",
                    raw=", ".join(setup.game.colours),
                    raw2=repr(player),
                )
            )


def _check_computers(game: str, players: Sequence[str], computers: Mapping[str, Strength]) -> None:
    if computers and facts_of(game).computer_player is None:
        raise InputError(msg("--computer: {raw} has no computer player", raw=facts_of(game).title))
    for colour in computers:
        if colour not in players:
            raise InputError(
                msg(
                    "--computer: expected players ({raw}), got {raw2}",
                    raw=", ".join(players),
                    raw2=repr(colour),
                )
            )


def parse_computers(words: Sequence[str]) -> dict[str, Strength]:
    """Strengths of computer players by colour from words such as `red:strong` or `red`.

    Raises InputError.
    """
    computers: dict[str, Strength] = {}
    for word in words:
        colour, colon, named = word.partition(":")
        strength = next((one for one in STRENGTHS if one == (named if colon else "club")), None)
        if not colour or strength is None or colour in computers:
            raise InputError(
                msg(
                    "--computer: expected a colour and a strength ({raw}), each colour once, as in"
                    " red:strong, got {raw2}",
                    raw=", ".join(STRENGTHS),
                    raw2=repr(word),
                )
            )
        computers[colour] = strength
    return computers


def parse_rulings(words: Sequence[str]) -> dict[str, str]:
    """Rulings by name from words such as `repeat=next`; raises InputError."""
    rulings = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name in rulings:
            raise InputError(
                msg(
                    "--rule: expected a name and a value, each name once, such as"
                    " repeat=next, got {raw}",
                    raw=repr(word),
                )
            )
        rulings[name] = value
    return rulings


def parse_names(text: str) -> dict[str, str]:
    """People's names by colour from `red=Anna,blue=Ben`.

    Raises InputError, also where two colours have the same name.
    """
    names: dict[str, str] = {}
    for word in text.split(","):
        colour, _, name = (part.strip() for part in word.partition("="))
        if (
            not colour
            or not name
            or not name.isprintable()
            or len(name) > LONGEST_NAME
            or colour in names
        ):
            raise InputError(
                msg(
                    "--names: expected a colour and a name of at most {n} letters, each"
                    " colour once, as in red=Anna, got '{raw}'",
                    n=LONGEST_NAME,
                    raw=word,
                )
            )
        if name in names.values():
            raise InputError(
                msg(
                    "--names: expected a different name for each colour, got '{raw}' again",
                    raw=name,
                )
            )
        names[colour] = name
    return names
