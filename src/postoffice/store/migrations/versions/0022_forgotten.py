"""Agents that the owner has forgotten."""

from postoffice.store.migrations.script import run_script

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    run_script("0022")


def downgrade() -> None:
    """A column more harms nobody."""
