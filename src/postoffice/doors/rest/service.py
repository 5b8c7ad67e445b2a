"""The server about itself: alive, ready, which version, in numbers."""

import msgspec
from fastapi import Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from postoffice import __version__
from postoffice.core.errors import Closed
from postoffice.doors.metrics import Metrics
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import router
from postoffice.doors.rest.visit import Office, Watcher

routes = router("service")


class Health(msgspec.Struct, frozen=True):
    """The process is there."""

    status: str
    version: str


class Ready(msgspec.Struct, frozen=True):
    """Mail can be taken."""

    status: str
    version: str
    hints: str
    """`carried` between replicas, or `polling`: each looks for itself, once a tick."""


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
    return answer(Ready("ready", __version__, "carried" if office.hints_carried else "polling"))


@routes.get(
    "/version", **gives(Version, {"name": "postoffice", "version": __version__, "auth": "open", "handshake": "visible"}, public=True)
)
async def version(office: Office) -> Response:
    """What runs here, and by which rules."""
    return answer(Version("postoffice", __version__, office.house.auth, office.house.handshake))


_METRICS = {"description": "Prometheus text.", "content": {"text/plain": {"example": "postoffice_agents 3.0"}}}


@routes.get("/metrics", response_class=Response, responses={200: _METRICS})
async def metrics(request: Request, office: Watcher) -> Response:
    """The office in numbers, for Prometheus; where keys are required, with the owner's."""
    counted: Metrics = request.app.state.metrics
    oldest = await office.longest_waiting(office.owner(), 1)
    waiting = oldest[0].waiting.total_seconds() if oldest else 0.0
    posts = {} if office.house.ledger is None else await office.ledger_posts()
    return Response(counted.show(await office.totals(), waiting, posts, office), media_type=CONTENT_TYPE_LATEST)
