"""Lines of keys in TOML."""

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.base.toml import key_lines

TEXT = """\
# [not.a.table] and no = "key"
top = 1
"a key" = { inside = 2 }

[one]
first = \"\"\"
[no.table]
no = 1
\"\"\"
second = [
  "x", # ]
  [ "y" ],
]
'third' = ']'

[[many]]
name = "[a]"
[[many]]
name = '#'
[many.inner]
deep.er = 1

[ "dotted.name" . sub ]
x = 1
"""


def test_tables_keys_and_lists_of_tables() -> None:
    assert key_lines(TEXT) == {
        ("top",): 2,
        ("a key",): 3,
        ("one",): 5,
        ("one", "first"): 6,
        ("one", "second"): 10,
        ("one", "third"): 14,
        ("many",): 16,
        ("many", "0"): 16,
        ("many", "0", "name"): 17,
        ("many", "1"): 18,
        ("many", "1", "name"): 19,
        ("many", "inner"): 20,
        ("many", "inner", "deep"): 21,
        ("many", "inner", "deep", "er"): 21,
        ("dotted.name", "sub"): 23,
        ("dotted.name", "sub", "x"): 24,
    }
    assert tomllib.loads(TEXT)["many"][1]["name"] == "#"


KINDS = ("# [x] = 3", "", 'a{} = "[b]"', "a{} = '''\n[c]\n'''", "a{} = [\n1,\n]", "a{} = {{ b = 1 }}")
LINES = st.sampled_from([*KINDS, "[t{}]", "[[l{}]]", "a{}.b = 1"])


@given(st.lists(LINES, max_size=12))
def test_each_key_is_where_it_was_written(lines: list[str]) -> None:
    text, expected, number = "", {}, 1
    for at, line in enumerate(lines):
        written = line.format(at)
        name = written.strip("[]").split(" ")[0].split(".")[0]
        if written and not written.startswith("#"):
            expected[name] = number
        text += written + "\n"
        number += written.count("\n") + 1
    found = key_lines(text)
    assert {path[-1]: line for path, line in found.items() if path[-1] in expected} == expected
    assert set(keys(tomllib.loads(text))) <= {name for path in found for name in path} | {"b"}


def keys(data: dict[str, Any]) -> Iterator[str]:
    """All names in a document."""
    for name, value in data.items():
        yield name
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from keys(inner)
