"""Globs: which paths of a project are meant, and whether two of them can mean the same one.

Where it is not known it is taken for granted: what is kept apart here never meets on any file system.
"""

import re
import unicodedata
from functools import lru_cache

from postoffice.core.errors import Invalid, TooLarge
from postoffice.core.text import check_text

Steps = tuple[str, ...]
"""A path name by name. `*` in a name is anything, `**` alone is any number of names, or none."""

PATH_CHARACTERS = 1000
PROJECT_CHARACTERS = 4096
_STAR, _MANY = "*", "**"
_ANYTHING = re.compile(r"\?|\[[^\]]*\]?|\{[^}]*\}?")
_STARS = re.compile(r"\*+")
_SPLIT_CHOICE = re.compile(r"\{[^}]*/")
_DRIVE = re.compile(r"[A-Za-z]:(/|$)")
_PATTERNS_REMEMBERED = 10_000


def project_of(text: str) -> str:
    """A project as it is kept: the path of its folder, or any other name for it."""
    check_text(text, "project")
    if len(text) > PROJECT_CHARACTERS:
        raise TooLarge(what="project", size=f"{len(text)} characters", limit=PROJECT_CHARACTERS)
    slashed = text.strip().replace("\\", "/")
    names = _names(slashed)
    if ".." in names:
        raise Invalid(what="project", why="give its folder without ..")
    if not slashed:
        raise Invalid(what="project", why="say which: the path of its folder, or a name for it")
    return ("/" if slashed.startswith("/") else "") + "/".join(names)


def glob_of(text: str, project: str) -> str:
    """A glob as it is kept: from the project's folder on, in one spelling."""
    check_text(text, "path")
    if len(text) > PATH_CHARACTERS:
        raise TooLarge(what="path", size=f"{len(text)} characters", limit=PATH_CHARACTERS)
    slashed = text.strip().replace("\\", "/")
    if _SPLIT_CHOICE.search(slashed):
        raise Invalid(what="path", why=f"{text!r} has a / within braces; give each path by itself")
    names = _resolved(slashed, project)
    return "/".join([*names, _MANY] if slashed.endswith("/") or not names else names)


def path_of(text: str, project: str) -> str:
    """One file's path as it is looked up, with nothing in it that stands for something else."""
    check_text(text, "path")
    return "/".join(_resolved(text.replace("\\", "/"), project))


def steps_of(project: str, glob: str) -> Steps:
    """What a glob covers. One that ends in a plain name is a file, or a folder with all that is in it."""
    return _steps(project, glob, exact=False)


def steps_to(project: str, path: str) -> Steps:
    """One path and nothing below it, read as it is written."""
    return _steps(project, path, exact=True)


def meet(one: Steps, other: Steps) -> bool:
    """Whether some path is covered by both."""
    if _MANY in one and _MANY in other:
        # Anything may stand between: only what is before the first `**` and behind the last one has to agree.
        return _begin_alike(one, other) and _begin_alike(one[::-1], other[::-1])
    if _MANY in one or _MANY in other:
        return _covers(one, other) if _MANY in one else _covers(other, one)
    return len(one) == len(other) and all(map(names_meet, one, other))


def names_meet(one: str, other: str) -> bool:
    """Whether some name is both."""
    if _STAR not in one:
        return one == other if _STAR not in other else _matches(other, one)
    if _STAR not in other:
        return _matches(one, other)
    (begin, *_, end), (begun, *_, ended) = one.split(_STAR), other.split(_STAR)
    return (begin.startswith(begun) or begun.startswith(begin)) and (end.endswith(ended) or ended.endswith(end))


def _inside(path: str, project: str) -> list[str]:
    """The path's names from the project's folder on, also where it was given from the root."""
    names = _names(path)
    if not (path.startswith("/") or _DRIVE.match(path)):
        return names
    base = _names(project)
    if path.startswith("/") != project.startswith("/") or [*map(_folded, names[: len(base)])] != [*map(_folded, base)]:
        raise _outside(path, project)
    return names[len(base) :]


def _resolved(path: str, project: str) -> list[str]:
    """Its names, without those that only lead elsewhere."""
    names: list[str] = []
    for name in _inside(path, project):
        if name != "..":
            names.append(name)
        elif names and _STAR not in _wild(names[-1]):
            names.pop()
        else:
            raise _outside(path, project)
    return names


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _outside(path: str, project: str) -> Invalid:
    return Invalid(what="path", why=f"{path!r} is outside of the project {project!r}; give paths from its folder on")


@lru_cache(_PATTERNS_REMEMBERED)
def _steps(project: str, path: str, *, exact: bool) -> Steps:
    names = path.split("/")
    if not exact:
        names = [name if name == _MANY else _wild(name) for name in names]
        if _STAR not in names[-1]:
            names.append(_MANY)
    return tuple(_folded(name) for name in (*project.rstrip("/").split("/"), *names))


def _wild(name: str) -> str:
    """A name with everything that may stand for something else read as `*`: brackets may also stand for themselves."""
    return _STARS.sub(_STAR, _ANYTHING.sub(_STAR, name))


def _folded(text: str) -> str:
    """Names that some file system takes for one are one."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


def _begin_alike(one: Steps, other: Steps) -> bool:
    """Whether what stands before the first `**` of each can be the same."""
    return all(map(names_meet, one[: one.index(_MANY)], other[: other.index(_MANY)]))


def _covers(glob: Steps, plain: Steps) -> bool:
    """Whether a glob with `**` and a path without can be one."""
    reached = {0}  # how many names of the path are behind us
    for step in glob:
        if step == _MANY:
            reached = set(range(min(reached), len(plain) + 1)) if reached else set()
        else:
            reached = {at + 1 for at in reached if at < len(plain) and names_meet(step, plain[at])}
    return len(plain) in reached


def _matches(glob: str, name: str) -> bool:
    """Whether a name is one that a glob means."""
    begin, *middle, end = glob.split(_STAR)
    if len(name) < len(begin) + len(end) or not (name.startswith(begin) and name.endswith(end)):
        return False
    at, last = len(begin), len(name) - len(end)
    for part in middle:
        found = name.find(part, at, last)
        if found < 0:
            return False
        at = found + len(part)
    return True
