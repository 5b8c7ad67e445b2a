"""`python -m postoffice`."""

import sys

from postoffice.cli.main import main

sys.exit(main())
