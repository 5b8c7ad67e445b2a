"""The benchmark: what a cycle, a lease and an inbox cost here and elsewhere. Run as `python -m bench`."""

import warnings

# From the PostgreSQL wheel, as soon as it is imported where nobody is logged in.
warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR is not set")
