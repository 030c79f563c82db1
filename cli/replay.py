"""`rinkside replay`: would today's code rule as the log says?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import click

from cli.log import json_option, latest, which_log, which_session
from cli.paths import log_path
from cli.terminal import in_language, progress, say, say_json
from engines import GAMES
from referee.live.replay import Rejudged, rejudge
from referee.sessions.event_store import LogReader
from table.json_data import JsonObject
from table.measured_text import shown_time
from table.messages import msg


@click.command()
@which_session
@which_log
@json_option
def replay(session: int | None, path: Path | None, as_json: bool) -> None:
    """Judge a recorded session again with today's code and list every ruling that changes.

    SESSION is a number from `rinkside log list`; without one, the latest is meant.  Nothing is
    written.
    """
    judged, changed, left_out = 0, [], Counter[str]()
    with LogReader(path or log_path()) as reader, progress(msg("Judging again")) as done:
        number = session or latest(reader)
        for again in rejudge(reader, number, GAMES):
            done()
            if again.not_judged:
                left_out[again.not_judged] += 1
                continue
            judged += 1
            if again.changes:
                changed.append(_document(again))
                if not as_json:
                    say(*_lines(again))
    if as_json:
        document = {
            "session": number,
            "judged": judged,
            "changed": changed,
            "not_judged": dict(left_out),
        }
        say_json(json.dumps(document, indent=1, ensure_ascii=False))
        return
    say(
        msg(
            "session {n}: {n2} rulings judged again, {n3} changed; {n4} could not be judged",
            n=number,
            n2=judged,
            n3=len(changed),
            n4=left_out.total(),
        )
    )
    for reason, count in left_out.most_common():
        say(f"{count:6} {in_language(reason)}")


def _document(again: Rejudged) -> JsonObject:
    """A changed verdict as plain data."""
    record, changes = (
        again.record,
        [{"what": what, "was": was, "now": now} for what, was, now in again.changes],
    )
    place = {"seq": record.seq, "at_ms": record.at_ms, "code": getattr(record.event, "code", "")}
    return place | {
        "changes": changes,
        "said_was": getattr(record.event, "message", ""),
        "said_now": again.message,
    }


def _lines(again: Rejudged) -> list[str]:
    """A changed verdict as lines for the terminal."""
    document = _document(again)
    lines = [f"record {document['seq']} at {shown_time(document['at_ms'])}, {document['code']}"]
    lines += [
        f"  {what}: was {was or 'none'}, would be {now or 'none'}"
        for what, was, now in again.changes
    ]
    return [
        *lines,
        f"  said then: {in_language(document['said_was'])}",
        f"  says now:  {in_language(document['said_now'])}",
        "",
    ]
