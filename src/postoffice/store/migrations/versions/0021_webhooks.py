"""Webhooks, and the events that are on their way to them."""

from postoffice.store.migrations.script import run_script

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0021")


def downgrade() -> None:
    """Tables more harm nobody."""
