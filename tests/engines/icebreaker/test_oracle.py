"""Icebreaker as another program plays it: every position with all legal moves, every result, and
counts of games.
"""

import gzip
import json
from pathlib import Path

import pytest

from engines.icebreaker import State, legal_moves, outcome, parse_move, play, start, state_document
from engines.icebreaker.board import board, label, members, parse_cell
from engines.icebreaker.positions import Position, steps
from tests.support.paths import SHARED

FACTS = SHARED / "facts" / "icebreaker"
needs_facts = pytest.mark.skipif(
    not FACTS.is_dir(), reason="the recorded games are not beside this repository"
)
PERFT = [
    line.split(": ")
    for line in (Path(__file__).with_name("data") / "perft.txt").read_text().splitlines()
    if not line.startswith("#")
]


def records(name):
    with gzip.open(FACTS / name, "rt") as lines:
        return [json.loads(line) for line in lines]


def perft(state, depth):
    """Games of `depth` moves from a state."""
    if depth == 1:
        return len(legal_moves(state))
    return sum(perft(play(state, move), depth - 1) for move in legal_moves(state))


@pytest.mark.parametrize(("size", "counts"), PERFT)
def test_perft(size, counts):
    first = start(["red", "black"], {"size": size})
    assert [perft(first, depth) for depth in range(1, len(counts.split()) + 1)] == [
        int(count) for count in counts.split()
    ]


@needs_facts
def test_the_board():
    facts = json.loads((FACTS / "cells.json").read_text())
    played = board(5)
    around = {
        label(cell): {label(beside) for beside in members(played.around[cell])}
        for cell in members(played.cells)
    }
    assert around == {cell["label"]: set(cell["neighbours"]) for cell in facts["cells"]}
    assert [{label(ship) for ship in members(ships)} for ships in played.ships] == [
        set(ships) for ships in facts["start"].values()
    ]


@needs_facts
def test_recorded_games():
    """All positions of all games: who moves, where everything is, scores, legal moves; and how each
    game ended.
    """
    state, seen = None, 0
    for record in records("games.jsonl.gz"):
        if record["type"] == "result":
            ended = outcome(state)
            assert (ended.winner, list(ended.scores)) == (record["winner"], record["score"])
        else:
            state = start(["red", "black"], {}) if record["ply"] == 0 else state
            assert state.next == record["to_move"]
            assert sorted(map(str, legal_moves(state))) == sorted(record["legal"]), state
            assert all(parse_move(text) in legal_moves(state) for text in record["legal"])
            seen += 1
        document = state_document(state)
        assert {player: set(ships) for player, ships in document["ships"].items()} == {
            player: set(record[player]) for player in state.players
        }
        assert set(document["ice"]) == set(record["ice"])
        assert list(state.scores) == record["score"]
        state = play(state, parse_move(record["played"])) if "played" in record else state
    assert seen == 6768


@needs_facts
def test_cornered_positions():
    """Crafted late positions; scores do not matter to where ships may go, so they are made to add
    up.
    """
    for record in records("sparse.jsonl.gz"):
        signs = {
            cell: sign
            for sign, key in zip("12*", ("red", "black", "ice"), strict=True)
            for cell in record[key]
        }
        rows = "/".join(
            "".join(signs.get(label(cell), ".") for cell in row) for row in board(5).rows
        )
        gone = 55 - len(record["ice"])
        rulings = "size=5 closest=any stuck=pass end=last"
        line = (
            f"players red black; scores {gone - gone // 2} {gone // 2}; turn {record['to_move']};"
            f" board {rows}; rulings {rulings}."
        )
        assert sorted(map(str, legal_moves(State.parse(line)))) == sorted(record["legal"]), line


@needs_facts
def test_positions_of_the_search_are_those_of_the_other_program_too():
    """In every recorded position of its games, the same legal moves."""
    played, seen = board(5), 0
    for record in records("games.jsonl.gz"):
        if record["type"] != "position":
            continue
        other = "black" if record["to_move"] == "red" else "red"
        cells = {
            name: sum(1 << parse_cell(cell) for cell in record[name])
            for name in record
            if name in ("red", "black", "ice")
        }
        position = Position(cells[record["to_move"]], cells[other], cells["ice"], 0, 0)
        found = {
            f"{label(start.bit_length() - 1)}-{label(end.bit_length() - 1)}"
            for start, end in steps(played, position)
        }
        assert found == set(record["legal"])
        seen += 1
    assert seen > 6000
