"""`rinkside referee`: the loop without a panel, with one JSON object per record on stdout."""

from __future__ import annotations

import json
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import click

from cli.devices import open_configured_devices
from cli.garbage_collection import short_collections
from cli.options import (
    GameName,
    camera_option,
    complain,
    computer_option,
    empty_option,
    settings_option,
    table_option,
)
from cli.shutdown import stop_signal
from cli.terminal import in_language, say, say_json
from engines.computer_player import Strength
from hardware.factory import Devices
from referee.devices.controller import Companion
from referee.live.computer_seats import ComputerSeats
from referee.live.patient_session import PatientSession
from referee.live.recorded_inputs import read_inputs
from referee.live.referee_factory import RefereeFactory
from referee.live.standstill import STALL_CODES
from referee.live.supervisor import Supervisor
from referee.sessions.event_store import Log
from referee.sessions.events import (
    ComputerChose,
    InputRecorded,
    QuestionAsked,
    Record,
    VerdictReached,
)
from referee.sessions.session import Session
from referee.sessions.start import opening, parse_names, parse_rulings, played_setup
from referee.sessions.status import LiveState
from table.games import usual_game
from table.json_data import JsonObject
from table.table_config import load_table
from vision.cameras.base import RECORDINGS, open_camera
from vision.cameras.image_files import read_image
from vision.cameras.reconnect import AnnouncedCamera, frame_jpeg

INCOMPLETE = 3
"""Exit code for a recording that could not be read to its end; the part before was refereed."""


@click.command()
@table_option
@camera_option
@empty_option
@click.option(
    "--game",
    type=GameName(),
    default=usual_game(),
    show_default=True,
    help="The game that is played.",
)
@click.option("--players", required=True, help="Colours in turn order, as in blue,yellow.")
@click.option(
    "--rule",
    "--ruling",
    "rulings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A house rule, see rinkside rules GAME; may be repeated.",
)
@click.option(
    "--names",
    metavar="COLOUR=NAME,...",
    help="People's names by colour, as in blue=Anna,yellow=Ben.",
)
@click.option(
    "--inputs",
    type=click.Path(path_type=Path),
    help="A file of what no camera sees, such as dice and votes: one JSON object a line.",
)
@computer_option
@settings_option
@click.option(
    "--log",
    "log_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the log in this file [default: it is not kept].",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object for each record, not a sentence."
)
def referee(
    table_path: Path,
    spec: str,
    empty: Path | None,
    game: str,
    players: str,
    rulings: tuple[str, ...],
    names: str | None,
    inputs: Path | None,
    computers: dict[str, Strength],
    settings: Path | None,
    log_path: Path | None,
    as_json: bool,
) -> None:
    """Referee what a camera saw, without a panel, and print every ruling.

    Recordings are refereed on their own clock and end with their last frame, with exit code 3 if
    not all could be read; a live camera until Ctrl-C.
    """
    chosen = parse_rulings(rulings)
    setup = played_setup(game, load_table(table_path), chosen)
    reference = read_image(empty, setup) if empty else None
    heard = read_inputs(inputs) if inputs else ()
    with ExitStack() as stack:
        camera = stack.enter_context(closing(AnnouncedCamera(open_camera(spec, setup), complain)))
        devices = stack.enter_context(closing(open_configured_devices(settings, setup)))
        log = stack.enter_context(
            closing(
                Log(
                    log_path
                    or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "log.sqlite"
                )
            )
        )
        people, now = parse_names(names) if names else {}, datetime.now(UTC)
        seated, shown = tuple(players.split(",")), (camera.name, now, camera.simulated)
        started = opening(game, seated, chosen, setup, *shown, people, computers=computers)
        empty_jpeg = frame_jpeg(reference) if reference else None
        session = stack.enter_context(closing(Session.begin(log, started, empty_jpeg=empty_jpeg)))
        live, stopping = LiveState(), threading.Event()
        # A recording can be refereed again; people at a table would rather wait until there is room
        # on the disk.
        recorded = spec.partition(":")[0] in RECORDINGS
        keeps = session if recorded else PatientSession(session, live, stopping, complain)
        maker = RefereeFactory(camera, keeps, live, stopping, reads_dice=not heard)
        supervisor = Supervisor(
            maker.referee(setup, reference, heard), maker.renew, session, live, stopping, complain
        )
        _referee(stack, session, supervisor, devices, as_json)
        if camera.missing:
            _end_incomplete(camera.missing, as_json)


def _referee(
    stack: ExitStack, session: Session, supervisor: Supervisor, devices: Devices, as_json: bool
) -> None:
    """Referee in a thread, and print every ruling, until the pictures end or Ctrl-C."""
    stopped = threading.Event()

    def work() -> None:
        try:
            supervisor.run()
            session.end(
                "Rinkside was ended" if stopped.is_set() else "the camera gave its last picture"
            )
        finally:
            session.close()

    companion = Companion(devices, session, supervisor, supervisor.setup.board, complain)
    companion.start()
    stack.callback(companion.stop)
    ComputerSeats(session, complain).start()
    stack.enter_context(short_collections())
    stack.enter_context(stop_signal())
    worker = stack.enter_context(ThreadPoolExecutor(1)).submit(work)
    stack.callback(supervisor.stop)
    printed = 0
    try:
        for record in session.subscribe():
            _print(record, as_json)
            printed = record.seq
    except KeyboardInterrupt:
        stopped.set()
        supervisor.stop()
    worker.result()
    for record in session.records(printed):
        _print(record, as_json)


def _end_incomplete(missing: str, as_json: bool) -> None:
    """Exit with code 3 for a partly unreadable recording."""
    if as_json:
        say_json(json.dumps({"incomplete": missing}, ensure_ascii=False))
    raise click.exceptions.Exit(INCOMPLETE)


def _print(record: Record, as_json: bool) -> None:
    """Print a verdict or a computer player's request; other records print nothing."""
    if not (document := verdict_document(record)):
        return
    rests_on = f" ({document['rests_on']})" if document["rests_on"] else ""
    if as_json:
        say_json(json.dumps(document, ensure_ascii=False))
        return
    message = in_language(document["said"])
    say(f"{document['t_ms'] / 1000:9.2f} s  {document['verdict']}: {message}{rests_on}")


def verdict_document(record: Record) -> JsonObject:
    """A verdict as plain data.

    It has `t_ms`, `verdict`, `code`, `player`, `played` or `tried` where there is a move, `state`
    and more. The move is in people's short notation where the judge gives it (`move` in the
    evidence), else as the log keeps it. What a computer player wants is a `wish` with its `move`.
    Empty for any other record that is no verdict of the referee's own.
    """
    event = record.event
    if isinstance(event, InputRecorded) and event.code in STALL_CODES:
        event = VerdictReached(
            verdict="cannot_see", code=event.code, message=event.message, state=event.state
        )
    if isinstance(event, ComputerChose):
        return {
            "t_ms": record.at_ms,
            "verdict": "wish",
            "player": event.player,
            "strength": event.strength,
            "move": event.move,
            "said": event.message,
            "rests_on": "",
        }
    if not isinstance(event, VerdictReached | QuestionAsked):
        return {}
    document: JsonObject = {
        "t_ms": record.at_ms,
        "verdict": event.verdict if isinstance(event, VerdictReached) else "ambiguous",
    }
    document |= {"code": event.code, "player": event.player}
    if isinstance(event, QuestionAsked):
        document["choices"] = [choice.label for choice in event.choices]
    elif event.moves:
        document["tried" if event.verdict == "refused" else "played"] = event.evidence.get(
            "move", "; ".join(event.moves)
        )
    return document | {
        "said": event.message,
        "rests_on": event.rests_on,
        "state": event.state,
        "evidence": event.evidence,
    }
