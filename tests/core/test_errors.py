"""Every way the office says no."""

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from pathlib import Path

import postoffice
from postoffice.core import errors
from postoffice.core.errors import MailError, error_tree

SOURCE = Path(postoffice.__file__).parent
KINDS = {"Invalid", "Unidentified", "Forbidden", "NotFound", "Conflict", "Limited", "Unavailable"}


def walk(cls: type[MailError] = MailError) -> Iterator[type[MailError]]:
    yield cls
    for child in cls.__subclasses__():
        yield from walk(child)


EVERY = list(walk())


def facts_of(error: type[MailError]) -> set[str]:
    return {name.split(".")[0] for _, name, _, _ in string.Formatter().parse(error.__doc__ or "") if name}


def test_codes_are_unique() -> None:
    codes = [error.code for error in EVERY]
    assert len(codes) == len(set(codes)) == len(error_tree())


def test_every_error_stands_in_the_one_table() -> None:
    """One defined elsewhere would have its code, and its status at a door, only once somebody had imported it."""
    for module in pkgutil.walk_packages(postoffice.__path__, "postoffice."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for error in walk():
        assert error.__module__.startswith(f"{errors.__name__}."), error
        assert getattr(errors, error.__name__) is error, error


def test_a_code_is_snake_case_made_of_the_name() -> None:
    assert set(error_tree().values()) == set(EVERY)
    for error in EVERY:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", error.code), error
        assert error.code.replace("_", "") == error.__name__.lower(), error
        assert error_tree()[error.code] is error, error


def test_a_docstring_is_a_message_once_its_facts_are_given() -> None:
    for error in EVERY:
        assert "__doc__" in vars(error), error
        raised = error(**{fact: f"<{fact}>" for fact in facts_of(error)})
        text = str(raised)
        assert text, error
        assert not re.search(r"[{}]|\s\s|\n", text), error
        assert all(f"<{fact}>" in text for fact in facts_of(error)), error
        assert raised.facts == {fact: f"<{fact}>" for fact in facts_of(error)}, error


def test_every_error_is_of_one_of_seven_kinds() -> None:
    assert {cls.__name__ for cls in MailError.__subclasses__()} == KINDS
    assert all(sum(issubclass(error, getattr(errors, kind)) for kind in KINDS) == 1 for error in EVERY if error is not MailError)


def test_the_tree_drawn_at_the_top_names_the_kinds() -> None:
    assert all(f"── {kind} " in (errors.__doc__ or "") for kind in KINDS)


def raised_in_source() -> Iterator[tuple[str, type[MailError], set[str]]]:
    known = {error.__name__: error for error in EVERY}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            where = f"{path.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
            match node:
                case ast.Call(func=ast.Name(id=name), keywords=keywords) if name in known:
                    yield where, known[name], {keyword.arg or "" for keyword in keywords}
                case ast.Raise(exc=ast.Name(id=name)) if name in known:
                    yield where, known[name], set()


def test_whoever_raises_an_error_gives_it_all_its_facts() -> None:
    calls = list(raised_in_source())
    assert len(calls) > 50
    lacking = {f"{where} {error.__name__}": sorted(facts_of(error) - given) for where, error, given in calls if facts_of(error) - given}
    assert not lacking


def test_what_a_fact_holds_is_never_read_as_a_format() -> None:
    assert "{ref} {0}" in str(errors.LeaseLost(ref="{ref} {0}"))
