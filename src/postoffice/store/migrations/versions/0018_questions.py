"""Questions to people."""

from postoffice.store.migrations.script import run_script

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    run_script("0018")


def downgrade() -> None:
    """A table more harms nobody."""
