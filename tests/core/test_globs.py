"""Globs: whatever path two of them both cover, they are said to meet."""

import fnmatch
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.errors import Invalid, TooLarge
from postoffice.core.globs import glob_of, meet, path_of, project_of, steps_of, steps_to
from postoffice.core.reservation import Claim, check_claim

HOME = "/home/ann/shop"
NAMES = ["a", "b", "ab", "ba"]
PARTS = st.sampled_from(["a", "b", "a*", "*b", "*", "**", "?", "[ab]", "{a,b}", "a?", "*a*"])
GLOBS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
PATHS = ["/".join(names) for length in (1, 2, 3) for names in itertools.product(NAMES, repeat=length)]


def _means(glob: list[str], path: list[str]) -> bool:
    """A glob as a shell reads it; one that ends in a plain name is also a folder."""
    if not glob:
        return not path
    if glob[0] == "**":
        return any(_means(glob[1:], path[at:]) for at in range(len(path) + 1))
    choices = ["a", "b"] if glob[0] == "{a,b}" else [glob[0]]
    if not path or not any(fnmatch.fnmatchcase(path[0], choice) for choice in choices):
        return False
    return _means(glob[1:], path[1:]) or (len(glob) == 1 and glob[0].isalpha())


@given(one=GLOBS, other=GLOBS)
def test_two_globs_that_can_mean_one_path_always_meet(one: str, other: str) -> None:
    both = [path for path in PATHS if _means(one.split("/"), path.split("/")) and _means(other.split("/"), path.split("/"))]
    found = meet(steps_of(HOME, one), steps_of(HOME, other))
    assert found == meet(steps_of(HOME, other), steps_of(HOME, one))
    assert found or not both, both


@given(glob=GLOBS, path=st.sampled_from(PATHS))
def test_whatever_a_glob_means_is_covered_by_its_claim(glob: str, path: str) -> None:
    if _means(glob.split("/"), path.split("/")):
        assert Claim(project=HOME, paths=(glob,)).covers(HOME, path)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a.py", "src/b.py"),
        ("src/*.py", "src/*.ts"),
        ("src/*.py", "src/pay/x.py"),
        ("docs/**", "src/**"),
        ("*.py", "src/x.py"),
        ("src/*", "src/a/b"),
        ("a*c", "ab*d"),
        ("src", "srcs/x"),
    ],
)
def test_globs_that_have_nothing_in_common_do_not_meet(one: str, other: str) -> None:
    assert not meet(steps_of(HOME, one), steps_of(HOME, other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src", "src/pay/x.py"),
        ("src/", "src/pay/**"),
        ("SRC/A.py", "src/a.py"),
        ("straße", "STRASSE"),
        ("caf\u00e9.py", "cafe\u0301.py"),
        ("app/[id]/page.tsx", "app/7/page.tsx"),
        ("{a,b}.py", "b.py"),
        ("**", "x"),
        ("**/x.py", "x.py"),
    ],
)
def test_what_may_be_one_file_somewhere_meets(one: str, other: str) -> None:
    assert meet(steps_of(HOME, glob_of(one, HOME)), steps_of(HOME, glob_of(other, HOME)))


def test_brackets_also_stand_for_themselves_and_a_path_is_read_as_written() -> None:
    claim = Claim(project=HOME, paths=("app/[id]/page.tsx",))
    assert claim.covers(HOME, "app/[id]/page.tsx")
    assert not Claim(project=HOME, paths=("app/x/page.tsx",)).covers(HOME, "app/[id]/page.tsx")


def test_a_folder_of_a_project_that_is_named_as_a_project_of_its_own_is_the_same_files() -> None:
    whole, part = Claim(project="/w/shop", paths=("lib/**",)), Claim(project="/w/shop/lib", paths=("x.py",))
    assert whole.clash(part) == "lib/**"
    assert Claim(project="/", paths=("w/shop/lib/x.py",)).clash(part) == "w/shop/lib/x.py"
    assert Claim(project="shop", paths=("lib/x.py",)).clash(part) is None


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("./src//a.py", "src/a.py"),
        ("src/../docs", "docs"),
        ("src\\pay\\x.py", "src/pay/x.py"),
        ("src/", "src/**"),
        (f"{HOME}/src/a.py", "src/a.py"),
        (f"{HOME}", "**"),
        (".", "**"),
    ],
)
def test_a_path_is_kept_in_one_spelling(given: str, kept: str) -> None:
    assert glob_of(given, HOME) == kept


@pytest.mark.parametrize("given", ["../other/x", "src/../../x", "/etc/passwd", "*/../../x", "/home/ann/shopping/x", "{a/b,c}"])
def test_no_path_from_outside_the_project_is_taken(given: str) -> None:
    with pytest.raises(Invalid):
        glob_of(given, HOME)


def test_bounds_and_projects() -> None:
    assert project_of(" C:\\work\\shop\\ ") == "C:/work/shop"
    assert project_of("/home//ann/./shop/") == HOME
    assert path_of("src/[a].py", HOME) == "src/[a].py"
    assert steps_to(HOME, "x") != steps_of(HOME, "x")
    for project in ("", "  ", "/home/../etc"):
        with pytest.raises(Invalid):
            project_of(project)
    with pytest.raises(TooLarge):
        glob_of("x" * 1001, HOME)
    with pytest.raises(TooLarge):
        check_claim(HOME, ["x"] * 51)
    with pytest.raises(Invalid):
        check_claim(HOME, [])
    assert check_claim(HOME, ["b", "a/", "./b"]).paths == ("a/**", "b")
