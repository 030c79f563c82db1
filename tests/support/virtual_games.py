"""Manual play of each game on the virtual table: the next legal act, and an illegal one.

Each function gets the engine's state and the panel's view, and drags, taps or announces.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from engines import GAMES
from engines.ice_storm.moves import Capture
from engines.icefloe.moves import Movement, Removal, Slide
from engines.zamboni_wars.board import FACINGS
from engines.zamboni_wars.phases import Aiming, Hit, Moving
from table.boards import within
from tests.support.virtual_hand import VirtualHand

Acts = Callable[[VirtualHand, Any, str, Random], bool]
"""Does a player's next act; False if it is not their turn."""

Tell = Callable[[str], Any]
"""Receives the panel's texts."""
LOOK_MS, QUESTION, MINE, RETRY, PATIENCE = 300, 12, 4, 150, 500
"""How often the panel is read; and after how many readings without news a question is answered, a
player looks whether it is their turn, an act without a ruling is put back and done again, and a
game is stuck.
"""
NOTCH_DEG = 15
"""Rotation of a piece per notch of the wheel."""


NOT_COUNTED = ("refused", "out_of_sync", "ambiguous", "waiting", "noted", "cannot_see")
"""Kinds of verdicts on acts that do not count."""
LEFT = re.compile(r"void$|throw \S+ (\S+ )?out:")
"""Moves that say that something left the play area: on the virtual table nothing does."""


def no_one(_text: str) -> None:
    """Ignore a text."""


def act(hand: VirtualHand, me: str, chance: Random) -> str:
    """Do a player's next legal act.

    Returns the state before it; empty if it is the others' turn.
    """
    view = hand.view()
    game, acted_in = view["game"], str(view["state"]["state"])
    if game == "icefloe" and view["state"]["phase"] not in ("move", "remove"):
        return acted_in if _vote(hand, view, me, chance) else ""
    state = GAMES[game].State.parse(acted_in)
    return acted_in if LAWFUL[game](hand, state, me, chance) else ""


def play(hand: VirtualHand, me: str, chance: Random, acts: int | None, tell: Tell = no_one) -> int:
    """Play on by the rules until a player has done so many acts, or the game is over.

    With None for `acts`, until it is the player's turn at the table.

    Returns the number of acts, each of which the referee has put on record. Raises
    AssertionError where nothing happens any more.
    """
    done = last_seq = idle = 0
    acted_in = ""  # the engine's state in which the player has acted
    while (acts is None or done < acts) and idle < PATIENCE:
        view = hand.view()
        for row in reversed(view["verdicts"]):
            if row["seq"] > last_seq:
                tell(f"{row['verdict']}: {row['said']}")
        news = view["seq"] != last_seq
        if acted_in and view["state"]["state"] != acted_in:
            done, acted_in = done + 1, ""
        idle, last_seq = 0 if news else idle + 1, view["seq"]
        if view["outcome"] or (
            acts is None and not acted_in and hand.idle() and _may_move(view, me)
        ):
            return done
        hand.page.wait_for_timeout(LOOK_MS)
        if view["phase"] == "asking" and idle > QUESTION:
            answer(hand, view["question"], tell)
        elif (
            view["phase"] == "playing" and hand.idle() and idle % (RETRY if acted_in else MINE) == 1
        ):
            if acted_in and idle < RETRY:
                continue  # it has yet to be ruled on
            if acted_in:
                hand.press("#put-back")
            acted_in = act(hand, me, chance) or acted_in
    view = hand.view()
    assert idle < PATIENCE, (view["live"]["said"], view["state"]["state"], hand.pieces())
    return done


def _may_move(view: dict[str, Any], me: str) -> bool:
    """True if a player has to move pieces now."""
    due = [view["state"].get(key) for key in ("next", "to_move", "attacker")]
    return view["phase"] == "playing" and me in due


def answer(hand: VirtualHand, question: dict[str, Any], tell: Tell = no_one) -> None:
    """Answer a question with the first choice that may be true, after a legal act."""
    _choose(hand, question, lambda moves: bool(moves) and not any(map(LEFT.match, moves)), tell)


def put_back(hand: VirtualHand, tell: Tell = no_one) -> None:
    """Undo an illegal act on the table, and answer the question about it: nothing happened."""
    hand.press("#put-back")
    if question := hand.view()["question"]:
        _choose(hand, question, lambda moves: not moves, tell)


def _choose(
    hand: VirtualHand, question: dict[str, Any], is_true: Callable[[list[str]], bool], tell: Tell
) -> None:
    """Answer with the first choice whose moves are true; with the last where none is."""
    choices = question["choices"]
    true = next((one for one in choices if is_true(one["moves"])), choices[-1])
    tell(f"asked: {question['said']} answered: {true['label']}")
    hand.command(command="answer", question=question["seq"], label=true["label"])


def err(hand: VirtualHand, me: str, chance: Random) -> dict[str, Any]:
    """Do something with the pieces that the rules forbid, or that nobody may do.

    Returns the view once the referee has said something of it.
    """
    before = hand.view()
    game = before["game"]
    WRONG[game](hand, GAMES[game].State.parse(before["state"]["state"]), me, chance)
    return hand.until(lambda view: view["seq"] > before["seq"])


def _throw(hand: VirtualHand, colour: str, x_mm: float, y_mm: float) -> bool:
    """Throw a piece of a colour from beside the table; False if there is none."""
    name = hand.spare(colour)
    return name is not None and hand.drag(name, x_mm, y_mm)


def _boule(hand: VirtualHand, state: Any, me: str, chance: Random) -> bool:
    target = hand.setup.game.target
    if state.target is None:
        if state.starter != me:
            return False
        if len(hand.pieces()) > 1:
            hand.clear()
        if not hand.pieces():
            _throw(hand, str(target), chance.uniform(200, 400), chance.uniform(200, 300))
        ((name, lies),) = hand.until_seen(lambda pieces: len(pieces) == 1).items()
        if "stand" in lies["may"]:
            hand.tap(name, "stand")
        return True
    if state.next != me:
        return False
    at = next(one for name, one in hand.pieces().items() if name.startswith(f"{target} "))
    return _throw(hand, me, at["x"] + chance.gauss(0, 45), at["y"] + chance.gauss(0, 45))


def _boule_wrong(hand: VirtualHand, state: Any, _me: str, chance: Random) -> None:
    """A piece is carried elsewhere by hand; without any, the target is taken away."""
    target = f"{hand.setup.game.target} "
    lies = [name for name in hand.pieces() if not name.startswith(target)]
    if state.target is None or not lies:
        hand.tap(next(iter(hand.pieces())), "take")
        return
    name = chance.choice(sorted(lies))
    at, (x, y) = hand.pieces()[name], hand.setup.outline_mm().mean(axis=0)
    hand.drag(name, x + (90 if at["x"] < x else -90), y + (60 if at["y"] < y else -60))


def _storm_wrong(hand: VirtualHand, _state: Any, me: str, chance: Random) -> None:
    """A piece of one's own is taken, which nobody hits; without any, another.

    Pieces beside the board are wasted: whoever takes one does nothing wrong.
    """
    outline, pieces = hand.setup.outline_mm(), hand.pieces()
    on_board = [
        name for name, at in pieces.items() if within(outline, np.array([at["x"], at["y"]]))
    ]
    lies = sorted(on_board) or sorted(pieces)
    hand.tap(chance.choice([name for name in lies if name.startswith(f"{me} ")] or lies), "take")


def _storm(hand: VirtualHand, state: Any, me: str, chance: Random) -> bool:
    low, high = hand.setup.outline_mm().min(axis=0), hand.setup.outline_mm().max(axis=0)
    if state.next == me:
        if state.round_over or (state.thrown == 0 and hand.pieces()):
            hand.clear()
        x, y = (chance.uniform(a + 45, b - 45) for a, b in zip(low, high, strict=True))
        return _throw(hand, me, x, y)
    if state.next is None and state.attacker == me:
        shots = (one for one in GAMES["ice_storm"].legal_moves(state) if isinstance(one, Capture))
        targets = {move.colour: move.number for move in shots}
        if not targets:
            hand.command(command="hear", said={"player": me, "passes": True})
            return True
        colour = chance.choice(sorted(targets))
        piece = next(
            one for one in state.pieces if one.colour == colour and one.number == targets[colour]
        )
        hand.tap(lying_in(hand, colour, [str(square) for square in piece.place.squares]), "take")
        return True
    return False


def lying_in(hand: VirtualHand, colour: str, cells: list[str]) -> str:
    """The piece of a colour that is nearest to these cells."""
    middle = np.mean([hand.cell(cell) for cell in cells], axis=0)
    pieces = hand.pieces()
    return min(
        (name for name in pieces if name.startswith(f"{colour} ")),
        key=lambda name: float(np.hypot(*(middle - [pieces[name]["x"], pieces[name]["y"]]))),
    )


def _icebreaker(hand: VirtualHand, state: Any, me: str, chance: Random) -> bool:
    if state.next != me:
        return False
    start, end = str(chance.choice(list(GAMES["icebreaker"].legal_moves(state)))).split("-")
    return hand.drag(f"ship {start}", *hand.cell(end))


def _icebreaker_wrong(hand: VirtualHand, state: Any, _me: str, chance: Random) -> None:
    """Move a ship too far."""
    start = str(next(iter(GAMES["icebreaker"].legal_moves(state)))).partition("-")[0]
    x, y = hand.cell(start)
    far = {
        name.removeprefix("ice "): one
        for name, one in hand.pieces().items()
        if name.startswith("ice") and np.hypot(one["x"] - x, one["y"] - y) > 100
    }
    hand.drag(f"ship {start}", *hand.cell(chance.choice(sorted(far))))


def _icefloe(hand: VirtualHand, state: Any, me: str, chance: Random) -> bool:
    if state.phase == "move":
        if state.next != me:
            return False
        moves = [
            move
            for move in GAMES["icefloe"].legal_moves(state)
            if isinstance(move, Slide)
            or (isinstance(move, Movement) and move.origin != move.target)
        ]
        move = chance.choice(moves)
        if isinstance(move, Slide):
            floe = state.board.at(move.origin)
            return hand.drag(f"tile {floe.tile}", *hand.cell(move.target))
        x, y = hand.cell(move.target)
        near = [hand.pieces()[f"pyramid {name}"] for name in state.board.at(move.target).pyramids]
        away = 9.0 if near and near[0]["x"] < x else -9.0 if near else 0.0
        if not hand.drag(f"pyramid {move.pyramid}", x + away, y + away):
            return False
        sunk = GAMES["icefloe"].play(state, move).sunk
        if sunk and sunk != state.sunk:
            hand.tap(f"tile {sunk}", "take")
        return True
    if state.next != me or f"tile {state.tile}" not in hand.pieces():
        return False
    hand.tap(f"tile {state.tile}", "take")
    return True


def _vote(hand: VirtualHand, view: dict[str, Any], me: str, chance: Random) -> bool:
    """Say one of the things that the panel lets a player say; votes are secret from the state."""
    said = [
        one["said"]
        for one in view["state"]["may_say"]
        if one["said"].get("player") == me and not one.get("aside")
        for _ in range(8 if one["said"].get("done") else 1)
    ]
    if said:
        hand.command(command="hear", said=chance.choice(said))
    return bool(said)


def _icefloe_wrong(hand: VirtualHand, state: Any, _me: str, chance: Random) -> None:
    """Remove a tile that may not be taken."""
    moves = GAMES["icefloe"].legal_moves(state)
    lawful = {f"tile {move.tile}" for move in moves if isinstance(move, Removal)}
    tiles = {name for name in hand.pieces() if name.startswith("tile")}
    hand.tap(chance.choice(sorted(tiles - lawful)), "take")


def _zamboni(hand: VirtualHand, state: Any, me: str, chance: Random) -> bool:
    if state.to_move != me:
        return False
    match state.phase:
        case Moving():
            drives = [
                move
                for move in GAMES["zamboni_wars"].legal_moves(state)
                if (move.space, move.facing) != (state.mover.space, state.mover.facing)
            ]
            drive = chance.choice(drives)
            pushed = [die for die in state.dice if drive.dice and die not in drive.dice]
            free = [die for die in drive.dice if die not in state.dice]
            for start, end in zip(pushed, free, strict=True):
                hand.drag(f"cover {start}", *hand.cell(str(end)))
            turns = FACINGS.index(state.mover.facing) - FACINGS.index(drive.facing)
            notches = 45 * ((turns + 4) % 8 - 4) // NOTCH_DEG
            if drive.space == state.mover.space:
                hand.tap(me, "turn", abs(notches), f"{NOTCH_DEG * np.sign(notches):g}")
            else:
                return hand.drag(me, *hand.cell(str(drive.space)), notches)
        case Hit(target):
            hand.tap(target, "take")
        case Aiming(target) if state.remaining_zambonis[target].layers == 1:
            hand.command(command="hear", said={"player": me, "die": 1})
        case _ if "die" in hand.pieces():
            hand.tap("die", "roll")
        case _:
            return False  # the simulated players bring it
    return True


def _zamboni_wrong(hand: VirtualHand, state: Any, me: str, _chance: Random) -> None:
    """Take another player's nest apart."""
    hand.tap(next(player for player in state.remaining_zambonis if player != me), "take")


LAWFUL: dict[str, Acts] = {
    "ice_boule": _boule,
    "ice_storm": _storm,
    "icebreaker": _icebreaker,
    "icefloe": _icefloe,
    "zamboni_wars": _zamboni,
}
WRONG: dict[str, Callable[[VirtualHand, Any, str, Random], None]] = {
    "ice_boule": _boule_wrong,
    "ice_storm": _storm_wrong,
    "icebreaker": _icebreaker_wrong,
    "icefloe": _icefloe_wrong,
    "zamboni_wars": _zamboni_wrong,
}
