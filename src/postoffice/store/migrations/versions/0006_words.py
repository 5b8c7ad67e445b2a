"""The view `inbox`: it tells what a message says, takes what a door would take, and answers with the row as it is."""

from postoffice.store.migrations.script import run_script

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the view anew, and its further triggers."""
    run_script("0006")


def downgrade() -> None:
    """The view has the columns it had; what else it tells and refuses harms nobody."""
