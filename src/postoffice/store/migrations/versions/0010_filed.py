"""On SQLite, news and lines are put into their indexes some hundred at a time."""

from alembic import op

from postoffice.store.migrations.script import run_script

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns, and the indexes anew; PostgreSQL gains nothing by it."""
    if op.get_bind().dialect.name == "sqlite":
        run_script("0010")


def downgrade() -> None:
    """A column more harms nobody."""
