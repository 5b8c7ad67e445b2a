"""Each mailbox knows how many bytes wait in it."""

from postoffice.store.migrations.script import run_script

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the columns, and count what waits."""
    run_script("0011")


def downgrade() -> None:
    """Columns more harm nobody."""
