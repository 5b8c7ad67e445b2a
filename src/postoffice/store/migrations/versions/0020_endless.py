"""Models that write to each other without end."""

from postoffice.store.migrations.script import run_script

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0020")


def downgrade() -> None:
    """Tables more harm nobody."""
