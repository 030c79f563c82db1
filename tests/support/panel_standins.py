"""What stands in for a session and a moment: an Ice Boule end with a target and seven projectiles,
a reserve beside the board.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import cv2
import msgspec
import numpy as np

from calibration.progress import LensGuide
from calibration.wizard import Job, Step
from engines import GAMES
from referee.live.correction import CorrectedVerdict, PieceCorrection
from referee.live.table_monitor import TableRequest
from referee.presentation.session_view import SessionView
from referee.sessions.commands import Command, Hear, Undo
from referee.sessions.event_store import Log
from referee.sessions.events import (
    Choice,
    InputRecorded,
    Paused,
    Record,
    SeatFreed,
    SeatTaken,
    SessionStarted,
    VerdictReached,
)
from referee.sessions.secret_votes import AffectedVotes
from referee.sessions.session import Session
from referee.sessions.status import Pointed, RefereeStatus, Seen
from table.clearance import clearance
from table.errors import InputError
from table.messages import as_message, msg, phrase, sentences
from table.observation import Camera, Observation, SeenPiece, observation_document
from table.pieces import load_piece_set
from table.solids import lying, upright
from table.table_config import FORMAT, Setup, parse_table, table_document

LARGE = load_piece_set("looney")["large"]
PLAYERS = ("blue", "yellow")
TARGET_MM = (339.5, 262.1, 19.5)
THROWN = [  # colour, base x, base y, heading
    ("yellow", 386.0, 312.0, 195.0),
    ("yellow", 246.3, 239.7, 75.0),
    ("blue", 331.8, 183.7, 143.0),
    ("blue", 437.8, 274.7, 59.8),
    ("yellow", 224.4, 346.8, 300.0),
    ("blue", 190.1, 171.2, 100.0),
    ("blue", 567.8, 98.1, 187.2),
]


def marker(number: int, x: float, y: float) -> dict[str, Any]:
    return {"id": number, "corners_mm": [[x, y], [x + 40, y], [x + 40, y - 40], [x, y - 40]]}


def table_words(board: dict[str, Any], game: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "camera": {
            "width": 640,
            "height": 480,
            "matrix": [[600, 0, 320], [0, 600, 240], [0, 0, 1]],
            "distortion": [0, 0, 0, 0, 0],
        },
        "fiducials": {
            "z_mm": 0.15,
            "markers": [
                marker(0, -30, 502),
                marker(1, 658, 502),
                marker(2, 658, 10),
                marker(3, -30, 10),
            ],
        },
        "board": board,
        "game": game,
    }


def boule_table() -> Setup:
    outline = [[0, 0], [668, 0], [668, 472], [0, 472]]
    game = {"name": "ice_boule", "colours": list(PLAYERS), "target": "green", "sizes": ["large"]}
    return parse_table(table_words({"kind": "open", "outline_mm": outline}, game))


def storm_table() -> Setup:
    board = {"kind": "chessboard", "square_mm": 55, "files": 8, "ranks": 8, "origin_mm": [100, 20]}
    return parse_table(
        table_words(board, {"name": "ice_storm", "colours": list(PLAYERS), "sizes": ["large"]})
    )


def seen_end() -> Observation:
    """Seven projectiles around a green target, with covariances of a camera at 1.3 m."""
    covariance = np.array([[0.09, 0.03, 0.0], [0.03, 0.05, 0.0], [0.0, 0.0, 0.2]])
    x, y, heading = TARGET_MM
    target = SeenPiece(
        "green",
        "large",
        "upright",
        np.array([x, y]),
        heading,
        upright(LARGE, x, y, heading),
        covariance,
    )
    pieces = [
        SeenPiece(
            colour,
            "large",
            "lying",
            np.array([px, py]),
            turn,
            lying(LARGE, px, py, turn),
            covariance,
            0.99,
            1.0,
            1.0,
        )
        for colour, px, py, turn in THROWN
    ]
    reserve = SeenPiece(
        "blue",
        "large",
        "upright",
        np.array([620.0, -14.0]),
        0.0,
        upright(LARGE, 620.0, -14.0, 0.0),
        covariance,
    )
    camera = Camera(
        np.diag([1.0, -1.0, -1.0]),
        np.array([-330.0, 230.0, 1300.0]),
        np.eye(6) * 1e-4,
        0.21,
        (0, 1, 3),
    )
    return Observation(
        88, 22_000, camera, (target, *pieces), (reserve,), notes=("fiducial 2 is covered",)
    )


def ranking(seen: Observation) -> list[dict[str, Any]]:
    target = seen.pieces[0]
    rows = []
    for piece in seen.pieces[1:]:
        apart = clearance(piece.solid, target.solid)
        rows.append(
            {
                "colour": piece.colour,
                "size": piece.size,
                "gap_mm": apart.mm,
                "sigma_mm": 0.14,
                "on_target": False,
                "touching": apart.mm == 0,
                "base_mm": [round(float(v), 3) for v in piece.base_mm],
                "points_mm": [
                    [round(float(v), 3) for v in point] for point in (apart.a_mm, apart.b_mm)
                ],
            }
        )
    rows.sort(key=lambda row: row["gap_mm"])
    return [{"place": place} | row for place, row in enumerate(rows, 1)]


def verdict(seq: int, player: str, message: str, **changed: Any) -> dict[str, Any]:
    evidence = {
        "gap_mm": 12.05,
        "sigma_mm": 0.14,
        "pieces": 8,
        "margin_mm": 8.31,
        "nearest": [{"colour": "yellow", "gap_mm": 12.05}],
    }
    row = {
        "seq": seq,
        "at_ms": 1250 * seq,
        "kind": "ruled",
        "verdict": "accepted",
        "code": "boule.throw",
        "player": player,
        "said": message,
    }
    row |= {
        "clauses": [
            {"name": "Play", "said": "Throw until you lead."},
            {"name": "ruling ice_boule.1", "said": "As a calliper would."},
        ]
    }
    row |= {
        "rests_on": "Play; ruling ice_boule.1",
        "moves": [f"throw {player} large 12.05"],
        "evidence": evidence,
        "frame": seq,
        "decided_by": None,
    }
    return (
        row
        | {"refers_to": None, "overturned_by": None, "call": f"Call {seq}.", "sound": "turn"}
        | changed
    )


QUESTION = {
    "seq": 17,
    "at_ms": 21_250,
    "code": "boule.too_close",
    "player": "blue",
    "said": "Blue at 20.4 mm and yellow at 20.3 mm are too close to call: which one is nearer?",
    "rests_on": "ruling ice_boule.2",
    "clauses": [{"name": "ruling ice_boule.2", "said": "Too close to call is for people."}],
    "choices": [
        {"label": "blue is nearer", "moves": ["blue"]},
        {"label": "yellow is nearer", "moves": ["yellow"]},
        {"label": "equal", "moves": []},
    ],
    "evidence": {"difference_mm": 0.1, "sigma_mm": 0.2},
    "frame": 17,
}


def sample_view() -> dict[str, Any]:
    seen = seen_end()
    rows = ranking(seen)
    return {
        "session": 1,
        "seq": 16,
        "at_ms": 20_000,
        "started_utc": "2026-11-21T14:00:00+00:00",
        "game": "ice_boule",
        "game_number": 1,
        "players": list(PLAYERS),
        "names": {},
        "rulings": {},
        "camera": "simulated:boule",
        "simulated": True,
        "phase": "playing",
        "next": "blue",
        "scores": {"blue": 3, "yellow": 5},
        "ends": [
            {"winner": "yellow", "points": 2},
            {"winner": "blue", "points": 3},
            {"winner": "yellow", "points": 3},
        ],
        "outcome": None,
        "resigned": [],
        "may_begin": [],
        "hidden": {},
        "appeals": [],
        "earlier_games": [],
        "options": [
            {"who": "blue", "said": msg("throws now, {n} still to throw", n=2), "marks": []},
            {"who": "yellow", "said": msg("has no throws left"), "marks": []},
        ],
        "trace": [],
        "lamps": {"signal": "turn", "of": ["blue"], "leader": "yellow"},
        "state": {
            "leading": "yellow",
            "next": "blue",
            "phase": "throw",
            "points_if_over": 2,
            "gap_mm": rows[0]["gap_mm"],
            "pieces": "yellow 21.60",
            "scores": {"blue": 3, "yellow": 5},
            "turn": "Blue throws next.",
            "rulings": {},
            "state": "players blue yellow; ...",
            "outcome": None,
        },
        "observation": observation_document(seen),
        "ranking": rows,
        "earlier": None,
        "question": None,
        "verdicts": verdicts_of_the_end(),
    }


def verdicts_of_the_end() -> list[dict[str, Any]]:
    return [
        verdict(
            16,
            "yellow",
            sentences(
                msg(
                    "{player}'s piece lies {mm} mm from the target.",
                    player="yellow",
                    mm="21.6 ± 0.3",
                ),
                msg(
                    "{text}.", text=phrase("{player} leads, at {mm} mm", player="yellow", mm="21.6")
                ),
                msg("{player} throws next.", player="blue"),
            ),
        ),
        verdict(
            14,
            "blue",
            "Blue's piece lies 45.4 ± 0.3 mm from the target. Yellow still leads. Blue throws"
            " again.",
        ),
        verdict(
            12,
            "blue",
            "The players measured, and blue leads.",
            verdict="by hand",
            kind="answered",
            decided_by="Ann",
        ),
        verdict(
            9, "yellow", "Yellow's throw left the board and does not count.", verdict="refused"
        ),
        verdict(
            7, "blue", "Blue throws first and leads: 57.5 ± 0.4 mm.", frame=None, overturned_by=8
        ),
    ]


def view_of(document: dict[str, Any]) -> SessionView:
    """Convert a document to a view."""
    view = msgspec.convert(
        document, SessionView, dec_hook=lambda _kind, message: as_message(message)
    )
    # what a game says beside the keys of all games is left out by `convert`
    return msgspec.structs.replace(view, state=document["state"])


def records(first: int, last: int) -> list[Record]:
    ruled = VerdictReached(
        verdict="accepted", code="boule.throw", message="Blue leads.", player="blue"
    )
    return [
        Record(seq=seq, session=1, at_ms=1000 * seq, event=ruled, frame=True)
        for seq in range(first, last + 1)
    ]


def picture() -> bytes:
    image = np.full((480, 640, 3), (60, 90, 120), np.uint8)
    cv2.rectangle(image, (80, 60), (560, 420), (210, 220, 225), -1)
    return cv2.imencode(".jpg", image)[1].tobytes()


STORM = [
    "throw red b3-b4>b4",
    "throw yellow e5",
    "throw blue b7",
    "throw red off",
    "throw yellow off",
    "throw blue c1: yellow1 off",
    *("throw red off", "throw yellow off", "throw blue off") * 3,
    "capture blue1",
]


def keep_sessions(opened: Log, live: FakeLive) -> tuple[Session, Session, Session]:
    """Into a log: a session of Ice Boule, measured, one of Ice Storm, and one of IceFloe with votes
    that are not shown yet.
    """
    return _boule_session(opened, live), _storm_session(opened), _floe_session(opened)


def _boule_session(opened: Log, live: FakeLive) -> Session:
    setup, seen = live.setup, live.latest.observation
    names = {"blue": "Anna <A>", "yellow": "Ben"}
    started = SessionStarted(
        game="ice_boule",
        players=("blue", "yellow"),
        table=table_document(setup),
        names=names,
        started_utc="2026-11-21T14:00:00+00:00",
    )
    boule = Session.begin(opened, started)
    boule.tick(1000)
    boule.append(
        VerdictReached(
            verdict="accepted",
            code="boule.target",
            message="The green target is upright.",
            moves=("target green",),
        )
    )
    gap = {
        "colour": "blue",
        "size": "large",
        "gap_mm": 57.52,
        "sigma_mm": 0.2,
        "on_target": False,
        "touching": False,
    }
    gap |= {"base_mm": [240.0, 150.0], "points_mm": [[0, 0, 0], [1, 1, 0]]}
    document = observation_document(seen) | {"gaps": [gap]}
    throw = VerdictReached(
        verdict="accepted",
        code="boule.throw",
        player="blue",
        message="Blue's piece lies 57.5 ± 0.4 mm from the target.",
        rests_on="Play",
        moves=("throw blue large 57.52: blue 57.52",),
        observation=document,
    )
    boule.tick(5000)
    boule.append(throw, live.picture)
    return boule


def _storm_session(opened: Log) -> Session:
    storm = Session.begin(
        opened, SessionStarted(game="ice_storm", players=("red", "yellow", "blue"), simulated=True)
    )
    for number, move in enumerate(STORM):
        storm.tick(1000 * number)
        storm.append(
            VerdictReached(
                verdict="accepted",
                code="storm.throw",
                message=f"{move}.",
                player=move.split()[1],
                moves=(move,),
            )
        )
    return storm


def _floe_session(opened: Log) -> Session:
    floe = Session.begin(opened, SessionStarted(game="icefloe", players=("red", "black", "blue")))
    moves = [str(move) for move in _to_the_vote()]
    floe.append(
        VerdictReached(
            verdict="accepted", code="icefloe.move", message="All moved.", moves=tuple(moves)
        )
    )
    floe.append(
        InputRecorded(
            code="icefloe.vote",
            message="Red has voted.",
            player="red",
            moves=("vote red 4",),
            secret=True,
        )
    )
    return floe


def _to_the_vote():
    game = GAMES["icefloe"]
    state = game.start(("red", "black", "blue"), {})
    while state.phase != "vote":
        move = next(move for move in game.legal_moves(state) if ":" in str(move))
        yield move
        state = game.play(state, move)


class FakeSession:
    """Keeps records in memory, obeys every command, and remembers them; `refuse` is raised
    instead.
    """

    def __init__(self) -> None:
        self.kept = records(1, 16)
        self.shown = sample_view()
        self.commands: list[Command] = []
        self.seated: list[SeatTaken | SeatFreed] = []
        self.refuse: Exception | None = None
        self.closed = False
        # by a server, whose thread for streams would never rest where waiting takes no time
        self.served = False

    @property
    def seq(self) -> int:
        return self.kept[-1].seq

    def view(self) -> SessionView:
        return view_of(self.shown | {"seq": self.seq})

    def records(self, after: int = 0, most: int | None = None) -> tuple[Record, ...]:
        return tuple(record for record in self.kept if record.seq > after)[:most]

    def wait(self, after: int, timeout_s: float | None = None) -> tuple[Record, ...]:
        assert timeout_s is not None, "a stream that waits for ever sends no beat"
        if self.served and not self.records(after):
            threading.Event().wait(min(timeout_s, 0.02))
        return self.records(after)

    def frame(self, seq: int) -> bytes | None:
        return picture() if seq in (14, 16, 17) else None

    def seat(self, event: SeatTaken | SeatFreed) -> None:
        if self.refuse is not None:
            raise self.refuse
        self.seated.append(event)

    def alternatives(self, seq: int) -> tuple[Choice, ...]:
        if seq not in (12, 14, 16):
            raise InputError(
                f"record {seq} is not a ruling of this game, so it cannot be corrected"
            )
        return (
            Choice(label="Blue's piece is on the target", moves=("throw blue large 0",)),
            Choice(label="Nothing that counts happened"),
        )

    def touched(self, command: Command) -> AffectedVotes:
        """Affected votes as in IceFloe; votes in the view's `hidden` can be revoked."""
        if isinstance(command, Hear):
            voter = GAMES["icefloe"].secret_voter(command.heard)
            return AffectedVotes(frozenset([voter] if voter else []))
        if isinstance(command, Undo):
            return AffectedVotes(
                frozenset(
                    player for player, seq in self.shown["hidden"].items() if seq == command.record
                )
            )
        return AffectedVotes()

    def command(
        self, command: Command, allow: Callable[[Command], Command] | None = None
    ) -> Record:
        if allow is not None:
            command = allow(command)
        if self.refuse is not None:
            raise self.refuse
        self.commands.append(command)
        self.kept.append(
            Record(
                seq=self.kept[-1].seq + 1,
                session=1,
                at_ms=0,
                event=Paused(decided_by=command.decided_by),
            )
        )
        return self.kept[-1]


class FakeTable:
    """A table in preparation that records requests."""

    def __init__(self, live: FakeLive) -> None:
        self.setup, self.jpeg, self.frame_seq = live.setup, live.jpeg, 88
        self.lens: LensGuide | None = None
        self.wishes: list[str] = []
        self.refuse: Exception | None = None
        self.shown = {
            "camera": Step(True, ("simulated table, 640 × 480 px.",)),
            "lens": Step(
                False, ("First estimate only: lengths are rough until the lens is calibrated.",)
            ),
            "table": Step(None, ("Not checked yet.",), when="2026-11-21T14:00:00+00:00"),
            "colours": Step(
                True,
                ("Learned in this light: blue and yellow.",),
                refusal="expected pieces, but there are none",
            ),
        }

    def steps(self) -> dict[str, Step]:
        return dict(self.shown)

    def request_job(self, job: Job) -> None:
        if self.refuse is not None:
            raise self.refuse
        self.wishes.append(job)


class FakeLive:
    """A live state that is constant until `become` changes it."""

    def __init__(self) -> None:
        self.setup = boule_table()
        self.latest = RefereeStatus(
            status="waiting",
            message=msg("Waiting for the next throw or move."),
            stamp=1,
            frame_seq=88,
            at_ms=22_000,
            observation=seen_end(),
        )
        self.picture: bytes | None = picture()
        self.seen = Seen()
        self.wishes: list[TableRequest] = []
        self.corrections: list[PieceCorrection] = []
        self.no_table: Exception | None = None

    def become(self, **changed: Any) -> None:
        self.latest = replace(self.latest, stamp=self.latest.stamp + 1, **changed)

    def point_at(self, question: int, label: str) -> None:
        self.become(pointed=Pointed(question, label))

    def jpeg(self) -> bytes | None:
        return self.picture

    def request_table(self, request: TableRequest) -> None:
        self.wishes.append(request)

    def last_table(self) -> tuple[int, Observation]:
        if self.no_table is not None:
            raise self.no_table
        return 16, seen_end()

    def reread(self, pieces: Sequence[PieceCorrection]) -> CorrectedVerdict:
        self.corrections = list(pieces)
        return CorrectedVerdict(
            16,
            "Blue's piece lies nearer.",
            (("so it was", ("throw blue large 9.00", "void")),),
            ("blue large was read as red",),
        )
