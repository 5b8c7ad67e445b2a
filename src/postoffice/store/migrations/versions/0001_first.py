"""The first schema."""

from postoffice.store.migrations.script import run_script

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    run_script("0001")


def downgrade() -> None:
    """There is nothing before the first."""
