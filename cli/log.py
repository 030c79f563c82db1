"""`rinkside log`: what was refereed, to read and to carry away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
from rich.markup import escape

from cli.options import complain, max_mb_option
from cli.paths import log_path, ready_folder
from cli.terminal import console, in_language, new_table, progress, say, say_json
from engines import GAMES
from engines.statistics import Thrown
from referee.sessions.archive import MOST_BYTES, export_session, import_session
from referee.sessions.event_store import Log, LogReader
from referee.sessions.event_tables import damaged
from referee.sessions.events import Record, record_document
from referee.sessions.game_text import MOST_BYTES as MOST_GAMES_BYTES
from referee.sessions.game_text import GameText, read_games, replayed, texts_of, write_games
from referee.sessions.private_files import OWNER_FILE
from referee.sessions.rescue import rescue as save_what_can_be_read
from referee.sessions.state import SessionState, fold
from referee.statistics.csv_export import write_gaps, write_scores
from referee.statistics.players import Tally, tallies
from referee.statistics.results import PlayedGame, games_of
from table.errors import InputError
from table.files import check_output, read_text, write_whole
from table.games import measuring
from table.json_data import JsonObject
from table.measured_text import called, shown_date, shown_mm, shown_time
from table.messages import NOTHING, msg, phrase


def which_log(command: Callable[..., None]) -> Callable[..., None]:
    """`--log PATH`, as `path`."""
    message = "The log [default: the one in the data folder]."
    return click.option(
        "--log", "path", type=click.Path(path_type=Path, dir_okay=False), help=message
    )(command)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
which_session = click.argument("session", type=click.IntRange(1), required=False)


@click.group()
def log() -> None:
    """List, show, export, import, check and rescue the sessions that were refereed.

    Scores, gaps and statistics over all of them.

    SESSION is a number from `rinkside log list`; without one, the latest is meant.
    """


@log.command("list")
@which_log
@json_option
def list_sessions(path: Path | None, as_json: bool) -> None:
    """List all sessions, oldest first."""
    with LogReader(path or log_path()) as reader:
        sessions = reader.sessions()
    if as_json:
        say_json(json.dumps(msgspec.to_builtins(sessions), indent=1, ensure_ascii=False))
        return
    table = new_table(
        msg("session"),
        msg("begun"),
        msg("game"),
        msg("players"),
        msg("length"),
        msg("rulings"),
        msg("remarks"),
        right=(0, 4, 5),
    )
    for row in sessions:
        length = f"{(row.last_ms - row.first_ms) / 60000:.1f} min"
        people = ", ".join(called(player, row.names) for player in row.players)
        remarks = [msg("simulated")] * row.simulated + [msg("not ended")] * (not row.ended)
        cells = (
            str(row.session),
            shown_date(row.started_utc),
            row.game,
            people,
            length,
            str(row.rulings),
            ", ".join(map(in_language, remarks)),
        )
        table.add_row(*map(escape, cells))
    console().print(table if sessions else in_language(msg("No sessions yet.")))


@log.command()
@which_session
@which_log
@json_option
def show(session: int | None, path: Path | None, as_json: bool) -> None:
    """Show everything that was ruled, asked, answered and corrected in a session."""
    with LogReader(path or log_path()) as reader:
        records = reader.records(session or latest(reader))
    documents = [record_document(record) for record in records]
    if as_json:
        say_json(json.dumps(documents, indent=1, ensure_ascii=False))
        return
    table = new_table(
        msg("record"), msg("time"), msg("what"), msg("said"), msg("based on"), right=(0, 1)
    )
    for record, document in zip(records, documents, strict=True):
        what = " ".join(
            filter(
                None,
                (
                    document.get("verdict") or document["fact"].replace("_", " "),
                    document.get("code"),
                ),
            )
        )
        table.add_row(
            *map(
                escape,
                (
                    str(record.seq),
                    shown_time(record.at_ms),
                    what,
                    _sentence(record, document),
                    document.get("rests_on", ""),
                ),
            )
        )
    console().print(table)


@log.command()
@click.argument("session", type=click.IntRange(1))
@click.argument("target", metavar="OUT.zip", type=click.Path(path_type=Path, dir_okay=False))
@which_log
def export(session: int, target: Path, path: Path | None) -> None:
    """Write a session with its pictures to a zip file."""
    if target.suffix.lower() != ".zip":
        raise InputError(
            msg(
                "{path}: expected a name that ends in {raw}, got {raw2}",
                path=target,
                raw=".zip",
                raw2=repr(target.name),
            )
        )
    check_output(target)
    with LogReader(path or log_path()) as reader, progress(msg("Writing the session")):
        export_session(reader, session, target)
    say(msg("Session {n} is in {path}", n=session, path=target))


@log.command("import")
@click.argument("source", metavar="IN.zip", type=click.Path(path_type=Path, dir_okay=False))
@max_mb_option(MOST_BYTES)
@which_log
def import_(source: Path, path: Path | None, max_mb: int) -> None:
    """Import an exported session, from here or another machine.

    Pictures that do not fit into the log are left out; your own are kept.
    """
    target = path or log_path(ready_folder())
    with Log(target) as opened, progress(msg("Reading the session")):
        taken = import_session(opened, source, most_bytes=max_mb * 10**6)
    say(msg("{path} is session {n} in {raw}", path=source, n=taken.session, raw=target))
    if taken.left_out:
        every = taken.frames + taken.left_out
        complain(
            msg(
                "{n} of its {n2} pictures were left out: the log is full",
                n=taken.left_out,
                n2=every,
            )
        )


@log.command()
@which_log
def check(path: Path | None) -> None:
    """Read the whole log and compare every record and picture with its checksum.

    What is damaged is listed, and the exit code is 2.
    """
    with LogReader(path or log_path()) as reader, progress(msg("Reading the log")):
        checked = reader.check()
    for line in checked.wrong:
        say(line)
    if checked.wrong:
        raise damaged(reader.path, phrase("{n} faults", n=len(checked.wrong)))
    say(
        msg(
            "{path}: {n} sessions, {n2} records and {n3} pictures are whole",
            path=reader.path,
            n=checked.sessions,
            n2=checked.records,
            n3=checked.frames,
        )
    )
    if checked.version <= 1:
        say(msg("Its records get checksums when it is next written to."))


@log.command()
@click.argument("bad", metavar="BAD.sqlite", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("good", metavar="GOOD.sqlite", type=click.Path(path_type=Path, dir_okay=False))
def rescue(bad: Path, good: Path) -> None:
    """Save what can be read of a damaged log into a new one.

    The damaged one stays as it is. Records keep their numbers; what is lost is listed.
    """
    with progress(msg("Reading the log")):
        saved = save_what_can_be_read(bad, good)
    for line in saved.lost:
        say(msg("lost: {text}", text=line))
    say(
        msg(
            "{path}: {n} sessions, {n2} records and {n3} pictures are saved",
            path=good,
            n=saved.sessions,
            n2=saved.records,
            n3=saved.frames,
        )
    )


@log.command()
@which_log
def rename(path: Path | None) -> None:
    """Make the copy of a log one of its own, for a hub that knows the other one.

    Nothing that was refereed changes. What both logs hold is counted once.
    """
    with Log(path or log_path()) as opened:
        log_id = opened.rename()
    say(msg("{path} is now log {raw}", path=path or log_path(), raw=log_id))


def _csv(command: Callable[..., None]) -> Callable[..., None]:
    return click.argument(
        "target", metavar="OUT.csv", type=click.Path(path_type=Path, dir_okay=False)
    )(command)


@log.command()
@_csv
@which_log
def scores(target: Path, path: Path | None) -> None:
    """Write all games with their scores to a CSV file, one row a game."""
    check_output(target)
    games = _played_games(path)
    write_scores(target, games)
    say(msg("{path}: games written: {n}", path=target, n=len(games)))


@log.command(
    help=f"Write all throws of {measuring()[0]} with their distances to a CSV file, one row a"
    " throw."
)
@_csv
@which_log
def gaps(target: Path, path: Path | None) -> None:
    """Throws whose distance counts."""
    check_output(target)
    count = write_gaps(target, _played_games(path))
    say(msg("{path}: throws written: {n}", path=target, n=count))


@log.command()
@click.argument("target", metavar="OUT.txt", type=click.Path(path_type=Path, dir_okay=False))
@which_log
def games(target: Path, path: Path | None) -> None:
    """Write all games that are over as text, to keep and to play again."""
    check_output(target)
    texts: list[GameText] = []
    for ledger in _ledgers(path):
        texts += [one for one in texts_of(ledger) if one.shares]
    write_whole(target, write_games(texts).encode(), OWNER_FILE)
    say(msg("{path}: games written: {n}", path=target, n=len(texts)))


@log.command("check-games")
@click.argument("source", metavar="IN.txt", type=click.Path(path_type=Path, dir_okay=False))
def check_games(source: Path) -> None:
    """Play the games of such a text again, and say whether they come to what it says."""
    read = read_games(read_text(source, phrase("games as text"), MOST_GAMES_BYTES), str(source))
    count = sum(1 for _ in replayed(read, GAMES, str(source)))
    say(msg("Games that come to what they say: {n}", n=count))


@log.command()
@click.option("--simulated", is_flag=True, help="Count simulated games too.")
@which_log
@json_option
def players(simulated: bool, path: Path | None, as_json: bool) -> None:
    """Statistics of every player over all sessions: games, points, and how near they throw."""
    rows = tallies(game for game in _played_games(path) if simulated or not game.simulated)
    if as_json:
        say_json(json.dumps([_tally_document(row) for row in rows], indent=1, ensure_ascii=False))
        return
    headings = (
        msg("game"),
        msg("player"),
        msg("games"),
        msg("won"),
        msg("drawn"),
        msg("points for"),
        msg("against"),
        msg("throws"),
        msg("median gap"),
        msg("nearest"),
    )
    table = new_table(*headings, right=range(2, len(headings)))
    for row in rows:
        numbers = (row.games, row.won, row.drawn, f"{row.points_for:g}", f"{row.points_against:g}")
        gap = "" if row.median_gap_mm is None else f"{row.median_gap_mm:.1f} mm"
        cells = (row.game, row.player, *numbers, len(row.throws) or "", gap, _nearest(row.best))
        table.add_row(*(escape(str(cell)) for cell in cells))
    console().print(table if rows else in_language(msg("No sessions yet.")))


def _played_games(path: Path | None) -> list[PlayedGame]:
    """All games of a log.

    Sessions that this version's rules cannot read are reported and skipped.
    """
    games: list[PlayedGame] = []
    with LogReader(path or log_path()) as reader:
        for summary in reader.sessions():
            try:
                games += games_of(reader, summary.session, GAMES)
            except InputError as error:
                complain(msg("skipped: {text}", text=error.message))
    return games


def _ledgers(path: Path | None) -> Iterator[SessionState]:
    """The folded sessions of a log; unreadable ones are reported and skipped."""
    with LogReader(path or log_path()) as reader:
        for summary in reader.sessions():
            where = f"{reader.path}: session {summary.session}"
            try:
                yield fold(reader.records(summary.session), GAMES, where)
            except InputError as error:
                complain(msg("skipped: {text}", text=error.message))


def _nearest(thrown: Thrown | None) -> str:
    """The nearest throw, with its 95 % interval if the camera measured it."""
    if thrown is None or thrown.lie is None:
        return ""
    if thrown.lie.on_target or not thrown.lie.gap_mm:
        return "on the target" if thrown.lie.on_target else "touching"
    return f"{shown_mm(thrown.lie.gap_mm, thrown.sigma_mm)} mm"


def _tally_document(row: Tally) -> JsonObject:
    """A player's statistics as plain data; `sigma_mm` is one standard deviation."""
    document: JsonObject = {
        name: getattr(row, name)
        for name in ("game", "player", "games", "won", "drawn", "points_for", "points_against")
    }
    best = row.best
    nearest = (
        {"gap_mm": best.lie.gap_mm, "sigma_mm": best.sigma_mm, "on_target": best.lie.on_target}
        if best and best.lie
        else None
    )
    return document | {
        "throws": len(row.throws),
        "median_gap_mm": row.median_gap_mm,
        "best": nearest,
    }


def latest(reader: LogReader) -> int:
    """The number of the last session; raises InputError if there is none."""
    sessions = reader.sessions()
    if not sessions:
        raise InputError(
            msg("{path}: expected a session, but nothing has been refereed yet", path=reader.path)
        )
    return sessions[-1].session


def _sentence(record: Record, document: JsonObject) -> str:
    """A record as a sentence, with the person who decided it, if any."""
    recorded = in_language(getattr(record.event, "message", NOTHING))
    match document["fact"]:
        case "session_started" | "game_started":
            message = "; ".join(
                filter(
                    None,
                    (
                        f"{document.get('game', 'next game')}: {', '.join(document['players'])}",
                        recorded,
                    ),
                )
            )
        case "reopened":
            message = recorded or "Rinkside was started again and goes on with the session"
        case "session_ended":
            message = document["reason"]
        case _:
            message = recorded or document.get("label", "")
    decided_by = document.get("decided_by")
    return f"{message} (decided by {decided_by})" if decided_by else message
