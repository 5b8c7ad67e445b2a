"""Lines before the ledger are found by their first post; notes that SQL inserts are notes, and its mail stands in the order of time."""

from postoffice.store.migrations.script import run_script

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index; the view's functions anew."""
    run_script("0008")


def downgrade() -> None:
    """Older programs work with all of it."""
