"""The page's door: who may come in, the address of each view, and refusals as pages."""

import functools
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from postoffice.core.errors import BadLink, MailError, NoLogin, NoSuchPath, Unidentified
from postoffice.doors.edge import Refusal, report
from postoffice.doors.faults import fault
from postoffice.doors.page import (
    agents,
    answering,
    assets,
    bulk,
    compose,
    connect,
    connections,
    dead_letters,
    export,
    files,
    foryou,
    lists,
    login,
    mail,
    many,
    mine,
    news,
    notifying,
    overview,
    palette,
    questions,
    recurring,
    reservations,
    search,
    settings,
    tasks,
    webhooks,
)
from postoffice.doors.page import traffic as flow
from postoffice.doors.page.look import Look
from postoffice.doors.page.origin import check_same_origin
from postoffice.doors.page.visitor import visitor

View = Callable[[Look], Awaitable[Response]]


class _Place(NamedTuple):
    """A view at an address."""

    method: str
    path: str
    view: View
    public: bool = False


async def _asset(look: Look) -> Response:
    return assets.asset(look.request, look.part("version"), look.part("name"))


async def _nowhere(look: Look) -> Response:
    raise NoSuchPath(path=look.request.url.path)


_PLACES = (
    _Place("GET", "/", foryou.for_you),
    _Place("POST", "/page/many", many.conclude),
    _Place("GET", "/page/waiting", foryou.waiting),
    _Place("GET", "/page/overview", overview.overview),
    _Place("GET", "/page/mail", mail.mail),
    _Place("GET", "/page/thread/{session}", mail.thread),
    _Place("POST", "/page/thread/{session}/reply", compose.reply),
    _Place("GET", "/page/question/{id}", questions.question),
    _Place("POST", "/page/question/{id}/answer", questions.answer),
    _Place("POST", "/page/thread/{session}/go-on", questions.go_on),
    _Place("POST", "/page/mine/many", mine.conclude_many),
    _Place("POST", "/page/mine/{session}/{act}", mine.conclude),
    _Place("GET", "/page/thread/{session}/{name}", export.export),
    _Place("GET", "/page/between/{one}/{other}", mail.between),
    _Place("GET", "/page/letter/{id}", mail.letter),
    _Place("GET", "/page/letter/{id}/text", mail.text),
    _Place("GET", "/page/compose", compose.compose),
    _Place("POST", "/page/compose", compose.send),
    _Place("GET", "/page/search", search.search),
    _Place("GET", "/page/tasks", tasks.board),
    _Place("POST", "/page/tasks/{id}/move", tasks.move),
    _Place("POST", "/page/tasks/{id}/remind", tasks.remind),
    _Place("POST", "/page/tasks/{id}/cancel", tasks.cancel),
    _Place("POST", "/page/tasks/{id}/reassign", tasks.reassign),
    _Place("POST", "/page/letter/{id}/cancel", mail.cancel),
    _Place("GET", "/page/letter/{id}/file/{place}", files.file),
    _Place("POST", "/page/attachments", files.bring),
    _Place("POST", "/page/letter/{id}/{act}", mine.conclude_one),
    _Place("GET", "/page/connections", connections.connections),
    _Place("POST", "/page/connections/request", connections.request),
    _Place("POST", "/page/connections/approve", connections.approve_by_code),
    _Place("POST", "/page/connections/{id}/{act}", connections.conclude),
    _Place("GET", "/page/bulk", bulk.bulk),
    _Place("POST", "/page/bulk", bulk.conclude),
    _Place("GET", "/page/dead", dead_letters.dead_letters),
    _Place("POST", "/page/dead/many", dead_letters.conclude_many),
    _Place("POST", "/page/dead/{id}/{act}", dead_letters.conclude),
    _Place("GET", "/page/recurring", recurring.recurring),
    _Place("POST", "/page/recurring/{id}/stop", recurring.stop),
    _Place("GET", "/page/reservations", reservations.reservations),
    _Place("POST", "/page/reservations/{id}/end", reservations.end),
    _Place("GET", "/page/lists", lists.lists),
    _Place("POST", "/page/lists", lists.make),
    _Place("POST", "/page/lists/{name}/{act}", lists.conclude),
    _Place("GET", "/page/traffic", flow.traffic),
    _Place("GET", "/page/webhooks", webhooks.webhooks),
    _Place("POST", "/page/webhooks/{name}/{act}", webhooks.conclude),
    _Place("POST", "/page/hooks/{name}/close", webhooks.close),
    _Place("GET", "/page/connect", connect.connect),
    _Place("POST", "/page/connect", connect.register),
    _Place("POST", "/page/connect/test", connect.test_letter),
    _Place("POST", "/page/agents/{name}/{act}", agents.conclude),
    _Place("GET", "/page/settings", settings.settings),
    _Place("POST", "/page/settings/theme", settings.theme),
    _Place("POST", "/page/settings/notify", notifying.add),
    _Place("POST", "/page/settings/notify/{name}/{act}", notifying.conclude),
    _Place("POST", "/page/settings/links/{id}/revoke", notifying.revoke),
    _Place("GET", "/page/answer/{token}", answering.opened, public=True),
    _Place("POST", "/page/answer/{token}", answering.answered, public=True),
    _Place("GET", "/page/icon/{count}.svg", settings.icon, public=True),
    _Place("GET", "/page/manifest.webmanifest", settings.manifest, public=True),
    _Place("GET", "/page/palette", palette.palette),
    _Place("GET", "/page/names", palette.name),
    _Place("GET", "/page/news", news.news),
    _Place("GET", "/page/login", login.login, public=True),
    _Place("POST", "/page/login", login.enter, public=True),
    _Place("POST", "/page/logout", login.leave),
    _Place("GET", "/page/static/{version}/{name}", _asset, public=True),
    _Place("GET", "/page/{rest:path}", _nowhere, public=True),
    _Place("GET", "/page", _nowhere, public=True),
)


@functools.cache
def page_routes() -> tuple[Route, ...]:
    """Every address of the page."""
    return tuple(Route(place.path, _answering(place), methods=[place.method]) for place in _PLACES)


def _answering(place: _Place) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        request.scope["state"]["route"] = place.path
        office = request.app.state.office
        caller = None
        try:
            if place.method == "POST":
                check_same_origin(request)
            try:
                caller = await visitor(request, office)
            except Unidentified:
                if not place.public:
                    raise
            response = await place.view(Look(request, office, caller))
        except Refusal as error:
            response = await refusal(Look(request, office, caller), error.error)
        except MailError as error:
            response = await refusal(Look(request, office, caller), error)
        except ClientDisconnect:
            raise
        except Exception as error:  # noqa: BLE001 - as at the edge, but the answer is a page
            report(error, request.scope["state"]["request_id"])
            response = await _told(Look(request, office, caller), MailError(), badges=False)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return answer


async def refusal(look: Look, error: MailError) -> Response:
    """A refusal as a page. A stranger is shown the login."""
    if isinstance(error, NoLogin | BadLink):
        return await login.form(look, fault(error).status, error)
    try:
        return await _told(look, error)
    except MailError:  # the error may also affect the numbers around the page
        return await _told(look, error, badges=False)


async def _told(look: Look, error: MailError, *, badges: bool = True) -> Response:
    status = fault(error).status
    return await look.show("fault.html", status, title=status.phrase, error=error, number=status.value, badges=badges)
