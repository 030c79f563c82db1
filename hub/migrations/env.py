"""What Alembic runs: the steps, on the connection that `hub.store` hands in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()
