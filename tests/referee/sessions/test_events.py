"""Events and their JSON: what was written is what is read, and nothing unknown is guessed at."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.verdict import Accepted
from referee.sessions.events import (
    SCHEMA,
    Answered,
    Choice,
    Event,
    QuestionAsked,
    Record,
    SessionStarted,
    VerdictReached,
    decode,
    encode,
    record_document,
)
from referee.sessions.verdict_events import event_from_verdict
from table.errors import InputError
from table.messages import Message, msg, phrase, sentences

RULED = VerdictReached(
    verdict="accepted",
    code="boule.throw",
    message="Blue is at 57.5 mm.",
    player="blue",
    moves=("blue",),
    evidence={"gap_mm": 57.52},
)

texts = st.text(max_size=20)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


messages = st.one_of(
    texts.map(Message),
    st.builds(msg, st.just("{player} throws next."), player=st.sampled_from(["red", "blue"])),
    st.builds(
        lambda pieces, text: sentences(msg("{text}; {pieces} was moved", pieces=pieces, text=text)),
        st.lists(st.sampled_from(["red1", "blue12"]), min_size=1, max_size=3),
        texts,
    ),
)


def values(kind):
    """A strategy for the type of a field."""
    if isinstance(kind, msgspec.inspect.StructType):
        return st.builds(kind.cls, **{field.name: values(field.type) for field in kind.fields})
    if isinstance(kind, msgspec.inspect.UnionType):
        return st.one_of([values(inner) for inner in kind.types])
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return st.lists(values(kind.item_type), max_size=3).map(tuple)
    if isinstance(kind, msgspec.inspect.DictType):
        return st.dictionaries(texts, values(kind.value_type), max_size=3)
    if isinstance(kind, msgspec.inspect.LiteralType):
        return st.sampled_from(kind.values)
    if isinstance(kind, msgspec.inspect.CustomType):
        return messages
    simple = {
        msgspec.inspect.StrType: texts,
        msgspec.inspect.IntType: st.integers(1, 2**53),
        msgspec.inspect.FloatType: st.floats(allow_nan=False, allow_infinity=False),
        msgspec.inspect.BoolType: st.booleans(),
        msgspec.inspect.NoneType: st.none(),
        msgspec.inspect.AnyType: plain,
    }
    return simple[type(kind)]


events = values(msgspec.inspect.type_info(Event))


@given(events)
def test_an_event_is_read_as_it_was_written(event):
    text = encode(event)
    assert "\n" not in text
    assert decode(text, "here") == event


def test_documents_carry_schema_and_fact():
    document = json.loads(encode(RULED))
    assert (document["schema"], document["fact"], document["verdict"]) == (
        SCHEMA,
        "ruled",
        "accepted",
    )


ASKED_BEFORE = {
    "schema": 6,
    "fact": "asked",
    "code": "pegs.unseen",
    "said": "Is it there?",
    "choices": [{"label": "It is there", "holds": True}, {"label": "No", "moves": ["red"]}],
    "until_moved": True,
}
ANSWERED_BEFORE = {
    "schema": 6,
    "fact": "answered",
    "question": 2,
    "label": "It is there",
    "how": "order",
    "decided_by": "Anna",
    "holds": True,
    "said": "It is there: Anna decided.",
}


def test_questions_and_answers_of_older_logs_are_read_by_their_old_names():
    asked = decode(json.dumps(ASKED_BEFORE), "log")
    assert asked == QuestionAsked(
        code="pegs.unseen",
        message=Message("Is it there?"),
        choices=(
            Choice(label=Message("It is there"), confirms_record=True),
            Choice(label=Message("No"), moves=("red",)),
        ),
        withdrawn_if_table_changes=True,
    )
    answered = decode(json.dumps(ANSWERED_BEFORE), "log")
    assert isinstance(answered, Answered)
    assert (answered.confirms_record, answered.message) == (True, "It is there: Anna decided.")


@pytest.mark.parametrize("document", [ASKED_BEFORE, ANSWERED_BEFORE])
def test_questions_and_answers_are_written_as_older_programs_wrote_them(document):
    written = json.loads(encode(decode(json.dumps(document), "log")))
    assert written.keys() >= document.keys()
    assert {name: written[name] for name in ("holds", "until_moved") if name in document} == {
        name: document[name] for name in ("holds", "until_moved") if name in document
    }


def test_evidence_keeps_what_its_sentences_were_made_from():
    touch = phrase("{piece} touches {cells}", piece="red1", cells=["b3"])
    away = msg("{player}'s ship from {cell} is missing.", player="red", cell="A1")
    known = msgspec.structs.replace(RULED, evidence={"touches": [touch], "differences": [away]})
    evidence = decode(encode(known), "here").evidence
    (kept,), (missing,) = evidence["touches"], evidence["differences"]
    assert (kept, kept.content) == (touch, touch.content)
    assert (missing, missing.content) == (away, away.content)


def test_what_else_may_have_happened_keeps_its_sentence():
    message = msg(
        "{player}'s piece lies {text}.", player="red", text=phrase("within {cells}", cells=["b3"])
    )
    may_be = {"may_be": {message: "throw red b3"}}
    verdict = Accepted(
        code="storm.throw", message=message, moves=("throw red b3",), evidence=may_be
    )
    (row,) = decode(encode(event_from_verdict(verdict)), "here").evidence["may_be"]
    assert (row["said"].content, row["move"]) == (message.content, "throw red b3")


@pytest.mark.parametrize(
    "evidence", [{"type": "word"}, {"type": ["word"]}, {"type": "list", "items": 3}]
)
def test_evidence_that_only_looks_like_a_sentence_is_kept_as_it_is(evidence):
    known = msgspec.structs.replace(RULED, evidence={"seen": evidence})
    assert decode(encode(known), "here").evidence == {"seen": evidence}


def test_facts_cannot_be_changed():
    with pytest.raises(AttributeError):
        RULED.message = "something else"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"schema": SCHEMA + 1},
            (
                rf"^log: record 3: schema: expected {SCHEMA} or older, got {SCHEMA + 1}; a newer"
                r" Rinkside"
            ),
        ),
        ({"schema": None}, "schema: expected 1"),
        ({"schema": "1"}, "schema: expected 1"),
        ({"fact": "abducted"}, "abducted"),
        ({"fact": None}, "fact"),
        ({"wind_mm_s": 3}, "wind_mm_s"),
        ({"verdict": "perhaps"}, "perhaps"),
        ({"moves": "blue"}, 'moves: expected a list, got "blue"'),
        ({"code": None}, "code: expected text, got null"),
    ],
)
def test_what_is_not_known_is_refused_in_one_line(change, message):
    document = json.loads(encode(RULED)) | change
    with pytest.raises(InputError, match=message) as refusal:
        decode(json.dumps(document), "log: record 3")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"schema": 1}', "null", "\x00"])
def test_what_is_no_event_is_refused(text):
    with pytest.raises(InputError, match=r"^here: "):
        decode(text, "here")


def test_numbers_that_json_cannot_say_are_refused_before_they_are_written():
    with pytest.raises(ValueError, match="JSON"):
        encode(msgspec.structs.replace(RULED, evidence={"gap_mm": float("nan")}))


def test_a_record_as_plain_data():
    record = Record(
        seq=3,
        session=1,
        at_ms=250,
        event=SessionStarted(game="pegs", players=("red", "blue")),
        frame=False,
    )
    document = record_document(record)
    assert json.loads(json.dumps(document)) == document | {"players": ["red", "blue"]}
    assert [document[key] for key in ("seq", "session", "at_ms", "frame", "schema", "fact")] == [
        3,
        1,
        250,
        False,
        SCHEMA,
        "session_started",
    ]
