"""Tasks are parts of others, and wait for others."""

from postoffice.store.migrations.script import run_script

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns and the table."""
    run_script("0027")


def downgrade() -> None:
    """A table and columns more harm nobody."""
