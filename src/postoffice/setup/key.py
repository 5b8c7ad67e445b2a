"""The key for an office that requires keys. It is made before anything is written, so that what is written works."""

from typing import Any

import msgspec

from postoffice.client import credentials
from postoffice.client.wire import Wire
from postoffice.core.errors import Invalid, Unavailable
from postoffice.setup.endpoint import Endpoint

_KEYED = "keys"
_WAYS = "give --agent NAME to get one, or let the owner run `postoffice key machine PREFIX --here` for windows named by their folders"


async def with_key(to: Endpoint) -> Endpoint:
    """The same endpoint, with a key if its office requires one. If the office is away, no key is made now."""
    if to.key is not None:
        return to
    async with Wire(to.server) as wire:
        try:
            version: dict[str, Any] = await wire.get("/version")
        except Unavailable:
            return to
        if not isinstance(version, dict) or version.get("auth") != _KEYED:
            return to
        if not to.named:
            if credentials.for_window(to.server, None) is not None:
                return to  # each window uses this machine's key
            raise Invalid(what="setup", why=f"the office at {to.server} requires keys; {_WAYS}")
        with credentials.keeping(to.server) as keep:
            made = await wire.post("/agents/register", {"name": to.agent})
            keep(credentials.Credential(server=to.server, agent=made["name"], key=made["api_key"]))
        return msgspec.structs.replace(to, key=made["api_key"])
