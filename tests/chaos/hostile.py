"""Values that nobody expects, for whatever reads what others wrote."""

from hypothesis import strategies as st

WORDS = st.one_of(st.text(max_size=20), st.sampled_from(["", "x", "\0", "\ud83d", "-c", "../..", "ALL", "system", "y" * 300, "é" * 12_000]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.just(10**400), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=8,
)
