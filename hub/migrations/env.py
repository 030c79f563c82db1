"""Alembic's entry point: run the migrations on the connection from `hub.store`."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
