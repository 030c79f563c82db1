"""Steps from one version of the hub's tables to the next, for Alembic."""
