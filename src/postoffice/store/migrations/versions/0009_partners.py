"""Whether two agents are connected, what an agent is asked, and what the ledger has not confirmed yet have indexes of their own."""

from postoffice.store.migrations.script import run_script

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the indexes."""
    run_script("0009")


def downgrade() -> None:
    """Indexes more harm nobody."""
