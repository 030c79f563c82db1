"""Events: their players, tables, matches, and who sits where."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables of events."""
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("club_id", sa.Integer, sa.ForeignKey("clubs.id"), nullable=False, index=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("game", sa.Text, nullable=False),
        sa.Column("format", sa.Text, nullable=False),
        sa.Column("terms", sa.Text, nullable=False),
        sa.Column("rounds", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "event_players",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("event_id", sa.Integer, sa.ForeignKey("events.id"), nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("code", sa.Text, nullable=False, unique=True),
        sa.Column("withdrawn", sa.Integer, nullable=False),
        sa.UniqueConstraint("event_id", "number"),
    )
    op.create_table(
        "event_tables",
        sa.Column("event_id", sa.Integer, sa.ForeignKey("events.id"), primary_key=True),
        sa.Column("table_id", sa.Integer, sa.ForeignKey("tables.id"), primary_key=True),
    )
    op.create_table(
        "matches",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("event_id", sa.Integer, sa.ForeignKey("events.id"), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("table_id", sa.Integer, sa.ForeignKey("tables.id")),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("entered_by", sa.Text, nullable=False),
        sa.Column("entered", sa.Text, nullable=False),
        sa.Column("confirmed", sa.Text, nullable=False),
        sa.Column("disputed_by", sa.Integer, sa.ForeignKey("event_players.id")),
        sa.Column("frozen", sa.Text, nullable=False),
        sa.UniqueConstraint("event_id", "round", "number"),
    )
    op.create_table(
        "seats",
        sa.Column("match_id", sa.Integer, sa.ForeignKey("matches.id"), primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column(
            "player_id", sa.Integer, sa.ForeignKey("event_players.id"), nullable=False, index=True
        ),
        sa.Column("agreed", sa.Text, nullable=False),
    )
