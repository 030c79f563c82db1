"""Standings of an event: points, tie-breaks by hand, cross-tables, and the report file."""

from __future__ import annotations

import pytest

from hub.event_standings import Participant, event_standings, meetings
from hub.matches import Match, MatchResult, Seat, Settled
from hub.trf import TrfPlayer, TrfRound, trf

PLAYERS = [Participant(number, number, name) for number, name in enumerate("ABCDE", 1)]


def played(text, disputed=()):
    """Matches such as `AB 1 13:7` or `E` (a bye), one after another; rounds are parted by `|`."""
    settled = []
    for round_, part in enumerate(text.split("|"), 1):
        for number, one in enumerate(part.split(";"), 1):
            names, *said = one.split()
            seats = tuple(Seat("ABCDE".index(name) + 1, name) for name in names)
            match = Match(len(settled), round_, number, None, "", 0, seats)
            result = MatchResult((1.0,))
            if len(seats) > 1:
                won = float(said[0])
                scores = tuple(map(float, said[1].split(":"))) if said[1:] else ()
                result = MatchResult((won, 1 - won), scores)
            status = "bye" if len(seats) == 1 else "confirmed"
            settled.append(Settled(match, "disputed" if names in disputed else status, result))
    return settled


def order(format_, text, **more):
    lines = event_standings(format_, PLAYERS, played(text, **more))
    return " ".join(f"{one.place}{one.player}" for one in lines)


@pytest.mark.parametrize(
    ("format_", "text", "expected"),
    [
        ("free", "AB 1 5:3; CD 1 5:1", "1C 2A 3E 4B 5D"),
        ("round_robin", "AB 1; CD .5", "1A 2C 2D 4B 4E"),
        ("round_robin", "AB 0 5:9; CD 1 9:0|AC 1 9:0; BD 0 0:9", "1A 2C 2D 4B 5E"),
        ("swiss", "AB 1; CD 1; E|AC 1; BD 1", "1A 2B 2C 4E 5D"),
    ],
)
def test_points_come_first_and_then_the_tie_breaks(format_, text, expected):
    assert order(format_, text) == expected


def test_tie_breaks_are_those_that_are_counted_by_hand():
    lines = event_standings("swiss", PLAYERS, played("AB 1 13:7;CD .5 9:9;E|AC .5 8:8;BE 1 13:0;D"))
    found = {
        one.player: (one.points, one.buchholz, one.sonneborn_berger, one.direct, one.difference)
        for one in lines
    }
    # A 1.5, B 1, C 1, D 1.5, E 1
    assert found == {
        "A": (1.5, 2, 1.5, 0, 6),
        "B": (1, 2.5, 1, 0, 7),
        "C": (1, 3, 1.5, 0, 0),
        "D": (1.5, 2.5, 2, 0, 0),
        "E": (1, 2, 1, 0, -13),
    }


def test_direct_encounter_counts_only_where_all_who_are_equal_have_met():
    cycle = "AB 1;CD 1|BC 1;AD 1|AC 0;BD 1"
    lines = {
        one.player: one.direct for one in event_standings("round_robin", PLAYERS, played(cycle))
    }
    assert [lines[name] for name in "ABC"] == [1, 1, 1]
    lines = event_standings("round_robin", PLAYERS, played("AB 1;CD 1|BC 1"))
    assert {one.player: one.direct for one in lines}["A"] == 0


def test_a_disputed_result_does_not_count():
    assert order("free", "AB 1; CD 1") == "1A 1C 3B 3D 3E"
    assert order("free", "AB 1; CD 1", disputed=("AB",)) == "1C 2A 2B 2D 2E"


def test_each_row_of_a_cross_table_has_the_matches_of_a_player():
    rows = meetings(PLAYERS, played("AB 1;E|BA .5"))
    assert [(one.opponents, one.share, one.began) for one in rows[1]] == [
        ((2,), 1, True),
        ((2,), 0.5, False),
    ]
    assert [(one.opponents, one.share) for one in rows[5]] == [((), 1)]
    assert 3 not in rows


def test_a_report_file_has_everything_in_its_column():
    text = trf(
        "Cup\n2026",
        "2026/11/29",
        5,
        [
            TrfPlayer(2, "Müller, Ann", 1.5, 1, [TrfRound(1, False, "1"), TrfRound(1, True, "=")]),
            TrfPlayer(1, "x" * 50, 0.5, 2, [TrfRound(2, True, "0"), TrfRound(2, False, None)]),
            TrfPlayer(3, "Cleo", 1, 3, [TrfRound(outcome="U"), TrfRound()]),
        ],
    )
    lines = text.split("\r\n")
    assert lines[:5] == [
        "012 Cup 2026",
        "042 2026/11/29",
        "062 3",
        "092 Individual: Swiss-System",
        "XXR 5",
    ]
    one, two, three = lines[5:8]
    assert (one[4:8], one[14:47], one[80:84], one[85:89]) == ("   1", "x" * 33, " 0.5", "   2")
    assert (one[91:95], one[96], one[98]) == ("   2", "w", "0")
    assert one[99:] == "     2 b"
    assert two[89:] == "     1 b 1     1 w ="
    assert three[89:] == "  0000 - U  0000 - Z"
