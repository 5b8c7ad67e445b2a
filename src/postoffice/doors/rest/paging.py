"""What lists and verbs take in the address: whose, from where, and how many."""

from typing import Annotated

from fastapi import Path, Query

from postoffice.core.limits import Limits

_LIMITS = Limits()
AT_MOST_A_WAIT = f"at most {_LIMITS.wait_most.total_seconds():g} by default"
NameText = Annotated[str, Path(min_length=1, max_length=100, examples=["bob-agent"])]
Of = Annotated[str | None, Query(description="Another agent; for the owner only.")]
Cursor = Annotated[str | None, Query(description="Where the last page ended; leave it out to begin.")]
Limit = Annotated[
    int | None,
    Query(ge=1, description=f"At most so many: {_LIMITS.page} unless said otherwise, and at most {_LIMITS.page_most} by default."),
]
