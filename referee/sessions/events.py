"""Events: what happened, as past-tense facts that are never changed, and the JSON they are kept as.

They are never deleted either. A session's state is the fold of its records
(`referee.sessions.state`). Moves are written in the notation of the game's engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

import msgspec

from engines.computer_player import Strength
from engines.game import How
from referee.sessions.misreadings import Misread
from table.errors import InputError
from table.files import convert, parse_json, shown
from table.json_data import JsonObject
from table.messages import NOTHING, Listing, Message, Number, PieceName, Plain, Template, Word, msg
from table.text import check_unicode

SCHEMA = 10
"""Version of the facts below, written into every document; a newer one is refused."""


UNSAID: Message = msgspec.field(default_factory=lambda: NOTHING)
"""Default of a message: a factory, as JSON schemas cannot state its value."""


class Fact(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="fact",
    forbid_unknown_fields=True,
    rename={"message": "said"},
):
    """Base of all facts.

    The log and the API write a fact's `message` as `said`, as they always have. `Choice`,
    `QuestionAsked` and `Answered` have more fields whose names there are older than those here.
    """


class SessionStarted(Fact, frozen=True, kw_only=True, tag="session_started"):
    """A session began with its first game.

    `players` in turn order, clockwise from any of them; `begins` is how it is decided who is first
    (since version 8), and `first` who that is: empty for the first of `players`, and where it is
    rolled for; `message` tells what was decided, where anything was, and `rests_on` what that rests
    on; `rulings` are options of the engine that differ from their defaults, by name; `table` is the
    `rinkside-table/1` document; `started_utc` an ISO 8601 time handed in; `version` that of the
    program; `names` are the people's, by colour; `computers` are the strengths of computer players,
    by colour (since version 10).  A picture of the empty table is the record's frame.
    """

    game: str
    players: tuple[str, ...]
    rulings: dict[str, str] = {}
    camera: Message = UNSAID
    simulated: bool = False
    started_utc: str = ""
    table: JsonObject = {}
    version: str = ""
    names: dict[str, str] = {}
    begins: How = "hand"
    first: str = ""
    message: Message = UNSAID
    rests_on: str = ""
    computers: dict[str, Strength] = {}


class Reopened(Fact, frozen=True, kw_only=True, tag="reopened"):
    """The program, or only its referee, began again and goes on with the session.

    It remembers no table that it saw before. The fields are as in `SessionStarted`, and count from
    here on. `message` is a sentence about what has changed: that the referee had failed, or that
    people go on with another lens; empty otherwise, and in logs of before 0.2.
    """

    camera: Message = UNSAID
    reopened_utc: str = ""
    table: JsonObject = {}
    version: str = ""
    message: Message = UNSAID


class GameStarted(Fact, frozen=True, kw_only=True, tag="game_started"):
    """The next game of the session began; the one before it stands as it is.

    `begins`, `first`, `message` and `rests_on` are as in `SessionStarted`.
    """

    players: tuple[str, ...]
    rulings: dict[str, str] = {}
    begins: How = "hand"
    first: str = ""
    message: Message = UNSAID
    rests_on: str = ""


class VerdictReached(Fact, frozen=True, kw_only=True, tag="ruled"):
    """The referee ruled on a settled table that it saw, or on what it heard.

    `observation` is None for what it heard. `moves` are those that were played (accepted) or tried
    (refused); `stands` are those that count although the act is refused (since version 7).
    `waiting` (since version 8) is a table that rests and is not what the game waits for. `state` is
    the engine's state document after the ruling; `observation` is `rinkside-observation/1` with
    `gaps` and `call` where the game has them. The picture that it rests on is the record's frame.
    """

    verdict: Literal["accepted", "refused", "cannot_see", "out_of_sync", "waiting"]
    code: str
    message: Message
    rests_on: str = ""
    player: str | None = None
    moves: tuple[str, ...] = ()
    stands: tuple[str, ...] = ()
    evidence: JsonObject = {}
    state: JsonObject = {}
    observation: JsonObject | None = None

    @property
    def counted(self) -> tuple[str, ...]:
        """The moves that this ruling adds to the game."""
        return self.moves if self.verdict == "accepted" else self.stands


class InputRecorded(Fact, frozen=True, kw_only=True, tag="noted"):
    """The referee heard what the camera does not see (a die, a vote), with nothing to announce.

    `moves` count. Those of a `secret` one are shown to nobody (`record_document` leaves them out);
    the log keeps them.
    """

    code: str
    message: Message
    rests_on: str = ""
    player: str | None = None
    moves: tuple[str, ...] = ()
    secret: bool = False
    evidence: JsonObject = {}
    state: JsonObject = {}


class Choice(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"confirms_record": "holds"},
):
    """One thing that may have happened: what people are shown, and the moves that it stands for.

    One that `confirms_record` (in the log: `holds`) says that all lies as it is recorded, though
    the camera does not see it; that counts, without moves.
    """

    label: Message
    moves: tuple[str, ...] = ()
    confirms_record: bool = False


class QuestionAsked(
    Fact,
    frozen=True,
    kw_only=True,
    tag="asked",
    rename={"message": "said", "withdrawn_if_table_changes": "until_moved"},
):
    """The picture could not decide and the players were asked; the game waits for `Answered`.

    With `withdrawn_if_table_changes` (in the log: `until_moved`) the question is taken back as soon
    as the table is another one.
    """

    code: str
    message: Message
    choices: tuple[Choice, ...]
    withdrawn_if_table_changes: bool = False
    rests_on: str = ""
    player: str | None = None
    evidence: JsonObject = {}
    state: JsonObject = {}
    observation: JsonObject | None = None


class Answered(
    Fact,
    frozen=True,
    kw_only=True,
    tag="answered",
    rename={"message": "said", "confirms_record": "holds"},
):
    """People decided an open question.

    `question` is the record number of the `QuestionAsked`; `how` says whether they simply said so
    (`order`) or measured (`calliper`, with `readings_mm` by name as they were given); `decided_by`
    names who, as people wrote it.  Where it `confirms_record` (in the log: `holds`), what was not
    seen lies as it is recorded by their word.
    """

    question: int
    label: str
    how: Literal["order", "calliper"]
    decided_by: str
    moves: tuple[str, ...] = ()
    confirms_record: bool = False
    readings_mm: dict[str, float] = {}
    code: str = ""
    message: Message = UNSAID
    rests_on: str = ""
    player: str | None = None
    state: JsonObject = {}


class Corrected(Fact, frozen=True, kw_only=True, tag="corrected"):
    """People replaced what was ruled in record `corrects` by `moves` (none: nothing happened).

    Both stay in the log. `misread` are the pieces of its table that they put right (since version
    8): with them it counts, with or without moves.
    """

    corrects: int
    moves: tuple[str, ...]
    decided_by: str
    reason: str = ""
    misread: tuple[Misread, ...] = ()
    message: Message = UNSAID
    state: JsonObject = {}


class Undone(Fact, frozen=True, kw_only=True, tag="undone"):
    """People took back record `undoes` (a ruling, a question, an answer or the start of a game)."""

    undoes: int
    decided_by: str
    message: Message = UNSAID
    state: JsonObject = {}


class Declared(Fact, frozen=True, kw_only=True, tag="declared"):
    """People said what happened where there was nothing to see.

    `moves` say it: the leader stops, a starting line was marked.
    """

    moves: tuple[str, ...]
    decided_by: str
    message: Message = UNSAID
    state: JsonObject = {}


class Appealed(Fact, frozen=True, kw_only=True, tag="appealed"):
    """A player does not agree with what was ruled in record `appeals`.

    The ruling stands until people correct it or take it back.
    """

    appeals: int
    player: str
    reason: str = ""
    message: Message = UNSAID


class Upheld(Fact, frozen=True, kw_only=True, tag="upheld"):
    """People heard the appeal of record `upholds`, and what was ruled stands."""

    upholds: int
    decided_by: str
    message: Message = UNSAID


class Resigned(Fact, frozen=True, kw_only=True, tag="resigned"):
    """A player gave the game up.

    The last player left has won it; with more of them they play on. With `passed_over`, turns and
    votes pass over that player from then on; not so in older logs, whose moves were played without
    that.
    """

    player: str
    decided_by: str
    message: Message = UNSAID
    passed_over: bool = False
    state: JsonObject = {}


class Paused(Fact, frozen=True, kw_only=True, tag="paused"):
    """The referee was told to look away."""

    decided_by: str


class Resumed(Fact, frozen=True, kw_only=True, tag="resumed"):
    """The referee was told to look again."""

    decided_by: str


class TableChecked(Fact, frozen=True, kw_only=True, tag="table_checked"):
    """Cards or board lie elsewhere, or in their places again, or people reacted to that.

    People had the table measured anew, or played on as it is. Before play also: the board has a
    colour in play, and hides its pieces. `table` is the `rinkside-table/1` document by which the
    table is read from here on, and no picture shows that one empty; without it, it is read as
    before. `decided_by` is empty for what the referee saw by itself.
    """

    message: Message
    table: JsonObject = {}
    decided_by: str = ""


class SeatTaken(Fact, frozen=True, kw_only=True, tag="seat_taken"):
    """Somebody's phone speaks for a player from here on, and nobody else casts their votes."""

    player: str
    message: Message = UNSAID


class SeatFreed(Fact, frozen=True, kw_only=True, tag="seat_freed"):
    """Nobody's phone speaks for a player any more: it was given back, or the host freed it."""

    player: str
    decided_by: str
    message: Message = UNSAID


class ComputerChose(Fact, frozen=True, kw_only=True, tag="computer_chose"):
    """A computer player wants a move to be made on the table (since version 10).

    Somebody makes it, and the referee rules on that as on anybody's move. It counts for nothing by
    itself. `seed` is that of its chance, and `thought_ms` how long it thought.
    """

    player: str
    strength: Strength
    move: str
    message: Message
    seed: int = 0
    thought_ms: int = 0


class SessionEnded(Fact, frozen=True, kw_only=True, tag="session_ended"):
    """Nobody plays on in this session."""

    reason: str = ""


Event = (
    SessionStarted
    | Reopened
    | GameStarted
    | VerdictReached
    | InputRecorded
    | QuestionAsked
    | Answered
    | Corrected
    | Undone
    | Declared
    | Appealed
    | Upheld
    | Resigned
    | Paused
    | Resumed
    | TableChecked
    | SeatTaken
    | SeatFreed
    | ComputerChose
    | SessionEnded
)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """An event in its place in the log.

    `seq` counts all records of a log from 1 and never goes back, whatever the clock does; `session`
    is the seq of the session's first record; `at_ms` is the time that people read, the wall clock
    or a recording's own, and may go back where the clock was set; `frame` says whether a picture is
    kept with it (`Log.frame(seq)`).
    """

    seq: int
    session: int
    at_ms: int
    event: Event
    frame: bool = False


def shows_table(record: Record) -> bool:
    """True if the record has an observation."""
    return (
        isinstance(record.event, VerdictReached | QuestionAsked)
        and record.event.observation is not None
    )


def renumbered(event: Event, numbers: Mapping[int, int]) -> Event:
    """Return the event with its references to records renumbered.

    Raises KeyError for a reference without a number.
    """
    match event:
        case Answered():
            return msgspec.structs.replace(event, question=numbers[event.question])
        case Corrected():
            return msgspec.structs.replace(event, corrects=numbers[event.corrects])
        case Undone():
            return msgspec.structs.replace(event, undoes=numbers[event.undoes])
        case Appealed():
            return msgspec.structs.replace(event, appeals=numbers[event.appeals])
        case Upheld():
            return msgspec.structs.replace(event, upholds=numbers[event.upholds])
        case _:
            return event


def encode(event: Event) -> str:
    """The event as one line of JSON with its schema version.

    Raises InputError for text that is no valid Unicode, TypeError or ValueError for what JSON
    cannot say.
    """
    text = json.dumps(event_document(event), ensure_ascii=False, allow_nan=False)
    check_unicode(text, type(event).__name__)
    return text


def event_document(event: Event) -> JsonObject:
    """Return the event as the log stores it: messages as templates and values."""

    def kept(value: Any) -> Any:
        if not isinstance(value, Message):
            return value
        content = value.content
        return content.text if isinstance(content, Plain) else msgspec.to_builtins(content)

    return {"schema": SCHEMA, **msgspec.to_builtins(event, enc_hook=kept)}


def decode(text: str, where: str) -> Event:
    """Parse an event; `where` names the place in messages.

    Raises InputError for text that is not JSON, a newer schema, an unknown fact or field, or a
    value of the wrong type.
    """
    return decode_document(parse_json(text, where), where)


def decode_document(document: Any, where: str) -> Event:
    """Convert an event's document that was read from JSON; the document is modified.

    Raises InputError as `decode` does.
    """
    if not isinstance(document, dict):
        raise InputError(
            msg(
                "{where}: expected an event as a JSON object, got {raw}",
                where=where,
                raw=shown(document),
            )
        )
    schema = document.pop("schema", None)
    if not isinstance(schema, int) or schema < 1:
        raise InputError(
            msg(
                "{where}: schema: expected 1 to {n}, got {raw}",
                where=where,
                n=SCHEMA,
                raw=shown(schema),
            )
        )
    if schema > SCHEMA:
        raise InputError(
            msg(
                "{where}: schema: expected {n} or older, got {n2}; a newer Rinkside"
                " wrote it, update this one",
                where=where,
                n=SCHEMA,
                n2=schema,
            )
        )
    if "evidence" in document:
        document["evidence"] = _with_messages(document["evidence"])
    return convert(document, Event, where, restored=_decoded_message)  # type: ignore[arg-type]  # mypy: a union is no class


MESSAGE_TAGS = [kind.__struct_config__.tag for kind in (Template, Listing, Word, Number, PieceName)]
"""Values of `type` in a message as the log stores it."""


def _with_messages(value: Any) -> Any:
    """Restore the messages in evidence.

    A message that ends with a full stop is a sentence.
    """
    if isinstance(value, list):
        return [_with_messages(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in MESSAGE_TAGS:
        with suppress(msgspec.ValidationError):
            part = Message.restored(value)
            return part if part.endswith((".", "?", "!")) else Message(part.content, sentence=False)
    return {name: _with_messages(one) for name, one in value.items()}


def _decoded_message(kind: type, value: Any) -> Any:
    """Restore a message; before schema 9 it was the English sentence."""
    if kind is not Message:
        raise NotImplementedError(kind)
    return Message.restored(value)


def record_document(record: Record) -> JsonObject:
    """Return a record as plain data for people, with messages in English.

    It has seq, session, at_ms, frame, schema, fact and the fact's own fields. Moves of secret
    inputs are left out.
    """
    place = {
        "seq": record.seq,
        "session": record.session,
        "at_ms": record.at_ms,
        "frame": record.frame,
    }
    document = {**place, "schema": SCHEMA, **msgspec.to_builtins(record.event, enc_hook=str)}
    return document | {"moves": []} if document.get("secret") else document


def public_document(record: Record) -> JsonObject:
    """Return a record for other programs of this project, with messages as in the log.

    Moves of secret inputs are left out, as in `record_document`.
    """
    place = {
        "seq": record.seq,
        "session": record.session,
        "at_ms": record.at_ms,
        "frame": record.frame,
    }
    document = {**place, **event_document(record.event)}
    return document | {"moves": []} if document.get("secret") else document


def read_public_document(document: JsonObject, where: str) -> Record:
    """The record in a `public_document`; raises InputError as `decode` does."""
    rest = dict(document)
    place = {name: rest.pop(name, None) for name in ("seq", "session", "at_ms", "frame")}
    event = decode_document(rest, where)
    return convert({**place, "event": event}, Record, where)
