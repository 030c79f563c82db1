"""Answer a question of distances by calliper: the next piece to measure, until all are done."""

from __future__ import annotations

from dataclasses import dataclass, replace

from referee.sessions.commands import Answer
from referee.sessions.events import QuestionAsked, Record


def contested_pieces(asked: QuestionAsked) -> tuple[str, ...]:
    """Pieces that a question of distances depends on, nearest first.

    They are named as in the game: `blue`, `blue 2`. Empty for a question that a calliper cannot
    answer.
    """
    gaps, pairs = asked.evidence.get("gaps", ()), asked.evidence.get("call", {}).get("pairs", ())
    names, count = [], dict[str, int]()
    for gap in gaps:
        colour = gap["colour"]
        count[colour] = count.get(colour, 0) + 1
        names.append(colour if count[colour] == 1 else f"{colour} {count[colour]}")
    return tuple(names[place] for place in sorted({place for pair in pairs for place in pair}))


@dataclass(frozen=True, slots=True)
class Measuring:
    """Readings taken so far for an open question."""

    question: int
    pieces: tuple[str, ...]
    readings_mm: tuple[float, ...] = ()

    @classmethod
    def begin(cls, question: Record | None) -> Measuring | None:
        """Start for the open question; None without one that a calliper can answer."""
        if (
            question is None
            or not isinstance(question.event, QuestionAsked)
            or not (pieces := contested_pieces(question.event))
        ):
            return None
        return cls(question.seq, pieces)

    def asks(self, question: Record | None) -> bool:
        """True if this is still the open question."""
        return question is not None and question.seq == self.question

    @property
    def next(self) -> str | None:
        """Piece to be measured next; None when all are done."""
        return (
            self.pieces[len(self.readings_mm)] if len(self.readings_mm) < len(self.pieces) else None
        )

    def take(self, mm: float) -> Measuring:
        """Add a reading of the next piece."""
        return replace(self, readings_mm=(*self.readings_mm, mm))

    def answer(self) -> Answer:
        """Return the answer of all readings."""
        readings = dict(zip(self.pieces, self.readings_mm, strict=True))
        return Answer(question=self.question, how="calliper", readings_mm=readings)
