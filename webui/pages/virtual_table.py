"""A virtual table as a part of the panel: its bodies, and people's actions on them."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

import msgspec
from flask import Blueprint, Response, make_response, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from table.files import convert
from table.messages import msg
from webui.interfaces import LivePort, TutorPort, VirtualTablePort
from webui.security.login import visitor
from webui.security.permissions import Visitor
from webui.security.requests import Refusal, json_body
from webui.svg.marks import draw_marks
from webui.svg.virtual_table import count_bodies, draw_body

Place = Annotated[float, msgspec.Meta(ge=-10_000, le=10_000)]
Text = Annotated[str, msgspec.Meta(max_length=60)]
Pace = Literal["play", "slow", "pause", "step"]
Act = Literal["hold", "drop", "turn", "stand", "lie", "stack", "take", "roll", "put back", "clear"]


class Touch(msgspec.Struct, forbid_unknown_fields=True):
    """A hand's action on a piece: move its middle to a place and turn it."""

    do: Act
    piece: Text = ""
    x_mm: Place = 0.0
    y_mm: Place = 0.0
    turn_deg: Place = 0.0


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """A host's request to the simulated players: take a seat, or change the pace."""

    sit: Text = ""
    leave: Text = ""
    pace: Pace | None = None


def may_touch(who: Visitor) -> bool:
    """True if a visitor may move pieces: hosts, and holders of a seat."""
    return who.role == "host" or who.seat is not None


class LessonWish(msgspec.Struct, forbid_unknown_fields=True):
    """A host's choice of a lesson to begin."""

    number: int


def virtual_table(
    live: LivePort, virtual: VirtualTablePort, tutor: TutorPort | None = None
) -> Blueprint:
    """The routes of a virtual table; its page is the panel's."""
    routes = Blueprint("virtual", __name__, url_prefix="/virtual")

    @routes.get("")
    def now() -> AnyResponse:
        look, who = virtual.look(), visitor()
        lesson = tutor and tutor.look()
        page = render_template(
            "_virtual_now.html",
            now=look,
            bodies=[draw_body(body) for body in look.bodies],
            reserve=count_bodies(look.reserve),
            colours=live.setup.game.colours,
            hosting=who.role == "host",
            lesson=lesson,
            shown=draw_marks(live.setup.board, lesson.marks) if lesson else (),
        )
        response: Response = make_response(page)
        response.set_etag(hashlib.sha256(page.encode()).hexdigest()[:32])
        return response.make_conditional(request)

    @routes.post("")
    def touch() -> tuple[str, int]:
        if not may_touch(visitor()):
            raise Refusal(403, "no_seat", msg("Take a seat first, then move the pieces."))
        act = convert(json_body(), Touch, "table")
        virtual.act(act.do, act.piece, act.x_mm, act.y_mm, act.turn_deg)
        return "", 204

    @routes.post("/players")
    def players() -> tuple[str, int]:
        if visitor().role != "host":
            raise Refusal(403, "host_only", msg("Only the host decides who plays, and how fast."))
        wish = convert(json_body(), Wish, "table")
        for colour, here in ((wish.sit, True), (wish.leave, False)):
            if colour:
                virtual.sit(colour, here)
        if wish.pace is not None:
            virtual.run(wish.pace)
        return "", 204

    @routes.post("/lesson")
    def lesson() -> tuple[str, int]:
        if visitor().role != "host":
            raise Refusal(403, "host_only", msg("Only the host chooses the lesson."))
        if tutor is None:
            raise Refusal(404, "no_lessons", msg("No lessons are given here."))
        tutor.begin(convert(json_body(), LessonWish, "lesson").number)
        return "", 204

    return routes
