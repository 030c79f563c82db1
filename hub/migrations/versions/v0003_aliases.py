"""Aliases of players."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table of other names."""
    op.create_table(
        "aliases",
        sa.Column("club_id", sa.Integer, sa.ForeignKey("clubs.id"), primary_key=True),
        sa.Column("other_key", sa.Text, primary_key=True),
        sa.Column("other", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
    )
