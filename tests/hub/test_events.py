"""Events: rounds are paired, tables' own logs fill matches, people confirm, doubt and decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hub.event_standings import event_standings
from hub.matches import MatchResult, result_text
from referee.sessions.commands import NextGame, Resign, Undo
from tests.support.evenings import COLOURS, FIRST, SECOND, Evening
from tests.support.hubs import Club
from webui.security.requests import Refusal


def test_a_tables_own_log_fills_the_match_and_both_players_confirm(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    assert evening.matches[0].status == "waiting"
    session = evening.began("ben", "Anna ")
    evening.send()
    assert evening.matches[0].status == "playing"
    session.command(Resign(player="yellow"))
    evening.send()
    (one,) = evening.matches
    winner = [one.match.seats[place].name for place in (0, 1) if one.result.shares[place]]
    assert (one.status, one.source, winner) == ("reported", "table", ["Anna"])
    said = result_text(one.result)
    for name, status in (("Anna", "reported"), ("Ben", "confirmed")):
        evening.desk.agree(evening.view(name), one.match.id, said)
        assert evening.matches[0].status == status


def test_a_correction_at_the_table_counts_at_once_and_waits_for_confirmation_again(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    session = evening.play("Anna", "Ben", lost="Ben")
    (one,) = evening.matches
    evening.desk.confirm(evening.actor, evening.id, one.match.id, result_text(one.result))
    assert evening.matches[0].status == "confirmed"
    session.command(Undo())
    evening.send()
    assert evening.matches[0].status == "playing"
    session.command(Resign(player="yellow"))
    evening.send()
    (again,) = evening.matches
    assert (again.status, again.result.shares) == ("reported", one.result.shares[::-1])
    lines = event_standings("round_robin", evening.event.players, evening.matches)
    assert [(line.player, line.points) for line in lines] == [("Ben", 1), ("Anna", 0)]
    with pytest.raises(Refusal, match="has changed"):
        evening.desk.confirm(evening.actor, evening.id, one.match.id, result_text(one.result))
    evening.results.forget()
    assert evening.matches == (again,)


@pytest.mark.parametrize(
    ("names", "table", "game"),
    [
        (("Anna", "Cleo"), "Table 1", "icebreaker"),
        (("Anna", "Ben", "Cleo"), "Table 1", "ice_storm"),
        (("Anna", "Ben"), "Table 2", "icebreaker"),
        (("Anna", "Ben"), "Table 1", "zamboni_wars"),
    ],
)
def test_a_game_of_others_or_of_another_table_or_game_fills_nothing(
    club, tmp_path, names, table, game
):
    evening = Evening(club, tmp_path, tables=2)
    evening.pair()
    session = evening.began(*names, table=table, game=game)
    for player in COLOURS[1 : len(names)]:
        session.command(Resign(player=player))
    evening.send(table)
    assert evening.matches[0].status == "waiting"


def test_a_game_from_before_the_round_was_paired_fills_nothing_and_the_next_one_does(
    club, tmp_path
):
    evening = Evening(club, tmp_path)
    session = evening.play("Anna", "Ben", lost="Ben")
    club.at_ms += 1000
    evening.pair()
    assert evening.matches[0].status == "waiting"
    session.command(NextGame())
    session.command(Resign(player="yellow"))
    evening.send()
    assert evening.matches[0].status == "reported"


def test_an_old_game_in_a_renamed_copy_of_the_log_fills_nothing(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.play("Anna", "Ben", lost="Ben")
    club.at_ms += 1000
    evening.pair()
    evening.log().rename()
    evening.send()
    assert evening.matches[0].status == "waiting"
    evening.play("Anna", "Ben", lost="Anna")
    assert evening.matches[0].status == "reported"


def test_a_disputed_result_is_frozen_with_its_records_until_an_organiser_decides(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    session = evening.play("Anna", "Ben", lost="Ben")
    (one,) = evening.matches
    evening.desk.dispute(evening.view("Ben"), one.match.id, result_text(one.result))
    session.command(Undo())
    session.command(Resign(player="yellow"))
    evening.send()
    (frozen,) = evening.matches
    assert (frozen.status, frozen.counts, frozen.result) == ("disputed", None, one.result)
    assert frozen.table_says.shares == one.result.shares[::-1]
    assert (frozen.match.frozen.session, frozen.match.frozen.last) == (1, 2)
    with pytest.raises(Refusal):
        evening.desk.agree(evening.view("Anna"), one.match.id, result_text(one.result))
    with pytest.raises(Refusal, match="No round"):
        evening.pair()
    evening.decide(MatchResult((0.5, 0.5)))
    (decided,) = evening.matches
    assert (decided.status, decided.source, decided.counts.shares) == (
        "confirmed",
        "organiser",
        (0.5, 0.5),
    )
    evening.desk.let_go(evening.actor, evening.id, one.match.id)
    assert (evening.matches[0].status, evening.matches[0].source) == ("reported", "table")


def test_players_may_enter_a_result_and_the_other_one_agrees(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    number = evening.matches[0].match.id
    evening.desk.claim(evening.view("Anna"), number, 1, [13, 7])
    (one,) = evening.matches
    assert (one.status, one.source) == ("reported", "player")
    evening.desk.claim(evening.view("Ben"), number, 1, [13, 7])  # no, I won
    (other,) = evening.matches
    assert other.result.shares == one.result.shares[::-1]
    assert other.result.scores == one.result.scores[::-1]
    with pytest.raises(Refusal, match="has changed"):
        evening.desk.agree(evening.view("Anna"), number, result_text(one.result))
    evening.desk.agree(evening.view("Anna"), number, result_text(other.result))
    assert evening.matches[0].status == "confirmed"
    evening.play("Anna", "Ben", lost="Ben")  # the table knows better
    assert evening.matches[0].source == "table"
    with pytest.raises(Refusal, match="table says"):
        evening.desk.claim(evening.view("Ben"), number, 1)


def test_what_an_organiser_has_confirmed_is_not_disputed_any_more(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    evening.play("Anna", "Ben", lost="Ben")
    (one,) = evening.matches
    said = result_text(one.result)
    evening.desk.confirm(evening.actor, evening.id, one.match.id, said)
    with pytest.raises(Refusal):
        evening.desk.dispute(evening.view("Ben"), one.match.id, said)


def test_a_round_robin_is_paired_to_its_end_and_shared_among_the_tables(club, tmp_path):
    evening = Evening(club, tmp_path, names="ABCDE", tables=2)
    evening.pair()
    assert len(evening.matches) == 10
    assert {frozenset(pair) for n in range(1, 6) for pair in evening.players_of(n)} == {
        frozenset((one, other)) for one in "ABCDE" for other in "ABCDE" if one != other
    }
    assert {one.match.table for one in evening.matches} == {"Table 1", "Table 2"}
    evening.decide_all()
    with pytest.raises(Refusal, match="No round is left"):
        evening.pair()


def test_a_knock_out_ends_with_the_winner(club, tmp_path):
    evening = Evening(club, tmp_path, "knock_out", "ABCDE")
    evening.pair()
    assert evening.players_of(1) == [["A"], ["D", "E"], ["B"], ["C"]]
    evening.decide_all()
    evening.pair()
    assert evening.players_of(2) == [["A", "D"], ["B", "C"]]
    evening.decide(MatchResult((0.5, 0.5)), 4)
    evening.decide_all()
    with pytest.raises(Refusal, match="Match 1 has no winner"):
        evening.pair()
    evening.decide(SECOND, 4)
    evening.pair()
    assert evening.players_of(3) == [["D", "B"]]
    evening.decide_all()
    assert not evening.event.may_pair
    lines = event_standings("knock_out", evening.event.players, evening.matches)
    assert [(line.place, line.player) for line in lines] == [
        (1, "D"),
        (2, "B"),
        (3, "A"),
        (3, "C"),
        (5, "E"),
    ]


def test_rounds_of_swiss_follow_results_and_leave_out_who_has_withdrawn(club, tmp_path):
    evening = Evening(club, tmp_path, "swiss", "ABCDE")
    evening.pair()
    assert evening.players_of(1) == [["A", "C"], ["D", "B"], ["E"]]
    with pytest.raises(Refusal, match="Open results: 2"):
        evening.pair()
    evening.decide_all()
    evening.events.add_players(evening.actor, evening.id, ["F"])
    (e,) = (one.id for one in evening.event.players if one.name == "E")
    evening.events.withdraw(evening.actor, evening.id, e)
    evening.pair()
    seen = [one for pair in evening.players_of(2) for one in pair]
    assert sorted(seen) == ["A", "B", "C", "D", "F"]
    assert ["A", "D"] in [sorted(pair) for pair in evening.players_of(2)]
    evening.decide_all()
    evening.pair()
    evening.decide_all()
    with pytest.raises(Refusal, match="No round is left"):
        evening.pair()


def test_a_round_is_paired_once_and_taken_back_only_while_nothing_came_of_it(club, tmp_path):
    evening = Evening(club, tmp_path, "swiss", "ABCD")
    evening.pair()
    with pytest.raises(Refusal, match="already"):
        evening.events.pair(evening.actor, evening.id, 0)
    evening.events.take_back(evening.actor, evening.id)
    assert (evening.event.state, evening.matches) == ("open", ())
    evening.pair()
    evening.decide(FIRST)
    with pytest.raises(Refusal, match="has been played"):
        evening.events.take_back(evening.actor, evening.id)


def test_in_free_play_an_organiser_adds_matches_of_several(club, tmp_path):
    evening = Evening(club, tmp_path, "free", ("Anna", "Ben", "Cleo"), game="ice_storm")
    players = [one.id for one in evening.event.players]
    evening.events.add_match(evening.actor, evening.id, players, None)
    club.at_ms += 1000
    session = evening.began("Anna", "Ben", "Cleo", game="ice_storm")
    for colour in COLOURS[:2]:
        session.command(Resign(player=colour))
    evening.send()
    (one,) = evening.matches
    assert (one.status, one.result.shares) == ("reported", (0, 0, 1))
    for wrong in (players[:1], [players[0]] * 2, [*players[:1], 10**9]):
        with pytest.raises(Refusal):
            evening.events.add_match(evening.actor, evening.id, wrong, None)
    with pytest.raises(Refusal, match="No round is left"):
        evening.pair()


def test_what_a_table_plays_next_waits_for_its_players(club, tmp_path):
    evening = Evening(club, tmp_path, names="ABC", tables=1)
    evening.pair()
    order = [frozenset(one.name for one in each.match.seats) for each in evening.matches]

    def upcoming():
        found = evening.events.next_matches(evening.actor.club_id)
        return [frozenset(seat.name for seat in match.seats) for _, match in found.values()]

    assert upcoming() == order[:1]
    evening.began(*sorted(order[0]))
    evening.send()
    assert upcoming() == []  # everybody else plays against one of these two
    evening.decide(FIRST)
    assert upcoming() == order[1:2]
    evening.events.end(evening.actor, evening.id)
    assert upcoming() == []


@pytest.mark.parametrize(
    "result",
    [
        MatchResult(()),
        MatchResult((1, 1)),
        MatchResult((1, 0.5)),
        MatchResult((0.5, 0)),
        MatchResult((2, 0)),
        MatchResult((1, 0, 0)),
        MatchResult((1, 0), (13,)),
        MatchResult((1, 0), (1e9, 0)),
    ],
)
def test_a_result_that_cannot_be_is_refused(club, tmp_path, result):
    evening = Evening(club, tmp_path)
    evening.pair()
    with pytest.raises(Refusal, match="Expected one winner"):
        evening.decide(result)


def test_another_clubs_event_is_out_of_reach(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    other = Club(club.store, "Elsewhere").actor
    match = evening.matches[0].match.id
    for act in (
        lambda: evening.events.event(other.club_id, evening.id),
        lambda: evening.events.add_players(other, evening.id, ["Eve"]),
        lambda: evening.events.pair(other, evening.id, 1),
        lambda: evening.events.move(other, evening.id, match, None),
        lambda: evening.events.end(other, evening.id),
        lambda: evening.desk.decide(other, evening.id, match, FIRST),
        lambda: evening.desk.let_go(other, evening.id, match),
    ):
        with pytest.raises(Refusal, match="no such event"):
            act()
    assert evening.events.next_matches(other.club_id) == {}
    assert evening.matches[0].status == "waiting"


def test_names_are_there_once_and_codes_are_not_guessed(club, tmp_path):
    evening = Evening(club, tmp_path)
    with pytest.raises(Refusal, match="already"):
        evening.events.add_players(evening.actor, evening.id, ["Cleo", " anna"])
    assert [one.name for one in evening.event.players] == ["Anna", "Ben"]
    for _ in range(5):
        with pytest.raises(Refusal, match="No player"):
            evening.desk.player("AAAA-AAAA", "test")
    with pytest.raises(Refusal, match="Too many"):
        evening.view("Anna")


def test_an_ended_event_stays_as_it_is_and_goes_on(club, tmp_path):
    evening = Evening(club, tmp_path)
    evening.pair()
    evening.events.end(evening.actor, evening.id)
    for act in (
        lambda: evening.events.add_players(evening.actor, evening.id, ["Cleo"]),
        lambda: evening.decide(FIRST),
        lambda: evening.desk.claim(evening.view("Anna"), evening.matches[0].match.id, 1),
    ):
        with pytest.raises(Refusal):
            act()
    evening.events.end(evening.actor, evening.id)
    evening.decide(FIRST)
    assert replace(evening.event, matches=()).state == "running"
