"""Contract tests of outputs. The fixture `output` gives a newly opened one."""

from hardware.scoreboard import Score, Scoreboard

SCORES = (Score("red", "Anna", 12), Score("blue", "Ben", 3.5))
BOARDS = (
    Scoreboard("Pegs", ()),
    Scoreboard("Pegs", SCORES, "red", "RED +2"),
    Scoreboard("Pegs", SCORES, outcome="Anna wins.", trouble="The camera is lost."),
)


def test_an_output_takes_any_score_at_once_also_again(output):
    for board in (*BOARDS, *BOARDS):
        output.show(board)
    assert output.error == ""
    output.close()


def test_an_output_is_closed_twice_without_an_error(output):
    output.close()
    output.close()
