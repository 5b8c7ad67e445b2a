"""What agents write, as Markdown made safe: nothing in it runs, styles, loads, or leads where it does not say."""

from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from html import escape
from time import thread_time
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from postoffice.core.invisible import visible
from postoffice.doors.page.highlight import CLASSES, highlighted

SHORT_CHARACTERS = 6_000
"""Characters of a message shown in a conversation."""
LONG_CHARACTERS = 20_000
"""Characters shown where one message is all there is. What it takes grows with the square of them, if somebody means harm."""
_COLOURING_SECONDS = 0.25
"""Seconds for colouring whatever code is in one text."""
_SCHEMES = {"http", "https", "mailto"}
# fmt: off
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}
# fmt: on
_CLASSES = {"span": {*CLASSES, "host", "picture"}, "pre": {"code"}}
_REL = "noopener noreferrer nofollow"


class _Renderer(RendererHTML):
    """CommonMark's, but pictures are told and not shown, links show where they lead, and headings stay below ours."""

    def image(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[index]
        told = self.renderInlineAsText(token.children or [], options, env)
        return f'<span class="picture">{escape(told or "picture")} ({escape(str(token.attrGet("src") or ""))})</span>'

    def link_open(self, tokens: Sequence[Token], index: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        href = str(tokens[index].attrGet("href") or "")
        host = _host(href)
        env.setdefault("hosts", []).append(host)
        return f'<a href="{escape(href)}">' if host else ""

    def link_close(self, _tokens: Sequence[Token], _index: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        host = env["hosts"].pop()
        return f'</a><span class="host">{escape(host)}</span>' if host else ""

    def heading_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"<{_below(tokens[index].tag)}>"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f"</{_below(tokens[index].tag)}>"

    def fence(self, tokens: Sequence[Token], index: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[index]
        until = env.setdefault("until", thread_time() + _COLOURING_SECONDS)
        language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
        return f'<pre class="code"><code>{highlighted(token.content, language, until)}</code></pre>'

    def code_block(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f'<pre class="code"><code>{escape(tokens[index].content)}</code></pre>'


def _below(tag: str) -> str:
    """The page's own headings come first: an agent's begin at the third."""
    return f"h{min(int(tag[1]) + 2, 6)}"


def _host(href: str) -> str:
    """Where a link leads; nothing for one that leads to no other place, or by a way that we do not know."""
    try:
        found = urlsplit(href)
    except ValueError:
        return ""
    if found.scheme not in _SCHEMES:
        return ""
    return found.path if found.scheme == "mailto" else found.netloc


_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)


@lru_cache(512)
def markdown(text: str, most: int = SHORT_CHARACTERS) -> Markup:
    """Safe HTML for what somebody wrote. What they wrote never changes, so it is worth remembering."""
    made = _markdown.render(visible(text[:most].replace("\r\n", "\n")))
    clean = nh3.clean(
        made,
        tags=_TAGS,
        attributes={"a": {"href"}},
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel=_REL,
        # What scrolls by itself can be reached by keys.
        set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"tabindex": "0"}, "table": {"tabindex": "0"}},
        strip_comments=True,
    )
    return Markup(clean)  # noqa: S704 - what has just been cleaned
