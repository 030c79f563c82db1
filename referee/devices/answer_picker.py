"""Choose an answer with a button: step through the offered answers, then confirm one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.sessions.commands import Answer
from referee.sessions.events import QuestionAsked, Record
from referee.sessions.verdict_events import HOST_DECIDES, LIKELIEST


@dataclass(frozen=True, slots=True)
class AnswerSelection:
    """State of the choice while a question is open.

    `count` is the place of the selected answer, 1 for the first, 0 for none. With `likeliest`, the
    first answer is confirmed if none is selected.
    """

    question: int
    labels: tuple[str, ...]
    count: int = 0
    likeliest: bool = False

    @classmethod
    def begin(cls, question: Record | None) -> AnswerSelection | None:
        """Return the state at the start of an open question.

        None without a question or choices, or if the host has to decide.
        """
        if (
            question is None
            or not isinstance(question.event, QuestionAsked)
            or not question.event.choices
            or question.event.evidence.get(HOST_DECIDES)
        ):
            return None
        likeliest = question.event.evidence.get(LIKELIEST) is True
        return cls(
            question.seq,
            tuple(choice.label for choice in question.event.choices),
            likeliest=likeliest,
        )

    def asks(self, question: Record | None) -> bool:
        """True if this is still the open question."""
        return question is not None and question.seq == self.question

    def step(self) -> AnswerSelection:
        """Select the next answer; after the last one, none."""
        return replace(self, count=(self.count + 1) % (len(self.labels) + 1))

    @property
    def label(self) -> str:
        """Label of the selected answer; empty for none."""
        return self.labels[self.count - 1] if self.count else ""

    def player(self, players: Sequence[str]) -> str | None:
        """The only player named in the selected answer, whose lamp stands for it; else None."""
        named = [
            player for player in players if re.search(rf"\b{player}\b", self.label, re.IGNORECASE)
        ]
        return named[0] if len(named) == 1 else None

    @property
    def may_take(self) -> bool:
        """True if an answer is selected, or the first one is the likeliest."""
        return bool(self.count) or self.likeliest

    def answer(self, decided_by: str) -> Answer:
        """Return the command that confirms the selected answer, or else the likeliest."""
        return Answer(
            question=self.question, label=self.label or self.labels[0], decided_by=decided_by
        )
