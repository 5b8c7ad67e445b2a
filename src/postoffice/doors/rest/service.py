"""The server about itself: alive, ready, which version, in numbers."""

import msgspec
from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field

from postoffice import __version__
from postoffice.core.errors import Closed, NoSuchPath, OwnerOnly, StartedByHand, Unavailable
from postoffice.core.proof import NONCE_LETTERS, OfficeProof
from postoffice.doors.metrics import Metrics
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified, Office, Watcher

routes = router("service")


class Health(msgspec.Struct, frozen=True):
    """The process is there."""

    status: str
    version: str


class Ready(msgspec.Struct, frozen=True, omit_defaults=True):
    """Mail can be taken."""

    status: str
    version: str
    hints: str
    """`carried` between replicas, or `polling`: each looks for itself, once a tick."""
    trouble: str | None = None
    """Why hints are not carried."""


class Version(msgspec.Struct, frozen=True):
    """What runs here."""

    name: str
    version: str
    auth: str
    handshake: str


@routes.get("/health", **gives(Health, {"status": "ok", "version": __version__}, public=True))
async def health() -> Response:
    """Alive."""
    return answer(Health("ok", __version__))


@routes.get("/ready", **gives(Ready, {"status": "ready", "version": __version__, "hints": "carried"}, public=True))
async def ready(office: Office) -> Response:
    """Whether mail can be taken now: the store answers, and the office is not closing."""
    if office.draining:
        raise Closed
    await office.ping()
    return answer(Ready("ready", __version__, "carried" if office.hints_carried else "polling", office.hints_trouble))


@routes.get(
    "/version", **gives(Version, {"name": "postoffice", "version": __version__, "auth": "open", "handshake": "visible"}, public=True)
)
async def version(office: Office) -> Response:
    """What runs here, and by which rules."""
    return answer(Version("postoffice", __version__, office.rules.auth, office.rules.handshake))


class ProveBody(Body):
    """A question that nobody can have asked before."""

    nonce: str = Field(min_length=16, max_length=NONCE_LETTERS)


class Closing(msgspec.Struct, frozen=True):
    """The office is about to close."""

    status: str


@routes.post("/prove", **gives(OfficeProof, {"version": __version__, "itself": True, "seal": "0" * 64}, public=True))
async def prove(request: Request, body: ProveBody) -> Response:
    """Prove to a program of the same user that this is its office: whoever has its data directory's secret can tell."""
    proving = getattr(request.app.state, "prove", None)
    if proving is None:  # served in some other way
        raise NoSuchPath(path="/prove")
    return answer(proving(body.nonce))


@routes.post("/close", **gives(Closing, {"status": "closing"}))
async def close(request: Request, call: Identified) -> Response:
    """Close an office that a program has started; for its owner only."""
    if not call.caller.owner:
        raise OwnerOnly(what="close it")
    closing = getattr(request.app.state, "close", None)
    if closing is None:
        raise StartedByHand
    closing()
    return answer(Closing("closing"))


_METRICS = {"description": "Prometheus text.", "content": {"text/plain": {"example": "postoffice_agents 3.0"}}}


@routes.get("/metrics", response_class=Response, responses={200: _METRICS})
async def metrics(request: Request, office: Watcher) -> Response:
    """The office in numbers, for Prometheus; where keys are required, with the owner's. While the store is away, what this process knows."""
    metrics: Metrics = request.app.state.metrics
    try:
        numbers = await office.numbers()
    except Unavailable:
        numbers = None
    return Response(metrics.show(numbers, office), media_type=CONTENT_TYPE_LATEST)
