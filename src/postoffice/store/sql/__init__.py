"""Named SQL: each statement has a name and stands in a `.sql` file. Statements that both engines share are here, the others in the engine's folder."""

import functools
import re
from importlib.resources import files

_ENTRY = re.compile(r"^-- (name|part): (\w+)\n(.*?)(?=^-- (?:name|part): |\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_NUMBER = re.compile(r"\$(\d+)")
_ROWS = re.compile(r"\b(FROM|USING) unnest\(([^()]+)\)(\s+AS \w+)?")
_ARRAY = re.compile(r"\$\d+::(\w+)\[\]")
_VERSION = "pg_current_xact_id()::xid::text::bigint"
_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


def load(engine: str, words: dict[str, str]) -> dict[str, str]:
    """The statements of one engine by name, with their parts and the engine's own words filled in."""
    return dict(_loaded(engine, tuple(words.items())))


@functools.cache  # a program may open many stores
def _loaded(engine: str, words: tuple[tuple[str, str], ...]) -> dict[str, str]:
    parts = dict(words)
    statements: dict[str, str] = {}
    for text in (*_texts(__name__), *_texts(f"postoffice.store.{engine}")):
        for kind, name, body in _ENTRY.findall(text):
            (parts if kind == "part" else statements)[name] = _COMMENT.sub("", body).strip().rstrip(";")
    return {name: _fill(body, parts) for name, body in statements.items()}


def _texts(package: str) -> list[str]:
    """The `.sql` files of a package, in the order of their names: it is the order in which statements that run as one are run."""
    sql_files = sorted((file for file in files(package).iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8") for file in sql_files]


@functools.cache
def numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """The statement with `:names` as `$1, $2 …`, and the names in that order."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PARAMETER.sub(number, statement), tuple(names)


def merged(statements: list[str]) -> str:
    """Several writing statements as one, their `$1, $2 …` numbered on; it tells the transaction's number, which is the version of what it wrote."""
    return f"{_with(statements)} SELECT {_VERSION}, office_now()"


def gated(questions: list[str], writes: list[str], few: tuple[int, ...] | None) -> str:
    """The same behind some questions, asked in their order: nothing is written if one has an answer. It tells that, the time, and the version.

    Of a few rows, so many for each write, every value is given by itself: arrays cost a server more than writing what they hold.
    """
    gate = len(questions)
    answers = ", ".join(f"(SELECT doubt FROM w{number})" for number in range(gate))
    behind = [_behind(gate + 1, text, None if few is None else few[place]) for place, text in enumerate(writes)]
    steps = [*questions, f"SELECT coalesce({answers}) AS doubt", f"SELECT FROM w{gate} WHERE doubt IS NULL", *behind]
    return f"{_with(steps)} SELECT doubt, office_now(), {_VERSION} FROM w{gate}"


def gates(statement: str) -> bool:
    """Whether a writing statement can be put behind questions: all it does it does for the rows it is given."""
    given = _ROWS.findall(statement)
    return len(given) == 1 and given[0][1].count("$") == statement.count("$")


def _behind(gate: int, statement: str, few: int | None) -> str:
    def given(match: re.Match[str]) -> str:
        arrays, name = match[2], match[3] or ""
        if few is None:
            return f"{match[1]} w{gate} CROSS JOIN unnest({arrays}){name}"
        types = _ARRAY.findall(arrays)
        rows = (", ".join(f"${row * len(types) + place}::{type}" for place, type in enumerate(types, 1)) for row in range(few))
        return f"{match[1]} w{gate} CROSS JOIN (VALUES {', '.join(f'({row})' for row in rows)}){name or ' AS v'}"

    return _ROWS.sub(given, statement)


def united(statements: list[str]) -> str:
    """Several queries as one, run in their order: each row comes whole, after its query's number, counted from 0."""
    return f"{_with(statements)} {' UNION ALL '.join(f'SELECT {index}, ROW(w{index}.*) FROM w{index}' for index in range(len(statements)))}"


def _with(statements: list[str]) -> str:
    texts: list[str] = []
    taken = 0
    for index, statement in enumerate(statements):
        numbers = [int(number) for number in _NUMBER.findall(statement)]
        shifted = _NUMBER.sub(lambda match, by=taken: f"${int(match[1]) + by}", statement)  # type: ignore[misc]
        texts.append(f"w{index} AS ({shifted})")
        taken += max(numbers, default=0)
    return f"WITH {', '.join(texts)}"


def _fill(body: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: _fill(parts[match[1]], parts), body)
