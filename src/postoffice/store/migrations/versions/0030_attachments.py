"""Attachments: which letters carry which bytes, whose they are, and where they are kept."""

from postoffice.store.migrations.script import run_script

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0030")


def downgrade() -> None:
    """They harm nobody."""
