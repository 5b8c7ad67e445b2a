"""An entity, what notes are about: its id is anybody's, its type is one of four words (seed 004)."""

from typing import Final

from postoffice.core.errors import Invalid

ENTITY_TYPES: Final = ("task", "phase", "stage", "project")
NAMED: Final = ", ".join(ENTITY_TYPES[:-1]) + f" or {ENTITY_TYPES[-1]}"
"""The four as a sentence has them."""


def check_entity_type(value: str, what: str = "entity_type") -> str:
    """The type, if an entity can have it."""
    if value not in ENTITY_TYPES:
        raise Invalid(what=what, why=f"an entity is a {NAMED}, not {value[:100]!r}")
    return value
