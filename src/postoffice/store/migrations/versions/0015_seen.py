"""What a person has opened is seen."""

from postoffice.store.migrations.script import run_script

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the column and its index."""
    run_script("0015")


def downgrade() -> None:
    """A column more harms nobody."""
