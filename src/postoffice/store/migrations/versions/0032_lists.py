"""Lists, who is on them, and what was written to them."""

from postoffice.store.migrations.script import run_script

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    run_script("0032")


def downgrade() -> None:
    """Tables more harm nobody."""
