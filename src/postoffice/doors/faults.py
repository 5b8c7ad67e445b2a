"""The one table from errors to HTTP status, WebSocket close code and a command's exit code."""

from http import HTTPStatus
from typing import NamedTuple

from postoffice.core import errors as e


class Fault(NamedTuple):
    """How the doors report one kind of error."""

    status: HTTPStatus
    close_code: int
    exit_code: int


# Looked up along the tree of errors: an error without a row has its parent's.
FAULTS: dict[type[e.MailError], Fault] = {
    e.MailError: Fault(HTTPStatus.INTERNAL_SERVER_ERROR, 1011, 70),
    e.Invalid: Fault(HTTPStatus.UNPROCESSABLE_ENTITY, 4022, 65),
    e.Repeated: Fault(HTTPStatus.BAD_REQUEST, 4022, 65),
    e.BadJson: Fault(HTTPStatus.BAD_REQUEST, 4022, 65),
    e.WrongMethod: Fault(HTTPStatus.METHOD_NOT_ALLOWED, 4022, 65),
    e.TooLarge: Fault(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, 1009, 65),
    e.BadRange: Fault(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, 4022, 65),
    e.Unidentified: Fault(HTTPStatus.UNAUTHORIZED, 4001, 77),
    e.AuthTimeout: Fault(HTTPStatus.UNAUTHORIZED, 4000, 77),
    e.Forbidden: Fault(HTTPStatus.FORBIDDEN, 4003, 77),
    e.WrongHost: Fault(HTTPStatus.MISDIRECTED_REQUEST, 4003, 77),
    e.NotFound: Fault(HTTPStatus.NOT_FOUND, 4004, 66),
    e.Conflict: Fault(HTTPStatus.CONFLICT, 4009, 73),
    e.Limited: Fault(HTTPStatus.TOO_MANY_REQUESTS, 4029, 75),
    e.QuotaSpent: Fault(HTTPStatus.INSUFFICIENT_STORAGE, 4029, 75),
    e.TooSlow: Fault(HTTPStatus.REQUEST_TIMEOUT, 4008, 75),
    e.SlowReader: Fault(HTTPStatus.REQUEST_TIMEOUT, 4008, 75),
    e.Unavailable: Fault(HTTPStatus.SERVICE_UNAVAILABLE, 1013, 69),
    e.DiskFull: Fault(HTTPStatus.INSUFFICIENT_STORAGE, 1013, 69),
    e.Closed: Fault(HTTPStatus.SERVICE_UNAVAILABLE, 1012, 69),
}


def fault(error: e.MailError) -> Fault:
    """How the doors report an error."""
    return next(FAULTS[cls] for cls in type(error).__mro__ if cls in FAULTS)
