"""`python -m postoffice`."""

import sys

from postoffice.cli.entrance import enter

sys.exit(enter())
