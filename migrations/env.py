"""Runs migrations on the connection that the store hands over; there is no other way in."""

from alembic import context

from spaces.tables import metadata


def migrate() -> None:
    connection = context.config.attributes["connection"]
    # A batch rebuilds a table: the only way SQLite alters one.
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True, compare_type=True)
    with context.begin_transaction():
        context.run_migrations()


migrate()
