"""An index by which names that look alike are found."""

from postoffice.store.migrations.script import run_script

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    run_script("0016")


def downgrade() -> None:
    """Older programs need no index less."""
