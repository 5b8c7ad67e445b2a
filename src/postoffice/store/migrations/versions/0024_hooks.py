"""Hooks: addresses at which other programs leave letters for an agent."""

from postoffice.store.migrations.script import run_script

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    run_script("0024")


def downgrade() -> None:
    """A table more harms nobody."""
