"""What waits is found by its mailbox, session by session."""

from postoffice.store.migrations.script import run_script

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Turn the index round."""
    run_script("0033")


def downgrade() -> None:
    """Older programs find what waits in a session by either index."""
