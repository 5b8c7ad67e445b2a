"""The view `inbox`: what awaits the ledger is not in it yet, and what it is asked for has an index."""

from postoffice.store.migrations.script import run_script

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index, and the view anew."""
    run_script("0005")


def downgrade() -> None:
    """An index more harms nobody, and the view has the columns it had."""
