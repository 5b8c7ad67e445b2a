"""Letters wait for their time, and expire."""

from postoffice.store.migrations.script import run_script

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns and their indexes."""
    run_script("0026")


def downgrade() -> None:
    """Columns more harm nobody."""
