import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_udf.toml_lines import find_key_lines

TEXT = '''\
# comment with [brackets] and = signs
top = 1
"quoted key" = "a # no comment" # [not.a.table]

[tenants.acme]
module = "a.wasm"
config = { rules = [
    { path = "email", action = "redact" },   # first
    # a comment in between
    { path = "a=b", action = 'null' },
], deep = { x = 1 } }
text = """
[looks.like.a.table]
key = "value"
"""
raw = \'\'\'
[another]
\'\'\'
limits.fuel_per_event = 5

[tenants."with.dot"]
list = [
  1,
  [2,
   3],
]

[[chains]]
name = "one"
[[chains]]
name = "two"
[chains.inner]
when = 2024-01-01T00:00:00Z
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("quoted key",), 3),
        (("tenants", "acme"), 5),
        (("tenants", "acme", "module"), 6),
        (("tenants", "acme", "config", "rules"), 7),
        (("tenants", "acme", "config", "rules", 0, "path"), 8),
        (("tenants", "acme", "config", "rules", 1), 10),
        (("tenants", "acme", "config", "deep", "x"), 11),
        (("tenants", "acme", "text"), 12),
        (("tenants", "acme", "raw"), 16),
        (("tenants", "acme", "limits", "fuel_per_event"), 19),
        (("tenants", "with.dot", "list", 1, 1), 25),
        (("chains", 0, "name"), 29),
        (("chains", 1, "name"), 31),
        (("chains", 1, "inner", "when"), 33),
    ],
)
def test_each_key_is_found_on_the_line_it_is_written(path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(TEXT)
    assert find_key_lines(TEXT)[path] == line


def test_text_that_looks_like_toml_inside_strings_is_not_taken_for_keys() -> None:
    names = {part for path in find_key_lines(TEXT) for part in path}
    assert not names & {"looks", "another", "not", "key"}


keys = st.text("abcdefgh-_19", min_size=1, max_size=6)
scalars = st.one_of(
    st.integers(-5, 5).map(str),
    st.booleans().map(lambda flag: str(flag).lower()),
    st.text('ab #=[]{}",\\', max_size=8).map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
    st.text('ab #=[]{}",', max_size=8).map(lambda text: f"'{text}'"),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3).map(lambda items: "[\n" + ",\n".join(items) + "\n]"),
    max_leaves=4,
)


@given(st.dictionaries(keys, st.dictionaries(keys, values, max_size=4), max_size=4))
def test_lines_of_generated_tables_are_exact(tables: dict[str, dict[str, str]]) -> None:
    text, expected = "", {}
    for table, entries in tables.items():
        expected[(table,)] = text.count("\n") + 1
        text += f"[{table}]\n"
        for key, value in entries.items():
            expected[table, key] = text.count("\n") + 1
            text += f"{key} = {value}\n"
    tomllib.loads(text)
    found = find_key_lines(text)
    assert {path: found.get(path) for path in expected} == expected
