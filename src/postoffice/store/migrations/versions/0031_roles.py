"""Roles: mailboxes that several agents take from."""

from postoffice.store.migrations.script import run_script

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables and the column."""
    run_script("0031")


def downgrade() -> None:
    """None of them harms anybody."""
