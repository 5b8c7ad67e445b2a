"""Who waits for whose answer, for as long as the wait lasts."""

from postoffice.store.migrations.script import run_script

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    run_script("0019")


def downgrade() -> None:
    """A table more harms nobody."""
