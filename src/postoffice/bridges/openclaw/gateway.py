"""The OpenClaw gateway: hands it a message, learns how that ended, and finds a late reply in its history."""

import json
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2
import msgspec

from postoffice.bridges.openclaw.settings import RelaySettings
from postoffice.bridges.openclaw.transcript import Entry, reply_to
from postoffice.bridges.outcome import Away, Failed, Later, Outcome, Replied, Silent, Unknown, reply_or_silence
from postoffice.core.hosts import is_loopback

_CONFIG = "~/.openclaw/openclaw.json"
NO_SESSION = "No session found"
_PAGE_ENTRIES, _PAGES_READ = 100, 5
_MARGIN_SECONDS = 15.0  # what the gateway may take beyond the wait we asked for
_CALL_SECONDS = 30.0
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class _Answer(msgspec.Struct, frozen=True):
    """An answer over HTTP, with its body if that was an object."""

    status: int
    body: dict[str, Any]

    @property
    def message(self) -> str:
        return str(_object(self.body.get("error")).get("message", ""))

    @property
    def details(self) -> dict[str, Any]:
        return _object(_object(self.body.get("result")).get("details"))


class Gateway:
    """One gateway, called with its operator token."""

    def __init__(self, settings: RelaySettings) -> None:
        self._settings = settings
        # A proxy in the environment is meant for the internet, and would see the token.
        by_proxy = not is_loopback(urlsplit(settings.gateway).hostname or "")
        headers = {"Authorization": f"Bearer {settings.token}", "Content-Type": "application/json"}
        self._http = httpx2.AsyncClient(base_url=settings.gateway, headers=headers, trust_env=by_proxy)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def probe(self) -> Away | None:
        """Why mail could not be handed over; None if it could. An empty call is refused as incomplete only if everything else is right."""
        chat = self._settings.mode == "chat"
        answer = await (self._chat(None, None) if chat else self._tool("sessions_send", {}, _CALL_SECONDS))
        if isinstance(answer, Unknown):
            return Away(answer.why)
        if isinstance(answer, Away):
            return answer
        return self._refusal(answer, "chat" if chat else "sessions_send")

    async def ask(self, session: str, text: str) -> Outcome:
        """Hand over a message and wait for the reply."""
        if self._settings.mode == "chat":
            return await self._ask_chat(session, text)
        wait = self._settings.timeout
        arguments = {"sessionKey": session, "message": text, "timeoutSeconds": max(round(wait), 1)}
        answer = await self._tool("sessions_send", arguments, wait + _MARGIN_SECONDS)
        if not isinstance(answer, _Answer):
            return answer
        if (refused := self._refusal(answer, "sessions_send")) is not None:
            return refused
        if answer.status != HTTPStatus.OK:
            return Failed(self._clean(answer.message or f"the gateway answered {answer.status}"))
        outcome = self._outcome(answer.details)
        if isinstance(outcome, Failed) and NO_SESSION in outcome.why and self._settings.per_sender:
            # Only the chat endpoint opens a new session; afterwards sessions_send finds it.
            return await self._ask_chat(session, text)
        return outcome

    async def find(self, session: str, mark: str, run_id: str | None) -> Replied | Later | Away | Unknown | None:
        """What the history says of a message: its reply, Later if it is there without one, or None. Away means that we may not read it."""
        entries: list[Entry] = []
        pending: list[Any] = []
        offset: object = 0
        for _ in range(_PAGES_READ):
            arguments = {"sessionKey": session, "limit": _PAGE_ENTRIES, "offset": offset}
            answer = await self._tool("sessions_history", arguments, _CALL_SECONDS)
            if not isinstance(answer, _Answer):
                return Unknown(answer.why)
            if (refused := self._refusal(answer, "sessions_history")) is not None:
                return refused
            if answer.status != HTTPStatus.OK:
                why = self._clean(f"the history cannot be read: {answer.message or answer.status}")
                return Unknown(why) if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR else Away(why)
            page = answer.details
            if page.get("status") == "forbidden":
                return Away(self._forbidden("sessions_history", page))
            entries = [entry for entry in _list(page.get("messages")) if isinstance(entry, dict)] + entries
            pending += _list(_object(page.get("pendingInputs")).get("items"))
            reply = reply_to(mark, run_id, entries)
            if reply is not None or not page.get("hasMore") or not page.get("nextOffset"):
                break
            offset = page["nextOffset"]
        if reply is None and mark in _encode(pending).decode():
            return Later(run_id)
        return reply

    async def _ask_chat(self, session: str, text: str) -> Outcome:
        answer = await self._chat(session, text)
        if not isinstance(answer, _Answer):
            return answer
        if (refused := self._refusal(answer, "chat")) is not None:
            return refused
        choices = answer.body.get("choices")
        if answer.status != HTTPStatus.OK or not isinstance(choices, list) or not choices:
            return Failed(self._clean(answer.message or f"the gateway answered {answer.status}"))
        message = _object(choices[0]).get("message")
        return (
            reply_or_silence(message.get("content")) if isinstance(message, dict) else Unknown("the gateway's answer has an unknown form")
        )

    def _outcome(self, details: dict[str, Any]) -> Outcome:
        run_id = details.get("runId")
        why = self._clean(str(details.get("error") or details.get("message") or "the gateway gave no reason"))
        match details.get("status"):
            case "ok":
                return reply_or_silence(details.get("reply"))
            case "accepted" | "queued" | "timeout":
                return Later(run_id if isinstance(run_id, str) else None)
            case "no_reply":
                return Silent()
            case "forbidden":
                return Away(self._forbidden("sessions_send", details))
            case _:
                return Failed(why)

    def _refusal(self, answer: _Answer, what: str) -> Away | None:
        """Why no message can be handed over, with the setting to change."""
        match answer.status:
            case HTTPStatus.UNAUTHORIZED:
                why = f"the gateway refuses our token; set OPENCLAW_GATEWAY_TOKEN to gateway.auth.token of {_CONFIG}"
            case HTTPStatus.FORBIDDEN:
                why = f"the gateway does not let us use {what}: {answer.message or 'it gave no reason'}"
            case HTTPStatus.NOT_FOUND if what == "chat":
                why = f"the gateway has no /v1/chat/completions; set gateway.http.endpoints.chatCompletions.enabled to true in {_CONFIG}"
            case HTTPStatus.NOT_FOUND if not answer.body:
                why = f"{self._settings.gateway} is no OpenClaw gateway; see OPENCLAW_GATEWAY_URL"
            case HTTPStatus.NOT_FOUND:
                why = f'the gateway says "{answer.message}"; add "{what}" to gateway.tools.allow in {_CONFIG}'
            case HTTPStatus.TOO_MANY_REQUESTS | HTTPStatus.BAD_GATEWAY | HTTPStatus.SERVICE_UNAVAILABLE | HTTPStatus.GATEWAY_TIMEOUT:
                why = f"the gateway at {self._settings.gateway} answers {answer.status}"
            case HTTPStatus.OK if not answer.body:
                why = f"{self._settings.gateway} is no OpenClaw gateway; see OPENCLAW_GATEWAY_URL"
            case _:
                return None
        return Away(self._clean(why))

    def _forbidden(self, what: str, details: dict[str, Any]) -> str:
        reason = details.get("error") or details.get("message") or "it gave no reason"
        return self._clean(
            f"the gateway forbids {what} from {self._settings.caller}: {reason} "
            f"(settings tools.sessions.visibility and tools.agentToAgent in {_CONFIG})"
        )

    async def _tool(self, tool: str, arguments: dict[str, Any], within: float) -> _Answer | Away | Unknown:
        return await self._post("/tools/invoke", {"tool": tool, "sessionKey": self._settings.caller, "args": arguments}, {}, within)

    async def _chat(self, session: str | None, text: str | None) -> _Answer | Away | Unknown:
        """One turn in a session. It has no time limit of its own, as a late reply is fine."""
        key = session or self._settings.target
        body = {"model": f"openclaw/{_agent(key)}", "messages": [] if text is None else [{"role": "user", "content": text}]}
        within = _CALL_SECONDS if text is None else self._settings.late_for
        return await self._post("/v1/chat/completions", body, {"x-openclaw-session-key": key}, within)

    async def _post(self, path: str, body: object, headers: dict[str, str], within: float) -> _Answer | Away | Unknown:
        timeout = httpx2.Timeout(_CALL_SECONDS, read=within, pool=within)
        try:
            response = await self._http.post(path, content=_encode(body), headers=headers, timeout=timeout)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError):
            return Away(f"no OpenClaw gateway answers at {self._settings.gateway}; start it with `openclaw gateway`")
        except httpx2.HTTPError as error:
            return Unknown(self._clean(f"the gateway stopped answering ({type(error).__name__})"))
        try:
            answer = _read(response.content)
        except (msgspec.DecodeError, ValueError, RecursionError):
            if response.status_code == HTTPStatus.OK:  # the gateway has done what we asked
                return Unknown(f"the answer of {self._settings.gateway} is not JSON; see OPENCLAW_GATEWAY_URL")
            answer = None
        return _Answer(response.status_code, answer if isinstance(answer, dict) else {})

    def _clean(self, text: str) -> str:
        """Make the gateway's words safe to log and to send on."""
        return text.replace(self._settings.token, "…") if self._settings.token else text


def _read(content: bytes) -> Any:
    """Read JSON as gateways write it: they may cut an emoji in half, which is not valid text elsewhere."""
    try:
        return _decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _decode(json.dumps(json.loads(content), ensure_ascii=False).encode(errors="replace"))


def _object(value: object) -> dict[str, Any]:
    """An object; empty if another version of the gateway has something else there."""
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _agent(session: str) -> str:
    parts = session.split(":")
    return parts[1] if parts[0] == "agent" and len(parts) > 1 else "main"
