"""What waits outside of sessions has an index: notes are found behind any number of letters."""

from postoffice.store.migrations.script import run_script

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    run_script("0007")


def downgrade() -> None:
    """An index more harms nobody."""
