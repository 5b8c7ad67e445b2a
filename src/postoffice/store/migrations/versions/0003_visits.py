"""People who look at the page, and the tasks that are still open."""

from postoffice.store.migrations.script import run_script

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table and the index."""
    run_script("0003")


def downgrade() -> None:
    """A table and an index more harm nobody."""
