"""Letters are sent again and again."""

from postoffice.store.migrations.script import run_script

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    run_script("0028")


def downgrade() -> None:
    """A table more harms nobody."""
