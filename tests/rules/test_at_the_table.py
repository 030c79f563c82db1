"""Every sentence of the rules that has a script of what happens at a table: by the judge alone, and
through the whole referee.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from engines import GAMES
from engines.verdict import Accepted, Ambiguous, CannotSee, Noted, OutOfSync, Refused, Waiting
from referee.live.referee import Referee
from referee.sessions import events
from referee.sessions.commands import Answer, parse_command
from referee.sessions.event_store import Log
from referee.sessions.session import Session
from table.errors import InputError
from tests.support.setups import setup_of
from tests.support.table_hands import HANDS
from tests.support.table_scripts import (
    CHECKS,
    NOTHING,
    Came,
    begins,
    check,
    choices_written,
    heard,
    tables,
    written,
)
from tools.rules import all_sentences
from vision.cameras.frame import Frame

pytestmark = pytest.mark.slow

SCRIPTS = [
    pytest.param(rule.game, rule.at_table, id=rule.id) for rule in all_sentences() if rule.at_table
]
KINDS = {
    Accepted: "accepted",
    Refused: "refused",
    OutOfSync: "out_of_sync",
    CannotSee: "cannot_see",
    Noted: "noted",
}
PERIOD_MS = 250


class Judged:
    """The judge alone, told what lies on the table; what it accepts is played, as the referee
    does.
    """

    def __init__(self, game, first):
        self.game, self.hands = GAMES[game], HANDS[game](begins(first))
        self.state, self.asked = self.hands.state, None
        self.before, self.first = None, first.startswith("players ")

    def lay_out(self):
        """The table is seen as the script begins."""
        if self.first:
            self.look()
        else:
            self.before = self.hands.seen()

    def look(self):
        seen = self.hands.seen()
        return self._take(self.game.judge(self.state, seen, self.before, self.hands.board), seen)

    def hear(self, words):
        return self._take(self.game.hear(self.state, heard(words)), None)

    def answer(self, beginning):
        verdict, seen = self.asked
        (label,) = (
            choice.label for choice in verdict.choices if choice.label.startswith(beginning)
        )
        return self._take(self.game.judge_answer(verdict, label), seen)

    @property
    def document(self):
        return self.game.state_document(self.state)

    def _take(self, verdict, seen):
        match verdict:
            case Waiting():
                return NOTHING
            case Ambiguous():
                self.asked = verdict, verdict.table or seen
                return Came(
                    "asked",
                    verdict.code,
                    choices_written(verdict.choices),
                    verdict.rests_on,
                    verdict.message,
                )
        counts = verdict.stands if isinstance(verdict, Refused) else getattr(verdict, "moves", ())
        for text in counts:
            self.state = self.game.play(self.state, self.game.parse_move(text))
        if seen and (counts or isinstance(verdict, Accepted)):
            self.before = verdict.table or seen
        tried = written(getattr(verdict, "moves", None) or getattr(verdict, "tried", ()))
        return Came(
            KINDS[type(verdict)],
            verdict.code,
            tried,
            verdict.rests_on,
            " ".join((verdict.message, *getattr(verdict, "differences", ()))),
        )


def begun_at(game, state):
    """An engine whose games begin in a state, laid out as it says; everything else is the engine's
    own.
    """
    engine = GAMES[game]
    names = {name: getattr(engine, name) for name in engine.__all__}

    def judge(now, seen, before, board):
        if before is None and now == state:
            return Accepted(code="laid_out", message="It lies as the script begins.", moves=())
        return engine.judge(now, seen, before, board)

    return SimpleNamespace(
        **names
        | {"set_up": lambda *_: state, "judge": judge, "hear": lambda *given: engine.hear(*given)}
    )


class Refereed:
    """The whole loop: frames with hands between them, settling, the judge, the session and its
    log.
    """

    def __init__(self, game, first, path):
        self.hands, self.log = HANDS[game](begins(first)), Log(path)
        state, later = self.hands.state, first.startswith("state ")
        games = {game: begun_at(game, state) if later else GAMES[game]}
        board = msgspec.to_builtins(self.hands.board)
        rulings = {} if later else dict(GAMES[game].state_document(state)["rulings"])
        started = events.SessionStarted(
            game=game, players=state.players, rulings=rulings, table={"board": board}
        )
        self.session = Session.begin(self.log, started, games=games)
        self.at_ms, self.shown, self.last_seq = 0, [], self.session.ledger.seq

    def frames(self):
        """A hand, and then the table at rest for a second."""
        seen = self.hands.seen()
        for hand in (True, False, False, False, False):
            self.shown.append(replace(seen, at_ms=self.at_ms, hand=hand))
            self.at_ms += PERIOD_MS
            yield Frame(len(self.shown) - 1, self.shown[-1].at_ms, np.zeros((24, 32, 3), np.uint8))

    def observe(self, frame, *_):
        """What is seen in a frame."""
        return self.shown[frame.seq]

    def came(self):
        """What was said since this was asked last: one thing, or rulings one after the other that
        all count.
        """
        records = [record.event for record in self.session.records(self.last_seq)]
        self.last_seq = self.session.ledger.seq
        found = [
            event
            for event in records
            if isinstance(
                event,
                events.VerdictReached
                | events.QuestionAsked
                | events.InputRecorded
                | events.Answered,
            )
        ]
        if not found:
            return NOTHING
        *earlier, last = found
        kinds = {getattr(event, "verdict", type(event).__name__) for event in earlier}
        assert kinds <= {"accepted", "waiting"}, found
        match last:
            case events.QuestionAsked() as asked:
                return Came(
                    "asked",
                    asked.code,
                    choices_written(asked.choices),
                    asked.rests_on,
                    asked.message,
                )
            case events.Answered() as answered:
                return Came("accepted", "", written(answered.moves), "", answered.message)
            case event:
                moves = written([move for each in found for move in each.moves])
                return Came(
                    getattr(event, "verdict", "noted"),
                    event.code,
                    moves,
                    event.rests_on,
                    event.message,
                )

    def hear(self, words):
        with suppress(InputError):  # what the game has no use for now
            self.session.command(parse_command({"command": "hear", "said": heard(words)}))
        return self.came()

    def answer(self, beginning):
        question = self.session.ledger.question
        (label,) = (
            choice.label for choice in question.event.choices if choice.label.startswith(beginning)
        )
        self.session.command(Answer(question=question.seq, label=label))
        return self.came()

    @property
    def document(self):
        return self.session.view().state


class Played:
    """A script as it is played; `unset` as its first line: the table is not looked at before the
    first act.
    """

    def __init__(self, at, lines):
        self.at, self.laid_out = at, lines[0] != "unset"
        self.lines = [line for line in lines if not line.startswith(("lay ", "unset"))]
        for line in lines:
            if line.startswith("lay "):
                at.hands.act(line.removeprefix("lay "))
        self.kept, self.due, self.came = at.hands.kept(), not self.laid_out, NOTHING

    def act(self, line):
        """Hands or mouths do something; what comes of words, if that is known at once."""
        word, _, rest = line.partition(" ")
        if word in ("say", "answer"):
            self.came, self.due = (self.at.hear if word == "say" else self.at.answer)(rest), False
            return
        self.due = True
        if line == "back":
            self.at.hands.back(self.kept)
        elif line != "look":
            self.at.hands.act(line)

    def check(self, line):
        """Does a line of the script hold?"""
        self.due = self.due and not line.startswith("->")
        check(line, self.came, self.at.document)
        if self.came.kind in ("accepted", "noted"):
            self.kept = self.at.hands.kept()


@pytest.mark.parametrize(("game", "script"), SCRIPTS)
def test_judge(game, script):
    for first, *lines in tables(script):
        at = Judged(game, first)
        script = Played(at, lines)
        if script.laid_out:
            at.lay_out()
        for line in script.lines:
            if not line.startswith(CHECKS):
                script.act(line)
                continue
            if line.startswith("->") and script.due:
                script.came = at.look()
            script.check(line)


def shots(at, script):
    """The frames that a camera takes while a script is played; what comes of them is checked before
    the next one is taken.
    """
    if script.laid_out:
        yield from at.frames()
        at.came()
    for line in script.lines:
        if not line.startswith(CHECKS):
            script.act(line)
            continue
        if line.startswith("->") and script.due:
            yield from at.frames()
            script.came = at.came()
        script.check(line)


@pytest.mark.parametrize(("game", "script"), SCRIPTS)
def test_referee(game, script, tmp_path):
    for number, (first, *lines) in enumerate(tables(script)):
        at = Refereed(game, first, tmp_path / f"{number}.sqlite")
        frames = shots(at, Played(at, lines))
        camera = SimpleNamespace(read=lambda frames=frames: next(frames, None), close=lambda: None)
        Referee(
            camera, setup_of(at.hands.board, at.session.ledger.players), at.observe, at.session
        ).run()
        assert next(frames, None) is None, "the script was played to its end"
        at.session.close()
        at.log.close()
