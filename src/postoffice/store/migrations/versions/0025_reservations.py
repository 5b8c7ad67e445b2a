"""Files can be reserved."""

from postoffice.store.migrations.script import run_script

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0025")


def downgrade() -> None:
    """Tables more harm nobody."""
