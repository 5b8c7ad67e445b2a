"""What lists and verbs take in the address: whose, from where, and how many."""

from typing import Annotated

from fastapi import Path, Query

NameText = Annotated[str, Path(min_length=1, max_length=100, examples=["bob-agent"])]
Of = Annotated[str | None, Query(description="Another agent; for the owner only.")]
Cursor = Annotated[str | None, Query(description="Where the last page ended; leave it out to begin.")]
Limit = Annotated[int | None, Query(ge=1, description="At most so many: 50 unless said otherwise, and at most 200 by default.")]
