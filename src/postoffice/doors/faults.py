"""The one table from errors to what each door says: an HTTP status and a command's exit code."""

from http import HTTPStatus
from typing import NamedTuple

from postoffice.core import errors as e


class Fault(NamedTuple):
    """What the doors make of one kind of error."""

    status: HTTPStatus
    exit_code: int


# Looked up along the tree: an error without a row of its own is its parent's.
FAULTS: dict[type[e.MailError], Fault] = {
    e.MailError: Fault(HTTPStatus.INTERNAL_SERVER_ERROR, 70),
    e.Invalid: Fault(HTTPStatus.UNPROCESSABLE_ENTITY, 65),
    e.TooLarge: Fault(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, 65),
    e.Unidentified: Fault(HTTPStatus.UNAUTHORIZED, 77),
    e.Forbidden: Fault(HTTPStatus.FORBIDDEN, 77),
    e.NotFound: Fault(HTTPStatus.NOT_FOUND, 66),
    e.Conflict: Fault(HTTPStatus.CONFLICT, 73),
    e.Limited: Fault(HTTPStatus.TOO_MANY_REQUESTS, 75),
    e.Unavailable: Fault(HTTPStatus.SERVICE_UNAVAILABLE, 69),
    e.DiskFull: Fault(HTTPStatus.INSUFFICIENT_STORAGE, 69),
}


def fault(error: e.MailError) -> Fault:
    """What the doors make of an error."""
    return next(FAULTS[cls] for cls in type(error).__mro__ if cls in FAULTS)
