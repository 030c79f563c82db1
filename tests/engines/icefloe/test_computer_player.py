"""The computer player of IceFloe: it knows no hidden vote, and follows what votes come to."""

from itertools import islice
from random import Random

import pytest

from engines import icefloe
from engines.computer_player import never
from engines.icefloe.computer_player import COMPUTER, choose
from engines.icefloe.moves import Done, Finding, Objection, Vote
from simulation.players.policies import RandomPlayer, playout

PLAYERS = ("red", "blue", "yellow")


def in_phase(phase, seed=0):
    """The first state of a phase in a game that chance plays."""
    first = icefloe.start(PLAYERS, {})
    player = RandomPlayer(icefloe, Random(seed))
    return next(
        state for _, state in playout(icefloe, first, player.choose) if state.phase == phase
    )


@pytest.mark.parametrize("strength", ["beginner", "club", "strong"])
@pytest.mark.parametrize("early", [False, True])
def test_it_chooses_alike_whatever_others_voted_in_secret(strength, early):
    """Votes that are cast while the last player still moves are as secret as others."""
    state = in_phase("vote")
    if early:
        moves = (
            state
            for _, state in islice(
                playout(
                    icefloe, icefloe.start(PLAYERS, {}), RandomPlayer(icefloe, Random(0)).choose
                ),
                40,
            )
        )
        state = next(state for state in moves if state.last_to_move)
    who = state.mover or "red"
    others = [player for player in PLAYERS if player != who]
    looks = {"n": 0}

    def soon():
        looks["n"] += 1
        return looks["n"] % 20 == 0

    chosen = set()
    for choices in (("n", "a"), ("5", "5"), ("2", "4")):
        voted, looks["n"] = state, 0
        for player, choice in zip(others, choices, strict=True):
            voted = icefloe.play(voted, Vote(player, choice))
        chosen.add(choose(voted, who, strength, Random(5), soon))
    assert len(chosen) == 1


@pytest.mark.parametrize("strength", ["club", "strong"])
def test_it_votes_for_the_tiles_of_the_others(strength):
    """All of its own stands on the 5 of suns, much of the others' on tiles of value 3."""
    rulings = str(icefloe.start(PLAYERS, {})).rpartition("rulings ")[2]
    state = icefloe.State.parse(
        "players red blue yellow; round 1; phase vote; mover -; scores 0 0 0; coins a2 a2 a2;"
        " muted -; value -; votes - - -; laid 0 0 0; done -; tile -; sunk -; winners -; board"
        " a1=S5+DS+FS a3=S3+EA c3=A3+EC e3=M5+AC;"
        f" rulings {rulings}"
    )
    assert choose(state, "red", strength, Random(1), never) == Vote("red", "3")


def test_it_cannot_say_that_somebody_broke_the_commentary_rules():
    state = icefloe.play(in_phase("vote"), Objection("red", "blue"))
    for player in state.asked:
        assert choose(state, player, "strong", Random(1), never) == Finding(player, False)
    assert COMPUTER.asked(state)[: len(state.asked)] == state.asked


def test_who_is_asked_for_coins_is_done_in_the_end():
    """No game stands still because a computer player never says that it is done."""
    state, chance = in_phase("coins"), Random(1)
    for _ in range(20):
        if state.phase != "coins":
            break
        player = COMPUTER.asked(state)[0]
        move = choose(state, player, "club", chance, never)
        assert isinstance(move, Done) or move.player == player
        state = icefloe.play(state, move)
    assert state.phase != "coins"
