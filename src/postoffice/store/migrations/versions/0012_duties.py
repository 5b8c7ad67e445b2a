"""The table of duties is called so. A role is something else: a mailbox that several agents take from."""

from postoffice.store.migrations.script import run_script

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Rename the table and its column."""
    run_script("0012")


def downgrade() -> None:
    """Older programs find what they knew under its old name."""
