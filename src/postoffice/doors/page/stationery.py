"""The templates. Whatever an agent wrote is always escaped, with hidden characters made visible."""

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode
from zlib import crc32

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, UndefinedError
from jinja2.runtime import Context
from markupsafe import Markup

from postoffice import __version__
from postoffice.core.attachment import LOOKED_AT_BYTES, PICTURES
from postoffice.core.invisible import visible
from postoffice.core.letter import text_of
from postoffice.core.message import Message
from postoffice.doors.page.assets import address
from postoffice.doors.page.highlight import highlighted
from postoffice.doors.page.markdown import LONG_CHARACTERS, SHORT_CHARACTERS, markdown
from postoffice.doors.page.times import age, ago, clock, since, span, usual, when
from postoffice.doors.page.tree import tree
from postoffice.doors.page.unchanged import unchanged

_FOLDER = Path(__file__).parent / "templates"
_EXCERPT_CHARACTERS = 160
_INKS = 8
_BOX = re.compile(r"(?<!\S)[-*] \[([ xX])\] ")
_EMPHASIS = re.compile(r"(\*{1,3}|`{1,2})([^\s*`](?:[^*`]*[^\s*`])?)\1")


def _finalize(value: Any) -> Any:
    """Print our own HTML as it is, and everybody else's text with hidden characters made visible."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _excerpt(message: Message) -> str:
    """The beginning of a text, on one line."""
    return plainly(text_of(message)[: _EXCERPT_CHARACTERS * 2])[:_EXCERPT_CHARACTERS]


def plainly(text: str) -> str:
    """A text on one line, without Markdown's marks."""
    return _EMPHASIS.sub(r"\2", _BOX.sub(_boxed, " ".join(visible(text).split())))


def _boxed(box: re.Match[str]) -> str:
    """A checklist's box in such a line."""
    return "☐ " if box[1] == " " else "☑ "


def _ink(name: str) -> int:
    """The colour for an agent, always the same."""
    return crc32(name.lower().encode()) % _INKS


def _coloured(code: str, language: str) -> Markup:
    return Markup(highlighted(code, language))  # noqa: S704 - the highlighter escapes what it colours


def _query(**fields: str | None) -> Markup:
    query = {name: value for name, value in fields.items() if value}
    return Markup(f"?{urlencode(query)}".replace("&", "&amp;")) if query else Markup()  # noqa: S704 - encoded just now


@functools.cache  # made for the first page that is shown: a server begins to serve without it
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        "asset": address,
        "version": __version__,
        "UNSET": msgspec.UNSET,
        "SHORT_CHARACTERS": SHORT_CHARACTERS,
        "PICTURES": PICTURES,
        "LOOKED_AT_BYTES": LOOKED_AT_BYTES,
        "LONG_CHARACTERS": LONG_CHARACTERS,
    }
    made.globals |= {
        "markdown": markdown,
        "tree": tree,
        "when": when,
        "clock": clock,
        "since": since,
        "query": _query,
        "coloured": _coloured,
    }
    made.filters |= {
        "span": span,
        "age": age,
        "usual": usual,
        "ago": ago,
        "excerpt": _excerpt,
        "ink": _ink,
        "path": lambda text: quote(text, safe=""),
    }
    made.filters["plainly"] = plainly
    made.filters["unchanged"] = lambda row, look: unchanged(row, look.have)
    made.globals["ui"] = made.get_template("parts.html").module
    return made


_HOMES = {
    name: page.name for page in sorted(_FOLDER.iterdir()) for name in re.findall(r"{%-? block (\w+)", page.read_text(encoding="utf-8"))
}
"""The template of each block, as a page consists of several. Each is compiled when it is first shown."""


def render(template: str, facts: Mapping[str, Any]) -> str:
    """Render a whole page."""
    return _environment().get_template(template).render(facts)


def render_blocks(template: str, names: Sequence[str], facts: Mapping[str, Any]) -> str:
    """Render some blocks of a page by name. Blocks that the page does not have are left out."""
    page = _environment().get_template(template)
    homes = ((name, page if name in page.blocks else _environment().get_template(_HOMES[name])) for name in names if name in _HOMES)
    context = page.new_context(dict(facts))
    return "".join(_block(home, name, context) for name, home in homes)


def _block(home: Template, name: str, context: Context) -> str:
    try:
        return "".join(home.blocks[name](context))
    except UndefinedError:  # the block belongs to the page the browser has just left; this view has no values for it
        return ""
