"""An agent's mail can be paused."""

from postoffice.store.migrations.script import run_script

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns."""
    run_script("0023")


def downgrade() -> None:
    """Columns more harm nobody."""
