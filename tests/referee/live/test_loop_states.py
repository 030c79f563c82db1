"""Every frame puts the loop in one declared state, and states follow each other as declared."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

from calibration.table.drift import DriftCheck
from referee.live.referee import HANDLERS, Referee
from referee.live.states import OUTSIDE, RULES, TRANSITIONS, FrameFacts, LoopState, classify
from referee.live.table_monitor import TableMonitor
from referee.sessions.commands import Answer, NextGame, Pause, Resign, Resume
from referee.sessions.session import Session
from table.errors import InputError
from table.observation import Unusable
from table.table_file import TableFile
from tests.support.setups import setup_of
from tools.loop_page import PAGE, page
from vision.cameras.base import CameraLost

SCRIPTS, STEPS = 250, 40
GAPS_MS = (20, 100, 250, 600, 1500, 5000)


def test_every_combination_of_facts_leads_to_the_first_rule_that_applies():
    names = [field.name for field in fields(FrameFacts)]
    reached = set()
    for values in product((False, True), repeat=len(names)):
        facts = FrameFacts(**dict(zip(names, values, strict=True)))
        state = classify(facts)
        first = next(rule for rule in RULES if rule.applies(facts))
        assert state is first.state
        reached.add(state)
    assert reached == {rule.state for rule in RULES}, "no rule is hidden by those before it"


def test_every_state_of_a_frame_has_one_rule_and_one_handler():
    assert len({rule.state for rule in RULES}) == len(RULES)
    assert set(HANDLERS) == {rule.state for rule in RULES}
    assert set(HANDLERS) | set(OUTSIDE) == set(LoopState)
    assert len(set(HANDLERS.values())) == len(HANDLERS)


def test_every_state_can_be_reached_from_the_start_and_all_but_the_end_can_be_left():
    reached, left = {LoopState.STARTING}, {LoopState.STARTING}
    while left:
        left = {after for before, after in TRANSITIONS if before in left} - reached
        reached |= left
    assert reached == set(LoopState)
    assert {before for before, _ in TRANSITIONS} == set(LoopState) - {LoopState.ENDED}


def test_the_page_shows_the_table_of_the_code():
    assert PAGE.read_text(encoding="utf-8") == page(), "make loop"


class Evening:
    """A session and a film in which anything may come next: frames at any distance in time, hands,
    lost cameras, cards that move, and people who pause, answer, resign and begin again.
    """

    def __init__(self, session, film_of, seen, piece, chance, path):
        red, blue = piece("red", 50, 50), piece("blue", 150, 50)
        self.session, self.chance, self.at_ms, self.moved = session, chance, 0, False
        self.tables = [
            seen(0),
            seen(0, red),
            seen(0, red, blue),
            seen(0, blue),
            seen(0, replace(red, colour_probability=0.6)),
            seen(0, piece("red", 50, 50, pose="leaning")),
        ]
        self.table, self.hand = self.tables[0], False
        shots = []
        for _ in range(STEPS):
            shots += self.step()
        self.camera = film_of(*shots)
        table = TableFile(path, setup_of())
        self.monitor = TableMonitor(table, self.check, self.redo, lambda *_: ())

    def step(self):
        """The next frame, or something that happens before it."""
        happens = self.chance.choice([*self.people, "camera", *["frame"] * 14])
        if happens == "camera":
            return [CameraLost("no cable")]
        if happens != "frame":
            return [self.people[happens]]
        self.at_ms += int(self.chance.choice(GAPS_MS))
        kind = self.chance.choice(["same"] * 8 + ["other"] * 3 + ["hand", "moving", "unread"])
        if kind == "unread":
            return [Unusable(0, self.at_ms, "fiducials 2 and 3 are covered")]
        if kind == "other":
            self.table = self.tables[int(self.chance.integers(len(self.tables)))]
            self.hand = bool(self.chance.random() < 0.2)
        frame = replace(self.table, at_ms=self.at_ms, hand=self.hand or kind == "hand")
        still_ms = int(self.chance.choice((0, 0, 600)))
        moving, camera = kind == "moving", replace(frame.camera)
        return [replace(frame, moving=moving, camera=camera, still_ms=still_ms)]

    @property
    def people(self):
        def say(command):
            def message():
                with suppress(InputError):  # not now
                    self.session.command(command(self.session.ledger))

            return message

        def move():
            self.moved = not self.moved

        return {
            "pause": say(lambda _: Pause()),
            "resume": say(lambda _: Resume()),
            "resume again": say(lambda _: Resume()),
            "resign": say(lambda ledger: Resign(player=ledger.players[0])),
            "next game": say(lambda _: NextGame(players=("red", "blue"))),
            "answer": say(
                lambda ledger: Answer(
                    question=ledger.question.seq if ledger.question else 0, label="it counts"
                )
            ),
            "a card is moved": move,
        }

    def check(self, _image, _setup, _before=None):
        return DriftCheck(cards_mm={2: 4.0} if self.moved else {}, camera=self.tables[0].camera)

    def redo(self, _image, _setup):
        raise InputError("expected a table with four corner cards")

    def referee(self):
        Referee(
            self.camera,
            self.monitor.setup,
            self.camera.observe,
            self.session,
            pause=lambda _: None,
            table=self.monitor,
        ).run()


@pytest.mark.slow
def test_whatever_happens_only_declared_transitions_happen_and_no_state_is_missed(
    log, started, games, film_of, seen, piece, tmp_path, transitions
):
    for seed in range(SCRIPTS):
        session = Session.begin(log, started, games=games)
        chance = np.random.default_rng(seed)
        Evening(session, film_of, seen, piece, chance, tmp_path / "table.json").referee()
        session.close()
    assert set(transitions) <= TRANSITIONS
    assert {after for _, after in transitions} == set(LoopState) - {LoopState.STARTING}
    share = len(set(transitions)) / len(TRANSITIONS)
    assert share > 0.8, f"only {share:.0%} of the declared transitions happen"
