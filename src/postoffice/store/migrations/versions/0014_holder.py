"""A lease remembers its holder, and what an agent has in hand is found by its mailbox."""

from postoffice.store.migrations.script import run_script

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and turn the index round."""
    run_script("0014")


def downgrade() -> None:
    """Older programs write neither, and find what is in hand by either index."""
