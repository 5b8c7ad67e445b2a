"""Agents' Markdown made safe: nothing in it runs, styles or loads, and no link hides where it leads."""

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from html import escape
from time import thread_time
from typing import Any
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

from postoffice.core.invisible import visible
from postoffice.doors.page.highlight import CLASSES, highlighted

SHORT_CHARACTERS = 6_000
"""The most characters of a message shown in a conversation."""
LONG_CHARACTERS = 20_000
"""The most characters shown of a message on its own page. Hostile text costs time that grows with the square of its length."""
_COLOURING_SECONDS = 0.25
"""Seconds for colouring all code in one text."""
_BOX = re.compile(r"\[([ xX])\]\s+")
_SCHEMES = {"http", "https", "mailto"}
# fmt: off
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
}
# fmt: on
_CLASSES = {"span": {*CLASSES, "host", "picture", "task-box", "ticked"}, "pre": {"code"}}
_REL = "noopener noreferrer nofollow"


class _Renderer(RendererHTML):
    """CommonMark's renderer, but pictures are described instead of shown, links show where they lead, and headings come below ours."""

    def image(self, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
        token = tokens[index]
        caption = self.renderInlineAsText(token.children or [], options, env)
        return f'<span class="picture">{escape(caption or "picture")} ({escape(str(token.attrGet("src") or ""))})</span>'

    def link_open(self, tokens: Sequence[Token], index: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        href = str(tokens[index].attrGet("href") or "")
        host = _host(href)
        env.setdefault("hosts", []).append(host)
        return f'<a href="{escape(href)}">' if host else ""

    def link_close(self, _tokens: Sequence[Token], _index: int, _options: Any, env: MutableMapping[str, Any]) -> str:
        host = env["hosts"].pop()
        return f'</a><span class="host">{escape(host)}</span>' if host else ""

    def text(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        """Show a list's `[ ]` and `[x]` as boxes."""
        token = tokens[index]
        box = _BOX.match(token.content) if index == 0 and token.meta.get("in_item") else None
        if box is None:
            return escape(token.content)
        ticked = box[1] != " "
        shown = f'<span class="task-box{" ticked" if ticked else ""}">{"✓" if ticked else "·"}</span>'
        return f"{shown}{escape(token.content[box.end() :])}"

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
    """An agent's headings begin at level three, below the page's own."""
    return f"h{min(int(tag[1]) + 2, 6)}"


def _host(href: str) -> str:
    """The host a link leads to; empty if it has none or its scheme is unknown."""
    try:
        link = urlsplit(href)
    except ValueError:
        return ""
    if link.scheme not in _SCHEMES:
        return ""
    return link.path if link.scheme == "mailto" else link.netloc


_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20}, renderer_cls=_Renderer).enable(
    ["table", "strikethrough"]
)


def _mark_items(state: StateCore) -> None:
    """Mark the first text of each list item."""
    tokens = state.tokens
    for place, token in enumerate(tokens):
        if token.type == "inline" and place > 1 and tokens[place - 2].type == "list_item_open" and token.children:
            token.children[0].meta["in_item"] = True


_markdown.core.ruler.push("items", _mark_items)


@lru_cache(512)
def markdown(text: str, most: int = SHORT_CHARACTERS) -> Markup:
    """Safe HTML for a text. It is cached, as messages never change."""
    made = _markdown.render(visible(text[:most].replace("\r\n", "\n")))
    clean = nh3.clean(
        made,
        tags=_TAGS,
        attributes={"a": {"href"}},
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel=_REL,
        # A code block that scrolls has to be reachable by keyboard.
        set_tag_attribute_values={"a": {"target": "_blank"}, "pre": {"tabindex": "0"}, "table": {"tabindex": "0"}},
        strip_comments=True,
    )
    return Markup(clean)  # noqa: S704 - it has just been cleaned
