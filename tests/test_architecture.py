"""The shape of the source, as design.md §2 and style.md promise it."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import postoffice
from postoffice.store.engine import Engine
from postoffice.store.migrations.upgrade import HEAD

SOURCE = Path(postoffice.__file__).parent
LAYERS = ["core", "acts", "store", "wake", "office", "client", "bridges", "doors"]
TOP = len(LAYERS)  # serve, cli, config and whatever else stands at the top
IMPURE = {"asyncio", "sqlite3", "asyncpg", "socket", "os", "pathlib", "shutil", "threading", "logging", "subprocess"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}
LONGEST = 300
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b")
ENGINES = ("sqlite", "postgres")
"""Each has a folder of its own in `store/`, with its code and its SQL."""
ENTRY = re.compile(r"^-- (name|part): (\w+)$", re.MULTILINE)

FILES = sorted(SOURCE.rglob("*.py"))
assert len(FILES) > 100


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@functools.cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def folder(path: Path) -> str:
    """The layer's name; empty for what stands at the top."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def rank(name: str) -> int:
    return LAYERS.index(name) if name in LAYERS else TOP


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Every module imported, wherever in the file it stands."""
    for node in ast.walk(parse(path)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0, names=names):
                # `from postoffice import store` imports postoffice.store.
                whole = [f"{module}.{alias.name}" for alias in names] if module == "postoffice" else [module]
                yield from ((node.lineno, name) for name in whole)


def own(path: Path) -> Iterator[tuple[int, str]]:
    """The layer of each import of our own."""
    for line, module in imported(path):
        package, _, rest = module.partition(".")
        if package == "postoffice" and rest != "__version__":  # whoever runs may say which version it is
            yield line, rest.partition(".")[0]


def strings(path: Path) -> Iterator[ast.Constant]:
    """Every piece of text in the code, docstrings excepted."""
    tree = parse(path)
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


@functools.cache
def sql_of(folder: str) -> str:
    """The `.sql` files in one folder of the store: `sql` is what both engines share, the others are an engine's own."""
    files = sorted((SOURCE / "store" / folder).glob("*.sql"))
    assert len(files) > 5
    return "\n".join(file.read_text() for file in files)


def names_in(*folders: str, kind: str = "name") -> list[str]:
    return [name for folder in folders for found, name in ENTRY.findall(sql_of(folder)) if found == kind]


# Arrows


def test_imports_point_to_the_same_or_an_earlier_layer() -> None:
    upward = [f"{name_of(path)}:{line} {layer}" for path in FILES for line, layer in own(path) if rank(layer) > rank(folder(path))]
    assert not upward


def test_imports_are_absolute() -> None:
    relative = [
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        for node in ast.walk(parse(path))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not relative


@pytest.mark.parametrize("layer", ["core", "acts", "client"])
def test_core_acts_and_client_know_only_themselves_and_core(layer: str) -> None:
    known = {layer, "core"}
    found = {f"{path.name}:{line} {other}" for path in FILES if folder(path) == layer for line, other in own(path) if other not in known}
    assert not found


def test_only_the_office_and_the_top_know_acts_store_and_wake() -> None:
    outside = [path for path in FILES if folder(path) in {"client", "bridges", "doors"}]
    found = {f"{path.name}:{line} {layer}" for path in outside for line, layer in own(path) if layer in {"acts", "store", "wake"}}
    assert not found


@pytest.mark.parametrize("layer", ["core", "acts"])
def test_core_and_acts_touch_nothing_outside_and_never_wait(layer: str) -> None:
    pure = [path for path in FILES if folder(path) == layer]
    assert len(pure) > 10
    impure = [f"{path.name}:{line} {module}" for path in pure for line, module in imported(path) if module.partition(".")[0] in IMPURE]
    waiting = [
        f"{path.name}:{node.lineno}"
        for path in pure
        for node in ast.walk(parse(path))
        if isinstance(node, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith)
    ]
    assert not impure
    assert not waiting


# Files


def test_the_first_line_says_what_a_file_is() -> None:
    silent = [name_of(path) for path in FILES if not (ast.get_docstring(parse(path)) or "").partition("\n")[0].strip()]
    assert not silent


def test_no_file_is_longer_than_can_be_read_at_a_sitting() -> None:
    packages = sorted(SOURCE.parents[1].glob("packages/*/src/**/*.py"))
    assert packages
    long = [f"{path.name}: {lines}" for path in (*FILES, *packages) if (lines := len(path.read_text().splitlines())) > LONGEST]
    assert not long


def test_a_file_is_named_for_a_noun_of_the_trade() -> None:
    vague = [
        name_of(path)
        for path in FILES
        if not VAGUE.isdisjoint(part.removesuffix(".py").strip("_") for part in path.relative_to(SOURCE).parts)
    ]
    assert not vague


# SQL


def test_sql_stands_in_sql_files() -> None:
    # Migrations run whole files; the loader in `sql/` puts named statements together.
    code = [
        path for path in FILES if folder(path) in {"acts", "store"} and {"migrations", "sql"}.isdisjoint(path.relative_to(SOURCE).parts)
    ]
    assert len(code) > 10
    found = [f"{path.relative_to(SOURCE)}:{text.lineno}" for path in code for text in strings(path) if STATEMENT.match(str(text.value))]
    assert not found


def mentioned(path: Path) -> set[str]:
    """The statements a file may name. A key such as "duty:upkeep" names its statement before the colon."""
    return {str(text.value).partition(":")[0] for text in strings(path)}


@pytest.mark.parametrize(("engine", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_no_engine_lacks_a_statement_but_those_that_only_the_other_knows_of(engine: str, other: str) -> None:
    lacking = set(names_in(other)) - set(names_in(engine))
    everyone = [path for path in FILES if folder(path) in {"acts", "store"} and path.parent.name != other]
    assert {f"{path.name}: {name}" for path in everyone for name in lacking & mentioned(path)} == set()


def parts_used_in(folder: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", sql_of(folder)))


@pytest.mark.parametrize(("engine", "other"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_what_shared_statements_leave_to_the_engines_both_have_and_the_rest_is_used_by_its_own(engine: str, other: str) -> None:
    own, shared = set(names_in(engine, kind="part")), parts_used_in("sql")
    assert shared & own <= set(names_in(other, kind="part"))
    assert own <= shared | parts_used_in(engine)


def test_no_statement_is_written_twice() -> None:
    for engine in ENGINES:
        for kind in ("name", "part"):
            names = names_in("sql", engine, kind=kind)
            assert len(names) == len(set(names))


def test_every_statement_is_used() -> None:
    used = set().union(*(mentioned(path) for path in FILES if folder(path) in {"acts", "store"}))
    assert sorted(set(names_in("sql", *ENGINES)) - used) == []


def test_every_part_is_used() -> None:
    text = "".join(map(sql_of, ("sql", *ENGINES)))
    assert [part for part in names_in("sql", "sqlite", kind="part") if f"{{{part}}}" not in text] == []


def test_the_newest_migration_is_the_one_that_programs_ask_for() -> None:
    """Without it a file of an older program is taken for one that needs nothing."""
    versions = SOURCE / "store" / "migrations" / "versions"
    assert max(path.name[:4] for path in versions.glob("0*.py")) == HEAD


# The store's seam


def test_the_seam_of_an_engine_stays_small() -> None:
    """What an engine has to do is one page; all else of the store is written once, above it."""
    methods = [name for name, member in vars(Engine).items() if callable(member) and not name.startswith("_")]
    assert len(methods) <= 10


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_know_nothing_of_what_an_act_means_or_a_read_shows(engine: str) -> None:
    known = {"act", "desk", "room", "rows"}  # what acts are made of
    found = {
        f"{path.name}:{line} {module}"
        for path in FILES
        if path.parent == SOURCE / "store" / engine
        for line, module in imported(path)
        if module.startswith(("postoffice.store.store", "postoffice.store.reads", "postoffice.store.sweeps"))
        or (module.startswith("postoffice.acts.") and module.split(".")[2] not in known)
    }
    assert not found


def test_only_engines_speak_to_a_database() -> None:
    drivers = {"sqlite3", "asyncpg"}
    own = [SOURCE / "store" / engine for engine in ENGINES] + [SOURCE / "store" / "migrations"]
    store = [path for path in FILES if folder(path) == "store" and path.parent not in own]
    found = [f"{name_of(path)}:{line} {module}" for path in store for line, module in imported(path) if module in drivers]
    assert len(store) > 10
    assert not found
