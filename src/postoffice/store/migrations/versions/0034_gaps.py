"""What never came to its recipient is counted for nobody."""

from postoffice.store.migrations.script import run_script

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column, and count anew."""
    run_script("0034")


def downgrade() -> None:
    """It harms nobody."""
