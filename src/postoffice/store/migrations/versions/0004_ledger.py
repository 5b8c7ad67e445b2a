"""The ledger: who has topics, what waits to be submitted, what was seen."""

from postoffice.store.migrations.script import run_script

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0004")


def downgrade() -> None:
    """Tables more harm nobody."""
