"""Front matter, well-formed and malformed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.front_matter import MOST_CHARACTERS, front_matter


@pytest.mark.parametrize(
    ("head", "description"),
    [
        ("name: review\ndescription: Reads code.", "Reads code."),
        ("name: review\ndescription: 'It''s quoted: yes'", "It's quoted: yes"),
        ('name: "review"\ndescription: "a \\"b\\" --- c"', 'a "b" --- c'),
        ("name: review\ndescription: before --- after", "before --- after"),
        ("name: review\ndescription: |\n  two\n  ---\n  lines", "two --- lines"),
        ("name: review\ndescription: >-\n  folded\n  text", "folded text"),
        ("name: review\ndescription: over\n  two lines", "over two lines"),
        ("name: review\nallowed-tools: [bash, read_file]\nmetadata:\n  a: {b: c}\ndescription: Beside.", "Beside."),
        ("# a comment\nname: review\n\ndescription: 説明です。", "説明です。"),
        ("name: review\ndescription: 2026-11-21", "2026-11-21"),
        ("name: review\ndescription: no", "no"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_names_and_descriptions_are_read_in_every_usual_form(head: str, description: str, end: str, mark: str) -> None:
    text = f"{mark}---\n{head}\n---\nBody.\n\n---\nMore.\n".replace("\n", end)
    found = front_matter(text)
    assert found.values == {"name": "review", "description": description}
    assert found.body == "Body.\n\n---\nMore."
    assert found.problems == ()


@pytest.mark.parametrize(
    ("head", "values", "problem"),
    [
        ("name: a\ndescription: Use when: it fails", {"name": "a", "description": "Use when: it fails"}, "line 3"),
        ("name: a: b: c\ndescription: d", {"name": "a: b: c", "description": "d"}, "put the value into quotes"),
        ("name: [a, b]\ndescription: d", {"description": "d"}, "line 2: name has to be a text"),
        ("name: a\ndescription: {x: y}", {"name": "a"}, "line 3: description has to be a text"),
        ("- name\n- description", {}, "has to be lines such as name"),
        ("just words", {}, "has to be lines such as name"),
        ("name: a\nname: b\ndescription: d", {"name": "a", "description": "d"}, "line 3: there is a second name"),
        ("name: 'a\ndescription: d", {"description": "d"}, "is not valid YAML"),
        ("name: a\ndescription: \"\\UFFFFFFFF\"", {"name": "a"}, "is not valid YAML"),
        ("name: a\n\tdescription: d", {"name": "a"}, "is not valid YAML"),
        pytest.param("name: " + "[" * 9_000, {}, "is not valid YAML", id="nested"),
        pytest.param("name: a\nextra: " + "x" * MOST_CHARACTERS, {}, "more than 20,000 characters", id="long"),
        ("name: a\ndescription: !!python/object/apply:os.system [exit]", {"name": "a"}, "has to be a text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_and_what_can_be_understood_is_kept(
    head: str, values: dict[str, str], problem: str
) -> None:
    found = front_matter(f"---\n{head}\n---\nBody.\n")
    assert found.values == values
    assert found.body == "Body."
    [told] = found.problems
    assert problem in told


def test_a_file_without_front_matter_or_with_half_of_it_keeps_its_text() -> None:
    assert front_matter("# Title\n\nText.").body == "# Title\n\nText."
    assert front_matter("---\nname: a\nText.").body == "name: a\nText."
    assert front_matter("").body == ""
    assert all(front_matter(text).problems for text in ("Text.", "---\nname: a", "", "----\nname: a\n---\n"))


def test_other_keys_are_read_where_they_are_asked_for() -> None:
    text = "---\nname: a\ntype: user\ncreated: 2026-11-21T10:00:00Z\n---\nBody."
    assert front_matter(text, ("type", "created")).values == {"type": "user", "created": "2026-11-21T10:00:00Z"}


def test_empty_values_and_empty_front_matter_are_no_values() -> None:
    assert front_matter("---\n---\nBody.").values == {}
    assert front_matter("---\nname:\ndescription: ''\n---\nBody.") == front_matter("---\n---\nBody.")


LINES = st.lists(
    st.one_of(
        st.sampled_from(["---", "name: a", "description: b", "name: [", "&a *a", "? x", "x: !!set z", "<<: *b", "\t"]),
        st.text(max_size=20),
    ),
    max_size=8,
)  # fmt: skip


@given(LINES)
def test_nothing_that_a_file_can_hold_raises_and_values_are_single_lines(lines: list[str]) -> None:
    found = front_matter("\n".join(lines))
    assert set(found.values) <= {"name", "description"}
    for value in found.values.values():
        assert value == " ".join(value.split()) != ""
        value.encode()
