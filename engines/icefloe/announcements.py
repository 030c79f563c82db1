"""Verdicts on announcements: votes, coins, decisions, objections, tiles that score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, assert_never, get_args

import msgspec

from engines.announcements import read_heard
from engines.errors import Violation
from engines.game_document import Announced, Announcement
from engines.icefloe import messages
from engines.icefloe.ballots import TORCH, VOTING
from engines.icefloe.board import PLACES, SUITS, VALUES
from engines.icefloe.checks import EMPTYING, REMOVING, ROUND, SCORING
from engines.icefloe.messages import after_move, choice, comments, removal_text, turn, votes
from engines.icefloe.moves import (
    COINS,
    Coin,
    Decision,
    Done,
    Finding,
    Move,
    Movement,
    Objection,
    Penalty,
    Removal,
    Selection,
    Torch,
    Vote,
    parse_move,
)
from engines.icefloe.rules import legal_moves, outcome, play, violation
from engines.icefloe.state import State
from engines.verdict import Accepted, Noted, Refused, Verdict, Waiting
from table.json_data import Evidence
from table.messages import NOTHING, Message, all_of, msg, phrase, sentences


class _Announcement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    player: str


class VoteValue(_Announcement, frozen=True):
    """A secret vote on a value."""

    vote_value: Literal["n", "a", "2", "3", "4", "5"]


class VoteSuit(_Announcement, frozen=True):
    """A secret vote on a suit."""

    vote_suit: Literal["S", "M", "C", "A"]


class CoinLaid(_Announcement, frozen=True):
    """A coin, 1 for the ace, laid on the vote of a player."""

    coin: Literal[1, 2, "a", "2"]
    to: str


class DoneSaid(_Announcement, frozen=True):
    """A player lays no more coins."""

    done: Literal[True]


class Decided(_Announcement, frozen=True):
    """The torch bearer's choice in a tie: a value, a suit, a winner, or `shared`."""

    decides: str


class ExtraTile(_Announcement, frozen=True):
    """The torch bearer removes no empty tile; a removed one is seen."""

    extra_tile: str | None


class Removed(_Announcement, frozen=True):
    """The torch bearer removed a tile, and the camera does not see it."""

    removed: str


class Scores(_Announcement, frozen=True):
    """A player scores on a tile."""

    score: str


class TorchHanded(_Announcement, frozen=True):
    """The player takes the torch: a new round."""

    torch: Literal[True]


class PenaltySaid(_Announcement, frozen=True):
    """A player broke the commentary rules, and nobody doubts it."""

    penalty: Literal[True]


class Objects(_Announcement, frozen=True):
    """A player says that another one broke the commentary rules."""

    objects_to: str


class Breach(_Announcement, frozen=True):
    """A player's word on an objection: was there a breach?"""

    breach: bool


class Stays(_Announcement, frozen=True):
    """A pyramid made two actions and stands where it stood, which nobody can see."""

    stays: str


Said = (
    VoteValue
    | VoteSuit
    | CoinLaid
    | DoneSaid
    | Decided
    | ExtraTile
    | Scores
    | TorchHanded
    | PenaltySaid
    | Objects
    | Breach
    | Removed
    | Stays
)
FORMS: tuple[type[Said], ...] = get_args(Said)
RULE = "Commentary; ruling icefloe.6"


def hear(state: State, heard: Mapping[str, Any], _in_doubt: bool = False, /) -> Verdict:
    """The verdict on an announcement.

    A line of inputs without its time::

        {"player": "red", "vote_value": "4"}         {"player": "red", "vote_suit": "S"}
        {"player": "red", "coin": 2, "to": "blue"}   {"player": "red", "done": true}
        {"player": "red", "decides": "4"}            {"player": "red", "extra_tile": null}
        {"player": "red", "score": "S4"}             {"player": "red", "torch": true}
        {"player": "red", "objects_to": "blue"}      {"player": "red", "breach": true}
        {"player": "red", "penalty": true}           {"player": "red", "stays": "DS"}
        {"player": "red", "removed": "S4"}

    Raises InputError for anything else.
    """
    form = read_heard(heard, *FORMS)
    match form:
        case VoteValue():
            return _vote(state, Vote(form.player, form.vote_value), VALUES)
        case VoteSuit():
            return _vote(state, Vote(form.player, form.vote_suit), SUITS)
        case CoinLaid():
            return _coin(state, form)
        case DoneSaid():
            return _done(state, Done(form.player))
        case Decided():
            return _judge_decision(state, form)
        case ExtraTile():
            return _extra(state, form)
        case Scores():
            return _judge_without_removal(
                state, Selection(form.player, _tile(form.score)), "icefloe.score", SCORING
            )
        case TorchHanded():
            return _judge_without_removal(state, Torch(form.player), "icefloe.round", ROUND)
        case Removed():
            return _judge_removal(state, form)
        case PenaltySaid():
            return _judge_move(state, Penalty(form.player), "icefloe.penalty", RULE)
        case Objects():
            return _judge_move(
                state, Objection(form.player, form.objects_to), "icefloe.objection", RULE
            )
        case Breach():
            return _judge_finding(state, Finding(form.player, form.breach))
        case Stays():
            return _judge_stays(state, form)
        case _:
            assert_never(form)


def may_say(state: State) -> list[Announcement]:
    """Return the announcements that `hear` waits for now, each with a button's label.

    Those marked `aside` come last: facts that the camera should have seen, and breaches of the
    commentary rules.
    """
    every = (saying(state, move) for move in legal_moves(state))
    waited_for: list[Announcement] = [
        {"label": label, "said": message} for label, message in every if message
    ]
    return [*waited_for, *_admitting(state), *_removing(state), *_objecting(state)]


def _admitting(state: State) -> list[Announcement]:
    """Admissions by the accused, who need not wait for the others' answers."""
    if state.objection is None:
        return []
    accused = state.objection.accused
    return [
        {
            "label": phrase("{player} admits it", player=accused),
            "said": {"player": accused, "penalty": True},
        }
    ]


def _removing(state: State) -> list[Announcement]:
    """Announcements of a removed tile that the camera did not see."""
    gone = [move.tile for move in legal_moves(state) if isinstance(move, Removal) and move.tile]
    return [
        {
            "label": phrase(
                "{player} has removed {cell}", player=state.torch, cell=messages.tile(tile)
            ),
            "said": {"player": state.torch, "removed": tile},
            "aside": True,
        }
        for tile in gone
    ]


def _objecting(state: State) -> list[Announcement]:
    if state.objection:
        return []
    accusing = [Objection(by, to) for by in state.players for to in state.players]
    legal = [move for move in accusing if violation(state, move) is None]
    rows: list[tuple[Message, Announced]]
    rows = [
        (
            phrase(
                "{player} objects: {player2} broke the commentary rules",
                player=move.player,
                player2=move.to,
            ),
            {"player": move.player, "objects_to": move.to},
        )
        for move in legal
    ]
    own = [player for player in state.players if violation(state, Penalty(player)) is None]
    rows += [
        (
            phrase("{player} broke the commentary rules, and nobody disputes it", player=player),
            {"player": player, "penalty": True},
        )
        for player in own
    ]
    return [{"label": label, "said": message, "aside": True} for label, message in rows]


def saying(state: State, move: Move) -> tuple[Message, Announced]:
    """Label and announcement of a move; empty for a move that is seen."""
    match move:
        case Vote(player, name):
            return phrase("{player}: {text}", player=player, text=choice(name)), {
                "player": player,
                "vote_suit" if state.value else "vote_value": name,
            }
        case Coin(player, coin, to):
            return phrase(
                "{player} adds {n} to {player2}'s vote", player=player, n=COINS[coin], player2=to
            ), {"player": player, "coin": COINS[coin], "to": to}
        case Done(player):
            return phrase("{player} is done", player=player), {"player": player, "done": True}
        case Decision(player, name):
            return phrase("{player} decides: {text}", player=player, text=choice(name)), {
                "player": player,
                "decides": name,
            }
        case Removal(None):
            return phrase("no empty tile is removed"), {"player": state.torch, "extra_tile": None}
        case Selection(player, tile):
            return phrase("{player} scores on {cell}", player=player, cell=messages.tile(tile)), {
                "player": player,
                "score": tile,
            }
        case Finding(player, guilty) if state.objection:
            accused = state.objection.accused
            answer = (
                phrase("yes, {player} broke the commentary rules", player=accused)
                if guilty
                else phrase("no, {player} broke no rule", player=accused)
            )
            return phrase("{player}: {text}", player=player, text=answer), {
                "player": player,
                "breach": guilty,
            }
        case Torch(player):
            return phrase("{player} takes the torch", player=player), {
                "player": player,
                "torch": True,
            }
        case Movement(pyramid, origin, target) if origin == target:
            return phrase(
                "{cell} comes back to {cell2}", cell=messages.pyramid(pyramid), cell2=origin
            ), {"player": state.mover, "stays": pyramid}
        case _:
            return NOTHING, {}


def _judge_stays(state: State, heard: Stays) -> Verdict:
    floe = state.board.floe_under(heard.stays)
    place = floe.place if floe else PLACES[0]
    move = parse_move(f"{heard.stays}:{place}-{place}")
    wrong = violation(state, move)
    if wrong is None and heard.player != state.mover:
        message = sentences(
            msg(
                "{player} cannot move {cell} for {player2}.",
                player=heard.player,
                cell=messages.pyramid(heard.stays),
                player2=state.mover,
            ),
            turn(state),
        )
        wrong = Violation("icefloe.move.turn", "Movement", message)
    if wrong:
        return Refused(
            code="icefloe.move",
            message=wrong.message,
            rests_on=wrong.clause,
            player=heard.player,
            tried=(str(move),),
        )
    message = sentences(
        msg(
            "{player} moved {cell} and came back to {cell2}.",
            player=heard.player,
            cell=messages.pyramid(heard.stays),
            cell2=place,
        ),
        after_move(play(state, move)),
    )
    return Accepted(
        code="icefloe.move",
        message=message,
        rests_on="Piece Movement; ruling icefloe.4",
        player=heard.player,
        moves=(str(move),),
    )


def _tile(text: str) -> str:
    move = parse_move(f"remove {text}")
    assert isinstance(move, Removal)
    return move.tile or ""


def _vote(state: State, move: Vote, choices: Mapping[str, str]) -> Verdict:
    """Judge a vote, which stays hidden until all are cast."""
    wrong = violation(state, move)
    kind = choices is not (SUITS if state.value else VALUES)
    if (wrong is None and kind) or (wrong is not None and wrong.code == "icefloe.vote.kind"):
        wrong = Violation(
            "icefloe.vote.kind",
            VOTING[state.value is not None],
            sentences(msg("{player} cannot vote for that now.", player=move.player), turn(state)),
        )
    if wrong:
        return Refused(
            code=wrong.code, message=wrong.message, rests_on=wrong.clause, player=move.player
        )
    after = play(state, move)
    message = msg("{player} has voted.", player=move.player)
    if after.phase == "move":
        message = sentences(message, msg("It counts once the last move is made."), turn(after))
    elif after.phase != "vote":
        message = sentences(message, votes(after), turn(after))
    return Noted(
        code="icefloe.vote",
        message=message,
        rests_on=VOTING[state.value is not None],
        player=move.player,
        moves=(str(move),),
        secret=True,
    )


def _coin(state: State, heard: CoinLaid) -> Verdict:
    coin = "a" if heard.coin == 1 else str(heard.coin)
    return _noted(state, Coin(heard.player, coin, heard.to), "icefloe.coin")


def _noted(state: State, move: Coin | Done, code: str) -> Verdict:
    """Judge a move that counts but decides nothing yet."""
    if wrong := violation(state, move):
        return _refused(wrong, move, move.player)
    message = (
        msg(
            "{player} laid {n} on {player2}'s vote.",
            player=move.player,
            n=COINS[move.coin],
            player2=move.to,
        )
        if isinstance(move, Coin)
        else msg("{player} lays no more coins.", player=move.player)
    )
    return Noted(
        code=code,
        message=sentences(message, turn(play(state, move))),
        rests_on="Voting Coins; ruling icefloe.2",
        player=move.player,
        moves=(str(move),),
    )


def _done(state: State, move: Done) -> Verdict:
    """Judge that a player lays no more coins; after the last one the votes are counted."""
    if violation(state, move) is None and play(state, move).phase not in ("coins", "decide"):
        return _counted(state, move)
    return _noted(state, move, "icefloe.done")


def _counted(state: State, move: Done | Decision) -> Accepted:
    """Return the verdict of a decided vote: a value, or the tile."""
    after = play(state, move)
    if after.phase == "vote" and after.value == state.value:
        message = sentences(msg("No vote counts, so all vote again."), _vote_opening_text(after))
        return Accepted(
            code="icefloe.vote.again",
            message=message,
            rests_on="ruling icefloe.1",
            moves=(str(move),),
        )
    code, rests_on = (
        ("icefloe.vote.suit", VOTING[1]) if state.value else ("icefloe.vote.value", VOTING[0])
    )
    counted = [
        phrase("{text} {n}", text=choice(name), n=count) for name, count in state.tally.items()
    ]
    tally = all_of(counted or [phrase("no vote counts")])
    if isinstance(move, Decision):
        message = sentences(
            msg(
                "{player}, the torch bearer, decides for {text} ({text2}).",
                player=move.player,
                text=choice(move.choice),
                text2=tally,
            ),
            _vote_opening_text(after),
        )
        return Accepted(
            code=code,
            message=message,
            rests_on=f"{TORCH}; ruling icefloe.1",
            player=move.player,
            moves=(str(move),),
        )
    result = (
        msg("The vote chose the {text} ({text2}).", text=choice(after.value), text2=tally)
        if after.value
        else msg("The vote removes {cell} ({text}).", cell=messages.tile(after.tile), text=tally)
    )
    evidence: Evidence = {
        "votes": dict(zip(state.players, state.votes, strict=True)),
        "tally": state.tally,
    }
    return Accepted(
        code=code,
        message=sentences(result, _vote_opening_text(after)),
        rests_on=rests_on,
        moves=(str(move),),
        evidence=evidence,
    )


def _vote_opening_text(state: State) -> Message:
    """Describe what comes next, with the torch bearer's comment before the vote on the suit."""
    return sentences(turn(state), comments(state))


def _judge_finding(state: State, move: Finding) -> Verdict:
    """Judge an answer on the open objection.

    The last answer, or the torch bearer's in a tie, settles it.
    """
    if wrong := violation(state, move):
        return _refused(wrong, move, move.player)
    after, open_one = play(state, move), state.objection
    assert open_one is not None, "nobody is asked without one"
    accused = open_one.accused
    if after.objection:
        word = (
            msg("{player} says yes.", player=move.player)
            if move.guilty
            else msg("{player} says no.", player=move.player)
        )
        return Noted(
            code="icefloe.breach",
            message=sentences(word, turn(after)),
            rests_on=RULE,
            player=move.player,
            moves=(str(move),),
        )
    torch = len(open_one.ballot) == len(state.others(accused))
    ballot = open_one.ballot if torch else (*open_one.ballot, (move.player, move.guilty))
    follows = (
        msg("{player} has no vote until the next round.", player=accused)
        if accused in after.muted
        else msg("{player} keeps their vote.", player=accused)
    )
    return Accepted(
        code="icefloe.penalty" if accused in after.muted else "icefloe.cleared",
        message=sentences(
            _word(move, accused, torch), follows, _next_step_with_votes(state, after)
        ),
        rests_on=f"{RULE}; {TORCH}" if torch else RULE,
        player=accused,
        moves=(str(move),),
        evidence={"ballot": dict(ballot)},
    )


def _word(move: Finding, accused: str, decides: bool) -> Message:
    """Describe a player's answer on an objection.

    `decides`: it is the torch bearer's in a tie.
    """
    of: dict[str, object] = {"player": move.player, "player2": accused}
    if decides and move.guilty:
        return msg(
            "{player}, the torch bearer, decides: {player2} broke the commentary rules.", **of
        )
    if decides:
        return msg("{player}, the torch bearer, decides: {player2} broke no commentary rule.", **of)
    if move.guilty:
        return msg("{player} says that {player2} broke the commentary rules.", **of)
    return msg("{player} says that {player2} broke no commentary rule.", **of)


def _next_step_with_votes(state: State, after: State) -> Message:
    """Describe what comes next, with all votes if they are now shown.

    They are shown if only an objection, or a vote still to come, kept them hidden.
    """
    shown = after.cast and state.phase in ("move", "vote") and after.phase in ("coins", "decide")
    return sentences(votes(after) if shown else NOTHING, turn(after))


def _judge_decision(state: State, heard: Decided) -> Verdict:
    move = parse_move(f"decide {heard.player} {heard.decides}")
    assert isinstance(move, Decision)
    if wrong := violation(state, move):
        return _refused(wrong, move, move.player)
    if state.phase == "decide":
        return _counted(state, move)
    return _judge_move(state, move, "icefloe.winner", "End of Game; ruling icefloe.8")


def _extra(state: State, heard: ExtraTile) -> Verdict:
    """Judge that no second tile is removed.

    If nobody scores yet, the torch is handed on with that.
    """
    if heard.extra_tile is not None:
        tile = _tile(heard.extra_tile)
        return Waiting(
            code="icefloe.removed_empty",
            message=msg(
                "Take {cell} off the board; the camera will see it.", cell=messages.tile(tile)
            ),
            rests_on=EMPTYING,
            player=heard.player,
        )
    if state.phase == "torch" and heard.player == state.torch:
        return _round_over(state, state, ())
    none = Removal(None)
    wrong = violation(state, none)
    if wrong is None and heard.player != state.torch:
        wrong = Violation(
            "icefloe.removed_empty",
            EMPTYING,
            sentences(msg("{player} is not the torch bearer.", player=heard.player), turn(state)),
        )
    if wrong:
        return _refused(wrong, none, heard.player)
    after = play(state, none)
    if after.phase == "torch":
        return _round_over(state, after, (none,))
    message = sentences(msg("No empty tile is removed."), turn(after))
    return Accepted(
        code="icefloe.removed_empty",
        message=message,
        rests_on=EMPTYING,
        player=heard.player,
        moves=(str(none),),
    )


def _judge_without_removal(
    state: State, move: Selection | Torch, code: str, rests_on: str
) -> Verdict:
    """As `_judge_move`, for a player who scores or hands the torch on without a removal."""
    none = Removal(None)
    if state.phase != "extra" or violation(after := play(state, none), move):
        return _judge_move(state, move, code, rests_on)
    verdict = _judge_move(after, move, code, f"{EMPTYING}; {rests_on}")
    assert isinstance(verdict, Accepted), "it is legal"
    return replace(
        verdict,
        message=sentences(msg("No empty tile is removed."), verdict.message),
        moves=(str(none), *verdict.moves),
    )


def _judge_removal(state: State, heard: Removed) -> Verdict:
    move = Removal(_tile(heard.removed))
    wrong = violation(state, move)
    if wrong is None and heard.player != state.torch:
        wrong = Violation(
            "icefloe.remove.player",
            REMOVING,
            sentences(msg("{player} is not the torch bearer.", player=heard.player), turn(state)),
        )
    if wrong:
        return _refused(wrong, move, heard.player)
    after, empty = play(state, move), state.phase == "extra"
    ended = outcome(after)
    message = sentences(
        msg("{text}.", text=removal_text(state, move.tile)),
        msg("The game is over: {text}.", text=ended.message) if ended else turn(after),
    )
    code, rests_on = ("icefloe.removed_empty", EMPTYING) if empty else ("icefloe.removed", REMOVING)
    return Accepted(
        code=code, message=message, rests_on=rests_on, player=heard.player, moves=(str(move),)
    )


def _round_over(state: State, after: State, moves: tuple[Move, ...]) -> Accepted:
    """Judge that the torch is handed on."""
    torch = Torch(after.after(after.torch))
    message = sentences(
        msg("No empty tile is removed, and the torch goes to {player}.", player=torch.player),
        turn(play(after, torch)),
    )
    return Accepted(
        code="icefloe.round",
        message=message,
        rests_on=f"{EMPTYING}; {ROUND}",
        player=state.torch,
        moves=(*map(str, moves), str(torch)),
    )


def _judge_move(
    state: State, move: Decision | Selection | Torch | Penalty | Objection, code: str, rests_on: str
) -> Verdict:
    if wrong := violation(state, move):
        return _refused(wrong, move, move.player)
    after = play(state, move)
    ended = outcome(after)
    message = sentences(
        _decision_text(state, move),
        msg("The game is over: {text}.", text=ended.message)
        if ended
        else _next_step_with_votes(state, after),
    )
    return Accepted(
        code=code, message=message, rests_on=rests_on, player=move.player, moves=(str(move),)
    )


def _decision_text(
    state: State, move: Decision | Selection | Torch | Penalty | Objection
) -> Message:
    """Describe a decision."""
    match move:
        case Decision():
            return msg("{player} names {text}.", player=move.player, text=choice(move.choice))
        case Selection():
            floe = state.board.floe_of(move.tile)
            points = dict(
                zip(state.players, state.worth(floe.pyramids if floe else ()), strict=True)
            )
            brings = [
                phrase("{player} {n}", player=player, n=count)
                for player, count in points.items()
                if count
            ]
            return msg(
                "{player} chooses {cell} to score: {text}.",
                player=move.player,
                cell=messages.tile(move.tile),
                text=all_of(brings or [phrase("nobody scores")]),
            )
        case Torch():
            return msg("The torch goes to {player}.", player=move.player)
        case Penalty():
            return msg(
                "{player} broke the commentary rules and has no vote until the next round.",
                player=move.player,
            )
        case Objection():
            return NOTHING  # the description of what comes next names the objector
        case _:
            assert_never(move)


def _refused(wrong: Violation, move: Move, player: str) -> Refused:
    return Refused(
        code=wrong.code,
        message=wrong.message,
        rests_on=wrong.clause,
        player=player,
        tried=(str(move),),
    )
