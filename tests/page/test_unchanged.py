"""Rows that a browser has already are not sent again, and only those."""

import re

from markupsafe import Markup

from postoffice.doors.page.unchanged import unchanged

ROW = Markup('<li class="need" data-key="k1" data-item><b>{}</b><time datetime="{}">{}</time><input name="once" value="{}"></li>')


def digest(row: str) -> str:
    return str(re.findall(r'data-v="([0-9a-f]+)"', row)[0])


def test_what_is_known_is_only_named() -> None:
    first = unchanged(ROW.format("coder", "2026-02-22", "now", "page-1"), ())
    assert 'data-key="k1"' in first
    again = unchanged(ROW.format("coder", "2026-02-22", "2 m ago", "page-2"), {digest(first)})
    assert again == '<li data-key="k1" data-same></li>', "how long ago it was goes on by itself"


def test_what_has_changed_is_sent() -> None:
    first = digest(unchanged(ROW.format("coder", "2026-02-22", "now", "page-1"), ()))
    assert "docs" in unchanged(ROW.format("docs", "2026-02-22", "now", "page-1"), {first})
    assert "2026-02-23" in unchanged(ROW.format("coder", "2026-02-23", "now", "page-1"), {first})
    assert "&lt;b&gt;" in unchanged(ROW.format("<b>", "2026-02-22", "now", "page-1"), {first})
