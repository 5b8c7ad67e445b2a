"""How Hypothesis runs here: no clock over its shoulder, and in CI the same examples every time."""

import os

from hypothesis import settings

settings.register_profile("postoffice", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("postoffice")
