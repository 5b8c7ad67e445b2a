"""The clients we know: where each keeps its servers and skills, and the form of our entry there."""

import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from postoffice.setup.change import read_text
from postoffice.setup.edit import Edit, Permission
from postoffice.setup.endpoint import KEY_VARIABLE, Endpoint
from postoffice.setup.home import Home
from postoffice.setup.path import Path as Keys

_GATEWAY = ("gateway", "tools", "allow")
_FETCHABLE = ("tools", "ssrfWhitelist")


class Plugin(NamedTuple):
    """Our plugin in a client, which can begin turns there."""

    script: str
    """The name of our plugin's part that talks to this client."""
    path: Callable[[Home], Path]


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """One program that agents live in."""

    title: str
    config: Callable[[Home], Path]
    servers: Keys
    """The path in its configuration under which servers are listed."""
    entry: Callable[[Endpoint], dict[str, Any]]
    skills: Callable[[Home], Path]
    permissions: Callable[[Endpoint], list[Edit]] = lambda _: []
    keyless: bool = False
    """Whether it reads the key from a variable instead of its file."""
    again: str = "Start it anew to have the tools."
    own: Callable[[list[str]], dict[str, Any]] | None = None
    """The entry for a server that it starts itself for each window; only for clients that can be rung."""
    hooks: Callable[[Home], Path] | None = None
    """Where its hooks stand."""
    plugin: Plugin | None = None
    """Our plugin, if the client is rung by one."""
    asks: str = ""
    """What the client will ask its user, so that we can say so beforehand."""


def _claude_folder(home: Home) -> Path:
    return home.moved("CLAUDE_CONFIG_DIR", ".claude")


def _claude(home: Home) -> Path:
    if home.project is not None:
        return home.project / ".mcp.json"
    return home.moved("CLAUDE_CONFIG_DIR", "") / ".claude.json"


def _claude_skills(home: Home) -> Path:
    return (_claude_folder(home) if home.project is None else home.project / ".claude") / "skills"


def claude_settings(home: Home) -> Path:
    """The file for Claude Code's hooks. In a project it is the local one, as one person's agent does not belong in shared settings."""
    return _claude_folder(home) / "settings.json" if home.project is None else home.project / ".claude" / "settings.local.json"


def _gemini(home: Home) -> Path:
    return home.moved("GEMINI_CLI_HOME", "") / ".gemini"


def _opencode_folder(home: Home) -> Path:
    return home.named("OPENCODE_CONFIG_DIR") or home.moved("XDG_CONFIG_HOME", ".config") / "opencode"


def _opencode(home: Home) -> Path:
    named, folder = home.named("OPENCODE_CONFIG"), _opencode_folder(home)
    with_comments = folder / "opencode.jsonc"
    return named or (with_comments if with_comments.exists() else folder / "opencode.json")


def _kilo_folder(home: Home) -> Path:
    return home.named("KILO_CONFIG_DIR") or home.moved("XDG_CONFIG_HOME", ".config") / "kilo"


def _kilo(home: Home) -> Path:
    named, folder = home.named("KILO_CONFIG"), _kilo_folder(home)
    without_comments, usual = folder / "kilo.json", folder / "kilo.jsonc"
    return named or (without_comments if without_comments.exists() and not usual.exists() else usual)


def _copilot(home: Home) -> Path:
    return home.moved("COPILOT_HOME", ".copilot")


def _qwen(home: Home) -> Path:
    return home.moved("QWEN_HOME", ".qwen")


def _openclaw_folder(home: Home) -> Path:
    return home.named("OPENCLAW_STATE_DIR") or home.moved("OPENCLAW_HOME", "") / ".openclaw"


def _nanobot(home: Home) -> Path:
    return home.folder / ".nanobot" / "config.json"


def _nanobot_skills(home: Home) -> Path:
    """The skills folder in nanobot's workspace, which its configuration may have moved."""
    text = read_text(_nanobot(home)) or "{}"
    try:
        named = msgspec.json.decode(text)["agents"]["defaults"]["workspace"]
    except (msgspec.DecodeError, KeyError, TypeError):
        named = "~/.nanobot/workspace"
    return (home.folder / str(named).removeprefix("~/")) / "skills"


def _covers(wanted: str, granted: str) -> bool:
    try:
        inner, outer = ipaddress.ip_network(wanted), ipaddress.ip_network(granted, strict=False)
    except ValueError:
        return False
    return inner.version == outer.version and inner.subnet_of(outer)  # type: ignore[arg-type]


def _fetchable(to: Endpoint) -> list[Edit]:
    """Allow nanobot to call the office, as it calls nothing on its own machine by default."""
    network = "::1/128" if ":" in to.host else "127.0.0.0/8"
    return [Permission(_FETCHABLE, network, _covers)] if to.nearby else []


CLIENTS = {
    "claude": Client(
        title="Claude Code",
        config=_claude,
        servers=("mcpServers",),
        entry=lambda to: {"type": "http", "url": to.url} | to.headers(),
        skills=_claude_skills,
        own=lambda words: {"type": "stdio", "command": words[0], "args": words[1:]},
        hooks=claude_settings,
        asks="Claude Code may ask about a new MCP server: choose *Use this MCP server*; its default is to go on without.",
    ),
    "codex": Client(
        title="Codex",
        config=lambda home: home.moved("CODEX_HOME", ".codex") / "config.toml",
        servers=("mcp_servers",),
        entry=lambda to: {"url": to.url} | ({} if to.key is None else {"bearer_token_env_var": KEY_VARIABLE}),
        skills=lambda home: home.moved("CODEX_HOME", ".codex") / "skills",
        keyless=True,
        own=lambda words: {"command": words[0], "args": words[1:]},
        hooks=lambda home: home.moved("CODEX_HOME", ".codex") / "hooks.json",
        asks="Codex asks once whether to trust new hooks: choose *Trust all and continue*.",
    ),
    "gemini": Client(
        title="Gemini CLI",
        config=lambda home: _gemini(home) / "settings.json",
        servers=("mcpServers",),
        entry=lambda to: {"url": to.url, "type": "http"} | to.headers(),
        skills=lambda home: _gemini(home) / "skills",
        own=lambda words: {"command": words[0], "args": words[1:]},
        hooks=lambda home: _gemini(home) / "settings.json",
        asks="Gemini CLI asks whether to trust a folder that is new to it; without that it starts no servers and no hooks.",
    ),
    "opencode": Client(
        title="opencode",
        config=_opencode,
        servers=("mcp",),
        # Without `oauth: false` it would look for a login page before using the header.
        entry=lambda to: {"type": "remote", "url": to.url, "enabled": True, "oauth": False} | to.headers(),
        skills=lambda home: _opencode_folder(home) / "skills",
        own=lambda words: {"type": "local", "command": words, "enabled": True},
        plugin=Plugin("opencode.js", lambda home: _opencode_folder(home) / "plugins" / "postoffice.js"),
    ),
    "kilo": Client(
        title="Kilo",
        config=_kilo,
        servers=("mcp",),
        entry=lambda to: {"type": "remote", "url": to.url, "enabled": True, "oauth": False} | to.headers(),
        skills=lambda home: _kilo_folder(home) / "skills",
        own=lambda words: {"type": "local", "command": words, "enabled": True},
        plugin=Plugin("opencode.js", lambda home: _kilo_folder(home) / "plugins" / "postoffice.js"),
    ),
    "copilot": Client(
        title="Copilot CLI",
        config=lambda home: _copilot(home) / "mcp-config.json",
        servers=("mcpServers",),
        entry=lambda to: {"type": "http", "url": to.url, "tools": ["*"]} | to.headers(),
        skills=lambda home: _copilot(home) / "skills",
        own=lambda words: {"type": "local", "command": words[0], "args": words[1:], "tools": ["*"]},
        plugin=Plugin("copilot.js", lambda home: _copilot(home) / "extensions" / "postoffice" / "extension.mjs"),
        asks="Copilot CLI is rung only with experimental features on, which extensions are: start it with --experimental.",
    ),
    "qwen": Client(
        title="Qwen Code",
        config=lambda home: _qwen(home) / "settings.json",
        servers=("mcpServers",),
        entry=lambda to: {"httpUrl": to.url} | to.headers(),
        skills=lambda home: _qwen(home) / "skills",
        own=lambda words: {"command": words[0], "args": words[1:]},
        hooks=lambda home: _qwen(home) / "settings.json",
    ),
    "cursor": Client(
        title="Cursor",
        config=lambda home: home.folder / ".cursor" / "mcp.json",
        servers=("mcpServers",),
        entry=lambda to: {"url": to.url} | to.headers(),
        skills=lambda home: home.folder / ".cursor" / "skills",
    ),
    "openclaw": Client(
        title="OpenClaw",
        config=lambda home: home.named("OPENCLAW_CONFIG_PATH") or _openclaw_folder(home) / "openclaw.json",
        servers=("mcp", "servers"),
        entry=lambda to: {"url": to.url, "transport": "streamable-http"} | to.headers(),
        skills=lambda home: _openclaw_folder(home) / "skills",
        # The relay hands mail to the agent by this tool, which HTTP callers of the gateway may use only if it is listed.
        permissions=lambda _: [Permission(_GATEWAY, "sessions_send")],
        again="Restart its gateway; `postoffice openclaw` then brings it its mail.",
    ),
    "nanobot": Client(
        title="nanobot",
        config=_nanobot,
        servers=("tools", "mcpServers"),
        entry=lambda to: {"type": "streamableHttp", "url": to.url} | to.headers(),
        skills=_nanobot_skills,
        permissions=_fetchable,
        again="Restart its gateway to have the tools.",
    ),
}
