"""Alembic migrations of the hub's database."""
