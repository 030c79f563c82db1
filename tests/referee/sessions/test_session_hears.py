"""What a session tells the game with what it hears."""

import pytest

from referee.sessions.events import VerdictReached


@pytest.mark.parametrize(
    ("verdict", "in_doubt"),
    [("accepted", False), ("refused", False), ("cannot_see", True), ("out_of_sync", True)],
)
def test_a_game_is_told_whether_the_table_is_in_doubt(
    session, games, monkeypatch, verdict, in_doubt
):
    doubts, hear = [], games["pegs"].hear
    monkeypatch.setattr(
        games["pegs"],
        "hear",
        lambda state, heard, doubt: doubts.append(doubt) or hear(state, heard, doubt),
    )
    for ruled in ("cannot_see", verdict):
        session.append(
            VerdictReached(
                verdict=ruled,
                code="pegs.put",
                message="",
                moves=("red",) if ruled == "accepted" else (),
            )
        )
    session.hear({"player": "blue", "hand": 1})
    assert doubts == [in_doubt]
