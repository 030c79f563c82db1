"""Choose an answer with a button: step through the offered answers, then take one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from referee.sessions.commands import Answer
from referee.sessions.events import QuestionAsked, Record
from referee.sessions.verdict_events import HOST_DECIDES, LIKELIEST


@dataclass(frozen=True, slots=True)
class AnswerSelection:
    """The state of choosing while a question is open.

    `count` is the place of the answer that is pointed at, 1 for the first; 0 for none yet, or none
    again. With `likeliest` the first answer is the likeliest one, and is taken where none is
    pointed at.
    """

    question: int
    labels: tuple[str, ...]
    count: int = 0
    likeliest: bool = False

    @classmethod
    def begin(cls, question: Record | None) -> AnswerSelection | None:
        """The state at the start of an open question.

        None where there is no question, nothing to choose from, or the host decides.
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
        """The state that points at the next answer; after the last one, at none."""
        return replace(self, count=(self.count + 1) % (len(self.labels) + 1))

    @property
    def label(self) -> str:
        """The answer that is pointed at; empty for none."""
        return self.labels[self.count - 1] if self.count else ""

    def player(self, players: Sequence[str]) -> str | None:
        """The player whose lamp stands for this answer: the only one whom it names."""
        named = [
            player for player in players if re.search(rf"\b{player}\b", self.label, re.IGNORECASE)
        ]
        return named[0] if len(named) == 1 else None

    @property
    def may_take(self) -> bool:
        """True if an answer is pointed at, or the first one is the likeliest."""
        return bool(self.count) or self.likeliest

    def answer(self, decided_by: str) -> Answer:
        """The command that takes the answer that is pointed at, or else the likeliest."""
        return Answer(
            question=self.question, label=self.label or self.labels[0], decided_by=decided_by
        )
