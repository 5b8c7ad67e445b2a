"""Notify addresses, and the links by which a question is answered."""

from postoffice.store.migrations.script import run_script

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column and the table."""
    run_script("0029")


def downgrade() -> None:
    """Neither harms anybody."""
