"""What is lent without expiry can be listed."""

from postoffice.store.migrations.script import run_script

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Index it."""
    run_script("0002")


def downgrade() -> None:
    """An index more harms nobody."""
