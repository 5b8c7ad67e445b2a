"""The part of our environment that a command gets that handles mail. Strangers write that mail, so a secret is passed on only if it was named."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

_FOR_ALL = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "HOSTNAME"),
    *("LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "COLORTERM", "NO_COLOR"),
    *("TMPDIR", "TEMP", "TMP", "XDG_*", "VIRTUAL_ENV"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
)
_OURS = ("POSTOFFICE_*", "MAILBOX_*", "OPENCLAW_GATEWAY_*")
"""The office's own keys and settings. They are passed on by their full name only, never by a pattern."""


def chosen(environ: Mapping[str, str], *wanted: Iterable[str]) -> dict[str, str]:
    """What every command needs of an environment, and what else was asked for by name or with a star."""
    patterns = [name for names in wanted for name in names]
    return {
        name: value
        for name, value in environ.items()
        if name in patterns or (_fits(name, (*_FOR_ALL, *patterns)) and not _fits(name, _OURS))
    }


def _fits(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
